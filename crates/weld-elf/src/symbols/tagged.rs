//! Which variables have tags: the upper bits of pointers to them have to be those that the loader gave to
//! their memory.
//!
//! Objects list them: a section of a type of its own ([`Tagging::variables`]) is empty, and each of its
//! relocations names one. A name is tagged if every object that knows it lists it, since code of another one
//! uses pointers without tags. Lists in COMDAT groups that lost count as well: they say how the code of their
//! object is.
//!
//! Code loads the addresses of such variables from the GOT, where the loader puts the tags, so these loads
//! stay.
//!
//! Specification: "Memtag Extension to ELF for the Arm 64-bit Architecture", "Tagging Global Variables".

use weld_common::diag::{Cause, DiagSink};

use crate::arch::facts::Tagging;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::mode::Mode;
use crate::options::Options;
use crate::sections::decode_relocs;

#[derive(Default)]
pub struct Tagged {
    /// Sorted.
    globals: Vec<SymbolId>,
    /// By object and index, sorted.
    locals: Vec<(ObjectId, u32)>,
}

impl Tagged {
    /// Whether an output has such variables: if a loader tags memory, and has every address in its hands.
    pub fn is_wanted(options: &Options, mode: &Mode) -> bool {
        let loaded = mode.shared || mode.pic && mode.interp;
        options.notes.memtag.mode.is_some() && loaded && mode.facts().tagging.is_some()
    }

    /// `None` if there are none.
    pub fn find(objects: &[Object], options: &Options, mode: &Mode, sink: &DiagSink) -> Option<Tagged> {
        let tagging = mode.facts().tagging.as_ref().filter(|_| Tagged::is_wanted(options, mode))?;
        let listed: Vec<Vec<u32>> = objects.iter().map(|object| listed(object, tagging, sink)).collect();
        let mut tagged = Tagged::default();
        for (i, (object, list)) in objects.iter().zip(&listed).enumerate() {
            for &index in list {
                match index < object.first_global {
                    true => tagged.locals.push((ObjectId(i as u32), index)),
                    false => tagged.globals.push(object.global(index)),
                }
            }
        }
        if tagged.globals.is_empty() && tagged.locals.is_empty() {
            return None;
        }
        tagged.globals.sort_unstable();
        tagged.globals.dedup();
        let mut disputed = Vec::new();
        for (object, list) in objects.iter().zip(&listed) {
            let known =
                (object.first_global..object.syms.len() as u32).map(|index| (index, object.global(index)));
            let others = known.filter(|(index, _)| list.binary_search(index).is_err());
            disputed.extend(others.map(|(_, id)| id).filter(|id| tagged.globals.binary_search(id).is_ok()));
        }
        disputed.sort_unstable();
        tagged.globals.retain(|id| disputed.binary_search(id).is_err());
        Some(tagged)
    }

    /// Whether symbol `index` of an object is one.
    pub fn has(&self, id: ObjectId, object: &Object, index: u32) -> bool {
        match index < object.first_global {
            true => self.locals.binary_search(&(id, index)).is_ok(),
            false if (index as usize) < object.syms.len() => {
                self.globals.binary_search(&object.global(index)).is_ok()
            }
            false => false,
        }
    }

    pub fn globals(&self) -> &[SymbolId] {
        &self.globals
    }

    pub fn locals(&self) -> &[(ObjectId, u32)] {
        &self.locals
    }
}

/// The symbols that an object lists, sorted, each once.
fn listed(object: &Object, tagging: &Tagging, sink: &DiagSink) -> Vec<u32> {
    let mut list = Vec::new();
    for (index, shdr) in object.shdrs.iter().enumerate() {
        let lists = |target: &Shdr| target.sh_type() == tagging.variables;
        if !matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL)
            || !object.shdrs.get(shdr.sh_info() as usize).is_some_and(lists)
        {
            continue;
        }
        match decode_relocs(object, index) {
            Ok(relocs) => relocs.iter().for_each(|reloc| match wrong(object, reloc) {
                None => list.push(reloc.sym()),
                Some(why) => sink.push(object.at_section(index as u32).error(Cause::MalformedObject, why)),
            }),
            Err(e) => sink.push(object.at_section(index as u32).error(Cause::MalformedObject, e.to_string())),
        }
    }
    list.sort_unstable();
    list.dedup();
    list
}

/// What is wrong with a relocation of a list.
fn wrong(object: &Object, reloc: &Rela) -> Option<String> {
    let index = reloc.sym();
    let Some(symbol) = object.syms.get(index as usize).filter(|_| index != 0) else {
        return Some(format!("lists symbol {index} to be tagged, which does not exist"));
    };
    if matches!(symbol.kind(), STT_OBJECT | STT_NOTYPE | STT_COMMON) {
        return None;
    }
    let name = String::from_utf8_lossy(object.symbol_name(index)).into_owned();
    Some(format!("lists '{name}' to be tagged, which is no variable in ordinary memory"))
}

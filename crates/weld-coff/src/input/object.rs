//! An object that takes part: its symbols, COMDAT sections and directives.
//!
//! Reading an object is one pass over its symbols. Global ones are hashed and announced; for each record of the symbol
//! table there are four bytes that will hold the id of the name. A section symbol with an auxiliary record says how a
//! COMDAT section is chosen, and the next symbol in the section is its leader: the name by which sections of
//! several objects are the same one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use object::LittleEndian as LE;
use weld_common::hash::hash_bytes;
use weld_common::{text, zeroed};

use super::FileName;
use crate::coff::directives::{self, Directive};
use crate::coff::machine::Machine;
use crate::coff::object::{ABSOLUTE, ObjectFile, Symbol, UNDEFINED};
use crate::coff::pe;
use crate::ids::{FileId, SymbolId};
use crate::resolve::names::{Bins, Rank, Record, SOFT, flag};

/// A section that other objects may have, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comdat {
    /// Number of the section, from 1.
    pub section: u32,
    /// `IMAGE_COMDAT_SELECT_*`; 0 if no symbol says.
    pub selection: u8,
    /// For associative sections: the section that this one goes with.
    pub parent: u32,
    /// The symbol whose name it is known by, or [`NO_LEADER`].
    pub leader: u32,
    pub leader_is_global: bool,
}

pub const NO_LEADER: u32 = u32::MAX;

const ASSOCIATIVE: u8 = pe::IMAGE_COMDAT_SELECT_ASSOCIATIVE.0;
const LARGEST: u8 = pe::IMAGE_COMDAT_SELECT_LARGEST.0;

pub struct Object<'a> {
    pub file: FileId,
    pub name: FileName<'a>,
    pub coff: ObjectFile<'a>,
    /// Of each record of the symbol table the id of its name and one; 0 if it is not a global symbol.
    globals: Vec<AtomicU32>,
    /// In the order of sections.
    pub comdats: Vec<Comdat>,
    pub directives: Vec<Directive<'a>>,
}

impl<'a> Object<'a> {
    /// Opens an object and finds its COMDAT sections and directives.
    /// Those of GNU compilers (`gnu`) say by names which sections go with others.
    pub fn parse(
        file: FileId,
        name: FileName<'a>,
        data: &'a [u8],
        big: bool,
        gnu: bool,
    ) -> Result<Object<'a>, String> {
        let coff = ObjectFile::parse(data, big)?;
        let mut comdats = comdats(&coff)?;
        if gnu {
            follow_functions(&coff, &mut comdats);
        }
        let mut object = Object {
            file,
            name,
            globals: zeroed::sparse(coff.symbols.len()),
            comdats,
            directives: Vec::new(),
            coff,
        };
        object.read_directives()?;
        Ok(object)
    }

    fn read_directives(&mut self) -> Result<(), String> {
        for header in self.coff.sections.iter().filter(|header| &header.name == b".drectve") {
            let text = self.coff.contents(header).map_err(|e| format!(".drectve: {e}"))?;
            directives::parse(text, |directive| self.directives.push(directive));
        }
        Ok(())
    }

    /// The COMDAT section with this number.
    pub fn comdat(&self, section: u32) -> Option<&Comdat> {
        let at = self.comdats.binary_search_by_key(&section, |comdat| comdat.section).ok()?;
        Some(&self.comdats[at])
    }

    /// The name of the leader of the COMDAT section with this number.
    pub fn leader_name(&self, section: u32) -> Option<&'a [u8]> {
        let leader = self.comdat(section)?.leader;
        let symbol = self.coff.symbols.get(Some(leader).filter(|&leader| leader != NO_LEADER)?)?;
        self.coff.symbol_name(&symbol).ok()
    }

    /// The name that symbol `index` stands for; `None` for one that only this object sees.
    #[inline]
    pub fn global(&self, index: u32) -> Option<SymbolId> {
        let id = self.globals.get(index as usize)?.load(Ordering::Relaxed);
        id.checked_sub(1).map(SymbolId)
    }

    pub fn set_global(&self, index: u32, id: SymbolId) {
        self.globals[index as usize].store(id.0 + 1, Ordering::Relaxed);
    }

    /// Announces the global symbols. Of an object that is linked only if it is wanted: what it defines.
    pub fn announce(&self, lazy: bool, bins: &mut Bins<'a>) -> Result<(), String> {
        for (index, symbol) in self.coff.symbols.iter() {
            if !symbol.is_global() {
                self.check_local(&symbol)?;
                continue;
            }
            let Some(bits) = self.bits(index, &symbol)? else { continue };
            let name = self.coff.symbol_name(&symbol)?;
            if lazy {
                if Rank::of(bits) != Rank::Undefined {
                    let bits = Rank::Provided as u32;
                    bins.push(Record::new(hash_bytes(name), name, self.file, u32::MAX, bits));
                }
                continue;
            }
            bins.push(Record::new(hash_bytes(name), name, self.file, index, bits));
        }
        Ok(())
    }

    fn check_local(&self, symbol: &Symbol) -> Result<(), String> {
        match symbol.section > self.coff.sections.len() as i32 {
            true => Err(format!("a symbol is in section {}, which there is not", symbol.section)),
            false => Ok(()),
        }
    }

    /// What a global symbol is to other files. `None`: nothing.
    fn bits(&self, index: u32, symbol: &Symbol<'a>) -> Result<Option<u32>, String> {
        if symbol.is_weak_external() {
            return match self.coff.symbols.weak_external(index, symbol) {
                Some(_) => Ok(Some(Rank::Undefined as u32 | flag::WEAK)),
                None => Err("a weak external has no symbol to fall back on".to_owned()),
            };
        }
        Ok(Some(match symbol.section {
            UNDEFINED if symbol.is_common() => Rank::Common as u32,
            UNDEFINED => Rank::Undefined as u32 | flag::REF,
            ABSOLUTE => SOFT as u32,
            section if section > 0 => self.definition(index, symbol, section as u32)?,
            _ => return Ok(None),
        }))
    }

    fn definition(&self, index: u32, symbol: &Symbol<'a>, section: u32) -> Result<u32, String> {
        let header = self.coff.section(section);
        let header = header.ok_or_else(|| format!("a symbol is in section {section}, which there is not"))?;
        let strong = Rank::Strong as u32;
        if header.characteristics.get(LE).0 & pe::IMAGE_SCN_LNK_COMDAT.0 == 0 {
            return Ok(strong | flag::PLAIN);
        }
        _ = symbol;
        Ok(match self.comdat(section) {
            Some(comdat) if comdat.leader == index && comdat.selection == LARGEST => {
                strong | flag::COMDAT | flag::LARGEST
            }
            Some(comdat) if comdat.leader == index => strong | flag::COMDAT,
            _ => strong | flag::MEMBER,
        })
    }
}

/// The COMDAT sections of an object with their leaders, in the order of sections.
fn comdats(coff: &ObjectFile) -> Result<Vec<Comdat>, String> {
    let is_comdat = |flags: u32| flags & pe::IMAGE_SCN_LNK_COMDAT.0 != 0;
    let mut list: Vec<Comdat> = Vec::new();
    // Where in the list each section is.
    let mut place = vec![u32::MAX; coff.sections.len() + 1];
    for (number, header) in (1..).zip(coff.sections) {
        if is_comdat(header.characteristics.get(LE).0) {
            place[number as usize] = list.len() as u32;
            let (leader, leader_is_global) = (NO_LEADER, false);
            list.push(Comdat { section: number, selection: 0, parent: 0, leader, leader_is_global });
        }
    }
    if list.is_empty() {
        return Ok(list);
    }
    for (index, symbol) in coff.symbols.iter() {
        let section = usize::try_from(symbol.section).ok();
        let Some(&at) = section.and_then(|number| place.get(number)) else { continue };
        let Some(comdat) = list.get_mut(at as usize) else { continue };
        if comdat.selection == 0 {
            if let Some(definition) = coff.symbols.section_definition(index, &symbol) {
                comdat.selection = definition.selection;
                comdat.parent = definition.number;
            }
        } else if comdat.leader == NO_LEADER && comdat.selection != ASSOCIATIVE {
            comdat.leader = index;
            comdat.leader_is_global = symbol.is_global();
            if !(1..=LARGEST).contains(&comdat.selection) {
                let (name, selection) = (coff.symbol_name(&symbol).unwrap_or_default(), comdat.selection);
                return Err(format!("unknown comdat type {selection} for {}", text::text(name)));
            }
        }
    }
    Ok(list)
}

/// What comes with a function in objects of GNU compilers: `.pdata$f` has no leader and goes with the section that `f` leads.
const WITH_FUNCTIONS: [&[u8]; 3] = [b".pdata$", b".xdata$", b".eh_frame$"];

/// Has sections without a leader go with the functions that their names say.
fn follow_functions(coff: &ObjectFile, comdats: &mut [Comdat]) {
    let lacks_leader = |comdat: &Comdat| comdat.leader == NO_LEADER && comdat.selection != ASSOCIATIVE;
    if !comdats.iter().any(lacks_leader) {
        return;
    }
    let mut leaders = HashMap::new();
    for comdat in comdats.iter().filter(|comdat| comdat.leader != NO_LEADER) {
        let symbol = coff.symbols.get(comdat.leader);
        if let Some(name) = symbol.and_then(|symbol| coff.symbol_name(&symbol).ok()) {
            leaders.insert(plain_name(behind_weak(name), coff.machine), comdat.section);
        }
    }
    for comdat in comdats.iter_mut().filter(|comdat| lacks_leader(comdat)) {
        let name = coff.section(comdat.section).and_then(|header| coff.section_name(header).ok());
        let function = name.and_then(|name| WITH_FUNCTIONS.iter().find_map(|kind| name.strip_prefix(*kind)));
        if let Some(parent) = function.and_then(|name| leaders.get(name)) {
            (comdat.selection, comdat.parent) = (ASSOCIATIVE, *parent);
        }
    }
}

/// `f` in `.weak.f.default.main`, which is what a weak `f` stands for; other names as they are.
fn behind_weak(name: &[u8]) -> &[u8] {
    let weak = name.strip_prefix(b".weak.");
    let end = weak.and_then(|weak| memchr::memmem::find(weak, b".default"));
    weak.zip(end).map_or(name, |(weak, end)| &weak[..end])
}

/// A function's name as names of sections have it: on x86 without what says how it is called.
fn plain_name(name: &[u8], machine: Option<Machine>) -> &[u8] {
    if machine != Some(Machine::X86) {
        return name;
    }
    let name = name.strip_prefix(b"_").unwrap_or(name);
    match name.iter().rposition(|&byte| byte == b'@') {
        Some(at) if at > 0 && name[at + 1..].iter().all(u8::is_ascii_digit) => &name[..at],
        _ => name,
    }
}

impl Comdat {
    pub fn is_associative(&self) -> bool {
        self.selection == ASSOCIATIVE
    }
}

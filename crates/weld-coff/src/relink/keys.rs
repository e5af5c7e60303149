//! What a section is to its object, whatever others come and go: by its name, flags and the name of what leads it.

use std::collections::HashMap;

use object::LittleEndian as LE;
use weld_common::hash::{Hasher, join};

use crate::coff::object::{ObjectFile, alignment};
use crate::coff::pe;
use crate::layout::rooms;

/// How a COMDAT section is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Comdat {
    pub selection: u8,
    /// Of a section that goes with another one, that one.
    pub parent: u32,
    /// The symbol that leads it.
    pub leader: Option<u32>,
}

impl Comdat {
    pub fn is_associative(&self) -> bool {
        self.selection == pe::IMAGE_COMDAT_SELECT_ASSOCIATIVE.0
    }
}

/// Of each section, by its number less 1, how it is chosen; `selection` is 0 where it just is there. `None` if the object
/// is malformed, or leaves it open how one is chosen.
pub fn comdats(coff: &ObjectFile) -> Option<Vec<Comdat>> {
    let mut all = vec![Comdat::default(); coff.sections.len()];
    let is_comdat =
        |number: usize| coff.sections[number].characteristics.get(LE).0 & pe::IMAGE_SCN_LNK_COMDAT.0 != 0;
    for (index, symbol) in coff.symbols.iter() {
        let Some(number) = usize::try_from(symbol.section).ok().and_then(|number| number.checked_sub(1))
        else {
            continue;
        };
        if number >= all.len() {
            return None;
        }
        if !is_comdat(number) {
            continue;
        }
        let own = &mut all[number];
        match coff.symbols.section_definition(index, &symbol) {
            Some(definition) if own.selection == 0 => {
                (own.selection, own.parent) = (definition.selection, definition.number);
            }
            _ if own.selection != 0 && own.leader.is_none() && !own.is_associative() => {
                own.leader = Some(index)
            }
            _ => {}
        }
    }
    let is_clear = |(number, comdat): (usize, &Comdat)| {
        !is_comdat(number) || comdat.leader.is_some() || comdat.is_associative() && comdat.parent > 0
    };
    all.iter().enumerate().all(is_clear).then_some(all)
}

/// The keys of all sections, by their numbers less 1; `None` if two have the same, or the object is malformed.
pub fn of(coff: &ObjectFile) -> Option<Vec<u32>> {
    let comdats = comdats(coff)?;
    let mut own = Vec::with_capacity(comdats.len());
    for (header, comdat) in coff.sections.iter().zip(&comdats) {
        let mut hasher = Hasher::new(1);
        hasher.bytes(coff.section_name(header).ok()?);
        let characteristics = header.characteristics.get(LE).0;
        let steps = rooms::steps_of(coff.section_name(header).ok()?, characteristics);
        let least = rooms::least_align(steps[usize::from(comdat.selection == 0)]);
        let mut useless = pe::IMAGE_SCN_LNK_NRELOC_OVFL.0;
        if alignment(characteristics).is_some_and(|align| align <= least) {
            useless |= pe::IMAGE_SCN_ALIGN_MASK;
        }
        hasher.word((characteristics & !useless).into());
        hasher.word(comdat.selection.into());
        if let Some(leader) = comdat.leader.filter(|_| !comdat.is_associative()) {
            hasher.word(coff.hashed_name(&coff.symbols.get(leader)?).ok()?.1);
        }
        own.push(hasher.finish());
    }
    let mut seen: HashMap<u64, u64> = HashMap::new();
    let mut keys = Vec::with_capacity(own.len());
    for number in 0..own.len() {
        let mut key = own[number];
        // Whom it goes with; nobody makes long chains of it.
        let mut comdat = comdats[number];
        for _ in 0..4 {
            let Some(parent) = (comdat.parent as usize).checked_sub(1).filter(|_| comdat.is_associative())
            else {
                break;
            };
            key = join(key, *own.get(parent)?);
            comdat = comdats[parent];
        }
        let times = seen.entry(key).or_default();
        *times += 1;
        let key = join(key, *times);
        keys.push((key ^ key >> 32) as u32);
    }
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    sorted.array_windows().all(|[a, b]| a != b).then_some(keys)
}

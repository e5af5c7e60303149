//! The sections of an object that lost with their COMDAT groups, and numbers of the others that do not depend on
//! these.
//!
//! Such a section takes no part in a link, whatever is in it; so one more group of which another object has the
//! copy that stays changes nothing but header indices. Links that are compared with the one before
//! ([`crate::relink`]) know sections by their numbers among those that are left.
//!
//! Only groups with a section in memory are looked at: of those of debug information nobody knows by their names
//! who has the copy that stays.

use super::SectionKind;
use crate::elf::*;
use crate::input::object::{Group, Object, SymbolPlace};

/// The number of a section that has none.
pub const NONE: u32 = u32::MAX;

/// Which sections lost, by header index; empty if none did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostSections(Vec<bool>);

impl LostSections {
    /// By what became of each section.
    pub fn by_kind(object: &Object, kind: impl Fn(u32) -> SectionKind) -> LostSections {
        let is_lost = |group: &Group| {
            let mut members = loaded(object, group).peekable();
            members.peek().is_some() && members.all(|member| kind(member) == SectionKind::Discarded)
        };
        Self::of(object, |_, group| is_lost(group))
    }

    /// By names: a group lost if it defines any, and all have another definition that counts, which
    /// `is_elsewhere` says of symbols.
    pub fn by_names(object: &Object, is_elsewhere: impl Fn(u32) -> bool) -> LostSections {
        if object.groups.is_empty() {
            return LostSections::default();
        }
        // Of each group whether it defines names, and one that is not elsewhere.
        let mut found = vec![(false, false); object.groups.len()];
        each_definition(object, |group, symbol| {
            found[group].0 = true;
            found[group].1 |= !is_elsewhere(symbol);
        });
        Self::of(object, |number, _| found[number] == (true, false))
    }

    fn of(object: &Object, is_lost: impl Fn(usize, &Group) -> bool) -> LostSections {
        let mut lost = Vec::new();
        for (number, group) in object.groups.iter().enumerate() {
            if is_lost(number, group) {
                lost.resize(object.shdrs.len(), false);
                lost[group.shndx as usize] = true;
                members(object, group).for_each(|member| lost[member as usize] = true);
            }
        }
        // What relocates them need not be in the group.
        for (index, shdr) in object.shdrs.iter().enumerate().take(lost.len()) {
            let relocates = matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL);
            lost[index] |= relocates && lost.get(shdr.sh_info() as usize) == Some(&true);
        }
        LostSections(lost)
    }

    pub fn contains(&self, section: u32) -> bool {
        self.0.get(section as usize).copied().unwrap_or(false)
    }

    /// Whether a symbol is defined in one of them.
    pub fn defines(&self, object: &Object, symbol: u32) -> bool {
        let Some(sym) = object.syms.get(symbol as usize).filter(|_| !self.0.is_empty()) else { return false };
        matches!(object.place(symbol, sym), SymbolPlace::Section(section) if self.contains(section))
    }

    /// The groups of `object` that lost.
    pub fn groups<'o, 'a>(&'o self, object: &'o Object<'a>) -> impl Iterator<Item = &'o Group> + use<'o, 'a> {
        object.groups.iter().filter(|group| self.contains(group.shndx))
    }

    /// The number of each section of an object among those that did not lose, [`NONE`] for those that did; empty
    /// if that is the header index of all.
    pub fn numbers(&self) -> Vec<u32> {
        let mut next = 0;
        let number = |lost: &bool| {
            let number = if *lost { NONE } else { next };
            next += u32::from(!lost);
            number
        };
        self.0.iter().map(number).collect()
    }

    /// The header indices of those that did not lose, in order; `None` if these are all.
    pub fn left(&self) -> Option<Vec<u32>> {
        let left = (0..).zip(&self.0).filter(|(_, lost)| !**lost).map(|(index, _)| index);
        (!self.0.is_empty()).then(|| left.collect())
    }
}

/// The header indices of a group's members.
pub fn members<'a>(object: &Object<'a>, group: &Group) -> impl Iterator<Item = u32> + use<'a> {
    let count = object.shdrs.len();
    let words = object.group_words(group.shndx);
    words.into_iter().flat_map(|words| words.members()).filter(move |member| (*member as usize) < count)
}

/// Visits the global symbols that an object defines in its groups, with the numbers of these.
pub fn each_definition(object: &Object, mut see: impl FnMut(usize, u32)) {
    if object.groups.is_empty() {
        return;
    }
    // By numbers from 1 on.
    let mut group_of = vec![0; object.shdrs.len()];
    for (number, group) in (1..).zip(&object.groups) {
        loaded(object, group).for_each(|member| group_of[member as usize] = number);
    }
    for (index, symbol) in (0..).zip(object.syms).skip(object.first_global as usize) {
        let SymbolPlace::Section(section) = object.place(index, symbol) else { continue };
        if let Some(&number @ 1..) = group_of.get(section as usize) {
            see(number - 1, index);
        }
    }
}

/// The members that are in memory.
fn loaded<'a>(object: &Object<'a>, group: &Group) -> impl Iterator<Item = u32> + use<'a> {
    let shdrs = object.shdrs;
    members(object, group).filter(move |member| shdrs[*member as usize].sh_flags() & SHF_ALLOC != 0)
}

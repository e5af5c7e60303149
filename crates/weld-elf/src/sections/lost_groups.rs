//! The sections of an object that lost with their COMDAT groups, those of groups that came later, and numbers of
//! the others that do not depend on these.
//!
//! A section that has lost takes no part in a link, whatever is in it; so one more group of which another object has
//! the copy that stays changes nothing but header indices. Groups that nobody had lie where nobody has to make room
//! for them ([`super::yards`]). Links that are compared with the one before
//! ([`crate::relink`]) know sections by their numbers among those that are left. Sections of relocations are not among
//! these either: each belongs to another one, and is there if that has any.
//!
//! Only groups with a section in memory are looked at: of those of debug information nobody knows by their names
//! who has the copy that stays.

use super::SectionKind;
use super::free_sections::{self, Free};
use super::yards::{Kind, kind_of};
use crate::elf::*;
use crate::input::object::{Group, Object, SymbolPlace};

/// The number of a section that has none.
pub const NONE: u32 = u32::MAX;

/// What becomes of a section with its group, or of what a group defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stay {
    /// It is there, as if there were no groups.
    #[default]
    Here,
    /// Another object's is there.
    Elsewhere,
    /// It came after the link that others are compared with.
    Guest,
    /// It has the relocations of another section, and is there if that has any; or it is the list of members of a
    /// group that is free; or no output has it, as what rustc keeps of its libraries for link-time optimisation.
    Beside,
}

impl Stay {
    fn of_header(shdr: &Shdr) -> Stay {
        let is_excluded = shdr.sh_flags() & (SHF_EXCLUDE | SHF_ALLOC | SHF_GROUP) == SHF_EXCLUDE;
        match shdr.sh_type() {
            SHT_RELA | SHT_REL | SHT_CREL => Stay::Beside,
            SHT_PROGBITS if is_excluded => Stay::Beside,
            _ => Stay::Here,
        }
    }
}

/// Which sections lost, are guests or have relocations, and which are free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostSections {
    /// By header index; empty if none lost, is a guest, has relocations or is free.
    all: Vec<Stay>,
    free: Free,
}

impl LostSections {
    /// By what became of each section, where what has moved is as it was ([`super::Sections::moved`]).
    pub fn by_kind(object: &Object, kind: impl Fn(u32) -> SectionKind) -> LostSections {
        let stay = |group: &Group| {
            let mut members = loaded(object, group).map(&kind).peekable();
            let stay = match members.peek() {
                Some(SectionKind::Discarded) => Stay::Elsewhere,
                Some(SectionKind::Guest) => Stay::Guest,
                _ => return Stay::Here,
            };
            let wanted = if stay == Stay::Guest { SectionKind::Guest } else { SectionKind::Discarded };
            if members.all(|kind| kind == wanted) { stay } else { Stay::Here }
        };
        Self::of(object, |_, group| stay(group))
    }

    /// By names: a group lost if it defines any, and all have another definition that counts, and is a guest if
    /// all that it defines are. `stay` says it of symbols.
    pub fn by_names(object: &Object, stay: impl Fn(u32) -> Stay) -> LostSections {
        // Of each group what its definitions say, if all say the same.
        let mut found: Vec<Option<Stay>> = vec![None; object.groups.len()];
        each_definition(object, |group, symbol| {
            let (stay, known) = (stay(symbol), &mut found[group]);
            *known = Some(if known.is_none_or(|known| known == stay) { stay } else { Stay::Here });
        });
        Self::of(object, |number, _| found[number].unwrap_or_default())
    }

    /// The same with what is said of each global symbol, in their order.
    pub fn by_globals(object: &Object, stays: &[Stay]) -> LostSections {
        let stay =
            |symbol: u32| symbol.checked_sub(object.first_global).and_then(|at| stays.get(at as usize));
        LostSections::by_names(object, |symbol| stay(symbol).copied().unwrap_or_default())
    }

    fn of(object: &Object, stay: impl Fn(usize, &Group) -> Stay) -> LostSections {
        let mut all: Vec<Stay> = object.shdrs.iter().map(Stay::of_header).collect();
        let mut are_any = all.contains(&Stay::Beside);
        for (number, group) in object.groups.iter().enumerate() {
            let stay = stay(number, group);
            if stay != Stay::Here {
                are_any = true;
                all[group.shndx as usize] = stay;
                for member in members(object, group) {
                    if all[member as usize] != Stay::Beside {
                        all[member as usize] = stay;
                    }
                }
            }
        }
        let free = free_sections::of(object, |group| all[group as usize] == Stay::Here);
        free.groups.iter().for_each(|group| all[*group as usize] = Stay::Beside);
        if !are_any && free.sections.is_empty() {
            all = Vec::new();
        }
        LostSections { all, free }
    }

    /// Whether a section has lost.
    pub fn contains(&self, section: u32) -> bool {
        self.stay(section) == Stay::Elsewhere
    }

    /// What becomes of a section with its group.
    pub fn stay(&self, section: u32) -> Stay {
        self.all.get(section as usize).copied().unwrap_or_default()
    }

    /// Whether a symbol is defined in a section that has lost.
    pub fn defines(&self, object: &Object, symbol: u32) -> bool {
        let Some(sym) = object.syms.get(symbol as usize).filter(|_| !self.all.is_empty()) else {
            return false;
        };
        matches!(object.place(symbol, sym), SymbolPlace::Section(section) if self.contains(section))
    }

    /// The groups of `object` that lost.
    pub fn groups<'o, 'a>(&'o self, object: &'o Object<'a>) -> impl Iterator<Item = &'o Group> + use<'o, 'a> {
        object.groups.iter().filter(|group| self.contains(group.shndx))
    }

    /// The number of each section of an object among those that did not lose, are no guests, have no relocations of
    /// others and are not free, [`NONE`] for the first three of these, and for groups that are free; free sections have
    /// numbers by their names. Empty if that is the header index of all.
    pub fn numbers(&self) -> Vec<u32> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let mut numbers = vec![0; self.all.len()];
        self.free.sections.iter().for_each(|(number, index)| numbers[*index as usize] = *number);
        let mut next = 0;
        for (number, stay) in numbers.iter_mut().zip(&self.all) {
            if *stay != Stay::Here {
                *number = NONE;
            } else if *number == 0 {
                *number = next;
                next += 1;
            }
        }
        numbers
    }

    /// The header indices of those that have numbers, in order of these.
    pub fn left(&self) -> Left {
        let mut left: Vec<(u32, u32)> =
            self.numbers().into_iter().zip(0..).filter(|(number, _)| *number != NONE).collect();
        left.sort_unstable();
        Left(left)
    }

    /// The free sections by their numbers, with their header indices.
    pub fn free(&self) -> &[(u32, u32)] {
        &self.free.sections
    }
}

/// Header indices by the numbers of sections.
pub struct Left(Vec<(u32, u32)>);

impl Left {
    /// The header index of the section of this number.
    pub fn find(&self, number: u32) -> Option<u32> {
        if self.0.is_empty() {
            return Some(number);
        }
        let at = self.0.binary_search_by_key(&number, |left| left.0).ok()?;
        Some(self.0[at].1)
    }
}

/// The header indices of a group's members.
pub fn members<'a>(object: &Object<'a>, group: &Group) -> impl Iterator<Item = u32> + use<'a> {
    let count = object.shdrs.len();
    let words = object.group_words(group.shndx).unwrap_or_default();
    words.members().filter(move |member| (*member as usize) < count)
}

/// Whether a group has nothing but code, its constants and tables, in sections that nobody looks for by their names: then
/// groups that define the same may stand for it, whatever they are called.
pub fn is_plain(object: &Object, group: &Group) -> bool {
    members(object, group).all(|member| {
        let shdr = &object.shdrs[member as usize];
        let name = object.section_name(member as usize).unwrap_or_default();
        match shdr.sh_type() {
            SHT_RELA | SHT_REL | SHT_CREL => true,
            SHT_PROGBITS if shdr.sh_flags() & SHF_ALLOC == 0 => name.starts_with(b".debug_"),
            _ => kind_of(shdr, name).is_some_and(|kind| kind != Kind::Variables),
        }
    })
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
pub fn loaded<'a>(object: &Object<'a>, group: &Group) -> impl Iterator<Item = u32> + use<'a> {
    let shdrs = object.shdrs;
    members(object, group).filter(move |member| shdrs[*member as usize].sh_flags() & SHF_ALLOC != 0)
}

//! Sections that are free to come, to go, and to lie elsewhere than those around them: of one function or variable each,
//! as compilers make them with `-ffunction-sections` and `-fdata-sections`, and rustc by itself; and those in which all
//! other functions, or variables, of an object are ([`bare`]), which come with the first variable.
//!
//! Nobody but their own object knows them by anything but symbols, and that they are there is decided by who refers to
//! them. So links that are compared with the one before ([`crate::relink`]) know them by their names, however many
//! there are in front of them ([`super::lost_groups::LostSections::numbers`]): a section whose name nobody had is new,
//! and lies in a yard ([`super::yards`]) or in what others have left; one that is gone leaves a *hole*. A full link that
//! is told of it has what lies in front of a hole be larger by that.
//!
//! Strings and constants that are merged with others are free, too, and have no place of their own; and words of
//! `.init_array`, whose places follow from the order of objects ([`super::init_array`]).
//!
//! So are lists of ranges and places in debug information ([`LISTS`]), which only its object's own refers to.
//!
//! COMDAT groups that stay, of functions, exception tables, constants and tables of pointers, are free as a whole: their
//! sections are known by their names and that of the group ([`GROUPED`]), and come and go with it. They must define a
//! name, as another object's group is known to have lost by that. Of several sections of an object with one name (or
//! one hash) none is free.

use std::cell::OnceCell;

use weld_common::hash::hash_bytes;

use super::init_array;
use super::lost_groups::{NONE, each_definition, members};
use super::rooms::WholeFunctions;
use super::yards::{Kind, MOST_ALIGN, is_zeroed, kind_of};
use crate::elf::*;
use crate::input::object::Object;

/// What tells numbers of free sections from those that are counted.
pub const FREE: u32 = 1 << 31;

/// Numbers of free sections that are members of groups have this, too.
const GROUPED: u32 = 1 << 30;

/// The number of an object's words of `.init_array`, which no hash is.
pub const INIT_ARRAY: u32 = FREE | (GROUPED - 1);

/// Debug information that an object may have or not, in a section each: what functions are made of that do not lie in one
/// piece, and where variables are that move.
pub const LISTS: [&[u8]; 5] =
    [b".debug_rnglists", b".debug_ranges", b".debug_loclists", b".debug_loc", b".debug_aranges"];

/// The number of the first of these.
const FIRST_LIST: u32 = INIT_ARRAY - LISTS.len() as u32;

/// Whether a free section of this number is one of these.
pub fn is_list(number: u32) -> bool {
    (FIRST_LIST..INIT_ARRAY).contains(&number)
}

/// The number of a section with this header and name, if it is one.
fn list(shdr: &Shdr, name: &[u8]) -> Option<u32> {
    let at = LISTS.iter().position(|list| *list == name)?;
    (shdr.sh_flags() & !SHF_COMPRESSED == 0).then_some(FIRST_LIST + at as u32)
}

/// Whether a free section of this number is a member of a group.
pub fn is_grouped(number: u32) -> bool {
    number & (FREE | GROUPED) == FREE | GROUPED && number != NONE
}

/// Larger ones are not: where they are cut when they are written counts for the build id.
const LARGEST: u64 = 32 << 10;

/// What a section with this header and name is, if it is free.
#[inline]
pub fn kind(shdr: &Shdr, name: &[u8]) -> Option<Kind> {
    const ASKED: u64 = SHF_ALLOC | SHF_MERGE | SHF_STRINGS | SHF_TLS | SHF_EXCLUDE | SHF_LINK_ORDER;
    let is_usual =
        matches!(shdr.sh_type(), SHT_PROGBITS | SHT_NOBITS) && shdr.sh_flags() & ASKED == SHF_ALLOC;
    if !is_usual || shdr.sh_size() > LARGEST {
        return None;
    }
    if let Some(kind) = bare(shdr, name) {
        return (shdr.sh_size() > 0 && shdr.sh_addralign() <= MOST_ALIGN).then_some(kind);
    }
    let kind = kind_of(shdr, name)?;
    if is_zeroed(shdr, name) {
        return Some(kind);
    }
    // Of what has no name of its own there may be several.
    let own = &name[kind.output().len()..];
    (own.len() > 1).then_some(kind)
}

/// What a section is that has no name of its own: there all functions, constants, variables or tables of exceptions of an
/// object are that have no section of their own. It is known by that name, be it empty, or too large to lie elsewhere.
#[inline]
pub fn bare(shdr: &Shdr, name: &[u8]) -> Option<Kind> {
    let is_zeroed =
        shdr.sh_type() == SHT_NOBITS && name == ZEROES && shdr.sh_flags() == Kind::Variables.flags();
    if is_zeroed {
        return Some(Kind::Variables);
    }
    let is_it = |kind: &Kind| kind.output() == name && shdr.sh_flags() == kind.flags();
    Kind::ALL.into_iter().find(|kind| shdr.sh_type() == SHT_PROGBITS && is_it(kind))
}

/// Where variables are that are zero at first.
const ZEROES: &[u8] = b".bss";

/// Whether a section with this header and name is free, and is merged with others: strings and constants. Compilers
/// name it by what it has in common with these.
#[inline]
pub fn is_merged(shdr: &Shdr, name: &[u8]) -> bool {
    const ASKED: u64 = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR | SHF_MERGE | SHF_GROUP | SHF_TLS | SHF_EXCLUDE;
    shdr.sh_type() == SHT_PROGBITS
        && shdr.sh_flags() & ASKED == SHF_ALLOC | SHF_MERGE
        && shdr.sh_size() > 0
        && name.starts_with(b".rodata.")
}

/// The number of a free section of this name, in no group, or in the one that is called so.
fn number(name: &[u8], group: Option<&[u8]>) -> u32 {
    let Some(group) = group else {
        // With all bits, and that of groups, it would be none.
        let hash = FREE | hash_bytes(name) as u32 & !GROUPED;
        return if (FIRST_LIST..=INIT_ARRAY).contains(&hash) { FREE } else { hash };
    };
    let both = hash_bytes(name).wrapping_mul(SPREAD) ^ hash_bytes(group);
    let hash = FREE | GROUPED | (both >> 32) as u32;
    if hash == NONE { FREE | GROUPED } else { hash }
}

/// Spreads hashes of names.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// What of an object is free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Free {
    /// The sections by their numbers, in order, with their header indices.
    pub sections: Vec<(u32, u32)>,
    /// The groups all of whose members are, by the header indices of these groups.
    pub groups: Vec<u32>,
}

/// A section that may be free, and the number of its group among those of its object.
type Candidate = (u32, Option<usize>, u32);

/// The free sections of an object. `is_here` says of groups, by their header indices, whether these stay.
pub fn of(object: &Object, is_here: impl Fn(u32) -> bool) -> Free {
    let mut all: Vec<Candidate> = Vec::new();
    let whole = OnceCell::new();
    for (index, shdr) in object.shdrs.iter().enumerate() {
        // Most are something else.
        let flags = shdr.sh_flags();
        let is_usual = matches!(shdr.sh_type(), SHT_PROGBITS | SHT_NOBITS | SHT_INIT_ARRAY);
        if !is_usual || flags & SHF_GROUP != 0 {
            continue;
        }
        let name = object.section_name(index).unwrap_or_default();
        if flags & SHF_ALLOC == 0 {
            all.extend(list(shdr, name).map(|number| (number, None, index as u32)));
            continue;
        }
        let is_free = match bare(shdr, name) {
            Some(kind) => {
                let whole = whole.get_or_init(|| WholeFunctions::of(object));
                whole.is_shared(index, kind, shdr.sh_size())
            }
            None => kind(shdr, name).is_some() || is_merged(shdr, name),
        };
        if is_free {
            all.push((number(name, None), None, index as u32));
        } else if init_array::is_one(shdr, name)
            && whole.get_or_init(|| WholeFunctions::of(object)).is_nameless(index)
        {
            all.push((INIT_ARRAY, None, index as u32));
        }
    }
    let mut groups = grouped(object, is_here, &mut all);
    all.sort_unstable();
    let same = |a: &Candidate, b: &Candidate| a.0 == b.0;
    if all.windows(2).any(|two| same(&two[0], &two[1])) {
        let several = |run: &&[Candidate]| run.len() > 1;
        let twice: Vec<Candidate> = all.chunk_by(same).filter(several).flatten().copied().collect();
        let is_of = |group: Option<usize>| group.is_some() && twice.iter().any(|(_, of, _)| *of == group);
        groups.retain(|group| !is_of(Some(*group)));
        all.retain(|one| !is_of(one.1) && twice.binary_search_by_key(&one.0, |twice| twice.0).is_err());
    }
    Free {
        sections: all.into_iter().map(|(number, _, index)| (number, index)).collect(),
        groups: groups.into_iter().map(|group| object.groups[group].shndx).collect(),
    }
}

/// Adds the sections of groups that are free; returns which these are.
fn grouped(object: &Object, is_here: impl Fn(u32) -> bool, all: &mut Vec<Candidate>) -> Vec<usize> {
    let here: Vec<usize> = (0..object.groups.len()).filter(|at| is_here(object.groups[*at].shndx)).collect();
    if here.is_empty() {
        return here;
    }
    let mut defines = vec![false; object.groups.len()];
    each_definition(object, |group, _| defines[group] = true);
    let may_be_free = |group: &usize| {
        let before = all.len();
        let signature = object.group_name(&object.groups[*group]);
        for member in members(object, &object.groups[*group]) {
            let shdr = &object.shdrs[member as usize];
            if matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL) {
                continue;
            }
            let name = object.section_name(member as usize).unwrap_or_default();
            if kind(shdr, name).is_none() {
                all.truncate(before);
                return false;
            }
            all.push((number(name, Some(signature)), Some(*group), member));
        }
        all.len() > before
    };
    here.into_iter().filter(|group| defines[*group]).filter(may_be_free).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(kind: u32, flags: u64, size: u64) -> Shdr {
        let mut header = [0; Shdr::SIZE];
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[8..16].copy_from_slice(&flags.to_le_bytes());
        header[32..40].copy_from_slice(&size.to_le_bytes());
        header[48] = 16;
        Shdr(header)
    }

    #[test]
    fn what_has_a_name_of_its_own_is_free() {
        const CODE: u64 = SHF_ALLOC | SHF_EXECINSTR;
        let kind_of = |name: &[u8], flags| kind(&section(SHT_PROGBITS, flags, 40), name);
        assert_eq!(kind_of(b".text._Z1fv", CODE), Some(Kind::Code));
        assert_eq!(kind_of(b".data.rel.ro..Lanon.3", SHF_ALLOC | SHF_WRITE), Some(Kind::Relocated));
        assert_eq!(kind_of(b".rodata..Lanon.3", SHF_ALLOC), Some(Kind::Constants));
        assert_eq!(kind_of(b".text._Z1fv", CODE | SHF_GROUP), Some(Kind::Code));
        assert_eq!(kind_of(b".gcc_except_table._Z1fv", SHF_ALLOC | SHF_GROUP), Some(Kind::ExceptionTables));
        assert_eq!(kind_of(b".gcc_except_table", SHF_ALLOC), Some(Kind::ExceptionTables));
        assert_eq!(kind_of(b".rodata._ZTS1x", SHF_ALLOC | SHF_GROUP), Some(Kind::Constants));
        let of_class = SHF_ALLOC | SHF_WRITE | SHF_GROUP;
        assert_eq!(kind_of(b".data.rel.ro._ZTV1x", of_class), Some(Kind::Relocated));
        assert_eq!(kind_of(b".data.x", SHF_ALLOC | SHF_WRITE), Some(Kind::Variables));
        let caught = kind_of(b".data.rel.local.DW.ref._ZTI1x", SHF_ALLOC | SHF_WRITE | SHF_GROUP);
        assert_eq!(caught, Some(Kind::Variables));
        let zeroed = |name: &[u8]| kind(&section(SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 8), name);
        assert_eq!(zeroed(b".bss.x"), Some(Kind::Variables));
        assert_eq!(zeroed(b".bss"), Some(Kind::Variables));
        assert_eq!(kind_of(b".text", CODE), Some(Kind::Code));
        assert_eq!(kind_of(b".data", SHF_ALLOC | SHF_WRITE), Some(Kind::Variables));
        for (name, flags) in [
            (&b".text."[..], CODE),
            (b".text._Z1fv", CODE | SHF_WRITE),
            (b".data.rel.local.DW.ref.__gxx_personality_v0", SHF_ALLOC | SHF_WRITE | SHF_GROUP),
            (b".data.x", SHF_ALLOC | SHF_WRITE | SHF_GROUP),
            (b".bss.x", SHF_ALLOC | SHF_WRITE),
            (b".rodata.cst16", SHF_ALLOC | SHF_MERGE),
            (b".debug_info.x", 0),
        ] {
            assert_eq!(kind_of(name, flags), None, "{}", String::from_utf8_lossy(name));
        }
        assert_eq!(kind(&section(SHT_PROGBITS, CODE, LARGEST + 1), b".text.f"), None);
        assert!(is_merged(&section(SHT_PROGBITS, SHF_ALLOC | SHF_MERGE, 16), b".rodata.cst16"));
        assert!(!is_merged(&section(SHT_PROGBITS, SHF_MERGE | SHF_STRINGS, 16), b".debug_str"));
    }
}

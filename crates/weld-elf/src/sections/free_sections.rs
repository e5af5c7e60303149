//! Sections of one function or variable each, which are free to come, to go, and to lie elsewhere than those around
//! them: what compilers make with `-ffunction-sections` and `-fdata-sections`, and rustc by itself.
//!
//! Nobody but their own object knows them by anything but symbols, and that they are there is decided by who refers to
//! them. So links that are compared with the one before ([`crate::relink`]) know them by their names, however many
//! there are in front of them ([`super::lost_groups::LostSections::numbers`]): a section whose name nobody had is new,
//! and lies in a yard ([`super::yards`]) or in what others have left; one that is gone leaves a *hole*. A full link that
//! is told of it has what lies in front of a hole be larger by that.
//!
//! Strings and constants that are merged with others are free, too, and have no place of their own.
//!
//! Functions of COMDAT groups that stay, and their exception tables, are known by their names, too, so that they can lie
//! elsewhere when they outgrow their room; but they come and go with their groups, and others know them by these
//! ([`GROUPED`]). Of several sections of an object with one name (or one hash) none is free.

use weld_common::hash::hash_bytes;

use super::lost_groups::NONE;
use super::yards::{Kind, kind_of};
use crate::elf::*;
use crate::input::object::Object;

/// What tells numbers of free sections from those that are counted.
pub const FREE: u32 = 1 << 31;

/// Numbers of free sections that are members of groups have this, too.
const GROUPED: u32 = 1 << 30;

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
    let is_usual = shdr.sh_type() == SHT_PROGBITS && shdr.sh_flags() & ASKED == SHF_ALLOC;
    if !is_usual || shdr.sh_size() > LARGEST {
        return None;
    }
    let kind = kind_of(shdr, name)?;
    if shdr.sh_flags() & SHF_GROUP != 0 && !matches!(kind, Kind::Code | Kind::ExceptionTables) {
        return None;
    }
    // Of what has no name of its own there may be several.
    let own = &name[kind.output().len()..];
    (own.len() > 1).then_some(kind)
}

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

/// The number of a free section of this name, in no group.
fn number(name: &[u8]) -> u32 {
    // With all bits, and that of groups, it would be none.
    let hash = FREE | hash_bytes(name) as u32 & !GROUPED;
    if hash | GROUPED == NONE { FREE } else { hash }
}

/// The free sections of an object by their numbers, in order, with their header indices. `is_here` says of members of
/// groups whether these stay.
pub fn of(object: &Object, is_here: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    for (index, shdr) in object.shdrs.iter().enumerate() {
        // Most are something else.
        let flags = shdr.sh_flags();
        if shdr.sh_type() != SHT_PROGBITS || flags & SHF_ALLOC == 0 {
            continue;
        }
        let is_grouped = flags & SHF_GROUP != 0;
        if is_grouped && !is_here(index as u32) {
            continue;
        }
        let name = object.section_name(index).unwrap_or_default();
        if kind(shdr, name).is_some() || is_merged(shdr, name) {
            all.push((number(name), is_grouped, index as u32));
        }
    }
    all.sort_unstable();
    let same = |a: &(u32, bool, u32), b: &(u32, bool, u32)| a.0 == b.0;
    if all.windows(2).any(|two| same(&two[0], &two[1])) {
        let twice: Vec<u32> = all.chunk_by(same).filter(|run| run.len() > 1).map(|run| run[0].0).collect();
        all.retain(|(number, ..)| !twice.contains(number));
    }
    let with_group =
        |(number, is_grouped, index)| (if is_grouped { number | GROUPED } else { number }, index);
    let mut all: Vec<(u32, u32)> = all.into_iter().map(with_group).collect();
    all.sort_unstable();
    all
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
        for (name, flags) in [
            (&b".text"[..], CODE),
            (b".text.", CODE),
            (b".text._Z1fv", CODE | SHF_WRITE),
            (b".rodata._Z1xv", SHF_ALLOC | SHF_GROUP),
            (b".data.rel.ro._ZTV1x", SHF_ALLOC | SHF_WRITE | SHF_GROUP),
            (b".data.x", SHF_ALLOC | SHF_WRITE),
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

//! The words of `.init_array`: functions that run when a program or a library starts, in the order of the objects that have
//! them.
//!
//! Links that are compared with the one before ([`crate::relink`]) know an object's section of this name as one that is free
//! to come and go ([`super::free_sections`]). As order counts, none may lie elsewhere: if one comes or goes, those behind it
//! move. So that nothing else does, the last words are *spare* ones, of a function that does nothing: they are in the
//! object that has yards (`relink/yard_object.rs`), and there are fewer of them where there are more of others.

use super::{InputSection, SectionKind, Sections};
use crate::elf::*;
use crate::ids::SectionId;
use crate::input::object::Object;

pub const NAME: &[u8] = b".init_array";

/// Bytes of a word: only links of 64 bits are relinked.
pub const WORD: u64 = 8;

/// Spare words of a full link.
pub const SPARE: u64 = 64;

/// Whether a section with this header and name has such words, in the order of objects and in no group.
pub fn is_one(shdr: &Shdr, name: &[u8]) -> bool {
    shdr.sh_type() == SHT_INIT_ARRAY
        && shdr.sh_flags() == SHF_ALLOC | SHF_WRITE
        && (1..=WORD).contains(&shdr.sh_addralign())
        && shdr.sh_size() > 0
        && shdr.sh_size().is_multiple_of(WORD)
        && name == NAME
}

/// Whether any object has such a section; programs that have none may start without a look at it.
pub fn are_any<'o>(sections: &Sections, objects: impl IntoIterator<Item = &'o Object<'o>>) -> bool {
    objects.into_iter().any(|object| find(sections, object).is_some())
}

/// The section of an object, if it takes part.
pub fn find(sections: &Sections, object: &Object) -> Option<SectionId> {
    let mut all = (0..).zip(object.shdrs).filter(|(_, shdr)| shdr.sh_type() == SHT_INIT_ARRAY);
    let id = |(index, _)| SectionId(object.section_base + index);
    all.find(|one| sections.get(id(*one)).kind() == SectionKind::Regular).map(id)
}

/// Has the object that has the spare ones have none.
pub fn leave_out(sections: &mut Sections, object: &Object) {
    if let Some(id) = find(sections, object) {
        sections.list[id.index()] = InputSection::default();
    }
}

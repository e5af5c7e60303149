//! Room for sections that no object had when a link was made, so that a later one that relinks
//! ([`crate::relink`]) finds place for them: instances of templates and inline functions, with their COMDAT groups.
//!
//! A *yard* is such room: behind the bytes of one section, its *host*, there is some for *guests*. A
//! host is a section like others, only larger, so nothing of a layout knows of yards; and who writes the host writes
//! the guests behind it. Hosts are those of an object that is made for that (`relink/yard_object.rs`). There are yards in
//! the output sections of code, of exception tables, of constants, of tables of pointers and of variables; variables that are zero at first lie among the others there.
//! Where a guest lies is decided by who relinks, and told to a full link that is compared with that.

use std::collections::HashMap;

use super::free_sections;
use super::lost_groups::{Left, LostSections, loaded};
use super::{SectionKind, Sections};
use crate::elf::*;
use crate::ids::{FileId, SectionId};
use crate::input::object::Object;
use crate::resolve::comdat::is_pointer;

/// What a yard is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Code = 0,
    ExceptionTables = 1,
    Constants = 2,
    /// What the loader relocates and protects.
    Relocated = 3,
    /// Variables of their own.
    Variables = 4,
}

impl Kind {
    pub const ALL: [Kind; 5] =
        [Kind::Code, Kind::ExceptionTables, Kind::Constants, Kind::Relocated, Kind::Variables];

    /// The output section that it is in.
    pub fn output(self) -> &'static [u8] {
        match self {
            Kind::Code => b".text",
            Kind::ExceptionTables => b".gcc_except_table",
            Kind::Constants => b".rodata",
            Kind::Relocated => b".data.rel.ro",
            Kind::Variables => b".data",
        }
    }

    /// The flags of what lies there.
    pub fn flags(self) -> u64 {
        match self {
            Kind::Code => SHF_ALLOC | SHF_EXECINSTR,
            Kind::ExceptionTables | Kind::Constants => SHF_ALLOC,
            Kind::Relocated | Kind::Variables => SHF_ALLOC | SHF_WRITE,
        }
    }

    /// How many yards there are in a link of so many objects.
    pub fn count(self, objects: usize) -> usize {
        (objects / self.size().1 + LEAST_YARDS).min(YARDS)
    }

    /// What hosts are aligned to: guests ask for no more.
    pub fn align(self) -> u64 {
        match self {
            Kind::ExceptionTables => 16,
            Kind::Code | Kind::Constants | Kind::Relocated | Kind::Variables => MOST_ALIGN,
        }
    }

    /// Bytes of each yard, and objects that there is another one for.
    fn size(self) -> (u64, usize) {
        match self {
            Kind::Code => (64 << 10, 256),
            Kind::ExceptionTables => (4 << 10, 256),
            Kind::Constants => (16 << 10, 512),
            Kind::Relocated => (8 << 10, 512),
            Kind::Variables => (8 << 10, 256),
        }
    }
}

/// The kind of yard that a section may lie in.
pub fn kind_of(shdr: &Shdr, name: &[u8]) -> Option<Kind> {
    let is_named = |kind: &Kind| {
        let rest = name.strip_prefix(kind.output());
        rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'.')
    };
    let is_it = |kind: &Kind| shdr.sh_flags() & !SHF_GROUP == kind.flags() && is_named(kind);
    let is_some = shdr.sh_size() > 0 && shdr.sh_addralign() <= MOST_ALIGN;
    let is_plain = is_some && shdr.sh_type() == SHT_PROGBITS;
    if is_some && is_zeroed(shdr, name) {
        return Some(Kind::Variables);
    }
    // Those of groups are not just any copy: programs may have changed what others see. But nobody changes pointers to types
    // that are caught.
    let may_be = |kind: &Kind| {
        *kind != Kind::Variables || shdr.sh_flags() & SHF_GROUP == 0 || is_pointer_to_type(name)
    };
    Kind::ALL.into_iter().find(|kind| is_plain && is_it(kind) && may_be(kind))
}

/// Whether a section of this name has a pointer to what an exception table names, but to no routine that unwinds: of these
/// the last object's stay.
fn is_pointer_to_type(name: &[u8]) -> bool {
    let at = memchr::memmem::find(name, b".DW.ref.");
    at.is_some_and(|at| !is_pointer(&name[at + 1..]))
}

/// Whether a section is a variable that is zero at first: it has no bytes, and a name of its own.
pub fn is_zeroed(shdr: &Shdr, name: &[u8]) -> bool {
    shdr.sh_type() == SHT_NOBITS
        && shdr.sh_flags() == SHF_ALLOC | SHF_WRITE
        && name.len() > ZEROED.len()
        && name.starts_with(ZEROED)
}

/// What such sections are called, before their names.
pub const ZEROED: &[u8] = b".bss.";

/// Guests ask for no larger alignment.
pub const MOST_ALIGN: u64 = 64;

/// Room for guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yard {
    pub kind: Kind,
    pub host: SectionId,
    /// Where in the host it begins; it ends where the host does.
    pub start: u64,
}

/// A section that lies in a yard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guest {
    pub host: SectionId,
    /// Where in the host it begins.
    pub offset: u64,
    pub section: SectionId,
}

/// At least and at most so many yards of a kind. What an object uses of a library for the first time, as a map of Rust's,
/// may bring 30 KB of code.
const LEAST_YARDS: usize = 3;
const YARDS: usize = 8;

/// Makes yards of the sections of the object that is there for that. With gc, these are kept.
pub fn make(sections: &mut Sections, object: &Object, gc: bool) {
    for (index, shdr) in object.shdrs.iter().enumerate() {
        let host = SectionId(object.section_base + index as u32);
        let name = object.section_name(index).unwrap_or_default();
        let slot = sections.list.get_mut(host.index()).filter(|slot| slot.kind() == SectionKind::Regular);
        if let Some((kind, slot)) = kind_of(shdr, name).zip(slot) {
            sections.yards.push(Yard { kind, host, start: slot.size });
            slot.size += kind.size().0;
            if gc {
                sections.last_kept.push(host);
            }
        }
    }
}

/// The number of a guest that is in no group: it is known by its name.
pub const IN_NO_GROUP: u32 = u32::MAX;

/// A guest of a link that is to be made once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastGuest {
    /// Its object, the signature of its group, and its number among the members of that in memory; or its name, and
    /// [`IN_NO_GROUP`].
    pub file: FileId,
    pub group: Vec<u8>,
    pub number: u32,
    /// The object of its host, and the number of that among its sections that are no guests ([`LostSections`]).
    pub host: (FileId, u32),
    pub offset: u64,
}

/// The header index of a guest that is known by its group and number in that, or by its name.
pub fn member(object: &Object, group: &[u8], number: u32) -> Option<u32> {
    if number == IN_NO_GROUP {
        let is_it = |index: &usize| {
            let shdr = &object.shdrs[*index];
            object.section_name(*index) == Some(group)
                && (free_sections::kind(shdr, group).is_some() || free_sections::is_merged(shdr, group))
        };
        let mut found = (0..object.shdrs.len()).filter(is_it);
        // A group that has lost may have another one.
        return found.next().filter(|_| found.next().is_none()).map(|index| index as u32);
    }
    let group = object.groups.iter().find(|known| object.group_name(known) == group)?;
    loaded(object, group).nth(number as usize)
}

/// Has sections be guests where they were in another link. What is not there any more, or lost with its group,
/// is none; that makes a difference which is seen.
pub fn take_in(sections: &mut Sections, objects: &[Object], guests: &[LastGuest]) {
    let find = |file| objects.iter().find(|object| object.file == file);
    let mut found = Vec::with_capacity(guests.len());
    for guest in guests {
        let Some(object) = find(guest.file) else { continue };
        let Some(member) = member(object, &guest.group, guest.number) else { continue };
        let id = SectionId(object.section_base + member);
        // What nothing was there to be merged with lies by itself.
        if matches!(sections.get(id).kind(), SectionKind::Regular | SectionKind::Merge | SectionKind::NoBits)
        {
            sections.list[id.index()].set_kind(SectionKind::Guest);
            if guest.number == IN_NO_GROUP {
                sections.moved.push(id);
            }
            found.push((id, guest));
        }
    }
    sections.moved.sort_unstable_by_key(|id| id.0);
    let mut left: HashMap<FileId, Left> = HashMap::new();
    for (section, guest) in found {
        let Some(object) = find(guest.host.0) else { continue };
        let kind = |index| sections.kind_before(SectionId(object.section_base + index));
        let left = left.entry(guest.host.0).or_insert_with(|| LostSections::by_kind(object, kind).left());
        let index = left.find(guest.host.1).filter(|index| (*index as usize) < object.shdrs.len());
        if let Some(index) = index {
            let host = SectionId(object.section_base + index);
            // What is zero at first would be elsewhere.
            let bin = sections.get(host).bin();
            sections.list[section.index()].set_bin(bin);
            sections.guests.push(Guest { host, offset: guest.offset, section });
        }
    }
    sections.guests.sort_unstable_by_key(|guest| (guest.host.0, guest.offset));
}

/// What a section of this kind was before those of a list have moved.
pub(super) fn before_move(moved: &[SectionId], id: SectionId, kind: SectionKind) -> SectionKind {
    let has_moved = kind == SectionKind::Guest && moved.binary_search_by_key(&id.0, |moved| moved.0).is_ok();
    if has_moved { SectionKind::Regular } else { kind }
}

impl Sections<'_> {
    /// Gives guests their addresses, when hosts have theirs.
    pub fn place_guests(&mut self) {
        for Guest { host, offset, section } in &self.guests {
            let address = self.list[host.index()].address().wrapping_add(*offset);
            self.list[section.index()].set_address(address);
        }
    }

    /// What a section was before it moved.
    pub fn kind_before(&self, id: SectionId) -> SectionKind {
        before_move(&self.moved, id, self.get(id).kind())
    }

    /// The guests of a host.
    pub fn guests_of(&self, host: SectionId) -> &[Guest] {
        let first = self.guests.partition_point(|guest| guest.host.0 < host.0);
        let count = self.guests[first..].iter().take_while(|guest| guest.host == host).count();
        &self.guests[first..first + count]
    }
}

//! Room for sections that no object had when a link was made, so that a later one that relinks
//! ([`crate::relink`]) finds place for them: instances of templates and inline functions, with their COMDAT groups.
//!
//! A *yard* is such room: behind the room of one section, its *host* ([`super::rooms`]), there is some for *guests*. A
//! host is a section like others, only larger, so nothing of a layout knows of yards; and who writes the host writes
//! the guests behind it. There are yards in the output sections of code, of exception tables and of constants.
//! Where a guest lies is decided by who relinks, and told to a full link that is compared with that.

use super::lost_groups::{LostSections, loaded};
use super::rooms::{Filler, WholeFunctions, filler};
use super::{InputSection, SectionKind, Sections};
use crate::elf::*;
use crate::ids::{FileId, SectionId};
use crate::input::object::Object;

/// What a yard is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Code = 0,
    ExceptionTables = 1,
    Constants = 2,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Code, Kind::ExceptionTables, Kind::Constants];

    /// The output section that it is in.
    fn output(self) -> &'static [u8] {
        match self {
            Kind::Code => b".text",
            Kind::ExceptionTables => b".gcc_except_table",
            Kind::Constants => b".rodata",
        }
    }

    /// The flags of what lies there.
    fn flags(self) -> u64 {
        match self {
            Kind::Code => SHF_ALLOC | SHF_EXECINSTR,
            Kind::ExceptionTables | Kind::Constants => SHF_ALLOC,
        }
    }

    /// What lies between guests, and where there are none.
    fn filler(self) -> Filler {
        match self {
            Kind::Code => Filler::Code,
            Kind::ExceptionTables => Filler::Zeroes,
            Kind::Constants => Filler::Constants,
        }
    }

    /// Bytes of each yard, and objects that there is another one for.
    fn size(self) -> (u64, usize) {
        match self {
            Kind::Code => (32 << 10, 256),
            Kind::ExceptionTables => (2 << 10, 256),
            Kind::Constants => (4 << 10, 512),
        }
    }
}

/// The kind of yard that a section of a group may lie in.
pub fn kind_of(shdr: &Shdr, name: &[u8]) -> Option<Kind> {
    let is_named = |kind: &Kind| {
        let rest = name.strip_prefix(kind.output());
        rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'.')
    };
    let is_it = |kind: &Kind| shdr.sh_flags() & !SHF_GROUP == kind.flags() && is_named(kind);
    let is_plain = shdr.sh_type() == SHT_PROGBITS && shdr.sh_size() > 0 && shdr.sh_addralign() <= MOST_ALIGN;
    Kind::ALL.into_iter().find(|kind| is_plain && is_it(kind))
}

/// Guests ask for no larger alignment.
const MOST_ALIGN: u64 = 64;

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

/// At most so many yards of a kind, and objects that are looked at for hosts.
const YARDS: usize = 8;
const LOOKED_AT: usize = 256;

/// Hosts are no larger than this with their yards.
const LARGEST_HOST: u64 = 256 << 10;

/// Makes yards at the end of sections of the last objects, which have their room.
pub fn make(sections: &mut Sections, objects: &[Object]) {
    let mut left = Kind::ALL.map(|kind| (objects.len() / kind.size().1 + 1).min(YARDS));
    for object in objects.iter().rev().take(LOOKED_AT) {
        if left == [0; 3] {
            break;
        }
        let mut whole = None;
        // One of a kind, so that an object that changes has little of them all.
        let mut is_taken = [false; 3];
        for (index, shdr) in object.shdrs.iter().enumerate() {
            let id = SectionId(object.section_base + index as u32);
            let Some(slot) = sections.list.get(id.index()) else { continue };
            let name = object.section_name(index).unwrap_or_default();
            let Some(kind) = host_for(shdr, name, slot).filter(|kind| left[*kind as usize] > 0) else {
                continue;
            };
            let in_output = sections.bins.get(slot.bin().index()) == Some(&kind.output());
            let whole = whole.get_or_insert_with(|| WholeFunctions::of(object));
            let (start, size) = (slot.size, kind.size().0);
            let may = in_output
                && !std::mem::replace(&mut is_taken[kind as usize], true)
                && start + size <= LARGEST_HOST
                && whole.allow(kind.filler(), index, shdr.sh_size());
            if may {
                sections.yards.push(Yard { kind, host: id, start });
                sections.list[id.index()].size = start + size;
                left[kind as usize] -= 1;
            }
        }
    }
}

/// What a section may be a host for, if it has room.
fn host_for(shdr: &Shdr, name: &[u8], slot: &InputSection) -> Option<Kind> {
    let kind = kind_of(shdr, name)?;
    let is_host = slot.kind() == SectionKind::Regular
        && shdr.sh_flags() & SHF_GROUP == 0
        && slot.size > shdr.sh_size()
        && filler(shdr, name) == Some(kind.filler());
    is_host.then_some(kind)
}

/// A guest of a link that is to be made once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastGuest {
    /// Its object, the signature of its group, and its number among the members of that in memory.
    pub file: FileId,
    pub group: Vec<u8>,
    pub number: u32,
    /// The object of its host, and the number of that among its sections that are no guests ([`LostSections`]).
    pub host: (FileId, u32),
    pub offset: u64,
}

/// Has sections be guests where they were in another link. What is not there any more, or lost with its group,
/// is none; that makes a difference which is seen.
pub fn take_in(sections: &mut Sections, objects: &[Object], guests: &[LastGuest]) {
    let find = |file| objects.iter().find(|object| object.file == file);
    let mut found = Vec::with_capacity(guests.len());
    for guest in guests {
        let Some(object) = find(guest.file) else { continue };
        let group = object.groups.iter().find(|group| object.group_name(group) == guest.group);
        let Some(member) = group.and_then(|group| loaded(object, group).nth(guest.number as usize)) else {
            continue;
        };
        let id = SectionId(object.section_base + member);
        if sections.get(id).kind() == SectionKind::Regular {
            sections.list[id.index()].set_kind(SectionKind::Guest);
            found.push((id, guest));
        }
    }
    for (section, guest) in found {
        let Some(object) = find(guest.host.0) else { continue };
        let kind = |index| sections.get(SectionId(object.section_base + index)).kind();
        let left = LostSections::by_kind(object, kind).left();
        let index = match left {
            Some(left) => left.get(guest.host.1 as usize).copied(),
            None => Some(guest.host.1).filter(|index| (*index as usize) < object.shdrs.len()),
        };
        if let Some(index) = index {
            let host = SectionId(object.section_base + index);
            sections.guests.push(Guest { host, offset: guest.offset, section });
        }
    }
    sections.guests.sort_unstable_by_key(|guest| (guest.host.0, guest.offset));
}

impl Sections<'_> {
    /// Gives guests their addresses, when hosts have theirs.
    pub fn place_guests(&mut self) {
        for Guest { host, offset, section } in &self.guests {
            let address = self.list[host.index()].address().wrapping_add(*offset);
            self.list[section.index()].set_address(address);
        }
    }

    /// The guests of a host.
    pub fn guests_of(&self, host: SectionId) -> &[Guest] {
        let first = self.guests.partition_point(|guest| guest.host.0 < host.0);
        let count = self.guests[first..].iter().take_while(|guest| guest.host == host).count();
        &self.guests[first..first + count]
    }
}

//! What objects contribute to the headers of output sections: one summary an object and output section.

use super::is_array;
use super::names::LOCAL_NAME;
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::ids::*;
use crate::sections::bins::BINS;

/// The type of an output section, while those of input sections are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct JoinedKind {
    /// What all have, or data.
    kind: u32,
    /// The first type of arrays of functions among them; or 0.
    array: u32,
    /// They have several.
    mixed: bool,
}

impl JoinedKind {
    pub fn new(kind: u32) -> JoinedKind {
        JoinedKind { kind, array: if is_array(kind) { kind } else { 0 }, mixed: false }
    }

    #[inline]
    pub fn join(&mut self, other: JoinedKind) {
        if *self != other {
            self.kind = if self.kind == other.kind { self.kind } else { SHT_PROGBITS };
            self.array = if self.array == 0 { other.array } else { self.array };
            self.mixed = true;
        }
    }

    /// Whether not all had the same type.
    pub fn is_mixed(self) -> bool {
        self.mixed
    }

    pub fn has_array(self) -> bool {
        self.array != 0
    }

    pub fn is(self, kind: u32) -> bool {
        self.kind == kind
    }

    /// The type of the output section of this name: only one that is an array by name still is with other
    /// data in it.
    pub fn in_section(self, name: &[u8]) -> u32 {
        match name {
            b".init_array" | b".fini_array" | b".preinit_array" if self.has_array() => self.array,
            _ => self.kind,
        }
    }
}

/// What an object contributes to an output section's header.
#[derive(Clone, Copy)]
pub struct OutputUse {
    pub bin: PlacementId,
    pub kind: JoinedKind,
    /// Flags that any, and that every, input section has.
    pub any_flags: u64,
    pub all_flags: u64,
    /// Whether those with bytes have some that are no code, or may be read.
    pub has_data: bool,
    pub is_read: bool,
    /// Common entry size, or 0.
    pub entsize: u64,
}

impl OutputUse {
    /// What a section with this header contributes.
    pub fn new(bin: PlacementId, machine: &Facts, shdr: &Shdr) -> OutputUse {
        let flags = shdr.sh_flags();
        let kind = JoinedKind::new(machine.plain_section(shdr.sh_type()));
        let unread = machine.execute_only;
        let has_bytes = unread != 0 && shdr.sh_size() != 0;
        OutputUse {
            bin,
            kind,
            any_flags: flags,
            all_flags: flags,
            has_data: has_bytes && flags & SHF_EXECINSTR == 0,
            is_read: has_bytes && flags & unread == 0,
            entsize: shdr.sh_entsize(),
        }
    }

    /// Whether some input sections of it ask for other rights or another type than others do.
    pub fn is_mixed(&self) -> bool {
        const RIGHTS: u64 = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR | SHF_TLS;
        (self.any_flags ^ self.all_flags) & RIGHTS != 0 || self.kind.is_mixed()
    }

    pub fn join(&mut self, other: &OutputUse) {
        self.kind.join(other.kind);
        self.any_flags |= other.any_flags;
        self.all_flags &= other.all_flags;
        self.has_data |= other.has_data;
        self.is_read |= other.is_read;
        if self.entsize != other.entsize {
            self.entsize = 0;
        }
    }
}

/// The contributions of an object, or of a slice of one, in the order in which output sections were first
/// named.
#[derive(Default)]
pub(super) struct Uses {
    pub(super) list: Vec<OutputUse>,
    /// Where in `list` that of each output section is, by its name: well-known ones first, then the object's
    /// own.
    places: Vec<Option<u32>>,
    /// Bins that a script has besides the well-known ones.
    script_bins: usize,
}

impl Uses {
    pub(super) fn new(script_bins: usize) -> Uses {
        Uses { script_bins, ..Uses::default() }
    }

    pub(super) fn add(&mut self, mine: &OutputUse) {
        let own = mine.bin.0.checked_sub(LOCAL_NAME);
        let name = own.map_or(mine.bin.index(), |own| BINS.len() + self.script_bins + own as usize);
        if self.places.len() <= name {
            self.places.resize(name + 1, None);
        }
        match self.places[name] {
            Some(place) => self.list[place as usize].join(mine),
            None => {
                self.places[name] = Some(self.list.len() as u32);
                self.list.push(*mine);
            }
        }
    }

    /// Takes in what a later slice of the object contributes, numbered alike.
    pub(super) fn join(&mut self, later: Uses) {
        later.list.iter().for_each(|mine| self.add(mine));
    }

    /// Gives the object's own names the numbers in `number`. Nothing can be added afterwards.
    pub(super) fn renumber(&mut self, number: &[PlacementId]) {
        renumber(&mut self.list, number);
        self.places = Vec::new();
    }
}

/// As [`super::InputSection::renumber`].
pub(super) fn renumber(uses: &mut [OutputUse], number: &[PlacementId]) {
    for mine in uses.iter_mut().filter(|mine| mine.bin.0 >= LOCAL_NAME) {
        mine.bin = number[(mine.bin.0 - LOCAL_NAME) as usize];
    }
}

//! Room to grow: sections that a link makes larger than they are, so that a later one that relinks
//! ([`crate::relink`]) finds place for what they have become, and nothing else moves.
//!
//! Whether a section may have room follows from its header: it must be one that nobody takes for a table that
//! ends where the section does. What lies behind its bytes must mean nothing to whoever reads it
//! ([`Filler`]). How much room there is follows from its size, or from the link before, where that is to be
//! made once more. From here on the section is as large as its bytes and the room together, for the layout
//! and for all others but those who copy it ([`crate::emit`]).
//!
//! Of code only what compilers make of functions has room: functions with sizes, which fill their section, and
//! no other labels. Assembly may run from one section into the next, or have tables in them that begin with one
//! object's label and end with another's. So of constants only those of objects that have such functions have
//! room, and no labels in them but variables ([`WholeFunctions`]).
//!
//! An edit changes few functions of an object, by some instructions each, and what belongs to them: so what
//! counts is a fixed number of bytes, and a share only for what is large. There are many functions of COMDAT groups,
//! most of which are edited seldom, so they get little; but classes whose functions are all inline lie in
//! source files, too, so in objects that are likely to be edited next they get what others get. Merged strings and constants have room at the end of each part, for those that no object had
//! ([`room_of_pieces`]). What an object has in tables of the whole image (symbols, their names, frames) lies there
//! in a run, which has room at its end ([`Runs`]).
//!
//! Specification: DWARF 5, sections 6.2 (line tables), 7.5 (units) and 7.28 (range lists).

use std::cell::OnceCell;
use std::collections::HashMap;

use weld_common::merge::tag_of;
use weld_common::{par, trace};

use super::free_sections::bare;
use super::lost_groups::LostSections;
use super::yards::{Kind, before_move};
use super::{InputSection, SectionKind, Sections};
use crate::elf::*;
use crate::ids::{FileId, SectionId};
use crate::input::object::{Object, SymbolPlace};

/// What lies behind a section's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filler {
    /// What the machine has between functions.
    Code,
    /// Zeroes, between constants that the object's code knows of.
    Constants,
    /// Zeroes, between variables of compilers.
    Variables,
    /// Others have pointers to what is in the section, so nobody looks behind it.
    Zeroes,
    /// The section is units, each with its length in front. The last one ends with so many of these.
    Units(u8),
    /// The section is tables of addresses, the last of which has pairs more that no code is at.
    Pairs,
}

/// An operation of line tables that makes no row: `DW_LNS_set_basic_block`.
const NO_ROW: u8 = 7;

/// Bytes of an address and a length.
const PAIR: u64 = 16;

/// Larger sections, in bytes, have no room: they are cut when they are written.
const LARGEST: u64 = 2 << 20;

/// How much room a section has.
struct Room {
    /// In bytes.
    fixed: u64,
    /// And one byte for so many of the section's own.
    share: u64,
    /// The size with room is a multiple of this.
    multiple: u64,
}

/// Behind its last function, code may have so many bytes less than this that align what follows.
const PADDING: u64 = 16;

/// Where in each section of an object the last function ends; 0 if there is none.
pub struct WholeFunctions {
    /// [`Self::LABELS`] if there are labels of other kinds.
    ends: Vec<u64>,
    /// Sections that have variables, and global symbols.
    variables: Vec<bool>,
    globals: Vec<bool>,
    /// There is a function with a size.
    are_any: bool,
    /// A compiler says that it has made the object, in `.comment`: assembly has no such section.
    is_compiled: bool,
}

impl WholeFunctions {
    const LABELS: u64 = u64::MAX;

    pub fn of(object: &Object) -> WholeFunctions {
        let mut ends = vec![0; object.shdrs.len()];
        let mut variables = vec![false; object.shdrs.len()];
        let mut globals = vec![false; object.shdrs.len()];
        let mut are_any = false;
        let is_comment = |(index, shdr): (usize, &Shdr)| {
            shdr.sh_flags() & SHF_MERGE != 0 && object.section_name(index) == Some(b".comment")
        };
        let is_compiled = object.shdrs.iter().enumerate().any(is_comment);
        for (index, symbol) in (0..).zip(object.syms) {
            let SymbolPlace::Section(section) = object.place(index, symbol) else { continue };
            let Some(end) = ends.get_mut(section as usize) else { continue };
            let size = symbol.st_size();
            globals[section as usize] |= index >= object.first_global;
            match symbol.kind() {
                STT_SECTION | STT_FILE => {}
                STT_FUNC | STT_GNU_IFUNC if size > 0 => {
                    are_any = true;
                    *end = (*end).max(symbol.st_value().saturating_add(size));
                }
                // `$x` and `$d` say what the bytes are.
                STT_NOTYPE if object.symbol_name(index).starts_with(b"$") => {}
                STT_OBJECT if size > 0 => variables[section as usize] = true,
                _ => *end = Self::LABELS,
            }
        }
        WholeFunctions { ends, variables, globals, are_any, is_compiled }
    }

    /// Whether a section has global symbols.
    pub fn is_known(&self, section: usize) -> bool {
        self.globals.get(section) != Some(&false)
    }

    /// Whether nobody runs from a section that an object's functions, variables or tables share into the next one, or takes
    /// it for a part of a table: a compiler made it, and there are no labels in it.
    pub(super) fn is_shared(&self, section: usize, kind: Kind, size: u64) -> bool {
        let end = self.ends.get(section).copied().unwrap_or(Self::LABELS);
        let has_variables = self.variables.get(section).copied().unwrap_or(true);
        self.is_compiled
            && match kind {
                _ if size == 0 => end == 0 && !has_variables,
                Kind::Code => self.allow(Filler::Code, section, size),
                Kind::Variables | Kind::Constants | Kind::Relocated => end == 0,
                Kind::ExceptionTables => true,
            }
    }

    /// Whether a compiler has made a section, and nothing in it has a name, by which it could be referred to.
    pub(super) fn is_nameless(&self, section: usize) -> bool {
        self.is_compiled && self.ends.get(section) == Some(&0) && self.variables.get(section) == Some(&false)
    }

    /// Whether a section with `filler` behind it, of this number and size, may have room.
    pub(super) fn allow(&self, filler: Filler, section: usize, size: u64) -> bool {
        let end = self.ends.get(section).copied().unwrap_or(Self::LABELS);
        let has_variables = self.variables.get(section).copied().unwrap_or(true);
        match filler {
            Filler::Code => !has_variables && (1..=size).contains(&end) && size - end < PADDING,
            Filler::Constants => self.are_any && end == 0,
            // Clang's pointers to types that are caught have no names.
            Filler::Variables => self.is_compiled && end == 0,
            Filler::Zeroes | Filler::Units(_) | Filler::Pairs => true,
        }
    }
}

/// What follows the section of this number, header and name, if it may have room.
pub fn may_grow(whole: &WholeFunctions, section: usize, shdr: &Shdr, name: &[u8]) -> Option<Filler> {
    filler(shdr, name).filter(|filler| whole.allow(*filler, section, shdr.sh_size()))
}

/// What sections with room are aligned to at least, if no group has them: a function or a constant more may ask for
/// that. Compilers align tables of 32 bytes and more to 32.
pub fn alignment(shdr: &Shdr, name: &[u8], filler: Filler) -> u64 {
    match filler {
        _ if shdr.sh_flags() & SHF_GROUP != 0 => 1,
        Filler::Constants if name == b".rodata" => 32,
        Filler::Code | Filler::Constants | Filler::Variables => 16,
        Filler::Zeroes if shdr.sh_flags() & SHF_ALLOC != 0 => 4,
        Filler::Zeroes | Filler::Units(_) | Filler::Pairs => 1,
    }
}

/// What follows the bytes of a section with this header and name that may have room.
pub fn filler(shdr: &Shdr, name: &[u8]) -> Option<Filler> {
    room(shdr, name, true).map(|(filler, _)| filler)
}

/// With `is_little`, code and tables of groups have little.
fn room(shdr: &Shdr, name: &[u8], is_little: bool) -> Option<(Filler, Room)> {
    const LITTLE: u64 = 16;
    let some = |filler, share, fixed| Some((filler, Room { share, fixed, multiple: 1 }));
    // Variables that no section of their own has.
    match (shdr.sh_type(), shdr.sh_flags()) {
        (SHT_NOBITS, VARIABLES) if name == b".bss" => return some(Filler::Variables, 4, 64),
        (SHT_PROGBITS, VARIABLES) if name == b".data" => return some(Filler::Variables, 8, 32),
        (SHT_PROGBITS, _) => {}
        _ => return None,
    }
    let grouped = shdr.sh_flags() & SHF_GROUP != 0;
    match shdr.sh_flags() & !(SHF_GROUP | SHF_LINK_ORDER) {
        flags if flags == SHF_ALLOC | SHF_EXECINSTR && is_or_begins(name, b".text") => {
            match grouped && is_little {
                true => some(Filler::Code, LITTLE, LITTLE),
                false => some(Filler::Code, 4, 128),
            }
        }
        // rustc names constants by what they are.
        SHF_ALLOC if !grouped && is_or_begins(name, b".rodata") && !name.starts_with(b".rodata..L") => {
            some(Filler::Constants, 8, if name.len() == b".rodata".len() { 64 } else { LITTLE })
        }
        SHF_ALLOC if is_or_begins(name, b".gcc_except_table") => match grouped && is_little {
            true => some(Filler::Zeroes, LITTLE, 4),
            false => some(Filler::Zeroes, 4, 48),
        },
        0 | SHF_COMPRESSED if !grouped => match name {
            b".debug_info" => some(Filler::Units(0), 64, 384),
            b".debug_line" => some(Filler::Units(NO_ROW), 32, 192),
            b".debug_loclists" | b".debug_rnglists" => some(Filler::Units(0), 16, 64),
            // What is named in a unit, behind whose last name there is a zero.
            b".debug_pubnames" | b".debug_pubtypes" | b".debug_gnu_pubnames" | b".debug_gnu_pubtypes" => {
                some(Filler::Units(0), 16, 96)
            }
            b".debug_addr" => Some((Filler::Units(0), Room { share: 32, fixed: 32, multiple: 8 })),
            b".debug_str_offsets" => Some((Filler::Units(0), Room { share: 32, fixed: 64, multiple: 8 })),
            b".debug_aranges" => Some((Filler::Pairs, Room { share: 16, fixed: 192, multiple: PAIR })),
            b".debug_loc" => some(Filler::Zeroes, 16, 128),
            // Pairs of addresses.
            b".debug_ranges" => Some((Filler::Zeroes, Room { share: 16, fixed: 256, multiple: 16 })),
            b".debug_abbrev" => some(Filler::Zeroes, 16, 128),
            _ => None,
        },
        _ => None,
    }
}

/// The flags of variables.
const VARIABLES: u64 = SHF_ALLOC | SHF_WRITE;

/// Whether a section is called `name`, or so with something after a dot.
fn is_or_begins(section: &[u8], name: &[u8]) -> bool {
    section.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest[0] == b'.')
}

/// Where the merged pieces of a part went in another link.
#[derive(Clone, Debug, Default)]
pub struct LastPieces {
    /// By what pieces are found by ([`weld_common::merge::tag_of`]).
    pub by_tag: HashMap<u32, Vec<u32>>,
    /// What the part was.
    pub bytes: Vec<u8>,
    /// What its sections have in common: the output section, the size of entries, whether these are strings, and
    /// alignment.
    pub name: Vec<u8>,
    pub entsize: u32,
    pub strings: bool,
    pub align: u64,
}

impl LastPieces {
    /// Where a piece is, of which `terminator` bytes are its end.
    pub fn find(&self, piece: &[u8], terminator: usize) -> Option<u32> {
        let found = self.by_tag.get(&tag_of(piece, terminator))?;
        found.iter().copied().find(|at| self.bytes.get(*at as usize..).is_some_and(|b| b.starts_with(piece)))
    }
}

/// The room behind the pieces of a part of `size` bytes of the output section `name`, for those that no object
/// has yet. What has a name that is an identifier may be looked through from its start to its end, and so may
/// notes of compilers.
pub fn room_of_pieces(name: &[u8], strings: bool, size: u64) -> u64 {
    match name {
        _ if size == 0 => 0,
        // Instances of one or two containers that no object had bring 50 to 180 KB, in Rust or where there is much of C++.
        b".debug_str" => (size / 8).min(DEBUG_NAMES).max(size / 64) + (32 << 10),
        b".debug_line_str" => size / 64 + 2048,
        // Of units that come, another compiler's name.
        b".comment" => 128,
        _ if !is_or_begins(name, b".rodata") => 0,
        _ if strings => size / 16 + 1024,
        _ => size / 16 + 512,
    }
}

/// Names that instances of templates bring.
const DEBUG_NAMES: u64 = 192 << 10;

/// How large what an object has in tables of the whole image is there, with its room: entries of `.symtab`,
/// and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    pub locals: u32,
    pub globals: u32,
    pub strings: u64,
    pub frames: u64,
}

/// The same in another link, which is to be made once more.
#[derive(Clone, Debug, Default)]
pub struct LastRuns {
    pub of_file: HashMap<FileId, Runs>,
    /// Entries that `.eh_frame_hdr` has room for.
    pub searched: usize,
}

/// How much room an object has in tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Growth {
    #[default]
    Usual,
    /// As another small object would need that comes in its place: an instance or two.
    Little,
    /// As one of some functions would.
    Some,
    /// It is likely to be edited next.
    Much,
}

impl Growth {
    /// So many times the room in a section of debug information: an instance of a template that an object did not have
    /// brings some ten kilobytes of that. Abbreviations are no more for many instances than for some, and lists of places
    /// are short.
    fn times(self, name: &[u8]) -> u64 {
        let [little, some, much] = match name {
            b".debug_info" => [4, 10, 48],
            b".debug_line" => [3, 8, 24],
            b".debug_aranges" => [1, 2, 6],
            b".debug_abbrev" => [3, 5, 14],
            b".debug_loclists" | b".debug_rnglists" => [4, 12, 96],
            b".debug_loc" => [3, 4, 6],
            b".debug_ranges" => [4, 6, 12],
            _ => [3, 8, 40],
        };
        match self {
            Growth::Usual => 1,
            Growth::Little => little,
            Growth::Some => some,
            Growth::Much => much,
        }
    }
}

impl Sections<'_> {
    /// How much room an object has in a link that makes all rooms anew.
    pub fn growth(&self, file: FileId) -> Growth {
        self.growths.get(&file).copied().unwrap_or_default()
    }

    /// Has an object have at least so much room.
    pub fn let_grow(&mut self, file: FileId, growth: Growth) {
        let known = self.growths.entry(file).or_default();
        *known = growth.max(*known);
    }
}

/// How many symbols, and bytes of names, an object has room for that has so many. Those that are likely to be edited next
/// have more, for instances of templates.
pub fn room_of_symbols(locals: u32, globals: u32, strings: u64, growth: Growth) -> Runs {
    let (more_locals, more, bytes) = match growth {
        Growth::Usual => (6, 4, 3 << 7),
        Growth::Little => (12, 6, 3 << 8),
        Growth::Some => (32, 16, 3 << 10),
        Growth::Much => (64, 96, 14 << 10),
    };
    let (locals, globals) = (locals + locals / 16 + more_locals, globals + globals / 16 + more);
    let share = if growth < Growth::Some { 32 } else { 16 };
    Runs { locals, globals, strings: strings + strings / share + bytes, frames: 0 }
}

/// Where there is room, records of `.eh_frame` have sizes that are multiples of this.
pub const FRAME_STEP: u64 = 8;

/// The bytes of `.eh_frame` for an object that has so many: room for a few records, or more.
pub fn room_of_frames(size: u64, growth: Growth) -> u64 {
    let more = match growth {
        Growth::Usual => 128,
        Growth::Little => 3 << 7,
        Growth::Some => 3 << 9,
        Growth::Much => 6 << 10,
    };
    let share = if growth < Growth::Some { 16 } else { 4 };
    (size + size / share + more).next_multiple_of(FRAME_STEP)
}

/// The entries of `.eh_frame_hdr` for so many functions.
pub fn room_of_search(functions: usize) -> usize {
    functions + functions / 32 + 256
}

/// The size of a section, and its alignment.
pub type Extent = (u64, u64);

/// How large sections are to be.
pub enum Rooms<'r> {
    /// By their sizes, and more for objects that are likely to be edited next ([`Sections::let_grow`]).
    New,
    /// As in the link before: what a section (by its file, and its number among those that have not lost with
    /// their groups) had, and which alignment.
    Known(&'r (dyn Fn(FileId, u32) -> Option<Extent> + Sync)),
}

/// Gives sections of `objects` their room.
pub fn give<'a>(sections: &mut Sections<'a>, objects: &[Object<'a>], rooms: &Rooms, parallel: bool) {
    sections.has_rooms = true;
    let region = trace::region("room to grow");
    let growths: Vec<Growth> = objects.iter().map(|object| sections.growth(object.file)).collect();
    let moved = &sections.moved;
    let mut rest = &mut sections.list[..];
    let mut slots = Vec::with_capacity(objects.len());
    for object in objects {
        let (mine, others) = std::mem::take(&mut rest).split_at_mut(object.shdrs.len());
        slots.push(mine);
        rest = others;
    }
    par::each_mut(parallel, &mut slots, |i, slots| {
        let _task = region.task();
        give_object(&objects[i], slots, (rooms, growths[i]), moved);
    });
}

fn give_object(
    object: &Object,
    slots: &mut [InputSection],
    (rooms, growth): (&Rooms, Growth),
    moved: &[SectionId],
) {
    let whole: OnceCell<WholeFunctions> = OnceCell::new();
    let kind =
        |index: u32| before_move(moved, SectionId(object.section_base + index), slots[index as usize].kind());
    let numbers = match rooms {
        Rooms::Known(_) => LostSections::by_kind(object, kind).numbers(),
        Rooms::New => Vec::new(),
    };
    for (index, (shdr, slot)) in (0..).zip(object.shdrs.iter().zip(slots)) {
        let is_copied =
            matches!(slot.kind(), SectionKind::Regular | SectionKind::Compressed | SectionKind::NoBits);
        // What comes there later lies elsewhere, so what is empty has no place that would have to be aligned.
        if is_copied
            && shdr.sh_size() == 0
            && let Some(kind) = bare(shdr, object.section_name(index as usize).unwrap_or_default())
            && whole.get_or_init(|| WholeFunctions::of(object)).is_shared(index as usize, kind, 0)
        {
            slot.forget_align();
            if matches!(rooms, Rooms::New) {
                continue;
            }
        }
        if let Rooms::Known(known) = rooms {
            // Those that are gone have left theirs to what is in front of them, be it data.
            let number = numbers.get(index as usize).copied().unwrap_or(index);
            if is_copied && let Some((size, align)) = known(object.file, number) {
                slot.raise_align(align);
                slot.size = slot.size.max(size);
            }
            continue;
        }
        // What is merged has none, and neither has most data.
        let is_odd = shdr.sh_flags() & (SHF_ALLOC | SHF_WRITE | SHF_MERGE) > SHF_ALLOC;
        if !is_copied || is_odd && shdr.sh_flags() != VARIABLES {
            continue;
        }
        let name = object.section_name(index as usize).unwrap_or_default();
        let Some((filler, room)) = room(shdr, name, growth != Growth::Much) else { continue };
        let whole = || whole.get_or_init(|| WholeFunctions::of(object));
        let is_of_functions = matches!(filler, Filler::Code | Filler::Constants | Filler::Variables);
        if is_of_functions && !whole().allow(filler, index as usize, shdr.sh_size()) {
            continue;
        }
        slot.raise_align(alignment(shdr, name, filler));
        let is_debug = shdr.sh_flags() & SHF_ALLOC == 0;
        slot.size = room.times(if is_debug { growth.times(name) } else { 1 }).around(slot.size);
    }
}

impl Room {
    fn times(self, times: u64) -> Room {
        Room { fixed: self.fixed * times, ..self }
    }

    /// The size of a section of `size` bytes with its room.
    fn around(&self, size: u64) -> u64 {
        let whole = (size + self.fixed + size / self.share).next_multiple_of(self.multiple);
        // An empty section stays one.
        if size == 0 || whole > LARGEST { size } else { whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &[u8], kind: u32, flags: u64) -> Option<Filler> {
        let mut header = [0; Shdr::SIZE];
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[8..16].copy_from_slice(&flags.to_le_bytes());
        filler(&Shdr(header), name)
    }

    #[test]
    fn tables_that_end_with_their_section_have_no_room() {
        const CODE: u64 = SHF_ALLOC | SHF_EXECINSTR;
        assert_eq!(section(b".text", SHT_PROGBITS, CODE), Some(Filler::Code));
        assert_eq!(section(b".text.f", SHT_PROGBITS, CODE | SHF_GROUP), Some(Filler::Code));
        assert_eq!(section(b".debug_line", SHT_PROGBITS, 0), Some(Filler::Units(NO_ROW)));
        assert_eq!(section(b".debug_aranges", SHT_PROGBITS, 0), Some(Filler::Pairs));
        assert_eq!(section(b".rodata.f", SHT_PROGBITS, SHF_ALLOC), Some(Filler::Constants));
        assert_eq!(section(b".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE), Some(Filler::Variables));
        assert_eq!(section(b".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE), Some(Filler::Variables));
        for (name, kind, flags) in [
            (&b".init"[..], SHT_PROGBITS, CODE),
            (b".texture", SHT_PROGBITS, CODE),
            (b".text.w", SHT_PROGBITS, CODE | SHF_WRITE),
            (b".text", SHT_NOBITS, CODE),
            (b".rodata", SHT_PROGBITS, SHF_ALLOC | SHF_MERGE),
            (b".data.x", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE),
            (b".init_array", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE),
            (b".debug_info", SHT_PROGBITS, SHF_GROUP),
            (b".debug_str", SHT_PROGBITS, SHF_MERGE | SHF_STRINGS),
        ] {
            assert_eq!(section(name, kind, flags), None, "{}", String::from_utf8_lossy(name));
        }
    }

    #[test]
    fn names_of_instances_have_room() {
        let room = |size| room_of_pieces(b".debug_str", true, size);
        assert_eq!([0, 1000, 1 << 20].map(room), [0, 125 + (32 << 10), 160 << 10]);
        assert_eq!([4 << 20, 64 << 20].map(room), [224 << 10, (1 << 20) + (32 << 10)]);
    }

    #[test]
    fn room_is_a_share_and_some_bytes() {
        let room = Room { share: 4, fixed: 64, multiple: 1 };
        assert_eq!([0, 1, 1000].map(|size| room.around(size)), [0, 65, 1314]);
        assert_eq!(room.around(LARGEST), LARGEST);
    }
}

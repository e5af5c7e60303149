//! What of an object counts for more in a link than the bytes of its own sections: an object that has
//! changed, and is the same in this, changes nothing but the bytes of sections that are copied from it.
//!
//! There are three digests of it. *Shape*: section headers, but for where their bytes are, and the symbol
//! table; so definitions, groups, sizes and the table of symbols are as they were. Names of symbols
//! that are not local are compared with those that rows have ([`is_renamed`] tells where they cannot be), and so
//! is how those that the object does not define are mentioned ([`super::mentions`]): that may change, and with it
//! the numbers of all of them. So each is known here by the number that it had ([`Before`]).
//! Sections that may have room to grow ([`crate::sections::rooms`]) are of any size here, and so are
//! functions and constants, which may also be at another place in their section, and then in data, in frames and in tables
//! of symbols: whether there is room, and who else knows where they were, is seen when they are written
//! again. Of large sections it counts where they are cut. *Contents*: sections that are read and not copied, with what relocates them: notes, groups,
//! what compilers tell linkers, and what is merged if it has global symbols; of frames,
//! which there are, and of what. *Needs* ([`needs`]): of relocations in memory, all that the scan looks at
//! ([`crate::live::reloc_scan`]); so GOT, PLT, dynamic relocations and what gc keeps are as they were.
//!
//! What loses with its COMDAT group, or is dead code, has its shape only, and of its section's name the
//! beginning. All that is done for each object of a full link, and is the most that keeping a state costs: so
//! nothing is hashed that is known by a shorter name. The digest is taken over the tables of a link, or over
//! those of one object alone ([`super::rewrite_section`]), which have the same to say of it.

mod needs;
mod nothing;

use std::ops::Range;

use weld_common::digest::UnitDigest;
use weld_common::hash::hash_bytes;

use super::mentions::{manner, manner_of};
use super::rows::OutlineRow;
use crate::arch::rules::{Looks, Rules};
use crate::arch::{Machine, Visitor};
use crate::compressed::Compressed;
use crate::elf::*;
use crate::emit::{self, DIRECT};
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::live::SectionOwners;
use crate::options::{Options, OutputKind, Strip};
use crate::sections::free_sections;
use crate::sections::lost_groups::{self, LostSections};
use crate::sections::names::is_c_identifier;
use crate::sections::rooms::{self, WholeFunctions, may_grow};
use crate::sections::{SectionKind, is_array, is_sframe};
use crate::synth::eh_frames::{self, Target};
use crate::synth::functions::Functions;
use crate::synth::image::Image;

/// Bytes of an ELF header up to the entry point: class, order, system, type, machine.
pub const IDENT: usize = 24;
/// Where it says the system.
pub const OS_ABI: usize = 7;

/// How far the rules of a machine look, if that is known.
pub fn looks(machine: Machine) -> Option<Looks> {
    struct Ask;
    impl Visitor for Ask {
        type Output = Option<Looks>;
        fn visit<R: Rules>(self) -> Option<Looks> {
            R::LOOKS
        }
    }
    machine.visit(Ask)
}

/// The numbers that an object's global symbols had when its outline was kept.
#[derive(Clone, Copy)]
pub struct Before<'b>(pub Option<&'b [u32]>);

impl Before<'_> {
    /// Those that they have.
    pub const SAME: Self = Before(None);
}

/// The digests of an object, of which `lost` take no part, and that says of its system `os_abi`.
pub fn outline(
    image: &Image,
    owners: &SectionOwners,
    object: ObjectId,
    (before, lost, os_abi): (Before, &LostSections, u8),
) -> OutlineRow {
    // Where it is not known, nobody relinks.
    let looks = looks(image.mode.machine).unwrap_or(Looks { slot: (0, 0), call: (0, 0) });
    let known = &image.resolved.objects[object.index()];
    let kept = |index| {
        let id = SectionId(known.section_base + index);
        let section = image.sections.get(id);
        (section.in_image() && image.live.contains(id)).then(|| section.kind())
    };
    let kept = (0..known.shdrs.len() as u32).map(kept).collect();
    let (shifting, whole) = (Vec::new(), WholeFunctions::of(known));
    let has_others = may_have_others(image, known);
    // Where symbols count as they stand, so do all sections.
    let numbers = if has_others { lost.numbers() } else { Vec::new() };
    let mut one = One {
        image,
        owners,
        object: known,
        before,
        kept,
        numbers,
        shifting,
        whole,
        has_others,
        defines_others: may_define_others(image.options),
        id: object,
        os_abi,
        looks,
        counts_references: counts_references(
            image.options,
            image.layout.sections.iter().map(|out| (&*out.name, out.flags)),
        ),
    };
    let shape = one.shape();
    OutlineRow { shape, contents: one.contents(), needs: one.needs(), lost: of_groups(known, lost) }
}

/// Which groups of an object have lost, whether these are plain, and the names that it defines in them: whoever has the copy
/// that stays has to have these.
pub fn of_groups(object: &Object, lost: &LostSections) -> u128 {
    let mut words: Vec<u64> = lost.groups(object).map(|group| hash_bytes(object.group_name(group))).collect();
    if words.is_empty() {
        return 0;
    }
    let others = lost.groups(object).filter(|group| !lost_groups::is_plain(object, group));
    words.extend(others.map(|group| !hash_bytes(object.group_name(group))));
    lost_groups::each_definition(object, |group, symbol| {
        if lost.contains(object.groups[group].shndx) {
            words.extend([group as u64, hash_bytes(object.symbol_name(symbol))]);
        }
    });
    short(of_words(&words))
}

/// Whether names of an object may be known by others than its symbol table has: then that counts as it
/// stands.
pub fn is_renamed(object: &Object, options: &Options) -> bool {
    object.spells_versions || !options.symbols.wrap.is_empty()
}

/// Whether functions of an object may have other sizes: nobody but tables of symbols says how large they are,
/// and it is known where in these they are.
pub fn may_resize(image: &Image, object: &Object) -> bool {
    let is_whole = image.options.symtab.retain_symbols_file.is_none();
    is_whole && object.format().is_native() && !image.live.has_sizes()
}

/// Whether an object may have other local symbols for functions and constants than before: nobody but tables of
/// symbols knows these, and what the table for the link has of an object is written again as a whole.
pub fn may_have_others(image: &Image, object: &Object) -> bool {
    let Options { symbols, order, .. } = image.options;
    // Names decide on the order of sections.
    let orders = order.symbol_file.is_some() || order.call_graph_file.is_some() || object.call_graph != 0;
    let is_free = !symbols.unique_symbol && !orders && image.sections.has_rooms;
    is_free && may_resize(image, object) && !is_renamed(object, image.options)
}

/// Whether objects may define other names than before, if nobody mentions these: what is exported of them is said by
/// their names.
pub fn may_define_others(options: &Options) -> bool {
    let is_image = matches!(options.kind, OutputKind::Exec | OutputKind::Pie | OutputKind::Shared);
    let by_name = options.symbols.exclude_libs.is_empty() || !exports_by_itself(options);
    is_image && by_name && options.symbols.undefined_glob.is_empty()
}

/// Whether names are exported for other reasons than that somebody asks for them.
pub fn exports_by_itself(options: &Options) -> bool {
    let symbols = &options.symbols;
    let lists = [&symbols.dynamic_lists, &symbols.export_symbol_lists, &symbols.version_scripts];
    options.kind == OutputKind::Shared
        || symbols.export_dynamic
        || symbols.dynamic_list_data
        || !symbols.export_dynamic_symbols.is_empty()
        || !symbols.dynamic_list_patterns.is_empty()
        || lists.iter().any(|list| !list.is_empty())
}

/// Whether it matters to others than sections themselves which of them are there, so that gc has to look again at
/// who refers to what: otherwise what was there stays until a full link, whoever ceases to refer to it
/// ([`crate::sections::Sections::last_kept`]). Code may go through all that is in an output section with these names
/// and flags, from its start to its end.
pub fn counts_references<'n>(options: &Options, outputs: impl Iterator<Item = (&'n [u8], u64)>) -> bool {
    let Options { sections, .. } = options;
    let mut outputs = outputs.filter(|(_, flags)| flags & SHF_ALLOC != 0);
    sections.gc_sections && sections.start_stop_gc && outputs.any(|(name, _)| is_c_identifier(name))
}

/// As much of a digest as is kept.
pub fn short(digest: UnitDigest) -> u128 {
    digest.bytes().first_chunk().map_or(0, |first| u128::from_le_bytes(*first))
}

/// What is hashed in one go.
#[derive(Default)]
struct Said(Vec<u8>);

/// Of more bytes only the digest is gathered.
const SHORT: usize = 256;

impl Said {
    /// Where one part ends counts.
    fn add(&mut self, part: &[u8]) {
        self.0.extend_from_slice(&(part.len() as u64).to_le_bytes());
        match part.len() {
            0..=SHORT => self.0.extend_from_slice(part),
            _ => self.0.extend_from_slice(&UnitDigest::of(part).bytes()),
        }
    }

    fn numbers(&mut self, numbers: impl Iterator<Item = u32>) {
        numbers.for_each(|number| self.0.extend_from_slice(&number.to_le_bytes()));
    }

    fn words<const N: usize>(&mut self, words: [u64; N]) {
        self.0.extend_from_slice(words.map(u64::to_le_bytes).as_flattened());
    }

    fn digest(&self) -> u128 {
        short(UnitDigest::of(&self.0))
    }
}

/// Where a symbol has its name.
const NAME_IN_SYMBOL: Range<usize> = 0..4;
/// Where it has its section.
const SECTION_IN_SYMBOL: Range<usize> = 6..8;
/// Where it has its size.
const SIZE_IN_SYMBOL: Range<usize> = 16..24;
/// And its place in its section.
const VALUE_IN_SYMBOL: Range<usize> = 8..16;

/// What tells keys of local symbols from those of names, and those in no section; and spreads hashes of names.
const IS_LOCAL: u64 = 1 << 63;
const IS_NO_SECTION: u32 = 1 << 31;
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// What stands in front of the places where a section is cut.
const IS_CUT: u64 = u64::MAX - 1;

/// How many headers ahead a section's name is asked for.
const NAMES_AHEAD: usize = 12;

/// Bytes of a section's name that count if it is not in the image: where its kind is said (`.text`,
/// `.init_array`).
const KIND: usize = 12;

struct One<'o, 'i, 'a> {
    image: &'o Image<'i, 'a>,
    owners: &'o SectionOwners,
    object: &'o Object<'a>,
    before: Before<'o>,
    /// What becomes of each section.
    kept: Vec<Option<SectionKind>>,
    /// What sections are known by, where that is not their header index ([`LostSections::numbers`]).
    numbers: Vec<u32>,
    /// The sections in which functions or constants may be at other places; empty if there are none.
    shifting: Vec<bool>,
    whole: WholeFunctions,
    /// It may have other local symbols than before ([`may_have_others`]), and define other names
    /// ([`may_define_others`]).
    has_others: bool,
    defines_others: bool,
    id: ObjectId,
    os_abi: u8,
    looks: Looks,
    /// It matters which section refers to what ([`counts_references`]).
    counts_references: bool,
}

impl<'a> One<'_, '_, 'a> {
    /// What becomes of a section, if it is in the image.
    fn kept(&self, index: u32) -> Option<SectionKind> {
        self.kept[index as usize]
    }

    /// The number of a section among those that have not lost, are no guests, and have no relocations of others.
    fn number(&self, index: u32) -> u32 {
        self.numbers.get(index as usize).copied().unwrap_or(index)
    }

    /// Whether a section has lost, or is a guest, or has relocations of another one: then it is for nobody else how it
    /// looks.
    fn is_lost(&self, index: u32) -> bool {
        self.number(index) == lost_groups::NONE
    }

    /// Whether a section may come and go.
    fn is_free_section(&self, index: u32) -> bool {
        let number = self.number(index);
        let may_be = self.defines_others && !self.counts_references;
        may_be && number & free_sections::FREE != 0 && number != lost_groups::NONE
    }

    /// The same, or whether it has come with its group.
    fn may_come(&self, index: u32) -> bool {
        let is_guest = || self.is_lost(index) && self.kept(index) == Some(SectionKind::Guest);
        self.is_free_section(index) || self.defines_others && !self.counts_references && is_guest()
    }

    /// Whether a symbol lies in a section that may come and go, and means nothing special.
    fn is_in_free(&self, index: u32, symbol: &Sym) -> bool {
        let is_plain = matches!(symbol.kind(), STT_FUNC | STT_OBJECT | STT_NOTYPE | STT_SECTION);
        // The value of a name among strings says which of them it is.
        let is_piece = || index >= self.object.first_global && self.is_merged(index);
        is_plain
            && !self.numbers.is_empty()
            && !is_piece()
            && matches!(self.object.place(index, symbol), SymbolPlace::Section(of) if self.is_free_section(of))
    }

    /// Whether a symbol lies in a section that has lost, or is a guest.
    fn is_in_lost(&self, index: u32, symbol: &Sym) -> bool {
        let is_any = !self.numbers.is_empty();
        is_any && matches!(self.object.place(index, symbol), SymbolPlace::Section(of) if self.is_lost(of))
    }

    /// Whether a symbol stands for a section of its object, and says no more: relocations know the section, and
    /// assemblers leave the symbol out where none asks for it.
    fn is_of_section(&self, index: u32, symbol: &Sym) -> bool {
        let is_one = self.has_others && index < self.object.first_global && symbol.kind() == STT_SECTION;
        let says_no_more =
            is_one && symbol.st_name() == 0 && (symbol.st_value(), symbol.st_other()) == (0, 0);
        says_no_more && matches!(self.object.place(index, symbol), SymbolPlace::Section(_))
    }

    /// Whether a symbol is the name of a file that the object was compiled from, which nothing refers to.
    fn is_of_file(&self, index: u32, symbol: &Sym) -> bool {
        let is_one = self.has_others && index < self.object.first_global && symbol.kind() == STT_FILE;
        is_one && symbol.st_shndx() == SHN_ABS && symbol.st_other() == 0
    }

    /// Whether a symbol says that frames are data, as assemblers for AArch64 do: no table has it.
    fn is_of_frames(&self, index: u32, symbol: &Sym) -> bool {
        let is_mark = index < self.object.first_global && symbol.kind() == STT_NOTYPE;
        self.has_others
            && is_mark
            && self.object.symbol_name(index).starts_with(b"$")
            && matches!(self.object.place(index, symbol), SymbolPlace::Section(of) if self.kept(of) == Some(SectionKind::EhFrame))
    }

    fn data(&self, index: u32) -> &'a [u8] {
        self.object.section_data(index as usize).unwrap_or(&[])
    }

    /// Whether a symbol lies in a section in which what is in it may be at other places.
    fn may_shift(&self, symbol: u32) -> bool {
        let Some(sym) = self.object.syms.get(symbol as usize) else { return false };
        match self.object.place(symbol, sym) {
            SymbolPlace::Section(section) => self.shifting.get(section as usize).copied().unwrap_or(false),
            _ => false,
        }
    }

    /// Whether a symbol is in a section whose pieces are merged.
    fn is_merged(&self, symbol: u32) -> bool {
        let sym = &self.object.syms[symbol as usize];
        match self.object.place(symbol, sym) {
            SymbolPlace::Section(section) => self.kept(section) == Some(SectionKind::Merge),
            _ => false,
        }
    }

    /// What a symbol is known by from one link to the next: a name by the number that it had, what is local by
    /// where and what it is.
    fn key(&self, symbol: u32) -> u64 {
        if symbol >= self.object.first_global || !self.has_others {
            return self.before(symbol).into();
        }
        let Some(sym) = self.object.syms.get(symbol as usize) else { return symbol.into() };
        let index = match self.object.place(symbol, sym) {
            SymbolPlace::Section(section) => self.number(section) & !IS_NO_SECTION,
            _ => u32::from(sym.st_shndx()) | IS_NO_SECTION,
        };
        let known = u64::from(index) << 16 | u64::from(sym.st_info()) << 8 | IS_LOCAL;
        if sym.kind() == STT_SECTION {
            return known;
        }
        hash_bytes(self.object.symbol_name(symbol)).wrapping_mul(SPREAD) ^ known
    }

    /// Whether a symbol may be there or not, as far as the rest of the link is concerned and names do not tell
    /// ([`super::new_names`]).
    fn is_free(&self, symbol: u32, sym: &Sym) -> bool {
        let is_label = symbol < self.object.first_global && sym.kind() == STT_NOTYPE;
        let is_own = (matches!(sym.kind(), STT_FUNC | STT_OBJECT) || is_label) && sym.st_name() != 0;
        if !self.has_others || !is_own || self.shifting.is_empty() || !self.may_shift(symbol) {
            return false;
        }
        if symbol >= self.object.first_global && self.is_merged(symbol) {
            // Its value says which of the pieces it is.
            return false;
        }
        let is_plain = || {
            matches!(sym.st_other(), STV_DEFAULT | STV_HIDDEN)
                && matches!(sym.binding(), STB_GLOBAL | STB_WEAK)
        };
        let section = self.object.shdrs.get(sym.st_shndx() as usize);
        let is_grouped = || section.is_none_or(|shdr| shdr.sh_flags() & SHF_GROUP != 0);
        symbol < self.object.first_global || self.defines_others && is_plain() && !is_grouped()
    }

    /// The number that a symbol had when the outline was kept; `NONE` if the object did not mention it.
    fn before(&self, symbol: u32) -> u32 {
        let global = symbol.checked_sub(self.object.first_global);
        match self.before.0.zip(global) {
            Some((before, global)) => before.get(global as usize).copied().unwrap_or(symbol),
            None => symbol,
        }
    }

    /// And finds out in which sections functions and constants may be at other places.
    fn shape(&mut self) -> u128 {
        let object = self.object;
        let resizes = may_resize(self.image, object);
        let is_stripped = self.image.options.symtab.strip != Strip::None;
        let mut said = Said(Vec::with_capacity(object.shdrs.len() * 32));
        for (index, shdr) in (0..).zip(object.shdrs) {
            object.prefetch_section_name(index as usize + NAMES_AHEAD);
            let (kind, flags) = (shdr.sh_type(), shdr.sh_flags());
            if self.is_lost(index) {
                continue;
            }
            if self.is_free_section(index) {
                // It is known by its name, and written again wherever it is.
                self.note_shifting(index);
                self.say_cuts((index, shdr), &mut said);
                continue;
            }
            if self.is_bitcode(index, shdr) {
                said.words([u64::MAX]);
                continue;
            }
            if flags & SHF_GROUP != 0 && self.kept(index).is_none() {
                // Its size is nothing to anybody. What retains it would be its kind or its name.
                said.words([u64::from(kind) << 32 | flags]);
                said.0.extend_from_slice(self.start_of_name(shdr));
                continue;
            }
            let (mut size, mut align) = (shdr.sh_size(), shdr.sh_addralign());
            if flags & SHF_COMPRESSED != 0
                && let Ok(packed) = Compressed::parse(self.data(index), object.format())
            {
                (size, align) = (packed.uncompressed_size(), packed.align());
            }
            let relocates = matches!(kind, SHT_RELA | SHT_REL | SHT_CREL);
            let name = || self.object.section_name(index as usize).unwrap_or_default();
            // Of relocations, what they ask for counts, of tables their contents, and of what has room to
            // grow that it is no larger than that; frames are records.
            if self.kept(index) == Some(SectionKind::Merge) {
                // A part is there if anything is in it.
                size = size.min(1);
                self.note_shifting(index);
            } else if relocates
                || is_stripped && flags & SHF_ALLOC == 0 && name().starts_with(b".debug_")
                || matches!(kind, SHT_SYMTAB | SHT_STRTAB | SHT_SYMTAB_SHNDX | SHT_LLVM_ADDRSIG)
                || self.kept(index) == Some(SectionKind::EhFrame)
            {
                size = 0;
            } else if let Some(filler) = may_grow(&self.whole, index as usize, shdr, name()) {
                size = 0;
                align = align.max(rooms::alignment(shdr, name(), filler));
                let is_copied = matches!(self.kept(index), Some(SectionKind::Regular | SectionKind::Guest));
                if flags & SHF_ALLOC != 0 && is_copied && resizes {
                    self.note_shifting(index);
                }
            }
            self.say_cuts((index, shdr), &mut said);
            let info = match kind {
                // A group is known by a symbol.
                SHT_GROUP => self.key(shdr.sh_info()),
                // The number of local symbols.
                SHT_SYMTAB if self.has_others => 0,
                _ if relocates => self.number(shdr.sh_info()).into(),
                _ => shdr.sh_info().into(),
            };
            let link = self.number(shdr.sh_link());
            said.words([kind.into(), flags, link.into(), info, size, align, shdr.sh_entsize()]);
            if !relocates {
                said.add(object.section_name(index as usize).unwrap_or_default());
            }
        }
        let locals = self.symbols(&mut said);
        locals.into_iter().for_each(|index| said.add(object.symbol_name(index)));
        if is_renamed(object, self.image.options) {
            said.add(object.strtab);
        }
        let others = (0..).zip(object.shdrs).filter(|(_, shdr)| shdr.sh_type() == SHT_SYMTAB_SHNDX);
        others.for_each(|(index, _)| said.add(self.data(index)));
        // What the file says of itself: machine, system, flags.
        let mut ident = object.data.get(..IDENT).unwrap_or_default().to_vec();
        ident.iter_mut().skip(OS_ABI).take(1).for_each(|said| *said = self.os_abi);
        said.add(&ident);
        said.add(&object.flags.to_le_bytes());
        said.digest()
    }

    /// Says where a section is cut: hashes of the image are of parts of it. What has room is never cut, however large it
    /// becomes.
    fn say_cuts(&self, (index, shdr): (u32, &Shdr), said: &mut Said) {
        if shdr.sh_size() < DIRECT || self.kept(index) != Some(SectionKind::Regular) {
            return;
        }
        let cuts = emit::cuts(self.image, self.owners, SectionId(self.object.section_base + index));
        if !cuts.is_empty() {
            said.words([IS_CUT]);
            said.add(cuts.iter().flat_map(|cut| cut.to_le_bytes()).collect::<Vec<_>>().as_slice());
        }
    }

    fn note_shifting(&mut self, index: u32) {
        self.shifting.resize(self.object.shdrs.len(), false);
        self.shifting[index as usize] = true;
    }

    /// The table of symbols, without the sizes of functions and their places, and without names that others
    /// define, if these may change. Where rows do not tell which name a symbol has ([`is_renamed`]), its place
    /// among the names does. Returns the local symbols whose names count.
    fn symbols(&self, said: &mut Said) -> Vec<u32> {
        let mut named = Vec::new();
        if !may_resize(self.image, self.object) {
            said.add(self.data(self.object.symtab));
            let locals = (0..self.object.first_global).zip(self.object.syms);
            named.extend(locals.filter(|(_, symbol)| symbol.st_name() != 0).map(|(index, _)| index));
            return named;
        }
        let is_renamed = is_renamed(self.object, self.image.options);
        let mut table = Vec::with_capacity(size_of_val(self.object.syms));
        // Where names are told apart, their order does not count.
        let mut globals: Vec<(u32, [u8; Sym::SIZE])> = Vec::new();
        for (index, symbol) in (0..).zip(self.object.syms) {
            let is_mention = index >= self.object.first_global && symbol.st_shndx() == SHN_UNDEF;
            if is_mention && manner_of(symbol) != manner::ODD && !is_renamed || self.is_free(index, symbol) {
                continue;
            }
            if self.is_in_lost(index, symbol)
                || self.is_of_section(index, symbol)
                || self.is_of_file(index, symbol)
                || self.is_of_frames(index, symbol)
                || self.is_in_free(index, symbol)
            {
                continue;
            }
            if index < self.object.first_global && symbol.st_name() != 0 {
                named.push(index);
            }
            let mut record = symbol.0;
            if !self.numbers.is_empty() && symbol.st_shndx() < SHN_LORESERVE {
                let number = self.number(symbol.st_shndx().into()) as u16;
                record[SECTION_IN_SYMBOL].copy_from_slice(&number.to_le_bytes());
            }
            if !is_renamed {
                // Names are said apart, where there are any.
                let is_named = u32::from(symbol.st_name() != 0);
                record[NAME_IN_SYMBOL].copy_from_slice(&is_named.to_le_bytes());
            }
            let shifts = || !self.shifting.is_empty() && self.may_shift(index);
            if symbol.kind() == STT_FUNC || symbol.kind() == STT_OBJECT && shifts() {
                record[SIZE_IN_SYMBOL].fill(0);
            }
            // That of a name says which of the pieces it is.
            let is_piece = || index >= self.object.first_global && self.is_merged(index);
            if symbol.kind() != STT_SECTION && shifts() && !is_piece() {
                record[VALUE_IN_SYMBOL].fill(0);
            }
            match self.has_others && index >= self.object.first_global {
                true => globals.push((self.before(index), record)),
                false => table.extend_from_slice(&record),
            }
        }
        globals.sort_unstable_by_key(|(before, _)| *before);
        globals.iter().for_each(|(_, record)| table.extend_from_slice(record));
        said.add(&table);
        named
    }

    /// Whether it is a copy of what was compiled, which rustc leaves in objects of libraries, and nobody
    /// links.
    fn is_bitcode(&self, index: u32, shdr: &Shdr) -> bool {
        let is_excluded = shdr.sh_flags() & (SHF_EXCLUDE | SHF_ALLOC | SHF_GROUP) == SHF_EXCLUDE;
        is_excluded
            && shdr.sh_type() == SHT_PROGBITS
            && self.kept(index).is_none()
            && matches!(self.object.section_name(index as usize), Some(b".llvmbc" | b".llvmcmd"))
    }

    /// So much of a section's name as says what it is, if that begins with a dot. Others may ask for where a
    /// section begins whose name is an identifier.
    fn start_of_name(&self, shdr: &Shdr) -> &'a [u8] {
        let names = self.object.section_names.get(shdr.sh_name() as usize..).unwrap_or_default();
        if names.starts_with(b".") {
            // Names that follow count, too, as places in the table do.
            return &names[..names.len().min(KIND)];
        }
        &names[..memchr::memchr(0, names).map_or(names.len(), |end| end + 1)]
    }

    /// Whether the bytes of a section are read for something else than to be copied.
    fn is_read(&self, index: u32, shdr: &Shdr) -> bool {
        if self.is_lost(index) {
            return false;
        }
        let kind = shdr.sh_type();
        match self.kept(index) {
            // Where its pieces are is seen when they are looked up, but that of a name is known to others.
            Some(SectionKind::Merge) => return self.whole.is_known(index as usize),
            Some(SectionKind::EhFrame | SectionKind::Folded | SectionKind::Shrunk) => return true,
            // It is a guest because there was nothing that it could be merged with.
            Some(SectionKind::Guest) => return false,
            // Whether it is merged may depend on what is in it.
            Some(_) => return shdr.sh_flags() & SHF_MERGE != 0,
            None => {}
        }
        match kind {
            SHT_SYMTAB | SHT_STRTAB | SHT_SYMTAB_SHNDX | SHT_NOBITS | SHT_NULL => return false,
            // `--icf`, with which nobody relinks, asks it which functions are told apart by their addresses.
            SHT_LLVM_ADDRSIG => return false,
            // They are read with what they relocate.
            SHT_RELA | SHT_REL | SHT_CREL => return false,
            SHT_PROGBITS | SHT_GNU_SFRAME => {}
            // Losers of groups and dead data are not, nor are lists of functions to call.
            _ => return shdr.sh_flags() & SHF_GROUP == 0 && !is_array(kind),
        }
        if self.is_bitcode(index, shdr) {
            return false;
        }
        let name = || self.object.section_name(index as usize).unwrap_or_default();
        match shdr.sh_flags() {
            flags if flags & SHF_ALLOC != 0 && is_sframe(name(), shdr) => true,
            // Losers of groups, dead code and data, and debug information that is left out.
            flags if flags & SHF_GROUP != 0 => false,
            flags if kind == SHT_PROGBITS => flags & SHF_ALLOC == 0 && !name().starts_with(b".debug_"),
            _ => true,
        }
    }

    fn contents(&self) -> u128 {
        let mut said = Said::default();
        let is_read: Vec<bool> =
            (0..).zip(self.object.shdrs).map(|(index, shdr)| self.is_read(index, shdr)).collect();
        for (index, shdr) in (0..).zip(self.object.shdrs) {
            let relocates = matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL);
            let target = shdr.sh_info() as usize;
            if self.kept(index) == Some(SectionKind::EhFrame) {
                self.frames(index, &mut said);
                continue;
            }
            let is_of_read = relocates && is_read.get(target) == Some(&true) && !self.is_frames(target);
            if self.is_lost(index) && !relocates {
                continue;
            }
            if shdr.sh_type() == SHT_GROUP {
                let words = self.object.group_words(index).unwrap_or_default();
                said.words([words.get(0).unwrap_or(0).into(), words.len() as u64]);
                said.numbers(words.members().map(|member| self.number(member)));
                continue;
            }
            if is_read[index as usize] || is_of_read {
                said.add(self.data(index));
            }
            // Their numbers of symbols are not looked into, so these have to be the same.
            if is_of_read && self.renumbers() {
                said.words([u64::MAX]);
            }
            if is_of_read && self.has_others {
                (0..self.object.first_global).for_each(|local| said.add(self.object.symbol_name(local)));
            }
        }
        said.digest()
    }

    /// Whether symbols have other numbers than when the outline was kept.
    fn renumbers(&self) -> bool {
        let differ = |(now, was): (u32, &u32)| now != *was;
        self.before.0.is_some_and(|before| (self.object.first_global..).zip(before).any(differ))
    }

    fn is_frames(&self, index: usize) -> bool {
        self.kept.get(index) == Some(&Some(SectionKind::EhFrame))
    }

    fn frames(&self, index: u32, said: &mut Said) {
        let image = self.image;
        let functions = Functions { sections: image.sections, symbols: image.symbols, live: image.live };
        let mut words = Vec::new();
        let planner = eh_frames::Planner { objects: &image.resolved.objects, functions };
        let is_here = |symbol| self.is_known_local(symbol) || self.has_stand_in(symbol);
        let target = |symbol| Target { key: self.key(symbol), is_here: is_here(symbol) };
        let by_function = self.counts_references;
        let is_fixed = !image.mode.pic;
        planner.outline(self.id, index, (target, by_function, is_fixed), &mut words);
        said.0.extend_from_slice(&of_words(&words).bytes());
    }
}

fn of_words(words: &[u64]) -> UnitDigest {
    let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
    UnitDigest::of(bytes.as_flattened())
}

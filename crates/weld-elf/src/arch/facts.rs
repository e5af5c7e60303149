//! What there is to know of a machine besides how its code is changed: numbers, sizes and names.
//!
//! Everything here is data, so that phases read it as they read options. What needs a machine's own code is
//! in [`super::Machine`].

use std::ops::RangeInclusive;

use super::attributes::AttributesError;
pub use super::branches::{
    Branches, Callee, Cure, Detour, Errata, Erratum, Find, InstructionSets, Jump, LandingPad, SecondSet,
    Situation, Thunk, TurnedCode, Write,
};
use super::class::{Class, Type, name_at};
pub use super::file_flags::{FileFlags, FlagsClash, JoinFlags};
use super::plt::{Frames, Style};
use crate::address::Address;
use crate::elf::{Format, Rela, RelocForm, SHT_PROGBITS, Target, Types};

/// How what inputs say in a property becomes what the output says ("Linux Extensions to gABI").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    And,
    Or,
    OrAnd,
    Max,
    Any,
}

/// A machine. Sizes are in bytes.
pub struct Facts {
    /// For people.
    pub name: &'static str,
    /// What `-m` calls it; the first name is used in messages.
    pub emulations: &'static [&'static str],
    /// What `OUTPUT_FORMAT` and `--oformat` call its files, and `OUTPUT_ARCH` the machine.
    pub object_format: &'static str,
    /// Other names of that.
    pub other_formats: &'static [&'static str],
    pub architecture: &'static str,
    /// How its files are told from others, and the form of their records.
    pub target: Target,
    /// How the addend of a relocation without one of its own is read from the place that it applies to;
    /// `None` if all have one.
    pub implicit_addend: Option<ImplicitAddend>,
    /// How it is stored there if that is not a number as wide as the place.
    pub store_addend: Option<StoreAddend>,
    /// The type that has the rest of such an addend: that of the next relocation of the same symbol. The
    /// symbol may be local.
    pub lower_half: Option<fn(kind: u32, is_local: bool) -> Option<u32>>,
    /// Tables for debuggers that GNU ld's `-r` makes shorter, but not their relocations: those behind the end are none.
    pub shortened: &'static [&'static [u8]],
    /// The addends of some calls say where a register points.
    pub base_addend: Option<BaseAddend>,
    /// What files have for types that are numbered otherwise here.
    pub written: Option<&'static Written>,
    /// Symbols that relocations ask for, which objects need not name.
    pub asks_for: &'static [AsksFor],
    /// Gives relocations of an object that is linked for good the numbers for what they ask for.
    pub settle: Option<Settle>,
    /// What `-r` does with relocations of an object instead.
    pub settle_joined: Option<Settle>,
    pub pages: Pages,
    /// Where an executable at fixed addresses starts unless told otherwise.
    pub image_base: Address,
    /// What lies between functions: an instruction, or part of one, that traps or does nothing.
    pub filler: u8,
    /// A function that does nothing, also where a call must be marked; empty where none is needed.
    pub does_nothing: &'static [u8],
    pub tls: Tls,
    /// How far after the start of a module's thread-local storage its offsets count from, for functions that
    /// look them up.
    pub tls_offset: u64,
    /// Code of the local-dynamic model stays as it is in programs, too, so that offsets there count from the start.
    pub keeps_local_dynamic: bool,
    /// Its relocation types, by number.
    pub types: &'static [Type],
    /// Their names: [`super::class::names`].
    pub type_names: &'static [u8],
    /// The type that computes nothing.
    pub none: u32,
    /// Instructions that can do without their slots have addends, which count from the symbol.
    pub slots_have_addends: bool,
    pub dynamic: DynamicTypes,
    /// Bytes of a word of `.hash`.
    pub hash_word: u64,
    /// What names of functions begin with that some objects define outside groups, and others in groups: any
    /// of them will do.
    pub linkonce_prefixes: &'static [&'static [u8]],
    /// Where the GOT's base is, from which code and loaders count.
    pub got_base: GotBase,
    /// The GOT's base is not its start, and objects have data near it.
    pub toc: Option<Toc>,
    /// Loaders fill the GOT by what `.dynamic` says of it, without relocations.
    pub loader_got: Option<LoaderGot>,
    pub plt: Plt,
    /// C libraries' start code of programs that relocate themselves has loads of slots in it which have to
    /// become computations of addresses.
    pub starts_without_slots: bool,
    /// Slots of the GOT have 8 bytes, though addresses have 4.
    pub wide_slots: bool,
    pub variant_calls: Option<VariantCalls>,
    pub tagging: Option<Tagging>,
    /// `sh_flags`: code that nobody reads; 0 if there is no such.
    pub execute_only: u64,
    pub flags: Option<FileFlags>,
    /// `e_flags` of a program from those of all objects and from what attributes say ([`Attributes`]).
    pub output_flags: Option<fn(u32, u32) -> u32>,
    /// `e_flags` of a file that is made an object of data (`-b binary`).
    pub data_flags: u32,
    /// What `e_flags` of an object say of its code besides attributes ([`Attributes::features`]).
    pub features_of_flags: Option<fn(u32) -> u32>,
    /// The bits of `st_other` that `e_flags` of an object imply for a function besides those that it has.
    pub function_other: Option<fn(u32, u8) -> u8>,
    /// The bits of `st_other`, of the upper three, that who calls a function asks for.
    pub called_other: u8,
    /// The bit of `st_other` for a symbol of another module whose value is an entry of the PLT here, and
    /// `EI_ABIVERSION` of programs that have a PLT or copies.
    pub stand_in_other: u8,
    pub stand_in_version: u8,
    /// The type of symbols that are no symbols: they say which registers code uses, and are undefined.
    pub register_symbol: Option<u8>,
    /// A section that objects of another ABI have, some of which do not say so in `e_flags`.
    pub foreign_section: Option<&'static str>,
    pub attributes: Option<Attributes>,
    /// What GNU's tools say of conventions, where that is in a section besides those.
    pub gnu_attributes: Option<Attributes>,
    /// A section that says which registers code uses, and where the GOT's base is.
    pub registers: Option<Registers>,
    /// A symbol that the linker defines for programs: where a register points.
    pub pointer: Option<DataPointer>,
    pub large: Option<LargeModel>,
    /// A section type for frames, which then are like data; 0 if it has none.
    pub frame_section: u32,
    /// Compilers write addresses to frames, also of code that may be moved. They become distances there, and
    /// the records that say how they are stored say so.
    pub frames_become_distances: bool,
    /// C libraries ask for an executable stack, so that there is no need to be warned of one.
    pub executes_stack: bool,
    /// The symbol where programs start unless told otherwise.
    pub entry: &'static str,
    /// Tables that say for each piece of code how to unwind from there ([`crate::synth::exidx`]).
    pub code_index: Option<CodeIndex>,
    /// What `--be8` does.
    pub turned_code: Option<TurnedCode>,
    /// Relocation types whose meaning is the platform's.
    pub platform: Option<PlatformTypes>,
    pub properties: Properties,
    /// Branches that may not reach; `None`: all do.
    pub branches: Option<Branches>,
    /// Functions that the linker makes if nothing else defines them: they save registers, or load them again.
    pub register_code: &'static [RegisterCode],
    /// How functions are entered from another world.
    pub gateways: Option<Gateways>,
    /// Symbols of functions are those of descriptors, which lead to code.
    pub descriptors: Option<Descriptors>,
}

/// Descriptors of functions: pointers to functions lead there, and branches to the code that their first word has the
/// address of. They are data of objects; which code is meant, a relocation says.
pub struct Descriptors {
    pub section: &'static [u8],
    /// The type of the relocation.
    pub kind: u32,
    /// An object with a section for each descriptor; `None` if it may stay as it is.
    pub separate: fn(file: &[u8]) -> Option<Vec<u8>>,
}

/// A table of contents: data around the GOT that a register points into.
pub struct Toc {
    /// What code calls the GOT's base.
    pub symbol: &'static str,
    /// How far it is after the start of `.got`, whose first word is its address.
    pub bias: u64,
    /// Sections of objects that lie beside the GOT and become read-only with it.
    pub sections: &'static [&'static [u8]],
    /// Types of relocations of code that reaches only what is near.
    pub near: &'static [u32],
}

/// Calls whose addend is a place in a section of their object, to which a register points: where sections are
/// joined, it moves with them. [`Facts::settle`] takes it away, for it says nothing of where they go.
pub struct BaseAddend {
    /// The type of the calls, and the least of such addends.
    pub kind: u32,
    pub least: i64,
    pub section: &'static [u8],
}

impl BaseAddend {
    /// Whether a relocation is that of such a call.
    pub fn has(&self, reloc: &Rela) -> bool {
        reloc.kind() == self.kind && reloc.r_addend() >= self.least
    }
}

/// What files have for types of relocations that are numbered otherwise here.
#[derive(Debug)]
pub struct Written {
    pub types: Types,
    /// The other way round.
    pub number: fn(types: u32) -> u32,
}

/// A symbol that relocations of some types ask for. An object with such relocations has it, whether it names it or not.
pub struct AsksFor {
    pub symbol: &'static [u8],
    pub asks: fn(kind: u32) -> bool,
}

/// What relocations ask of the object that they are of.
pub trait ObjectFacts {
    /// `e_flags`
    fn flags(&self) -> u32;

    fn is_local(&self, symbol: u32) -> bool;

    /// A symbol's name; nothing if it has none.
    fn name(&self, symbol: u32) -> &[u8];

    /// The global symbol of this name. Cheap if it is always the same name.
    fn find(&self, name: &[u8]) -> Option<u32>;

    /// Whether the output is a shared object.
    fn is_in_library(&self) -> bool;

    /// Where the object's addends have the GOT's base ([`Registers::pointer`]).
    fn pointer(&self) -> u64;
}

/// Gives relocations the numbers for what they ask for.
pub type Settle = fn(object: &dyn ObjectFacts, relocs: &mut [Rela]);

/// A GOT without relocations: first words that hold addresses of this image, to all of which the loader adds
/// where it is, then those of the symbols that are the last of `.dynsym`, in their order. What is about
/// thread-local storage comes last, with relocations. A symbol that a relocation for loaders names has a word
/// there, too.
pub struct LoaderGot {
    /// How far its base is after its start.
    pub bias: u64,
    /// Words at its start for the loader, and what the second of them holds.
    pub head: u32,
    pub second: u64,
    /// What code calls the base; and by which of these names code without position independence has that of the GOT
    /// of its object.
    pub names: &'static [&'static str],
    pub own_base: &'static str,
    /// The start of the page, near an address, whose own address a word may hold.
    pub page: fn(u64) -> u64,
    pub tags: fn(&ForLoader) -> Vec<(u64, u64)>,
    /// `sh_flags` that the section has besides: a register points near it.
    pub flags: u64,
    /// What the section is called in which the loader of a program leaves a debugger what it knows.
    pub map: &'static str,
}

/// What a loader is told of an image.
pub struct ForLoader {
    /// The lowest address of the image.
    pub base: u64,
    pub got: u64,
    pub local_words: u64,
    /// Of `.dynsym`, and the first one with a word in the GOT.
    pub symbols: u64,
    pub first_in_got: u64,
    /// The words of the PLT, if it has entries.
    pub got_plt: Option<u64>,
    /// Where a program's loader leaves what a debugger wants to know.
    pub map: Option<u64>,
    /// Where these tags are, and how many bytes one takes.
    pub here: u64,
    pub entry: u64,
    /// The image may be moved.
    pub moves: bool,
}

/// A section of objects, and of the output, that says which registers code uses and where the GOT's base is.
pub struct Registers {
    pub name: &'static [u8],
    /// `sh_type`, `sh_flags`, `sh_addralign` and `sh_entsize`.
    pub section: u32,
    pub flags: u64,
    pub align: u64,
    pub entsize: u64,
    /// `p_type` of its program header.
    pub segment: u32,
    /// Its contents for the output from those of all objects; `None` if one is damaged.
    pub merge: fn(&[&[u8]]) -> Option<Vec<u8>>,
    /// Where the GOT's base is, and how that is stored.
    pub pointer: fn(&[u8]) -> u64,
    pub put_pointer: fn(&mut [u8], u64),
}

/// A run of code that has to do with one register after the other up to the last; each of them is where a
/// function begins, whose name is `prefix` and the register's number.
pub struct RegisterCode {
    pub prefix: &'static str,
    pub first: u32,
    pub last: u32,
    /// Instructions for a register, and how many they are.
    pub one: fn(u32) -> [u32; 2],
    pub count: usize,
    pub end: &'static [u32],
}

/// Code by which functions are entered from another world, and how functions say that they want it
/// ([`crate::gateways`]).
pub struct Gateways {
    /// A function has a second name: this and its name.
    pub prefix: &'static str,
    /// Where gateways lie, and its alignment in bytes.
    pub section: &'static str,
    pub align: u64,
    /// A gateway, in units of two bytes.
    pub code: &'static [u16],
    /// Where in it, in bytes, the branch is, and the relocation type that leads it to the function.
    pub branch: u64,
    pub kind: u32,
    /// The mapping symbol that stands in front of such code.
    pub mapping: &'static str,
    /// `e_flags` of objects, and of libraries.
    pub flags: u32,
    /// The bit that attributes of objects have for processors with gateways ([`Attributes::features`]), and what messages
    /// call these.
    pub feature: u32,
    pub architectures: &'static str,
}

impl Gateways {
    /// Bytes of a gateway.
    pub fn size(&self) -> u64 {
        2 * self.code.len() as u64
    }
}

/// A table of objects, and of the output, that says for each piece of code how to unwind from there.
pub struct CodeIndex {
    /// `sh_type` of sections, and `p_type` of their program header.
    pub kind: u32,
    pub name: &'static str,
    /// Symbols that the linker defines: where the table of the output begins, and where it ends.
    pub start: &'static str,
    pub end: &'static str,
}

/// Relocation types whose meaning is the platform's, and the types that they may stand for.
pub struct PlatformTypes {
    /// In tables of functions (`.init_array`): an address or a distance.
    pub target1: u32,
    /// In tables for exceptions: an address, a distance, or that of a slot.
    pub target2: u32,
    pub address: u32,
    pub distance: u32,
    pub slot: u32,
}

/// The addend of a relocation of type `kind` that lies at the start of `bytes`, which go on to the end of the
/// section. `None` if they are too few, or if the type is not known.
pub type ImplicitAddend = fn(kind: u32, bytes: &[u8]) -> Option<i64>;

/// Stores the addend of a relocation of type `kind` in its place.
pub type StoreAddend = fn(kind: u32, bytes: &mut [u8], addend: i64);

/// Sizes of pages.
pub struct Pages {
    /// The smallest that the machine has. The loader maps whole ones.
    pub smallest: u64,
    /// For what the file is laid out unless told otherwise.
    pub max: u64,
    /// What is protected against writing ends with such a page.
    pub common: u64,
}

/// A section of objects that says what instructions and conventions their code uses.
pub struct Attributes {
    pub name: &'static str,
    /// `sh_type`.
    pub section: u32,
    pub output: AttributesOutput,
    /// What they say of the code that may be used, as bits of the machine's own.
    pub features: Option<ReadFeatures>,
    /// What of what they say is told though it is linked.
    pub doubts: Option<FindDoubts>,
}

impl Attributes {
    /// Those that become one section, which no loader looks for.
    pub const fn joined(name: &'static str, section: u32, merge: MergeAttributes) -> Attributes {
        let output = AttributesOutput::Section { segment: None, flags: 0, align: 1, entsize: 0, merge };
        Attributes { name, section, output, features: None, doubts: None }
    }
}

/// Of machines without attributes: options say that there are no instructions with prefixes.
pub const WITHOUT_PREFIXES: u32 = 1;

/// From the sections of attributes of all objects, what code may be used.
pub type ReadFeatures = fn(&mut dyn Iterator<Item = &[u8]>) -> u32;

/// What becomes of attributes in the output.
pub enum AttributesOutput {
    /// A section of the same kind, and the `p_type` by which loaders find it, if there is one.
    Section { segment: Option<u32>, flags: u64, align: u64, entsize: u64, merge: MergeAttributes },
    /// They are properties.
    Properties(ReadAttributes),
}

/// The contents for the output from those of all objects, each with what messages call it.
pub type MergeAttributes = fn(&[(String, &[u8])]) -> Result<Vec<u8>, AttributesError>;

/// What those of all objects say that may not go together: it is told, and linked.
pub type FindDoubts = fn(&[(String, &[u8])]) -> Vec<Doubt>;

/// What an object says that may not go together with others.
pub struct Doubt {
    pub topic: Topic,
    pub what: AttributesError,
}

/// What a doubt is about, of which options may want to hear nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// The size of `wchar_t`.
    WideCharacters,
    Enumerations,
    /// An attribute that nobody knows.
    Unknown,
}

/// What the sections of attributes of an object say.
pub type ReadAttributes = fn(&[&[u8]], Format) -> Result<SaidOfCode, Unread>;

/// Why attributes cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct Unread {
    pub text: String,
    /// They say that who does not know them may not link the object. Otherwise it says nothing.
    pub required: bool,
}

impl<T: Into<String>> From<T> for Unread {
    fn from(text: T) -> Self {
        Unread { text: text.into(), required: false }
    }
}

/// What attributes say that properties say, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaidOfCode {
    /// The bits of [`Landing::property`]; `None`: of them nothing is said.
    pub landing: Option<u32>,
    pub signing: Option<Signing>,
}

/// A platform and the version of its conventions for signed pointers, as their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signing {
    pub platform: u64,
    pub version: u64,
}

/// A register that points into data, so that code reaches what is around with one instruction.
pub struct DataPointer {
    pub symbol: &'static str,
    /// The output section that it points into (or the image, if there is none), and how far after its start.
    pub section: &'static [u8],
    pub offset: u64,
    /// Relocations say that code counts from there, not only options that it may.
    pub has_relocs: bool,
}

/// Where the thread pointer points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Variant I: at a thread control block of this size, which the thread-local storage of the program
    /// follows.
    BlockFirst(u64),
    /// Variant II: after the thread-local storage of the program.
    StorageFirst,
    /// So many bytes after where the thread-local storage of the program starts. Offsets in a module's storage
    /// are the same in programs and in libraries.
    Behind(u64),
}

/// The types of relocations that the loader applies.
pub struct DynamicTypes {
    /// Whether they have their addends beside them (RELA), not in the place that they apply to (REL).
    pub with_addends: bool,
    /// A symbol's address, as wide as addresses are.
    pub address: u32,
    /// A symbol's distance from the place, if loaders know that.
    pub distance: Option<u32>,
    pub copy: u32,
    pub glob_dat: u32,
    pub jump_slot: u32,
    pub relative: u32,
    /// For pointers that the loader signs, on machines that have such.
    pub signed: Option<SignedTypes>,
    /// The address that a resolver returns, if loaders call such; else there are no IFUNCs.
    pub irelative: Option<u32>,
    /// Whether loaders that bind functions at their first call know it among the relocations for that.
    pub resolvers_in_plt: bool,
    pub dtpmod: u32,
    pub dtpoff: u32,
    pub tpoff: u32,
    /// The same with the other sign, if loaders know that.
    pub backward_tpoff: Option<u32>,
    pub tlsdesc: u32,
}

impl DynamicTypes {
    /// Those of a machine whose programs nobody loads: there are none but that of a word with an address.
    pub const fn without_loader(address: u32) -> DynamicTypes {
        DynamicTypes {
            with_addends: true,
            address,
            distance: None,
            copy: u32::MAX,
            glob_dat: u32::MAX,
            jump_slot: u32::MAX,
            relative: u32::MAX,
            signed: None,
            irelative: None,
            resolvers_in_plt: false,
            dtpmod: u32::MAX,
            dtpoff: u32::MAX,
            tpoff: u32::MAX,
            backward_tpoff: None,
            tlsdesc: u32::MAX,
        }
    }

    /// Whether there are loaders.
    pub fn has_loader(&self) -> bool {
        self.relative != u32::MAX
    }

    /// Whether programs can have copies of what libraries define, and entries of the PLT for it.
    pub fn has_copies(&self) -> bool {
        self.copy != u32::MAX
    }
}

/// The types of relocations for pointers that the loader signs.
#[derive(Clone, Copy)]
pub struct SignedTypes {
    pub relative: u32,
    pub glob_dat: u32,
    pub tlsdesc: u32,
    /// `sh_type` of the table of relative ones that are packed, and `d_tag`s of its address, its size and the
    /// size of an entry.
    pub packed: u32,
    pub packed_tags: [u64; 3],
}

/// The shape of the procedure linkage table and of the part of the GOT that it jumps through.
pub struct Plt {
    /// The header calls the loader: only symbols bound by name need it.
    pub ordinary: Entries,
    /// Without indirect jumps, if the machine has that.
    pub retpolines: Option<Retpolines>,
    /// Jumps of entries may have barriers for instructions.
    pub has_barriers: bool,
    /// With marks for indirect branches, or checks of pointers, in the entries that are called.
    pub guarded: Option<Guarded>,
    /// For callers that do not have the GOT's base in the register from which other entries count where an
    /// image may be moved.
    pub anywhere: Option<Entries>,
    pub align: u64,
    /// How the caller's frame is found from code of this style; `None`: by no rows that are the same
    /// wherever it was called from.
    pub frames: fn(Style) -> Option<&'static Frames>,
    /// The tags by which the loader learns where entries are, how many bytes they take and how large one is.
    pub marks: Option<[u64; 3]>,
    /// Words for the loader at the start of `.got.plt`. None: they are those at the start of `.got`.
    pub reserved_words: u64,
    /// How many words an entry has there. Several are a descriptor, by whose address a function is known that the entry
    /// stands for.
    pub descriptor_words: u64,
    /// Entries that are called lie apart from those that call the loader.
    pub apart: Option<Apart>,
    /// Symbols that say where code begins, and data.
    pub code_marks: Option<fn(Style) -> CodeMarks>,
    /// Loaders change the code of entries that are bound by name, which have no words to jump through.
    pub patched: bool,
}

impl Plt {
    /// Of a machine that has none.
    pub const NONE: Plt = Plt {
        ordinary: Entries { header: 0, entry: 4 },
        retpolines: None,
        has_barriers: false,
        guarded: None,
        anywhere: None,
        align: 4,
        frames: |_| None,
        marks: None,
        reserved_words: 0,
        descriptor_words: 1,
        patched: false,
        apart: None,
        code_marks: None,
    };
}

/// Mapping symbols of the PLT: offset and name.
#[derive(Clone, Copy)]
pub struct CodeMarks {
    pub header: &'static [(u64, &'static str)],
    pub entry: &'static [(u64, &'static str)],
}

/// Entries that are called, in `.plt.sec`, apart from code that calls the loader.
pub struct Apart {
    /// Bytes of an entry that calls the loader.
    pub lazy: u64,
    pub second: Option<SecondWay>,
    /// What the section is called with code that calls the loader, and that of the words.
    pub lazy_name: &'static [u8],
    pub words_name: &'static [u8],
    /// The tag by which the loader knows of such code, and tags with their values that go with it.
    pub tag: u64,
    pub tag_for: LoaderTag,
    pub more_tags: &'static [(u64, u64)],
}

/// A way into entries for callers without the GOT's base, and for who has their addresses.
pub struct SecondWay {
    /// How far after the start of an entry it is.
    pub offset: u64,
    /// Bytes of such an entry, and of one of instructions with prefixes.
    pub long: [u64; 2],
}

/// What a tag tells the loader of code that calls it.
pub enum LoaderTag {
    /// Where it is, so far after its start.
    Code(u64),
    /// The GOT's base, near which the words are that it reads.
    GotBase,
}

/// Code before the first entry, and an entry.
pub struct Entries {
    pub header: u64,
    pub entry: u64,
}

/// Entries that jump by a return whose predicted target is a loop that does nothing. The header has that
/// jump.
pub struct Retpolines {
    /// If functions are bound when they are called first: the header and the entries also call the loader.
    pub lazy: Entries,
    pub bound: Entries,
}

/// Entries with room for a mark and a check.
pub struct Guarded {
    pub entries: Entries,
    /// `d_tag`: entries are marked; if loaders are told.
    pub marked_tag: Option<u64>,
    /// `d_tag`: entries check what they load; if there are such.
    pub signed_tag: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GotBase {
    /// At the start of `.got`, whose first word is the address of `.dynamic` if something refers to the base.
    Got,
    /// The same, but the word is there wherever `.got` is, with so many words.
    /// What is more than `reach` words, as far as all code reaches, lies in front of it.
    GotWithHead { words: u32, reach: u32 },
    /// At the start of `.got.plt`, if there is one.
    GotPlt,
}

/// Functions that use more registers than loaders keep when they bind a function at its first call.
pub struct VariantCalls {
    /// The bit of `st_other` that says so.
    pub other: u8,
    /// `d_tag`: there are such functions in the PLT.
    pub tag: u64,
}

/// Memory that is tagged, so that pointers with another tag cannot be used for it.
pub struct Tagging {
    /// `d_tag`: how violations are found, whether the heap is tagged, whether the stack is.
    pub mode_tag: u64,
    pub heap_tag: u64,
    pub stack_tag: u64,
    /// `sh_type` of sections of objects that list variables to be tagged.
    pub variables: u32,
    /// `sh_type` of the section that lists them for the loader, and `d_tag`s of its address and size.
    pub descriptors: u32,
    pub descriptors_tags: [u64; 2],
}

/// A code model with data out of the reach of ordinary code.
pub struct LargeModel {
    /// `st_shndx` of common symbols.
    pub common: u16,
    /// `sh_flags` of sections.
    pub flag: u64,
}

/// What `.note.gnu.property` says in terms of the machine.
pub struct Properties {
    /// How properties of these types are merged.
    pub rules: &'static [(RangeInclusive<u32>, Rule)],
    pub control_flow: Option<ControlFlow>,
    pub landing: Option<Landing>,
    pub labels: Option<Labels>,
    /// The property that says by which conventions pointers are signed: a platform and a version, 8 bytes
    /// each.
    pub signing: Option<u32>,
}

impl Properties {
    /// Of a machine of which they say nothing.
    pub const NONE: Properties =
        Properties { rules: &[], control_flow: None, landing: None, labels: None, signing: None };
}

/// What code is made for, in a property whose bits hold if all objects have them: indirect branches end at
/// marks with labels, or without; not both.
pub struct Labels {
    pub property: u32,
    /// Marks have no labels.
    pub unlabeled: u64,
    /// Labels are made from the types of functions.
    pub by_type: u64,
    /// Return addresses are kept twice.
    pub shadow_stack: u64,
}

/// What code is made for, in a property whose bits hold if all objects have them.
pub struct Landing {
    pub property: u32,
    /// Indirect branches end at marks, which entries that are called then need, too.
    pub marked: u64,
    /// Return addresses are signed.
    pub signed: u64,
    /// Return addresses are kept twice.
    pub guarded_stack: u64,
}

/// Checks of indirect branches and of return addresses by the processor.
pub struct ControlFlow {
    /// The property whose bits say what all code is made for.
    pub property: u32,
    /// Indirect branches end at marked places.
    pub ibt: u64,
    /// Return addresses are kept twice.
    pub shstk: u64,
    /// The upper bits of pointers are left alone, from 48 on and from 57 on.
    pub lam_u48: u64,
    pub lam_u57: u64,
    /// The properties that say what instructions are needed, and used.
    pub isa_needed: u32,
    pub isa_used: u32,
}

impl Facts {
    /// What tables of symbols say of code of a second instruction set.
    #[inline]
    pub fn second_set(&self) -> Option<&'static SecondSet> {
        self.branches.as_ref()?.sets?.second.as_ref()
    }

    /// Whether `st_other` says that code is of the second set, and addresses would not.
    pub fn is_of_second_set(&self, other: u8) -> bool {
        self.second_set().is_some_and(|second| (second.is_marked)(other))
    }

    /// What most machines have in common: a machine says what it has besides. It always says what it is called, how its
    /// files are told from others, what its types are, and what loaders do.
    pub const PLAIN: Facts = Facts {
        name: "",
        emulations: &[],
        object_format: "",
        other_formats: &[],
        architecture: "",
        target: Target::new(0, Format::NATIVE),
        implicit_addend: None,
        shortened: &[],
        store_addend: None,
        lower_half: None,
        base_addend: None,
        written: None,
        asks_for: &[],
        settle: None,
        settle_joined: None,
        pages: Pages { smallest: 0x1000, max: 0x1000, common: 0x1000 },
        image_base: Address::new(0x1_0000),
        filler: 0,
        does_nothing: &[],
        tls: Tls::BlockFirst(0),
        tls_offset: 0,
        keeps_local_dynamic: false,
        types: &[],
        type_names: &[],
        none: 0,
        slots_have_addends: false,
        dynamic: DynamicTypes::without_loader(0),
        hash_word: 4,
        linkonce_prefixes: &[],
        got_base: GotBase::Got,
        toc: None,
        loader_got: None,
        plt: Plt::NONE,
        starts_without_slots: false,
        wide_slots: false,
        variant_calls: None,
        tagging: None,
        execute_only: 0,
        flags: None,
        output_flags: None,
        data_flags: 0,
        features_of_flags: None,
        function_other: None,
        called_other: 0,
        stand_in_other: 0,
        stand_in_version: 0,
        register_symbol: None,
        foreign_section: None,
        attributes: None,
        gnu_attributes: None,
        registers: None,
        pointer: None,
        large: None,
        frame_section: 0,
        frames_become_distances: false,
        executes_stack: false,
        entry: "_start",
        code_index: None,
        turned_code: None,
        platform: None,
        properties: Properties::NONE,
        branches: None,
        register_code: &[],
        gateways: None,
        descriptors: None,
    };

    /// The bytes of a slot of the GOT.
    pub const fn slot(&self) -> u64 {
        if self.wide_slots { 8 } else { self.target.format.word() }
    }

    /// Whether an option is about an erratum of its processors.
    pub fn has_erratum(&self, option: &str) -> bool {
        let errata = self.branches.as_ref().and_then(|branches| branches.errata.as_ref());
        errata.is_some_and(|errata| errata.list.iter().any(|erratum| erratum.option == option))
    }

    /// What relocation type `kind` asks of its symbol.
    #[inline(always)]
    pub const fn class(&self, kind: u32) -> Class {
        if (kind as usize) < self.types.len() { self.types[kind as usize].class } else { Class::Unknown }
    }

    /// Whether the addend of relocation type `kind` is added to the symbol's own value. Where loaders fill the
    /// GOT by themselves, slots are for addresses.
    pub fn counts_from_symbol(&self, kind: u32) -> bool {
        let class = self.class(kind);
        let is_address = match class {
            Class::Got => self.loader_got.is_some(),
            Class::GotRelax => self.slots_have_addends,
            _ => false,
        };
        is_address || class.counts_from_symbol()
    }

    /// Whether the place of relocation type `kind`, which holds `kept`, has its half of an addend.
    pub fn has_half(&self, kind: u32, kept: i64, addend: i64) -> bool {
        let Some(lower_half) = self.lower_half else { return false };
        let rest = addend.wrapping_sub(kept);
        match lower_half(kind, true) {
            Some(_) => (-0x8000..0x8000).contains(&i64::from(rest as i32)),
            None => {
                let of = &self.types[kind as usize];
                of.bits == 16 && of.fit == super::class::Fit::Any && rest & 0xffff == 0
            }
        }
    }

    /// The number of bytes that relocation type `kind` writes.
    #[inline(always)]
    pub const fn width(&self, kind: u32) -> usize {
        if (kind as usize) < self.types.len() { self.types[kind as usize].width as usize } else { 0 }
    }

    /// The name of relocation type `kind` for messages.
    pub fn type_name(&self, kind: u32) -> String {
        let at = self.types.get(kind as usize).map_or(0, |of| of.name);
        match name_at(self.type_names, at) {
            "" => format!("relocation type {kind}"),
            name => name.to_owned(),
        }
    }

    /// How dynamic relocations are stored.
    pub fn reloc_form(&self) -> RelocForm {
        RelocForm {
            format: self.target.format,
            addends: self.dynamic.with_addends,
            types: self.written_types(),
        }
    }

    /// How relocations of objects are stored.
    pub fn kept_reloc_form(&self) -> RelocForm {
        RelocForm {
            format: self.target.format,
            addends: self.implicit_addend.is_none(),
            types: self.written_types(),
        }
    }

    /// What files have for types, if that is not what they are here.
    fn written_types(&self) -> Option<&'static Types> {
        self.written.map(|written| &written.types)
    }

    /// The bytes of the words that loaders add to in the GOT before there are any of objects.
    pub fn got_head(&self) -> u32 {
        self.loader_got.as_ref().map_or(0, |got| got.head)
    }

    /// The name of the machine in messages about files that are for another one.
    pub fn emulation(&self) -> &'static str {
        self.emulations[0]
    }

    /// Whether a section with these flags lies out of the reach of ordinary code.
    pub fn is_large(&self, flags: u64) -> bool {
        flags & self.large_flag() != 0
    }

    /// The flag of sections out of reach; 0 if there is none.
    pub fn large_flag(&self) -> u64 {
        self.large.as_ref().map_or(0, |large| large.flag)
    }

    /// The section index of common symbols out of reach.
    pub fn large_common(&self) -> Option<u16> {
        self.large.as_ref().map(|large| large.common)
    }

    /// The type that a section of input type `kind` has in the output.
    pub fn plain_section(&self, kind: u32) -> u32 {
        if self.is_frame_section(kind) { SHT_PROGBITS } else { kind }
    }

    /// Whether `kind` is the section type of tables that say how to unwind from code.
    pub fn is_code_index(&self, kind: u32) -> bool {
        self.code_index.as_ref().is_some_and(|index| index.kind == kind)
    }

    /// Whether sections of this name are tables of addresses, which are not changed once the loader has filled
    /// them in. Words of functions that are gone stay there, where only those look at them.
    pub fn keeps_words(&self, name: &[u8]) -> bool {
        self.toc.as_ref().is_some_and(|toc| toc.sections.contains(&name))
            || self.base_addend.as_ref().is_some_and(|base| base.section == name)
    }

    /// Whether `kind` is a section type for frames.
    pub fn is_frame_section(&self, kind: u32) -> bool {
        kind != 0 && kind == self.frame_section
    }

    /// How properties of this type are merged, if the machine knows it.
    pub fn property_rule(&self, kind: u32) -> Option<Rule> {
        self.properties.rules.iter().find(|(kinds, _)| kinds.contains(&kind)).map(|(_, rule)| *rule)
    }
}

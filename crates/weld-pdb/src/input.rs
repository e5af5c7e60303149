//! What a linker tells: modules, addresses, publics, sections.
//!
//! All of it is borrowed. Nothing is changed or copied but what goes into the PDB.

/// A module of the program: an object, the part of an import library that belongs to one DLL, or the linker's
/// own.
#[derive(Clone, Copy, Default)]
pub struct Module<'a> {
    /// The object's path, or what the module is called.
    pub name: &'a str,
    /// The file that it comes from: the archive, or `name` again.
    pub file: &'a str,
    /// Which of the objects given to [`Types::merge`](crate::Types::merge) has its types. Without one it can
    /// refer only to basic types.
    pub types: Option<u32>,
    /// Its `.debug$S` sections, without those that belong to code that is not in the image.
    pub sections: &'a [&'a [u8]],
    /// Symbol records that are ready: what [`linker_module::Records`](crate::linker_module::Records) makes.
    pub records: &'a [u8],
    /// Its first piece of the image.
    pub contribution: Option<Contribution>,
}

/// What is to be known of source files.
#[derive(Clone, Copy, Default)]
pub struct Sources<'a> {
    /// What is put in front of relative paths.
    pub root: &'a [u8],
    /// Files that are to be in the PDB itself, such as those of `/natvis`: names and contents.
    pub injected: &'a [(&'a str, &'a [u8])],
    /// What a later link wants to know of modules ([`crate::resize`]) is kept, and they get room in the file.
    pub keeps: bool,
}

/// Something to be added to a number in a `.debug$S` section: a relocation, resolved. Only addresses in
/// symbol records, lines and frames are changed so: one that is somewhere else is left out.
#[derive(Clone, Copy, Debug)]
pub struct Fixup {
    /// Where in the section.
    pub offset: u32,
    /// Bytes of the number: 2, 4 or 8.
    pub size: u8,
    /// `SECREL`: the symbol's offset in its output section; `SECTION`: that section's number, from 1 on;
    /// `ADDR32NB`: the address less the image base; and so on. 0 (for all of them) if the symbol is not in
    /// the image.
    pub value: u64,
}

/// Who knows where symbols are.
pub trait Relocate: Sync {
    /// Puts the fixups of one of a module's sections into the empty list, in order of their offsets. Asked
    /// once for each section (of 32-bit x86 twice), from any thread, while the PDB is written.
    fn fixups(&self, module: u32, section: u32, fixups: &mut Vec<Fixup>);
}

/// A piece of the image, which comes from one section of one module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contribution {
    /// The module's index.
    pub module: u16,
    /// The output section's number, from 1 on.
    pub section: u16,
    /// Bytes from the start of the output section.
    pub offset: u32,
    pub size: u32,
    /// Of the input section.
    pub characteristics: u32,
    /// CRC-32 of the contents, if somebody has computed it.
    pub crc: u32,
}

impl Contribution {
    /// The CRC-32 that a contribution with these contents has.
    pub fn crc_of(contents: &[u8]) -> u32 {
        crate::hash::crc(contents)
    }
}

/// A symbol of the linker's symbol table.
#[derive(Clone, Copy, Debug)]
pub struct Public<'a> {
    /// Decorated.
    pub name: &'a [u8],
    /// Bytes from the start of the output section.
    pub offset: u32,
    /// The output section's number, from 1 on.
    pub section: u16,
    pub flags: u16,
}

impl Public<'_> {
    /// Flags: it is code, it is a function.
    pub const CODE: u16 = 1;
    pub const FUNCTION: u16 = 2;
}

/// A section of the image.
#[derive(Clone, Debug, Default)]
pub struct OutputSection {
    /// As in the section table.
    pub name: [u8; 8],
    pub virtual_size: u32,
    pub virtual_address: u32,
    pub raw_size: u32,
    pub raw_pointer: u32,
    pub characteristics: u32,
}

/// What the input sections of one name have in an output section.
#[derive(Clone, Debug)]
pub struct CoffGroup<'a> {
    pub name: &'a [u8],
    /// The output section's number, from 1 on.
    pub section: u16,
    /// Bytes from the start of the output section.
    pub offset: u32,
    pub size: u32,
    pub characteristics: u32,
}

/// The image that the PDB belongs to.
#[derive(Clone, Default)]
pub struct Image<'a> {
    /// The machine's number in COFF.
    pub machine: u16,
    pub sections: &'a [OutputSection],
    /// In order of section and offset; if not, they are put into it.
    pub contributions: &'a [Contribution],
    pub publics: &'a [Public<'a>],
    /// The PDB's path, which the linker's module tells.
    pub pdb_path: &'a str,
    /// Streams with names, such as source maps (`sourcelink`).
    pub streams: &'a [(&'a str, &'a [u8])],
    /// What `.debug$F` sections have, relocated and in order of addresses: frames of functions in the old
    /// format of 32-bit x86.
    pub fpo: &'a [u8],
    /// The smallest size of pages: 4096 unless somebody asks for more.
    pub page_size: u32,
    /// The PDB's identity, if it is not to follow from its contents.
    pub guid: Option<[u8; 16]>,
}

/// By what an image names its PDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub guid: [u8; 16],
    pub age: u32,
}

//! What a file of intermediate code says to a linker: symbols, COMDAT groups, and what it was made for.

/// Who made the code, and so who can compile it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// Bitcode: clang, rustc, …
    Llvm,
    /// Sections `.gnu.lto_*` of an ELF or COFF object.
    Gcc,
}

/// A file of intermediate code. Names lie in the file wherever the format has them there.
#[derive(Debug)]
pub struct IrFile<'a> {
    pub compiler: Compiler,
    /// Who wrote it, as it says itself: `LLVM22.1.8`, or GCC's version of the format, `12.0`.
    pub producer: &'a [u8],
    /// The major version of that compiler, if it says one.
    pub major: Option<u32>,
    /// The target triple; empty for GCC, whose files are objects that have a machine.
    pub triple: &'a [u8],
    /// The name of the source file.
    pub source: &'a [u8],
    pub comdats: Vec<Comdat<'a>>,
    /// In the order of the file, which compilers number them by.
    pub symbols: Vec<IrSymbol<'a>>,
    /// Libraries that it asks for (`#pragma comment(lib, …)`).
    pub libraries: Vec<&'a [u8]>,
    /// COFF: options for the linker, as a `.drectve` section has them.
    pub directives: &'a [u8],
    /// There is machine code in the same file, too (fat objects).
    pub is_fat: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comdat<'a> {
    pub name: &'a [u8],
    pub selection: Selection,
}

/// Which of several COMDAT groups of one name is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    Any,
    ExactMatch,
    Largest,
    NoDuplicates,
    SameSize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Undefined,
    Defined,
    /// Memory that every definition asks for: bytes, and their alignment.
    Common {
        size: u64,
        alignment: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Default,
    Hidden,
    Protected,
    Internal,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IrSymbol<'a> {
    /// As the object file will have it: mangled, with its prefix and `@version`.
    pub name: &'a [u8],
    pub kind: Kind,
    pub is_weak: bool,
    pub visibility: Visibility,
    pub is_tls: bool,
    /// A function (or code), as far as the file tells.
    pub is_function: bool,
    /// Files other than this one can refer to it.
    pub is_global: bool,
    /// It has to stay although nothing refers to it (`llvm.used`, `__attribute__((used))`).
    pub is_used: bool,
    /// A name of the compiler's own (`llvm.*`), which no symbol table will have.
    pub is_internal: bool,
    /// If no reference needs its address or its name, it may be left out of symbol tables.
    pub can_be_omitted: bool,
    /// Index in [`IrFile::comdats`].
    pub comdat: Option<u32>,
    /// The section that the source puts it into.
    pub section: &'a [u8],
    /// COFF: what a weak external falls back to.
    pub fallback: Option<&'a [u8]>,
    /// COFF: another name for what is defined elsewhere.
    pub is_indirect: bool,
}

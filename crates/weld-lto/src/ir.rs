//! What a file of intermediate code says to a linker: symbols, COMDAT groups, and what it was made for; or
//! why that cannot be read.
//!
//! Names and strings are slices of the file. Readers ([`crate::bitcode`], [`crate::gcc`]) check everything
//! that they take from it, and allocate no more than a small multiple of its size.

use std::fmt;

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
    /// Who wrote it, as its symbol table says: `22.1.8`, `LLVM22.1.2-rust-1.97.0`. GCC's files do not say.
    pub producer: &'a [u8],
    /// The major version of that compiler, if it says one.
    pub major: Option<u32>,
    /// The target triple; empty for GCC, whose files are objects that have a machine.
    pub triple: &'a [u8],
    /// The name of the source file (of the first module, if there are several); empty for GCC.
    pub source: &'a [u8],
    pub comdats: Vec<Comdat<'a>>,
    /// In the order of the file, which compilers number them by. A name may occur more than once: defined in
    /// one module and mentioned in another, or in assembly (`.symver`).
    pub symbols: Vec<IrSymbol<'a>>,
    /// Libraries that it asks for (`#pragma comment(lib, …)`).
    pub libraries: Vec<&'a [u8]>,
    /// COFF: options for the linker, as `.drectve` sections have them.
    pub directives: Vec<&'a [u8]>,
    /// There is machine code in the same file, too (fat objects). Of bitcode, who has taken it out of an
    /// object knows that, not the reader.
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
    /// Memory that every definition asks for: bytes, and their alignment (1 if the file does not tell it, as
    /// GCC's do not).
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
    /// Data that begins as zeros, as far as the file tells: GCC's do.
    pub is_bss: bool,
    /// Files other than this one can refer to it.
    pub is_global: bool,
    /// It has to stay although nothing refers to it (`llvm.used`, `__attribute__((used))`).
    pub is_used: bool,
    /// A name of the compiler's own (`llvm.*`), which no symbol table will have.
    pub is_internal: bool,
    /// If no reference needs its address or its name, it may be left out of symbol tables.
    pub can_be_omitted: bool,
    /// Nothing depends on its address being different from others' (`unnamed_addr`).
    pub is_unnamed_addr: bool,
    /// Index in [`IrFile::comdats`].
    pub comdat: Option<u32>,
    /// The section that the source puts it into.
    pub section: &'a [u8],
    /// COFF: what a weak external falls back to if no other file defines it.
    pub fallback: Option<&'a [u8]>,
    /// An alias: another name of what the file also has under a first.
    pub is_indirect: bool,
}

impl<'a> IrFile<'a> {
    /// One that says nothing yet.
    pub fn new(compiler: Compiler) -> IrFile<'a> {
        IrFile {
            compiler,
            producer: &[],
            major: None,
            triple: &[],
            source: &[],
            comdats: Vec::new(),
            symbols: Vec::new(),
            libraries: Vec::new(),
            directives: Vec::new(),
            is_fat: false,
        }
    }

    /// The symbols that linkers have to do with. Engines number symbols by their place among these.
    pub fn symbols_for_linkers(&self) -> impl Iterator<Item = &IrSymbol<'a>> {
        self.symbols.iter().filter(|symbol| symbol.is_for_linkers())
    }
}

impl<'a> IrSymbol<'a> {
    /// A symbol that other files can refer to, and of which nothing else is known.
    pub fn new(name: &'a [u8], kind: Kind) -> IrSymbol<'a> {
        IrSymbol {
            name,
            kind,
            is_weak: false,
            visibility: Visibility::Default,
            is_tls: false,
            is_function: false,
            is_bss: false,
            is_global: true,
            is_used: false,
            is_internal: false,
            can_be_omitted: false,
            is_unnamed_addr: false,
            comdat: None,
            section: &[],
            fallback: None,
            is_indirect: false,
        }
    }

    /// Linkers have to do with it: others can refer to it, and object files have it.
    pub fn is_for_linkers(&self) -> bool {
        self.is_global && !self.is_internal
    }
}

/// Why the symbols of a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// There is no symbol table, or it does not speak of all modules. Compilers write one, but `llvm-as` does
    /// not if there is module assembly or no data layout, and programs that put files together may not.
    NoSymbolTable {
        /// Who wrote the file, if it says so: `LLVM22.1.8`.
        producer: Vec<u8>,
    },
    /// There is none that weld reads, and no engine has made one.
    NotTold { error: Box<ReadError>, why: String },
    /// The symbol table is of a version that weld does not read.
    UnknownVersion { version: u32, producer: Vec<u8> },
    Malformed {
        /// In bytes from the start of what was to be read; for GCC's, of the section.
        offset: u64,
        what: &'static str,
    },
}

impl ReadError {
    /// Whether the compiler that wrote the file can tell its symbols although weld cannot.
    pub fn can_ask_engine(&self) -> bool {
        !matches!(self, ReadError::Malformed { .. } | ReadError::NotTold { .. })
    }

    /// The major version of the compiler that wrote the file, if it says one.
    pub fn major(&self) -> Option<u32> {
        match self {
            ReadError::NoSymbolTable { producer } | ReadError::UnknownVersion { producer, .. } => {
                major(producer)
            }
            ReadError::NotTold { error, .. } => error.major(),
            ReadError::Malformed { .. } => None,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |f: &mut fmt::Formatter<'_>, producer: &[u8]| match producer {
            [] => Ok(()),
            _ => write!(f, " (written by {})", producer.escape_ascii()),
        };
        match self {
            ReadError::NoSymbolTable { producer } => {
                write!(f, "there is no symbol table")?;
                by(f, producer)
            }
            ReadError::UnknownVersion { version, producer } => {
                write!(f, "the symbol table has version {version}, which weld does not read")?;
                by(f, producer)
            }
            ReadError::NotTold { error, why } => write!(f, "{error}; {why}"),
            ReadError::Malformed { offset, what } => {
                write!(f, "malformed intermediate code: {what} at offset {offset:#x}")
            }
        }
    }
}

impl std::error::Error for ReadError {}

/// The major version in `22.1.8` or `LLVM22.1.8-rust-1.97.0`.
pub fn major(producer: &[u8]) -> Option<u32> {
    let version = producer.strip_prefix(b"LLVM").unwrap_or(producer);
    let digits = version.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&version[..digits]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn majors() {
        let of = |producer: &str| major(producer.as_bytes());
        assert_eq!(
            (of("22.1.8"), of("LLVM22.1.8"), of("LLVM23.0.0-rust-1.99.0-nightly")),
            (Some(22), Some(22), Some(23))
        );
        assert_eq!(
            (of(""), of("LLVM"), of("APPLE_1_1500"), of("99999999999999999999")),
            (None, None, None, None)
        );
    }

    #[test]
    fn what_errors_say() {
        let error = ReadError::UnknownVersion { version: 9, producer: b"LLVM30.0.0".to_vec() };
        let text = "the symbol table has version 9, which weld does not read (written by LLVM30.0.0)";
        assert_eq!(error.to_string(), text);
        assert_eq!((error.can_ask_engine(), error.major()), (true, Some(30)));
        let error = ReadError::NoSymbolTable { producer: Vec::new() };
        assert_eq!(error.to_string(), "there is no symbol table");
        let error = ReadError::Malformed { offset: 16, what: "a string" };
        assert_eq!(error.to_string(), "malformed intermediate code: a string at offset 0x10");
        assert!(!error.can_ask_engine());
    }
}

//! What a linked file is made of, as tables: the pieces of the file, and what each of them belongs to.
//!
//! Every byte of the file is in exactly one [`Piece`]. A piece lies in an output section, and mostly came with an
//! input section, that with an object, that with an archive. Rows refer to one another by [`Ref`]. What a page
//! stores of it, column by column, is described in the crate's documentation.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::names::{Name, Names};

/// A reference to a row of another table, or to none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(u32);

impl Ref {
    pub const NONE: Ref = Ref(0);

    /// To the row with this number, which is below 2³² - 1.
    pub fn to(row: usize) -> Ref {
        Ref(row as u32 + 1)
    }

    /// The row's number.
    pub fn row(self) -> Option<usize> {
        self.0.checked_sub(1).map(|row| row as usize)
    }

    /// What a page has: the row's number and one, or 0.
    pub fn stored(self) -> u64 {
        u64::from(self.0)
    }

    /// What a page has, for a table of `rows` rows; `None` if there is no such row.
    pub fn from_stored(value: u64, rows: usize) -> Option<Ref> {
        (value <= rows as u64).then_some(Ref(value as u32))
    }
}

/// An enumeration whose members a page numbers, with the words that it has for them.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $member:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* $member,)*
        }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$member),*];

            pub fn word(self) -> &'static str {
                match self { $($name::$member => $word,)* }
            }
        }
    };
}

words! {
    /// What an output section holds.
    Kind {
        Code = "code",
        ReadOnly = "read-only data",
        Data = "data",
        /// Takes memory, and no bytes of the file.
        Zeroed = "zeroed data",
        Debug = "debug information",
        /// Symbols, relocations, what loaders and unwinders look up.
        Table = "linker tables",
        #[default]
        Other = "other",
    }
}

words! {
    /// What a piece is.
    Role {
        /// Bytes of an input section.
        #[default]
        Contents = "contents",
        Padding = "padding",
        Header = "header",
        Table = "linker table",
        Merged = "merged strings",
    }
}

words! {
    /// What an object was compiled from.
    Language {
        #[default]
        Unknown = "",
        C = "C",
        Cpp = "C++",
        Rust = "Rust",
        Assembly = "assembly",
        Fortran = "Fortran",
        Ada = "Ada",
        Go = "Go",
        Zig = "Zig",
        D = "D",
        Swift = "Swift",
        Haskell = "Haskell",
        ObjectiveC = "Objective-C",
    }
}

/// The form of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Elf,
    Pe,
}

impl Format {
    pub fn word(self) -> &'static str {
        match self {
            Format::Elf => "elf",
            Format::Pe => "pe",
        }
    }
}

/// Bytes that the file does not have, though its inputs do. `None`: not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Savings {
    /// Groups that other objects have, too.
    pub comdat: Option<u64>,
    /// Identical sections that were folded.
    pub icf: Option<u64>,
    pub merged_strings: Option<u64>,
}

/// The file as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub output: String,
    /// Bytes.
    pub file_size: u64,
    pub format: Format,
    pub machine: String,
    pub savings: Savings,
}

/// The file that a comparison began with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Old {
    pub output: String,
    /// Bytes.
    pub file_size: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputSection {
    pub name: Name,
    pub kind: Kind,
    pub address: u64,
    pub file_offset: u64,
    /// Bytes, in memory if it has none in the file.
    pub size: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// The path, or the name of a member.
    pub name: Name,
    pub archive: Ref,
    /// The source file that it was compiled from, or where that is not known, nothing.
    pub source: Name,
    pub language: Language,
    /// Of a member of an archive: the object that made the link read it.
    pub asked_by: Ref,
    /// The symbol for which it did.
    pub asked_for: Name,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputSection {
    /// What it is called, or the beginning of that: [`Model::section_name`].
    pub name: Name,
    /// The symbol for which it is called, which its name ends with, as people write it.
    pub symbol: Name,
    /// None: the linker has made it.
    pub object: Ref,
    /// A row of the output sections.
    pub output: u32,
}

/// A run of bytes of the file, or a place in memory that has none there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    pub input: Ref,
    /// None: headers, and what lies between sections.
    pub output: Ref,
    /// The symbol's, demangled.
    pub name: Name,
    /// Bytes of the file.
    pub size: u64,
    /// Bytes in memory.
    pub memory: u64,
    /// Where it was compiled from, if that is another place than its object's.
    pub source: Name,
    /// The template or generic that it is an instance of.
    pub instance: Name,
    pub role: Role,
    /// What it was in the file that a comparison began with.
    pub old_size: u64,
    pub old_memory: u64,
}

/// A section that stays whoever refers to it, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// A row of the input sections.
    pub section: u32,
    pub reason: Name,
    /// The symbol that it stays for, demangled; none if it is not for one.
    pub symbol: Name,
}

/// Which input section refers to which, and which stay whoever refers to them: rows of the input sections throughout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Section `i` refers to those in `to[start[i]..start[i + 1]]`, which ascend.
    pub start: Vec<u32>,
    pub to: Vec<u32>,
    pub roots: Vec<Root>,
}

/// A shared library that the file has a word of: it is loaded with the file, or when it is first called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Library {
    /// What the file calls it: a soname, or the name of a DLL.
    pub name: Name,
}

/// A symbol that a library has, and who refers to it. One row for each section that does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// None: the file does not say which library has it.
    pub library: Ref,
    /// Demangled.
    pub symbol: Name,
    /// An input section. None: not known.
    pub section: Ref,
}

/// All of it.
#[derive(Default)]
pub struct Model {
    pub about: About,
    pub names: Names,
    pub outputs: Vec<OutputSection>,
    /// Their paths.
    pub archives: Vec<Name>,
    pub objects: Vec<Object>,
    pub inputs: Vec<InputSection>,
    /// In the order of the file.
    pub pieces: Vec<Piece>,
    /// In the order in which the file names them.
    pub libraries: Vec<Library>,
    /// By library.
    pub imports: Vec<Import>,
    /// `None`: not known.
    pub graph: Option<Graph>,
    /// What this is a comparison with.
    pub old: Option<Old>,
}

/// The rows of archives, by path.
#[derive(Default)]
pub struct Archives(HashMap<Name, Ref>);

impl Model {
    /// The row of the archive at `path`, which is made when it is first asked for.
    pub fn archive(&mut self, known: &mut Archives, path: &str) -> Ref {
        let name = self.names.add(path);
        *known.0.entry(name).or_insert_with(|| {
            self.archives.push(name);
            Ref::to(self.archives.len() - 1)
        })
    }

    /// What the input section in a row is called.
    pub fn section_name(&self, row: usize) -> Cow<'_, str> {
        let InputSection { name, symbol, .. } = self.inputs.get(row).copied().unwrap_or_default();
        match symbol.is_none() {
            true => Cow::Borrowed(self.names.get(name)),
            false => Cow::Owned([self.names.get(name), self.names.get(symbol)].concat()),
        }
    }

    /// Bytes of the file in pieces; the size of the file, or something is wrong.
    pub fn covered(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.size).fold(0, u64::wrapping_add)
    }

    /// The object of a piece.
    pub fn object_of(&self, piece: &Piece) -> Option<&Object> {
        self.objects.get(self.inputs.get(piece.input.row()?)?.object.row()?)
    }
}

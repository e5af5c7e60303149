//! What a compiler is asked: files, what has become of each of their symbols, and how to generate code.

use std::ops::BitOr;

/// What the linker has decided about a symbol of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resolution(pub u8);

impl Resolution {
    /// This file's definition is the one that counts.
    pub const PREVAILING: Resolution = Resolution(1);
    /// Something that the compiler does not see refers to it: machine code, a script, the command line.
    pub const VISIBLE: Resolution = Resolution(1 << 1);
    /// It may be in the dynamic symbol table.
    pub const EXPORTED: Resolution = Resolution(1 << 2);
    /// Nothing outside of this output can replace the definition that was found.
    pub const LOCAL: Resolution = Resolution(1 << 3);
    /// The linker gives it another meaning (`--wrap`, `--defsym`): calls must stay calls.
    pub const REDEFINED: Resolution = Resolution(1 << 4);
    /// The definition is machine code of this output, not intermediate code.
    pub const NATIVE: Resolution = Resolution(1 << 5);
    /// The definition is a shared object's.
    pub const SHARED: Resolution = Resolution(1 << 6);

    pub fn has(self, other: Resolution) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Resolution {
    type Output = Resolution;
    fn bitor(self, other: Resolution) -> Resolution {
        Resolution(self.0 | other.0)
    }
}

/// A file of intermediate code.
#[derive(Clone, Debug)]
pub struct File<'a> {
    /// The file that has it: an object, or an archive.
    pub path: &'a [u8],
    /// Where in that file, in bytes.
    pub offset: u64,
    pub bytes: &'a [u8],
    /// The member's name if the file is an archive.
    pub member: &'a [u8],
    pub compiler: crate::ir::Compiler,
    /// Of every symbol of the file, in its order.
    pub symbols: Vec<Symbol<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Symbol<'a> {
    pub name: &'a [u8],
    pub resolution: Resolution,
}

/// What kind of file the link makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Executable,
    Pie,
    Shared,
    Relocatable,
}

//! What a compiler is asked: files, what has become of each of their symbols, and how to generate code.

use std::ops::BitOr;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use weld_common::digest::UnitDigest;

use crate::bitcode::{self, Mode};
use crate::ir::Compiler;
use crate::options::{Options, Unified};

/// Everything that an engine is told of a link. The order of files is that of the link; code does not depend
/// on anything else.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub files: Vec<File<'a>>,
    /// Files of intermediate code that the link does not take: members of archives, for whose modules
    /// `--thinlto-index-only` writes indexes that say so. Their symbols are not needed.
    pub unused: Vec<File<'a>>,
    pub output: Output,
    pub output_path: &'a Path,
    /// What the objects have to be for.
    pub machine: Machine,
    /// The highest major version of LLVM that any of the files' bitcode was written by: no older engine reads
    /// it.
    pub llvm_major: Option<u32>,
    /// The major version of GCC that wrote its files: no other one reads them.
    pub gcc_major: Option<u32>,
    pub options: &'a Options,
    /// A later link that is the same does not ask at all.
    pub is_repeated: bool,
    /// Digests of files that are known without a look at their bytes.
    pub digested: Vec<Digested>,
    /// How long an engine may take to be loaded and to answer. What it compiles may take any time.
    pub patience: Duration,
}

#[cfg(test)]
impl<'a> Request<'a> {
    /// About no files, for x86-64.
    pub(crate) fn of_nothing(output: Output, options: &'a Options) -> Request<'a> {
        Request {
            files: Vec::new(),
            unused: Vec::new(),
            output,
            output_path: Path::new("out"),
            machine: Machine::Elf { machine: 62, is_64: true, is_big_endian: false },
            llvm_major: None,
            gcc_major: None,
            options,
            is_repeated: false,
            digested: Vec::new(),
            patience: Request::PATIENCE,
        }
    }
}

impl Request<'_> {
    /// What an engine is given to answer in: loading LLVM over a slow network takes less.
    pub const PATIENCE: Duration = Duration::from_secs(60);
}

/// Bytes that were looked at, by where they are in memory.
#[derive(Clone, Copy, Debug)]
pub struct Digested {
    pub address: usize,
    pub size: usize,
    pub digest: UnitDigest,
}

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
    /// Nothing outside of this output can replace the definition that was found. Not of absolute symbols.
    pub const LOCAL: Resolution = Resolution(1 << 3);
    /// The linker gives it another meaning (`--wrap`, `--defsym`): calls must stay calls. The object that
    /// comes back defines it as a weak symbol, whatever it was.
    pub const REDEFINED: Resolution = Resolution(1 << 4);
    /// The definition is machine code of this output, not intermediate code.
    pub const NATIVE: Resolution = Resolution(1 << 5);
    /// The definition is a shared object's, or is imported from a DLL.
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
    /// Where in that file the code begins, in bytes: behind the header of an archive's member, at the section
    /// of a fat object of clang's.
    pub offset: u64,
    pub bytes: &'a [u8],
    /// Set if the file is an archive.
    pub member: Option<Member<'a>>,
    pub compiler: Compiler,
    /// See [`File::is_thin`]; empty until it has been asked for.
    pub thinness: OnceLock<bool>,
    /// Of every symbol of the file, in its order.
    pub symbols: Vec<Symbol<'a>>,
}

/// An archive's member.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    pub name: &'a [u8],
    /// Where its header begins in the archive, in bytes.
    pub header: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Symbol<'a> {
    pub name: &'a [u8],
    pub resolution: Resolution,
    pub is_defined: bool,
    /// As [`crate::ir::IrSymbol::can_be_omitted`].
    pub can_be_omitted: bool,
}

impl File<'_> {
    /// Whether LLVM compiles the module on its own. Objects do not depend on it, only their names do; modules
    /// are read for it, which takes longer than to read their symbols, so this is for where it matters.
    pub fn is_thin(&self, options: &Options) -> bool {
        let find = || match self.compiler {
            Compiler::Llvm => match bitcode::mode(self.bytes) {
                Ok(Mode::Thin) => true,
                Ok(Mode::Unified) => options.unified != Some(Unified::Full),
                Ok(Mode::Full) | Err(_) => false,
            },
            Compiler::Gcc => false,
        };
        *self.thinness.get_or_init(find)
    }

    /// The name of the module, as lld has it: messages, indexes and files of `--save-temps` are named by it.
    pub fn module_name(&self, machine: Machine) -> Vec<u8> {
        let Some(member) = self.member else { return self.path.to_vec() };
        let base = member.name.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        match machine {
            Machine::Elf { .. } => [self.path, b"(", base, b" at ", &decimal(member.header), b")"].concat(),
            Machine::Coff { .. } => [self.path, base, &decimal(member.header)].concat(),
        }
    }
}

fn decimal(number: u64) -> Vec<u8> {
    number.to_string().into_bytes()
}

/// What kind of file the link makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Executable,
    Pie,
    Shared,
    Relocatable,
}

/// What an object has to be for to be linked with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    Elf {
        /// `e_machine`.
        machine: u16,
        is_64: bool,
        is_big_endian: bool,
    },
    Coff {
        /// `IMAGE_FILE_MACHINE_*`.
        machine: u16,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_archives_are_named_by_where_they_are() {
        let member = Some(Member { name: b"dir/a.o", header: 8 });
        let file = File {
            path: b"x/l.a",
            offset: 68,
            bytes: b"",
            member,
            compiler: Compiler::Llvm,
            thinness: OnceLock::new(),
            symbols: vec![],
        };
        let elf = Machine::Elf { machine: 62, is_64: true, is_big_endian: false };
        assert_eq!(file.module_name(elf), b"x/l.a(a.o at 8)");
        assert_eq!(file.module_name(Machine::Coff { machine: 0x8664 }), b"x/l.aa.o8");
        assert_eq!(File { member: None, ..file }.module_name(elf), b"x/l.a");
    }
}

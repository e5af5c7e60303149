//! Resolution around link-time optimisation: once with the files of intermediate code, and once more with the
//! objects that compilers have made of them.
//!
//! The second time, files that took part do so again, whether anybody still wants them or not, and the objects
//! stand where the first file of intermediate code stood. They define what had been chosen from such files and
//! nothing else, so every choice that was made before is made again: of definitions, because a compiler leaves
//! out those that were not chosen; of COMDAT groups, because a group that had lost has no definition left.

use weld_common::diag::Diagnostics;
use weld_common::resolve::Replacement;
use weld_lto::ir::Compiler;
use weld_lto::runtime_calls;

use super::Resolved;
use super::file::ElfFile;
use super::read::Rounds;
use crate::ids::*;
use crate::input::identify::{Kind, identify};
use crate::input::ir;
use crate::names::Rank;

/// What intermediate code has become.
pub struct Compiled<'a> {
    /// Files that took part and were not intermediate code, ascending.
    pub live: Vec<FileId>,
    /// Those that were, ascending; not empty.
    pub code: Vec<FileId>,
    /// The objects that they are now.
    pub objects: Vec<FileId>,
    /// What such a file of an archive defined that `--exclude-libs` names: objects do not tell whose definitions
    /// they are.
    pub excluded: Vec<&'a [u8]>,
    /// Visibilities that such files have stated, as bits of records: one file may state it of a name that another
    /// one defines, and of that compilers know nothing.
    pub visibilities: Vec<(&'a [u8], u32)>,
}

impl<'a> Compiled<'a> {
    /// Puts the objects in the places of the files.
    pub(super) fn begin(&self, rounds: &mut Rounds<'a, '_, '_>) {
        let said = self.visibilities.iter().map(|(name, bits)| (*name, Rank::Undefined as u32 | bits));
        rounds.refer(said);
        rounds.replace(&[Replacement { old: self.code.clone(), new: self.objects.clone() }]);
    }

    /// Reads what took part although it is linked only if it is wanted.
    pub(super) fn read_live(&self, rounds: &mut Rounds) {
        rounds.read_unasked(self.live.iter().copied());
    }
}

/// Takes in bitcode that defines functions which only code generation calls: once it has begun, no further
/// bitcode can take part. Machine code is read when it is wanted.
pub(super) fn read_runtime_calls(rounds: &mut Rounds) -> Result<(), Diagnostics> {
    let is_bitcode = |file: &&ElfFile| matches!(file, ElfFile::Object(o) if o.code == Some(Compiler::Llvm));
    let Some(ElfFile::Object(first)) = rounds.files.iter().find(is_bitcode) else { return Ok(()) };
    let bytes = rounds.format.inputs.bytes(first.file).ok();
    let code = bytes.filter(|bytes| identify(bytes) == Kind::Bitcode).and_then(|b| ir::of_bitcode(b).ok());
    let Some(code) = code else { return Ok(()) };
    let mut files = rounds.first_offers(runtime_calls::names(code.triple).map(str::as_bytes));
    files
        .retain(|file| rounds.format.inputs.bytes(*file).is_ok_and(|bytes| identify(bytes) == Kind::Bitcode));
    rounds.read_unasked(files);
    rounds.settle()
}

/// Finds the names that compiled objects define and must keep to themselves.
pub(super) fn note_excluded(compiled: Option<&Compiled>, resolved: &mut Resolved) {
    let Some(compiled) = compiled else { return };
    let found = compiled.excluded.iter().filter_map(|name| resolved.names.find(name));
    let is_compiled = |id: &SymbolId| compiled.objects.contains(&resolved.names.get(*id).file());
    resolved.excluded = found.filter(is_compiled).collect();
}

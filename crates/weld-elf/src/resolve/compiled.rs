//! Resolution around link-time optimisation: once with the files of intermediate code, and once more with the
//! objects that compilers have made of them. Other files may have become others, too ([`crate::gateways`]).
//!
//! The second time, files that took part do so again, whether anybody still wants them or not, and the
//! objects stand where the first file of intermediate code stood. They define what had been chosen from such
//! files and nothing else, so every choice that was made before is made again: of definitions, because a
//! compiler leaves out those that were not chosen; of COMDAT groups, because a group that had lost has no
//! definition left.

use weld_common::diag::Diagnostics;
use weld_common::resolve::Replacement;
use weld_lto::ir::Compiler;
use weld_lto::runtime_calls;
use weld_lto::triple::ElfMachine;

use super::Resolved;
use super::file::ElfFile;
use super::read::{Reader, Rounds};
use crate::elf::{SHN_COMMON, SHN_UNDEF, STB_GLOBAL};
use crate::ids::*;
use crate::input::identify::{Kind, identify};
use crate::input::ir;
use crate::symbol_names::{Rank, flag};

/// What files have become.
#[derive(Default)]
pub struct Compiled<'a> {
    /// Files that took part and were not intermediate code, ascending.
    pub live: Vec<FileId>,
    /// What stands for which files now.
    pub replaced: Vec<Replacement>,
    /// The objects that intermediate code is now, ascending.
    pub objects: Vec<FileId>,
    /// What such a file of an archive defined that `--exclude-libs` names: objects do not tell whose
    /// definitions they are.
    pub excluded: Vec<&'a [u8]>,
    /// Visibilities that such files have stated, as bits of records: one file may state it of a name that
    /// another one defines, and of that compilers know nothing.
    pub visibilities: Vec<(&'a [u8], u32)>,
    /// COMDAT groups that such files had and objects may not have any more, though they define what was in
    /// them (GCC's): the signature, and the names in it.
    pub groups: Vec<(&'a [u8], Vec<&'a [u8]>)>,
}

impl<'a> Compiled<'a> {
    /// Puts the objects in the places of the files.
    pub(super) fn begin(&self, rounds: &mut Rounds<'a, '_, '_>) {
        let said = self.visibilities.iter().map(|(name, bits)| (*name, Rank::Undefined as u32 | bits));
        rounds.refer(said);
        rounds.replace(&self.replaced);
    }

    /// The same, with files that have become others after that; they may be some of the objects.
    pub fn and(mut self, more: Vec<Replacement>) -> Compiled<'a> {
        for Replacement { old, new } in more {
            let swap = |files: &mut Vec<FileId>| {
                let at = files.iter().position(|file| old.contains(file));
                at.map(|at| files.splice(at..=at, new.iter().copied()).count()).is_some()
            };
            let was_new = self.replaced.iter_mut().find_map(|one| swap(&mut one.new).then_some(&mut one.old));
            let is_settled = was_new.map(|gone| gone.extend(&old)).is_some();
            if swap(&mut self.objects) {
                self.objects.sort_unstable();
            }
            if !is_settled {
                self.replaced.push(Replacement { old, new });
            }
        }
        self
    }

    /// Reads what took part although it is linked only if it is wanted. What defines a name that an object
    /// defines now, as compilers add functions and as assembly in code has names that no table tells, is not
    /// read: that was taken for its definition, and has to be wanted again.
    pub(super) fn read_live(&self, rounds: &mut Rounds<'a, '_, '_>) {
        let is_ahead = |file: &FileId| !rounds.can_be_read(*file) || !self.defines_again(*file, rounds);
        let live: Vec<FileId> = self.live.iter().copied().filter(is_ahead).collect();
        rounds.read_unasked(live);
    }

    /// Whether a file that has not been read defines what one of the objects defines.
    fn defines_again(&self, file: FileId, rounds: &Rounds<'a, '_, '_>) -> bool {
        // What is wrong with it is said when it is read.
        let Ok(object) = rounds.format.object(file) else { return false };
        let globals = object.first_global..object.syms.len() as u32;
        let is_strong = |index: &u32| {
            let symbol = &object.syms[*index as usize];
            symbol.binding() == STB_GLOBAL && !matches!(symbol.st_shndx(), SHN_UNDEF | SHN_COMMON)
        };
        globals.filter(is_strong).any(|index| {
            let id = rounds.names.find(object.symbol_name(index));
            let entry = id.map(|id| rounds.names.get(id));
            entry.is_some_and(|entry| {
                entry.rank() == Rank::Strong && self.objects.binary_search(&entry.file()).is_ok()
            })
        })
    }
}

/// Takes in bitcode that defines functions which only code generation calls: once it has begun, no further
/// bitcode can take part. Machine code is read when it is wanted, but what it mentions is visible to it.
pub(super) fn read_runtime_calls(rounds: &mut Rounds) -> Result<(), Diagnostics> {
    let Some(triple) = triple(rounds) else { return Ok(()) };
    let is_bitcode = |reader: &Reader<'_, '_>, file: FileId| {
        reader.inputs.bytes(file).is_ok_and(|bytes| identify(bytes) == Kind::Bitcode)
    };
    rounds.read_called(runtime_calls::names(triple).map(str::as_bytes), is_bitcode, flag::REF_NATIVE)
}

/// The target of the first file of intermediate code.
fn triple<'a>(rounds: &Rounds<'a, '_, '_>) -> Option<&'a [u8]> {
    let mut objects = rounds.files.iter().filter_map(|file| match file {
        ElfFile::Object(object) => Some(object),
        _ => None,
    });
    let first = objects.find(|object| object.code.is_some())?;
    let inputs = rounds.format.inputs;
    let bytes = inputs.bytes(first.file).ok()?;
    match first.code? {
        Compiler::Llvm => {
            let (code, _) = ir::find(first.file, inputs.name(first.file), bytes, inputs.reading(false))?;
            Some(code.triple)
        }
        Compiler::Gcc => {
            let target = inputs.machine.facts().target;
            let (is_64, is_big_endian) = (target.format.is_64(), target.format.is_big());
            Some(ElfMachine { machine: target.machine, is_64, is_big_endian }.gnu_triple())
        }
    }
}

/// Finds what compiled objects do not tell themselves: names that they define and must keep to themselves,
/// and COMDAT groups whose contents they have.
pub(super) fn note_said(compiled: Option<&Compiled>, resolved: &mut Resolved) {
    let Some(compiled) = compiled else { return };
    let found = compiled.excluded.iter().filter_map(|name| resolved.names.find(name));
    let is_compiled = |id: &SymbolId| compiled.objects.contains(&resolved.names.get(*id).file());
    resolved.excluded = found.filter(is_compiled).collect();
    let names = &resolved.names;
    let is_here = |name: &&[u8]| names.find(name).is_some_and(|id| is_compiled(&id));
    let groups = compiled.groups.iter().filter(|(_, contents)| contents.iter().any(is_here));
    let claimed = groups.filter_map(|(signature, _)| names.find(signature)).collect();
    // Where an object has such a group nevertheless, it comes before.
    let last = compiled.objects.last().map(|file| resolved.index_of_file[file.index()]);
    resolved.claimed_groups = last.map(|last| (last, claimed)).unwrap_or_default();
}

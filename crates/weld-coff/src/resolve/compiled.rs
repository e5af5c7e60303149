//! Resolution around link-time optimisation: once with the files of bitcode, and once more with the objects
//! that a compiler has made of them.
//!
//! The second time, files that took part do so again, whether anybody still wants them or not, and the
//! objects stand where the first file of bitcode stood. They define what had been chosen from such files and
//! nothing else, so every choice that was made before is made again: of definitions, because a compiler
//! leaves out those that were not chosen; of COMDAT sections, because one that had lost is not there any
//! more. What follows from names alone (entry point, subsystem, exports of everything) is not asked again:
//! the optimiser may have dissolved `main` in what calls it.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use weld_common::diag::Diagnostics;
use weld_common::resolve::Replacement;
use weld_lto::ir::Compiler;
use weld_lto::runtime_calls;

use super::file::objects;
use super::read::{Reader, Rounds};
use super::{Resolved, Resolver};
use crate::coff::directives;
use crate::coff::identify::identify;
use crate::ids::FileId;
use crate::input::ir;
use crate::input::load::Inputs;
use crate::input::object::Object;
use crate::options::Subsystem;
use crate::symbol_names::flag;

/// What bitcode has become, and what the link with it was.
pub struct Compiled<'a> {
    /// Files that took part and were not bitcode, ascending.
    pub live: Vec<FileId>,
    /// Those that were, ascending; not empty.
    pub code: Vec<FileId>,
    /// The objects that they are now.
    pub objects: Vec<FileId>,
    /// What bitcode asked for; the objects need not say it again.
    pub directives: Vec<&'a [u8]>,
    pub entry: Option<&'a [u8]>,
    pub subsystem: Option<Subsystem>,
    /// Names that are exported although nobody asks for them.
    pub automatic: HashSet<&'a [u8]>,
    /// There was GCC's code, which knows no COMDAT sections any more when it has been compiled.
    pub has_gcc: bool,
}

impl<'a> Compiled<'a> {
    /// What is known of a link before its bitcode is compiled.
    pub fn before(resolved: &Resolved<'a>) -> Compiled<'a> {
        let code = || resolved.objects.iter().filter(|object| object.is_code());
        let native = resolved.objects.iter().filter(|object| !object.is_code()).map(|object| object.file);
        let mut live: Vec<FileId> = native.chain(resolved.imports.iter().map(|import| import.file)).collect();
        live.sort_unstable();
        let automatic = resolved.program.exports.iter().filter(|export| export.is_automatic);
        Compiled {
            live,
            code: code().map(|object| object.file).collect(),
            objects: Vec::new(),
            directives: code().flat_map(Object::directive_texts).filter_map(Result::ok).collect(),
            entry: resolved.program.entry.map(|entry| resolved.names.get(entry).name),
            subsystem: resolved.program.subsystem,
            automatic: automatic.map(|export| resolved.names.get(export.symbol).name).collect(),
            has_gcc: false,
        }
    }

    /// Puts the objects in the places of the files.
    pub(super) fn begin(&self, rounds: &mut Rounds) {
        rounds.replace(&[Replacement { old: self.code.clone(), new: self.objects.clone() }]);
    }

    /// Reads what took part although it is linked only if it is wanted. Says which files these are.
    pub(super) fn read_live(&self, rounds: &mut Rounds) -> Vec<FileId> {
        rounds.read_unasked(self.live.iter().copied())
    }

    /// Has the first object ask for what bitcode asked for.
    pub(super) fn give_directives(&self, object: &mut Object<'a>) {
        if self.objects.first() == Some(&object.file) {
            let own = std::mem::take(&mut object.directives);
            for text in &self.directives {
                directives::parse(text, |directive| object.directives.push(directive));
            }
            object.directives.extend(own);
        }
    }

    /// Whether a file may define what has been in COMDAT sections.
    pub(super) fn dissolves(&self, file: FileId) -> bool {
        self.has_gcc && self.objects.contains(&file)
    }

    /// Whether a name of a compiled object is none of those that were to be exported.
    pub(super) fn hides(&self, file: FileId, name: &[u8]) -> bool {
        self.objects.contains(&file) && !self.automatic.contains(name)
    }
}

impl<'a> Resolver<'a, '_> {
    /// Takes in bitcode that defines functions which only code generation calls: once it has begun, no
    /// further bitcode can take part. Machine code is read when it is wanted, but what it mentions is visible
    /// to it.
    pub(super) fn read_runtime_calls(&self, rounds: &mut Rounds<'a, '_, '_, '_>) -> Result<(), Diagnostics> {
        if self.compiled.is_some() || !rounds.format.has_code.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(first) = objects(&rounds.files).find(|object| object.is_code()) else { return Ok(()) };
        let Some(code) = self.code(rounds.format.inputs, first.file) else { return Ok(()) };
        let triple = match code.file.compiler {
            Compiler::Llvm => code.file.triple,
            Compiler::Gcc => code.machine.gnu_triple(),
        };
        let prefix = code.machine.prefix();
        let names = runtime_calls::names(triple).map(|name| format!("{prefix}{name}").into_bytes());
        let names: Vec<Vec<u8>> = names.collect();
        let is_code = |reader: &Reader<'a, '_, '_>, file: FileId| self.code(reader.inputs, file).is_some();
        rounds.read_called(names.iter().map(Vec::as_slice), is_code, flag::NATIVE)
    }

    /// The intermediate code of a file, if it has some that is to be compiled.
    fn code(&self, inputs: &Inputs<'a>, file: FileId) -> Option<ir::Code<'a>> {
        let data = inputs.bytes(file, self.store)?;
        ir::find(data, identify(data), &self.options.lto, self.store).ok()?
    }
}

//! Which object has been compiled of what, and how it is called.
//!
//! LLVM numbers objects: first the pieces of merged modules, then the modules that it compiles on their own,
//! in the link's order. lld calls pieces by their number and the others by their module, and so do we.

use weld_common::text::text;

use crate::answer::Source;
use crate::options::Emit;
use crate::request::{Machine, Request};

/// The modules that LLVM compiles on their own, in their order: indices of files.
#[derive(Default)]
pub struct Modules(Vec<u32>);

impl Modules {
    /// Of so many such modules an object has been `made`. If that is all files, none has to be looked into.
    pub fn of(request: &Request<'_>, made: usize) -> Modules {
        let only = &request.options.thin.single_modules;
        let all = 0..request.files.len() as u32;
        if only.is_empty() && made == request.files.len() {
            return Modules(all.collect());
        }
        let is_compiled = |index: &u32| {
            let file = &request.files[*index as usize];
            let is_chosen = |name: &[u8]| only.iter().any(|part| text(name).contains(part.as_str()));
            file.is_thin(request.options)
                && (only.is_empty() || is_chosen(&file.module_name(request.machine)))
        };
        Modules(all.filter(is_compiled).collect())
    }

    /// What the task of this number has compiled, of a program that is told how many pieces there are to be.
    pub fn of_task(&self, request: &Request<'_>, task: u32) -> Source {
        let place = task.checked_sub(request.options.partitions);
        match place.and_then(|place| self.0.get(place as usize)) {
            Some(module) => Source::Module(*module),
            None => Source::Merged(task),
        }
    }
}

/// What `count` objects have been compiled of, of which only the order is known: there is one for each module
/// that LLVM compiles on its own, and they come last.
pub fn by_place(request: &Request<'_>, count: usize) -> Vec<Source> {
    // There may be pieces of merged modules among them.
    let Modules(thin) = Modules::of(request, 0);
    let merged = count.saturating_sub(thin.len());
    let pieces = (0..merged as u32).map(Source::Merged);
    pieces.chain(thin.into_iter().take(count - merged).map(Source::Module)).collect()
}

/// How an object is called that is one of `count`.
pub fn name(request: &Request<'_>, source: Source, count: usize) -> Vec<u8> {
    let output = request.output_path.as_os_str().as_encoded_bytes();
    let emit = request.options.emit;
    // Merged modules are the output. lld writes one file only, whatever there is.
    if emit == Emit::Bitcode && (source == Source::Merged(0) || count == 1) {
        return output.to_vec();
    }
    let end = match (emit, request.machine) {
        (Emit::Assembly, _) => ".s",
        (Emit::Bitcode, _) => ".bc",
        (Emit::Objects, Machine::Coff { .. }) => ".obj",
        (Emit::Objects, Machine::Elf { .. }) => ".o",
    };
    match source {
        Source::Module(index) => {
            let module = request.files[index as usize].module_name(request.machine);
            of_module(&module, request, end)
        }
        Source::Merged(0) => [output, b".lto", end.as_bytes()].concat(),
        Source::Merged(number) => [output, format!(".lto.{number}{end}").as_bytes()].concat(),
    }
}

/// `DIRECTORY/OUTPUT.lto.MODULE.o`: beside the module, whose own ending goes.
fn of_module(module: &[u8], request: &Request<'_>, end: &str) -> Vec<u8> {
    let base = request.output_path.file_name().unwrap_or_default().as_encoded_bytes();
    let (directory, name) = match module.iter().rposition(|&byte| byte == b'/') {
        Some(at) => module.split_at(at + 1),
        None => (&b""[..], module),
    };
    let stem = match name.iter().rposition(|&byte| byte == b'.') {
        Some(at @ 1..) if !name.ends_with(b")") => &name[..at],
        _ => name,
    };
    [directory, base, b".lto.", stem, end.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::OnceLock;

    use super::*;
    use crate::ir::Compiler;
    use crate::options::Options;
    use crate::request::{File, Member, Output};

    fn file(path: &'static str, member: Option<Member<'static>>, is_thin: bool) -> File<'static> {
        let (path, compiler, thinness) = (path.as_bytes(), Compiler::Llvm, OnceLock::from(is_thin));
        File { path, offset: 0, bytes: b"", member, compiler, thinness, symbols: vec![] }
    }

    fn request(options: &Options) -> Request<'_> {
        let member = Member { name: b"coll.o", header: 8 };
        Request {
            files: vec![
                file("x/a.b.o", None, true),
                file("full.o", None, false),
                file("d/l.a", Some(member), true),
            ],
            output_path: Path::new("dir/out"),
            ..Request::of_nothing(Output::Pie, options)
        }
    }

    fn called(request: &Request<'_>, sources: &[Source]) -> Vec<String> {
        let names = sources.iter().map(|source| name(request, *source, sources.len()));
        names.map(|name| String::from_utf8(name).unwrap()).collect()
    }

    #[test]
    fn objects_are_named_as_by_lld() {
        let options = Options::default();
        let mut request = request(&options);
        let expected =
            ["dir/out.lto.o", "dir/out.lto.1.o", "x/out.lto.a.b.o", "d/out.lto.l.a(coll.o at 8).o"];
        assert_eq!(called(&request, &by_place(&request, 4)), expected);
        request.machine = Machine::Coff { machine: 0x8664 };
        let expected = ["dir/out.lto.obj", "x/out.lto.a.b.obj", "d/out.lto.l.acoll.obj"];
        assert_eq!(called(&request, &by_place(&request, 3)), expected);
    }

    #[test]
    fn tasks_are_pieces_and_then_modules() {
        let options = Options { partitions: 2, ..Options::default() };
        let mut request = request(&options);
        let modules = Modules::of(&request, 2);
        let sources = [0, 1, 2, 3, 4].map(|task| modules.of_task(&request, task));
        use Source::{Merged, Module};
        assert_eq!(sources, [Merged(0), Merged(1), Module(0), Module(2), Merged(4)]);
        // Files that are all compiled on their own are not asked.
        request.files.iter_mut().for_each(|file| file.thinness = OnceLock::new());
        let modules = Modules::of(&request, 3);
        assert_eq!([2, 3, 4].map(|task| modules.of_task(&request, task)), [Module(0), Module(1), Module(2)]);
        assert!(request.files.iter().all(|file| file.thinness.get().is_none()));
    }

    #[test]
    fn single_modules_are_numbered_among_themselves() {
        let mut options = Options::default();
        options.thin.single_modules = vec!["coll".to_owned()];
        let request = request(&options);
        assert_eq!(Modules::of(&request, 1).of_task(&request, 1), Source::Module(2));
    }
}

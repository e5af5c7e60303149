//! A small program that can be an engine, as weld can, and a link that asks for one. For tests of engines,
//! which have to end programs that wait for them.
//!
//!     lto-engine ENGINE INPUT     compiles INPUT, which has a function `main`, with ENGINE

#[cfg(target_os = "linux")]
fn main() {
    use std::ffi::OsString;
    use std::io;
    use std::path::{Path, PathBuf};

    use weld_common::host::{Host, LTO_CHILD};
    use weld_lto::ir::Compiler;
    use weld_lto::options::Options;
    use weld_lto::request::{File, Machine, Output, Request, Resolution, Symbol};

    struct ThisProgram;

    impl Host for ThisProgram {
        fn print(&self, _text: &[u8]) -> io::Result<()> {
            Ok(())
        }

        fn lto_child(&self) -> Option<PathBuf> {
            std::env::current_exe().ok()
        }

        fn variable(&self, name: &str) -> Option<OsString> {
            std::env::var_os(name)
        }
    }

    let args: Vec<String> = std::env::args().collect();
    if args.get(1).is_some_and(|arg| arg == LTO_CHILD) {
        std::process::exit(weld_lto::engine_child::run());
    }
    let mut options = Options::default();
    options.engine.path = Some(PathBuf::from(&args[1]));
    let bytes = std::fs::read(&args[2]).unwrap();
    let resolution = Resolution::PREVAILING | Resolution::VISIBLE;
    let file = File {
        path: args[2].as_bytes(),
        offset: 0,
        bytes: &bytes,
        member: None,
        compiler: Compiler::Llvm,
        thinness: Default::default(),
        symbols: vec![Symbol { name: b"main", resolution, is_defined: true, can_be_omitted: false }],
    };
    let request = Request {
        files: vec![file],
        unused: Vec::new(),
        output: Output::Executable,
        output_path: Path::new("out"),
        machine: Machine::Elf { machine: 62, is_64: true, is_big_endian: false },
        llvm_major: None,
        gcc_major: None,
        options: &options,
        is_repeated: false,
        digested: Vec::new(),
        patience: Request::PATIENCE,
    };
    match weld_lto::engine::compile(&request, &ThisProgram) {
        Ok(answer) => println!("{} objects", answer.objects.len()),
        Err(error) => println!("{error}\n{}", error.notes().join("\n")),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

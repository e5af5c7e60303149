//! Damaged objects, libraries and resources in whole links: each ends in an image or in an error, and nothing
//! worse.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use weld_coff::args::Environment;
use weld_common::host::QuietHost;
use weld_testkit::coff::{self, Coff};
use weld_testkit::mutate::damage;

/// A directory that goes away with its test.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let dir = std::env::temp_dir().join(format!("weld-coff-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Dir(dir)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Links; `Err` is what was wrong.
fn link(dir: &Dir, inputs: &[&Path], more: &[&str]) -> Result<Vec<u8>, String> {
    let out = dir.0.join("out.exe");
    let mut args: Vec<OsString> = vec![format!("/out:{}", out.display()).into()];
    args.extend(["/entry:start", "/subsystem:console", "/threads:1"].map(OsString::from));
    args.extend(more.iter().map(OsString::from));
    args.extend(inputs.iter().map(|path| path.as_os_str().to_owned()));
    match weld_coff::link::link(&args, &Environment::default(), &QuietHost::new()) {
        Ok(_) => Ok(std::fs::read(&out).unwrap()),
        Err(e) => Err(e.to_string()),
    }
}

/// An object with something of everything.
fn object(big: bool) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    if big {
        object = object.big();
    }
    let text = object.section(".text", coff::CODE, &[0xe8, 0, 0, 0, 0, 0x48, 0x8d, 5, 0, 0, 0, 0, 0xc3]);
    let inline = object.section(".text$inline", coff::CODE | coff::COMDAT, &[0xc3; 9]);
    let pdata = object.section(".pdata", coff::READ_ONLY | coff::COMDAT, &[0; 12]);
    let data = object.section(".data", coff::DATA, &[0; 24]);
    let bss = object.zeroes(".bss", 0, 64);
    let large = object.section(".rdata$large", coff::READ_ONLY | coff::COMDAT, &[1; 8]);
    object.section(".drectve", 0x0a00, b" /EXPORT:start /include:inline /DEFAULTLIB:none /merge:.x=.data");
    object.section_symbol(inline, coff::ANY, 0);
    let callee = object.symbol("inline", 0, inline, coff::EXTERNAL);
    object.section_symbol(pdata, coff::ASSOCIATIVE, inline);
    object.section_symbol(large, coff::LARGEST, 0);
    object.symbol("large_constant", 0, large, coff::EXTERNAL);
    let zeroes = object.symbol("zeroes", 8, bss, coff::STATIC);
    object.symbol("start", 0, text, coff::EXTERNAL);
    object.symbol("common", 100, 0, coff::EXTERNAL);
    object.symbol("absolute", 5, -1, coff::EXTERNAL);
    let weak = object.weak("weak", callee);
    let base = object.symbol("__ImageBase", 0, 0, coff::EXTERNAL);
    object.reloc(text, 1, callee, coff::REL32);
    object.reloc(text, 8, zeroes, coff::REL32);
    object.reloc(pdata, 0, callee, coff::ADDR32NB);
    object.reloc(data, 0, weak, coff::ADDR64);
    object.reloc(data, 8, base, coff::ADDR64);
    object.reloc(data, 16, zeroes, coff::SECTION);
    object.reloc(data, 20, zeroes, coff::SECREL);
    object.build()
}

const MORE: [&str; 1] = ["/nodefaultlib"];

#[test]
fn objects() {
    let dir = Dir::new("objects");
    for big in [false, true] {
        let bytes = object(big);
        let path = dir.write("a.obj", &bytes);
        link(&dir, &[&path], &MORE).unwrap();
        for seed in 0..1500 {
            dir.write("a.obj", &damage(&bytes, seed));
            let more: &[&str] = if seed % 2 == 0 { &MORE } else { &["/nodefaultlib", "/opt:noref"] };
            if let Err(text) = link(&dir, &[&path], more) {
                assert!(!text.contains("internal error"), "{seed}: {text}");
            }
        }
        for len in 0..bytes.len() {
            dir.write("a.obj", &bytes[..len]);
            assert!(link(&dir, &[&path], &MORE).is_err(), "{len} of {} bytes", bytes.len());
        }
    }
}

/// What [`object`] makes, in a DLL with an import library, which a program then links.
#[test]
fn import_libraries() {
    let dir = Dir::new("libraries");
    let path = dir.write("a.obj", &object(false));
    link(&dir, &[&path], &["/nodefaultlib", "/dll"]).unwrap();
    let library = std::fs::read(dir.0.join("out.lib")).unwrap();
    let mut user = Coff::new(coff::AMD64);
    let text = user.section(".text", coff::CODE, &[0xe8, 0, 0, 0, 0, 0xc3]);
    user.symbol("main", 0, text, coff::EXTERNAL);
    let callee = user.symbol("start", 0, 0, coff::EXTERNAL);
    user.reloc(text, 1, callee, coff::REL32);
    let user = dir.write("user.obj", &user.build());
    let library_path = dir.write("a.lib", &library);
    let more = ["/entry:main"];
    let image = link(&dir, &[&user, &library_path], &more).unwrap();
    assert!(image.windows(7).any(|bytes| bytes == b"out.exe"), "the DLL is named");
    for seed in 0..1000 {
        dir.write("a.lib", &damage(&library, seed));
        if let Err(text) = link(&dir, &[&user, &library_path], &more) {
            assert!(!text.contains("internal error"), "{seed}: {text}");
        }
    }
}

#[test]
fn relocations_of_zeroes() {
    let dir = Dir::new("zeroes");
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[0xc3]);
    let start = object.symbol("start", 0, text, coff::EXTERNAL);
    let zeroes = object.zeroes(".zero", 0, 8);
    object.reloc(zeroes, 0, start, coff::ADDR64);
    let path = dir.write("a.obj", &object.build());
    let error = link(&dir, &[&path], &[]).unwrap_err();
    assert!(error.contains("section 2 (.zero): it has relocations, but no contents"), "{error}");
}

/// What belongs to a symbol is not a symbol itself, whatever its bytes say.
#[test]
fn auxiliary_records() {
    let dir = Dir::new("auxiliary");
    let linked = |index: fn(u32, u32) -> u32, weak: bool| {
        let mut object = Coff::new(coff::AMD64);
        let text = object.section(".text", coff::CODE, &[0xe8, 0, 0, 0, 0, 0xc3]);
        let inline = object.section(".text$f", coff::CODE | coff::COMDAT, &[0xc3]);
        let leader = object.section_symbol(inline, coff::ANY, 0);
        let function = object.symbol("function", 0, inline, coff::EXTERNAL);
        object.symbol("start", 0, text, coff::EXTERNAL);
        let to = index(leader, function);
        let to = if weak { object.weak("weak", to) } else { to };
        object.reloc(text, 1, to, coff::REL32);
        let path = dir.write("a.obj", &object.build());
        link(&dir, &[&path], &[])
    };
    linked(|_, function| function, false).unwrap();
    linked(|_, function| function, true).unwrap();
    let error = linked(|leader, _| leader + 1, false).unwrap_err();
    assert!(error.contains("relocation against a symbol that does not exist"), "{error}");
    let error = linked(|_, _| 100, false).unwrap_err();
    assert!(error.contains("relocation against a symbol that does not exist"), "{error}");
    let error = linked(|leader, _| leader + 1, true).unwrap_err();
    assert!(error.contains("undefined symbol: weak"), "{error}");
}

#[test]
fn sections_without_contents_or_choice() {
    let dir = Dir::new("choice");
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[0xc3]);
    let start = object.symbol("start", 0, text, coff::EXTERNAL);
    let empty = object.section(".data", coff::DATA, &[]);
    object.reloc(empty, 0, start, coff::ADDR64);
    let path = dir.write("a.obj", &object.build());
    let error = link(&dir, &[&path], &[]).unwrap_err();
    assert!(error.contains("section 2 (.data): it has relocations, but no contents"), "{error}");

    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE | coff::COMDAT, &[0xc3]);
    object.section_symbol(text, 0, 0);
    object.symbol("start", 0, text, coff::EXTERNAL);
    let path = dir.write("b.obj", &object.build());
    let error = link(&dir, &[&path], &[]).unwrap_err();
    assert!(error.contains("unknown comdat type 0 for .text"), "{error}");
}

/// What debug information refers to is looked at as closely as what the image does.
#[test]
fn relocations_of_debug_information() {
    let dir = Dir::new("debug");
    let linked = |offset: u32, typ: u16, value: u32| {
        let mut object = Coff::new(coff::AMD64);
        let text = object.section(".text", coff::CODE, &[0xc3; 16]);
        object.symbol("start", 0, text, coff::EXTERNAL);
        let place = object.symbol("place", value, text, coff::STATIC);
        // Lines: of a section, without files.
        let debug = [4, 0xf2, 24, 0, 0, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
        let debug = object.section(".debug$S", 0x4210_0040, &debug);
        object.reloc(debug, offset, place, typ);
        let path = dir.write("a.obj", &object.build());
        link(&dir, &[&path], &["/debug", "/nodefaultlib"])
    };
    linked(12, coff::SECREL, 4).unwrap();
    for (offset, typ, value, what) in [
        (12, 0x7c, 4, "unknown relocation type 0x7c in debug information: place"),
        (12, coff::SECREL, 0xffff_fff0, "relocation out of range in debug information: place"),
        (
            33,
            coff::SECREL,
            4,
            "relocation points beyond the end of its parent section in debug information: place",
        ),
    ] {
        let error = linked(offset, typ, value).map(|_| what).unwrap_err();
        assert!(error.contains(what) && error.contains("a.obj"), "{error}");
    }
}

/// A link that is forced does without a symbol in debug information, too.
#[test]
fn forced_debug_information() {
    let dir = Dir::new("forced");
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[0xe8, 0, 0, 0, 0, 0xc3]);
    object.symbol("start", 0, text, coff::EXTERNAL);
    let missing = object.symbol("missing", 0, 0, coff::EXTERNAL);
    object.reloc(text, 1, missing, coff::REL32);
    let debug =
        object.section(".debug$S", 0x4210_0040, &[4, 0xf2, 12, 0, 0, 0].map(u32::to_le_bytes).concat());
    object.reloc(debug, 12, missing, coff::ADDR32NB);
    let path = dir.write("a.obj", &object.build());
    let error = link(&dir, &[&path], &["/debug", "/nodefaultlib"]).unwrap_err();
    assert!(error.contains("undefined symbol: missing"), "{error}");
    link(&dir, &[&path], &["/debug", "/nodefaultlib", "/force:unresolved"]).unwrap();
}

/// Sections of symbols are counted from 1; 0, -1 and -2 mean something, numbers below them nothing.
#[test]
fn special_sections() {
    let dir = Dir::new("special");
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[0xc3]);
    object.symbol("start", 0, text, coff::EXTERNAL);
    object.symbol("odd", 0, -16, coff::EXTERNAL);
    let path = dir.write("a.obj", &object.build());
    let error = link(&dir, &[&path], &[]).unwrap_err();
    assert!(error.contains("a.obj: odd should not refer to special section -16"), "{error}");
}

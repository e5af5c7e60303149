//! What `--incremental` keeps of a link, damaged, and then a relink of an object that has changed.
//!
//! What is damaged like a file on a bad disk must not be believed: the output is the one of a full link. Half of
//! the inputs have all checks made true again, so that rows which lie get as far as they can; then the promise is
//! that of all readers: no panic, no hang, no memory out of proportion.
#![no_main]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use weld_common::digest::UnitDigest;
use weld_common::host::QuietHost;
use weld_elf::link::link;
use weld_fuzz::{Choices, generated::start_object};
use weld_testkit::elf::*;
use weld_testkit::obj::{Obj, Section, Symbol};

const DIGEST: usize = 20;
/// Of the tables' file: bytes before the entries of tables, an entry, the count of blocks, a check, a block.
const HEAD: usize = 8 + 4 + 4 + 32 + DIGEST;
const ENTRY: usize = 16;
const COUNT: usize = 8;
const CHECK: usize = 8;
const BLOCK: usize = 4096;

/// A directory for the links of this process.
static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = std::env::temp_dir().join(format!("weld-fuzz-relink-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a directory can be made");
    fs::write(dir.join("start.o"), start_object()).expect("the directory can be written");
    dir
});

/// Two functions that share a section, with a string, a pointer and a call of what the start code has. `byte` is
/// one of the first; with `more` it is longer, and calls another function.
fn object(byte: u8, more: bool) -> Vec<u8> {
    let mut o = Obj::new();
    let code = [&[byte, 0xe8, 0, 0, 0, 0, 0x48, 0x8d, 5, 0, 0, 0, 0][..], &[0xe8, 0, 0, 0, 0, 0xc3]].concat();
    let first = if more { &code[..] } else { &[&code[..13], &[0xc3]].concat() };
    let second = [0x48, 0x8b, 5, 0, 0, 0, 0, 0xc3];
    let text = o.section(Section::text(".text").bytes(&[first, &second].concat()).align(16));
    let data = o.section(Section::data(".data").bytes(&[0; 8]).align(8));
    let strings = o.section(Section::strings(".rodata.str1.1", 1).bytes(b"a string\0another\0"));
    let string = o.symbol(Symbol::local(".L0").at(strings, 9));
    let f = o.symbol(Symbol::global("f").function().at(text, 0).size(first.len() as u64));
    let g = o.symbol(Symbol::weak("g").function().at(text, first.len() as u64).size(8));
    o.symbol(Symbol::global("v").object().at(data, 0).size(8));
    let helper = o.symbol(Symbol::undefined("helper"));
    o.reloc(text, 2, R_X86_64_PLT32, g, -4);
    o.reloc(text, 9, R_X86_64_PC32, string, -4);
    if more {
        o.reloc(text, 14, R_X86_64_PLT32, helper, -4);
    }
    o.reloc(text, first.len() as u64 + 3, R_X86_64_REX_GOTPCRELX, f, -4);
    o.reloc(data, 0, R_X86_64_64, g, 0);
    o.build()
}

fn run(output: &str, options: &[&str]) -> Result<(), String> {
    let mut args: Vec<OsString> = vec!["--threads=1".into(), "--build-id".into(), "-o".into()];
    args.push(DIR.join(output).into());
    args.extend(options.iter().map(OsString::from));
    args.extend(["start.o", "work.o"].map(|name| DIR.join(name).into()));
    let texts = |list: Vec<weld_common::diag::Diagnostic>| -> Vec<String> {
        list.into_iter().map(|diagnostic| diagnostic.message).collect()
    };
    link(&args, &QuietHost::new()).map(|_| ()).map_err(|d| texts(d.list).join("\n"))
}

/// Writes what `choices` say over bytes of a file.
fn damage(bytes: &mut Vec<u8>, choices: &mut Choices) {
    for _ in 0..1 + choices.below(6) {
        let place = usize::from(choices.byte()) << 8 | usize::from(choices.byte());
        let Some(last) = bytes.len().checked_sub(1) else { return };
        match choices.below(12) {
            0 => bytes.truncate(place % (last + 1)),
            width => {
                let value = choices.number().to_le_bytes();
                // Most of a small file are zeroes behind tables; what counts is in front of them.
                let block = choices.below(last / BLOCK + 1) * BLOCK;
                let at = (block + place % BLOCK).min(last);
                let end = (at + [1, 2, 4, 8][width % 4]).min(bytes.len());
                bytes[at..end].copy_from_slice(&value[..end - at]);
            }
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?)).ok()
}

/// Makes the checks of tables true; their digest.
fn sign_tables(bytes: &mut [u8]) -> Option<[u8; DIGEST]> {
    let tables = u32::from_le_bytes(bytes.get(12..16)?.try_into().ok()?) as usize;
    let fixed = HEAD + tables.checked_mul(ENTRY).filter(|size| *size < bytes.len())? + COUNT;
    let blocks = number(bytes, fixed - COUNT)?;
    let checks = blocks.checked_mul(CHECK).filter(|size| *size < bytes.len())?;
    let start = (fixed + checks + DIGEST).next_multiple_of(BLOCK);
    for block in 0..blocks {
        let range = start + block * BLOCK..start + (block + 1) * BLOCK;
        let digest = UnitDigest::of(bytes.get(range)?).bytes();
        bytes.get_mut(fixed + block * CHECK..)?.get_mut(..CHECK)?.copy_from_slice(&digest[..CHECK]);
    }
    let digest = UnitDigest::of(bytes.get(..fixed + checks)?).bytes();
    bytes.get_mut(fixed + checks..)?.get_mut(..DIGEST)?.copy_from_slice(&digest);
    Some(digest)
}

/// Has the memo be true of tables with this digest in place of `last`, and of itself.
fn sign_memo(bytes: &mut [u8], last: &[u8], digest: Option<[u8; DIGEST]>) -> Option<()> {
    if let (Some(at), Some(digest)) = (bytes.windows(DIGEST).position(|part| part == last), digest) {
        bytes[at..at + DIGEST].copy_from_slice(&digest);
    }
    let end = bytes.len().checked_sub(DIGEST)?;
    let own = UnitDigest::of(&bytes[..end]).bytes();
    bytes[end..].copy_from_slice(&own);
    Some(())
}

/// Damages what a link has kept in `dir`; whether all checks are true again.
fn damage_kept(dir: &Path, choices: &mut Choices) -> bool {
    let [tables, state] = ["tables", "state"].map(|name| dir.join(name));
    let (Ok(mut rows), Ok(mut memo)) = (fs::read(&tables), fs::read(&state)) else { return false };
    let signed = choices.flag();
    let last = sign_tables(&mut rows.clone()).unwrap_or_default();
    match choices.below(4) {
        0 => damage(&mut memo, choices),
        _ => damage(&mut rows, choices),
    }
    if signed {
        let digest = sign_tables(&mut rows);
        _ = sign_memo(&mut memo, &last, digest);
    }
    fs::write(tables, rows).and_then(|()| fs::write(state, memo)).expect("the directory can be written");
    signed
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let options: &[&str] =
        choices.pick(&[&[], &["-pie"], &["-shared", "-Bsymbolic"], &["-pie", "--gc-sections"]]);
    let more = choices.flag();
    let write =
        |object: Vec<u8>| fs::write(DIR.join("work.o"), object).expect("the directory can be written");
    let incremental = |option| [options, &[option]].concat();
    write(object(0x90, false));
    run("out", &incremental("--incremental=force-full")).expect("the objects can be linked");
    let signed = damage_kept(&DIR.join(".out.weld"), &mut choices);
    write(object(0xf8, more));
    let relinked = run("out", &incremental("--incremental"));
    if !signed {
        relinked.expect("damage is no reason to fail");
        run("full", &incremental("--incremental=force-full")).expect("the objects can be linked");
        let [out, full] = ["out", "full"].map(|name| fs::read(DIR.join(name)).unwrap_or_default());
        // A function that has become longer has another room in a full link.
        assert!(more || out == full, "the output is not that of a full link");
    }
    // Whatever there was, a full link makes it good.
    run("out", &incremental("--incremental=force-full")).expect("the objects can be linked");
});

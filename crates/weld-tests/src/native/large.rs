//! Large objects are read and parsed in slices: they link to the bytes that several small objects with the
//! same contents link to, and what is wrong with them is said once and in order.

use crate::linker::Linker;
use std::ops::Range;
use std::path::Path;
use weld_testkit::elf::*;
use weld_testkit::obj::{Obj, Section, Symbol};

/// Functions of the large object: more sections and more symbols than a slice has.
const COUNT: usize = 30_000;
/// Functions of each small one.
const SMALL: usize = 1000;

/// Functions and data, the latter in output sections of many names, each function with a reference to the
/// data of another one that is far away in the table of sections. Every third function is in a COMDAT group
/// with its data. The headers of groups come before, those of relocations after all other sections.
fn object(functions: Range<usize>, o: &mut Obj) {
    // nop; lea 0(%rip), %rax; ret
    let code = [0x90, 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3];
    let first = functions.start;
    let mut parts = Vec::new();
    for i in functions {
        let grouped = if i % 3 == 0 { SHF_GROUP } else { 0 };
        let text = o.section(Section::text(format!(".text.f{i}")).bytes(&code).flags(grouped));
        let name = match i % 5 {
            0 => format!("numbers{}", i / 2500),
            1 => format!(".mine.{}", i % 7),
            _ => format!(".data.d{i}"),
        };
        let data = o.section(Section::data(name).bytes(&(i as u64).to_le_bytes()).align(8).flags(grouped));
        let function = o.symbol(Symbol::global(format!("f{i}")).function().at(text, 0));
        let local = o.symbol(Symbol::local(format!("l{i}")).object().at(data, 0));
        if grouped != 0 {
            o.comdat(function, &[text, data]);
        }
        parts.push((text, local));
    }
    for (i, (text, _)) in parts.iter().enumerate() {
        // Of those that a small object has too, and not in a group: that may be gone.
        let run = (first + i) / SMALL * SMALL;
        let far = run + ((first + i) * 7 + 1) % (SMALL - 1);
        let target = if far.is_multiple_of(3) { far + 1 } else { far };
        o.reloc(*text, 4, R_X86_64_PC32, parts[target - first].1, -4);
    }
}

/// What the command line names before: some of the groups, and the start.
fn front() -> Obj {
    let mut o = Obj::new();
    let text = o.section(Section::text(".text").bytes(&[0xe8, 0, 0, 0, 0, 0xc3]));
    o.symbol(Symbol::global("_start").function().at(text, 0));
    for i in (0..COUNT).step_by(9) {
        let text = o.section(Section::text(format!(".text.f{i}")).bytes(&[0xc3]).flags(SHF_GROUP));
        let function = o.symbol(Symbol::global(format!("f{i}")).function().at(text, 0));
        o.comdat(function, &[text]);
    }
    let far = o.symbol(Symbol::undefined(format!("f{}", COUNT - 1)));
    o.reloc(text, 1, R_X86_64_PLT32, far, -4);
    o
}

fn write(dir: &Path, name: &str, object: &Obj) -> Result<(), String> {
    std::fs::write(dir.join(name), object.build()).map_err(|e| e.to_string())
}

fn run(linker: &Linker, dir: &Path, inputs: &[String], options: &[&str]) -> Result<(bool, String), String> {
    let options = options.iter().map(|o| (*o).to_owned());
    let args: Vec<String> = options.chain(inputs.iter().cloned()).collect();
    linker.run(&args, dir).map(|result| (result.ok, result.stderr))
}

pub fn same_bytes_as_small_ones(linker: &Linker, dir: &Path) -> Result<(), String> {
    write(dir, "front.o", &front())?;
    let mut large = Obj::new();
    object(0..COUNT, &mut large);
    write(dir, "large.o", &large)?;
    let mut small = vec!["front.o".to_owned()];
    for first in (0..COUNT).step_by(SMALL) {
        let mut part = Obj::new();
        object(first..first + SMALL, &mut part);
        small.push(format!("part{first}.o"));
        write(dir, &small[small.len() - 1], &part)?;
    }
    let large = ["front.o", "large.o"].map(str::to_owned);
    let lazy = ["front.o", "--start-lib", "large.o", "--end-lib"].map(str::to_owned);
    for options in [&["-s"][..], &["-s", "--gc-sections"], &["-s", "--unique"], &["--emit-relocs"]] {
        let mut images = Vec::new();
        for (inputs, threads) in [(&small[..], 1), (&large, 1), (&large, 4), (&lazy, 1), (&lazy, 4)] {
            let threads = format!("--threads={threads}");
            let options = [options, &[&*threads, "-o", "out"]].concat();
            let (ok, stderr) = run(linker, dir, inputs, &options)?;
            if !ok {
                return Err(format!("{options:?}: the link failed:\n{stderr}"));
            }
            images.push(std::fs::read(dir.join("out")).map_err(|e| e.to_string())?);
        }
        // `.strtab` has the names of one object's symbols together.
        let first = usize::from(options[0] != "-s");
        if let Some(other) = images[first..].iter().position(|image| *image != images[first]) {
            return Err(format!("{options:?}: image {other} differs"));
        }
    }
    Ok(())
}

pub fn errors_in_order(linker: &Linker, dir: &Path) -> Result<(), String> {
    let mut sections = Obj::new();
    let mut symbols = Obj::new();
    object(0..COUNT, &mut sections);
    object(0..COUNT, &mut symbols);
    for k in [3, 2, 1] {
        sections.section(Section::data(format!(".bad{k}")).bytes(&[0]).raw_offset(1 << 40));
        object(COUNT * k..COUNT * k + SMALL, &mut sections);
        symbols.symbol(Symbol::absolute("bad", 0).raw_name(u32::MAX));
        object(COUNT * k..COUNT * k + SMALL, &mut symbols);
    }
    write(dir, "sections.o", &sections)?;
    write(dir, "symbols.o", &symbols)?;
    let said: Vec<String> = ["3", "2", "1"]
        .map(|k| format!("sections.o:(.bad{k}): lies outside its file (truncated file?)"))
        .to_vec();
    for (object, want) in [("sections.o", said), ("symbols.o", vec!["has a bad name".to_owned()])] {
        for threads in ["--threads=1", "--threads=4"] {
            let (ok, stderr) = run(linker, dir, &[object.to_owned()], &[threads, "-o", "out"])?;
            let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("error: ")).collect();
            let as_wanted = lines.len() == want.len() && lines.iter().zip(&want).all(|(l, w)| l.ends_with(w));
            if ok || !as_wanted {
                return Err(format!("{object} {threads}: {stderr}"));
            }
        }
    }
    Ok(())
}

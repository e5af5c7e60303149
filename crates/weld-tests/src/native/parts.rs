//! Large sections are written in parts: the bytes are those of the section as one.
//!
//! Sections whose relocations are not in order are not cut, so the same contents with two relocations
//! in the other order show what is right.

use crate::linker::Linker;
use std::path::Path;
use weld_testkit::elf::*;
use weld_testkit::obj::{Obj, Section, Symbol};

const SIZE: usize = 5_000_000;

/// Code of GOT loads that are shortened, data full of addresses, debug information, and data without
/// relocations.
fn object(in_order: bool) -> Obj {
    let mut o = Obj::new();
    // mov 0(%rip), %rax
    let load: Vec<u8> = [0x48, 0x8b, 0x05, 0, 0, 0, 0, 0xc3].into_iter().cycle().take(SIZE / 8 * 8).collect();
    let numbers: Vec<u8> = (0..SIZE).map(|i| (i * 7 + i / 251) as u8).collect();
    let text = o.section(Section::text(".text").bytes(&load).align(16));
    let data = o.section(Section::data(".data").bytes(&numbers).align(8));
    let debug = o.section(Section::debug(".debug_info").bytes(&numbers));
    o.section(Section::rodata(".rodata").bytes(&numbers).align(4));
    o.symbol(Symbol::global("_start").function().at(text, 0));
    let target = o.symbol(Symbol::global("target").object().at(data, 24));
    // Sparse in the code, at odd places in the rest, dense in the middle.
    let mut code: Vec<u64> = (3..SIZE as u64 - 8).step_by(4000).collect();
    code.extend((2_000_000..2_300_000).map(|i| i / 8 * 8 + 3));
    let mut fields: Vec<u64> = (1..SIZE as u64 - 16).step_by(777).collect();
    fields.extend((2_600_000..3_400_000u64).step_by(8));
    for (section, places, kind, addend) in [
        (text, &mut code, R_X86_64_REX_GOTPCRELX, -4),
        (data, &mut fields.clone(), R_X86_64_64, 5),
        (debug, &mut fields, R_X86_64_64, 9),
    ] {
        places.sort_unstable();
        places.dedup_by(|b, a| *b < *a + 8);
        if !in_order {
            places.rotate_left(1);
        }
        for &offset in places.iter() {
            o.reloc(section, offset, kind, target, addend);
        }
    }
    o
}

pub fn same_bytes(linker: &Linker, dir: &Path) -> Result<(), String> {
    let mut images = Vec::new();
    for in_order in [true, false] {
        std::fs::write(dir.join("a.o"), object(in_order).build()).map_err(|e| e.to_string())?;
        for options in [&["--threads=1"][..], &["--threads=3", "--mmap-output-file"]] {
            for packed in [false, true] {
                let mut args: Vec<String> = ["a.o", "-o", "out"].map(str::to_owned).to_vec();
                args.extend(options.iter().map(|o| (*o).to_owned()));
                args.extend(packed.then(|| "--compress-debug-sections=zlib".to_owned()));
                let result = linker.run(&args, dir)?;
                if !result.ok {
                    return Err(format!("the link failed:\n{}", result.stderr));
                }
                images.push((packed, std::fs::read(dir.join("out")).map_err(|e| e.to_string())?));
            }
        }
    }
    let plain: Vec<&Vec<u8>> = images.iter().filter(|i| !i.0).map(|i| &i.1).collect();
    if plain.iter().any(|image| *image != plain[0]) {
        return Err("a section in parts differs from one as a whole".to_owned());
    }
    let packed: Vec<&Vec<u8>> = images.iter().filter(|i| i.0).map(|i| &i.1).collect();
    if packed[0] != packed[1] {
        return Err("compressed: threads show".to_owned());
    }
    // After the file header, which says where the section headers are: they follow what was compressed.
    let memory = |image: &Vec<u8>| image[4096..2 * SIZE].to_vec();
    match memory(packed[0]) == memory(packed[2]) {
        true => Ok(()),
        false => Err("compressed: parts show".to_owned()),
    }
}

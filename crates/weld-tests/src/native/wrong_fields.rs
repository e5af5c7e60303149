//! Inputs that are sound but for one field of one header or table: hundreds of fields, and for each
//! some values. A link must end in an error, or make the same program as without the change where the value
//! cannot mean anything; and whatever it makes must pass the verifier.

use super::corruption::{good, linked_library, made_object, user};
use crate::elf::Image;
use crate::elf::image::Section;
use crate::linker::Linker;
use crate::verify::verify;
use std::path::Path;
use weld_testkit::dso::{Dso, DynSymbol};
use weld_testkit::elf::*;
use weld_testkit::fields::{Field, Owner, fields, values};
use weld_testkit::mutate::Rng;
use weld_testkit::obj::RelocFormat;

/// Types of sections that an object is made of, rather than its program.
const TABLES: [u64; 7] = [0, 2, 3, 4, 9, 17, 18];

/// One object with nearly everything that there is.
pub fn objects(linker: &Linker, dir: &Path) -> Result<(), String> {
    let file = made_object(RelocFormat::Rela);
    let commands = [
        vec!["good.o", "damaged", "-o", "out"],
        vec!["good.o", "damaged", "-o", "out", "--gc-sections", "--eh-frame-hdr"],
        vec!["good.o", "damaged", "-o", "out", "-r"],
    ];
    try_all(linker, dir, &file, &commands, |field, value| is_wrong_in_object(&file, field, value))
}

/// A library of the testkit's, and one of the linker's own.
pub fn shared_objects(linker: &Linker, dir: &Path) -> Result<(), String> {
    let made = Dso::new("libx.so.1")
        .needed("libc.so.6")
        .symbol(DynSymbol::function("helper").version("V1"))
        .symbol(DynSymbol::function("helper").hidden_version("V0"))
        .symbol(DynSymbol::object("data", 8).version("V2"))
        .symbol(DynSymbol::undefined("elsewhere"))
        .build();
    std::fs::write(dir.join("user.o"), user().build()).map_err(|e| e.to_string())?;
    let commands = [vec!["good.o", "user.o", "damaged", "-o", "out", "-pie", "--allow-shlib-undefined"]];
    for file in [made, linked_library(linker, dir)?] {
        try_all(linker, dir, &file, &commands, |field, value| is_wrong_in_library(&file, field, value))?;
    }
    Ok(())
}

/// Links with each of the commands what comes of each field.
fn try_all(
    linker: &Linker,
    dir: &Path,
    file: &[u8],
    commands: &[Vec<&str>],
    is_wrong: impl Fn(&Field, u64) -> bool,
) -> Result<(), String> {
    std::fs::write(dir.join("good.o"), good().build()).map_err(|e| e.to_string())?;
    let mut sound = Vec::new();
    for command in commands {
        let image = link(linker, dir, file, command)?.ok_or("the sound file does not link")?;
        sound.push(memory(&image));
    }
    let (mut rng, mut problems) = (Rng::new(1), Vec::new());
    for field in fields(file) {
        for value in values(&field, file) {
            // One of the commands each time, whichever.
            let which = rng.below(commands.len());
            let mut changed = file.to_vec();
            field.set(&mut changed, value);
            let what =
                format!("{:?} {} = {value:#x}: {}", field.owner, field.name, commands[which].join(" "));
            match link(linker, dir, &changed, &commands[which]) {
                Ok(Some(image)) if is_wrong(&field, value) && memory(&image) != sound[which] => {
                    problems.push(format!("{what}: accepted, but it is another program"));
                }
                Ok(_) => {}
                Err(e) => problems.push(format!("{what}: {e}")),
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// The output if there is one; an error if the verifier has something against it.
fn link(linker: &Linker, dir: &Path, file: &[u8], command: &[&str]) -> Result<Option<Image>, String> {
    // A new file each time: the linker may still have the last one mapped.
    let _ = std::fs::remove_file(dir.join("damaged"));
    let _ = std::fs::remove_file(dir.join("out"));
    std::fs::write(dir.join("damaged"), file).map_err(|e| e.to_string())?;
    let mut args: Vec<String> = command.iter().map(|&s| s.to_owned()).collect();
    args.push("--threads=1".into());
    let result = linker.run(&args, dir)?;
    if !result.ok {
        let silent = result.stderr.trim().is_empty();
        return if silent { Err("failed without a word".into()) } else { Ok(None) };
    }
    let output = dir.join("out");
    if std::fs::metadata(&output).map_err(|e| e.to_string())?.len() > 1 << 26 {
        return Ok(None);
    }
    let image = Image::read(&output)?;
    let mut problems = verify(&image);
    problems.retain(|problem| !comes_from_input(problem));
    if problems.is_empty() { Ok(Some(image)) } else { Err(problems.join("; ")) }
}

/// The input says it of its own symbols, notes and entry sizes, and the output repeats it.
fn comes_from_input(problem: &str) -> bool {
    problem.starts_with("symbol ")
        || problem.starts_with("TLS symbol ")
        || problem.starts_with("notes: ")
        || problem.contains("is not a multiple of the entry size")
        || problem.contains("which is no code")
        || problem.ends_with("SHF_LINK_ORDER without a link")
}

/// Name, address and bytes of all sections in memory.
fn memory(image: &Image) -> Vec<(String, u64, Vec<u8>)> {
    let sections = image.sections.iter().filter(|s| s.is_alloc());
    let describe = |s: &Section| {
        let bytes = match s.is_nobits() {
            true => s.size.to_le_bytes().to_vec(),
            false => image.data[s.offset as usize..(s.offset + s.size) as usize].to_vec(),
        };
        (s.name.clone(), s.addr, bytes)
    };
    sections.map(describe).collect()
}

fn header(file: &[u8], section: u64, name: &str) -> u64 {
    let owner = Owner::Section(section as usize);
    fields(file).iter().find(|f| f.owner == owner && f.name == name).map_or(0, |f| f.get(file))
}

fn sections(file: &[u8]) -> u64 {
    u64::from(u16::from_le_bytes([file[60], file[61]]))
}

/// Whether section index `value` is that of no section, or of a table.
fn is_nowhere(file: &[u8], value: u64) -> bool {
    value >= sections(file) || TABLES.contains(&header(file, value, "sh_type"))
}

/// Whether the value can mean nothing, so that the program must not depend on it.
fn is_wrong_in_object(file: &[u8], field: &Field, value: u64) -> bool {
    let old = field.get(file);
    match (field.name, field.owner) {
        ("e_type", _) => value != u64::from(ET_DYN),
        // What nothing refers to may be left out.
        ("sh_type", Owner::Section(index)) => {
            const KNOWN: [u64; 8] = [1, 7, 8, 14, 15, 16, 0x6fff_fff0, 0x7000_0001];
            let kind = |v| KNOWN.contains(&v) || (0x6000_0000..0x7000_0000).contains(&v);
            kind(old) && !kind(value) && is_referred_to(file, index as u64)
        }
        // There are two string tables.
        ("sh_link", _) if header(file, value, "sh_type") == u64::from(SHT_STRTAB) => false,
        ("sh_link" | "word", _) => is_nowhere(file, value),
        ("sh_info", Owner::Section(index)) => {
            is_nowhere(file, value) || header(file, index as u64, "sh_type") == u64::from(SHT_SYMTAB)
        }
        ("st_shndx", _) => {
            let meaning = [SHN_UNDEF, SHN_ABS, SHN_COMMON, SHN_AMD64_LCOMMON].map(u64::from);
            !meaning.contains(&value) && is_nowhere(file, value)
        }
        ("st_info", _) => (old >> 4 == 0) != (value >> 4 == 0) || !matches!(value >> 4, 0 | 1 | 2 | 10),
        ("r_type", _) => !matches!(value, 0..=4 | 9..=36 | 41..=51) || matches!(value, 16 | 36),
        ("r_sym", _) => value > 1000,
        ("sh_addralign", _) => value != 0 && !value.is_power_of_two() || value > 1 << 60,
        _ => false,
    }
}

/// Whether a symbol lies in the section or a relocation applies to it.
fn is_referred_to(file: &[u8], section: u64) -> bool {
    fields(file).iter().any(|f| f.name == "st_shndx" && f.get(file) == section)
        || (1..sections(file)).any(|s| {
            header(file, s, "sh_type") == u64::from(SHT_RELA) && header(file, s, "sh_info") == section
        })
}

fn is_wrong_in_library(file: &[u8], field: &Field, value: u64) -> bool {
    let old = field.get(file);
    match field.name {
        "e_type" | "vd_version" | "vn_version" => true,
        "vd_next" | "vd_aux" | "vn_aux" | "vn_next" => value > file.len() as u64,
        "sh_link" if header(file, value, "sh_type") == u64::from(SHT_STRTAB) => false,
        "sh_link" => is_nowhere(file, value),
        "st_info" => (old >> 4 == 0) != (value >> 4 == 0),
        "versym" => !matches!(value & 0x7fff, 0..=4),
        "vda_name" | "vna_name" => value > file.len() as u64,
        _ => false,
    }
}

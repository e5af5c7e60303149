//! Zeroes that a section of bytes has room for cost no memory while they are written.

use crate::linker::Linker;
use std::path::Path;
use weld_testkit::elf::*;
use weld_testkit::obj::{Obj, Section, Symbol};

/// A terabyte: more than there is memory, less than a sparse file may have. `/dev/null` takes it.
const SIZE: u64 = 1 << 40;

/// `.data` of bytes, of very many zeroes, and of bytes again.
pub fn zeroes_among_data(linker: &Linker, dir: &Path) -> Result<(), String> {
    let bytes = || Section::data(".data").bytes(&[1; 32]);
    let zeroes = Section::bss(".data", SIZE).align(16);
    let mut args = Vec::new();
    for (i, section) in [bytes(), zeroes, bytes()].into_iter().enumerate() {
        let mut o = Obj::new();
        let text = o.section(Section::text(".text").bytes(&[0xc3]));
        o.section(section);
        o.symbol(Symbol::weak("_start").kind(STT_FUNC).at(text, 0));
        let name = format!("{i}.o");
        std::fs::write(dir.join(&name), o.build()).map_err(|e| e.to_string())?;
        args.push(name);
    }
    args.extend(["-o", "/dev/null", "--build-id"].map(str::to_owned));
    let result = linker.run(&args, dir)?;
    if result.ok { Ok(()) } else { Err(format!("the link failed:\n{}", result.stderr)) }
}

//! Functions that save registers and load them again, which compilers call to save space and leave to the
//! linker to make: an object for each run of them, in which only what is called and nothing else defines
//! makes it part of the output.

use super::binary::Symbols;
use super::made::{self, Section};
use crate::arch::facts::RegisterCode;
use crate::elf::*;

const TEXT: u16 = 1;
const STRTAB: u32 = 3;
const SECTIONS: usize = 4;
const ALIGNMENT: u64 = 16;

/// The object for a run.
pub fn object(code: &RegisterCode, target: Target) -> Vec<u8> {
    let format = target.format;
    let mut symbols = Symbols::with_sections(b"\0.text\0.symtab\0.strtab\0");
    let mut words = Vec::new();
    for register in code.first..=code.last {
        let at = 4 * words.len() as u64;
        let number = register.to_string();
        let name = [code.prefix.as_bytes(), number.as_bytes()];
        symbols.add(&name, STB_WEAK << 4 | STT_FUNC, STV_HIDDEN, TEXT, at, 0);
        words.extend_from_slice(&(code.one)(register)[..code.count]);
    }
    words.extend_from_slice(code.end);
    let (symbols, strings) = symbols.finish();
    let room = 4 * words.len() + strings.len() + (symbols.len() + 16) * Shdr::SIZE;
    let mut out = Writer::with_room(format, room);
    made::begin(&mut out, format);
    let mut sections = [Section::default(); SECTIONS];
    let at = out.position();
    words.iter().for_each(|word| _ = out.u32(*word));
    let text =
        Section { name: 1, kind: SHT_PROGBITS, flags: SHF_EXECINSTR | SHF_ALLOC, ..Section::default() };
    sections[usize::from(TEXT)] = Section { align: ALIGNMENT, ..text }.over(at, &out);
    let at = out.align(8).position();
    symbols.iter().for_each(|symbol| _ = out.record(symbol));
    let symtab = Section { name: 7, kind: SHT_SYMTAB, link: [STRTAB, 1], align: 8, ..Section::default() };
    sections[2] = symtab.over(at, &out).of_entries(format.size::<Sym>());
    let at = out.position();
    out.bytes(&strings);
    sections[STRTAB as usize] = Section { name: 15, kind: SHT_STRTAB, ..Section::default() }.over(at, &out);
    let at = out.align(8).position();
    sections.iter().for_each(|section| section.write(&mut out));
    made::complete(out, target, 0, at, SECTIONS, STRTAB)
}

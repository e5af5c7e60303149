//! `--wrap` in compiled objects: references to what such an object defines itself.
//!
//! Elsewhere a reference is led to `__wrap_NAME` if its file leaves NAME undefined. A compiled object is made
//! of many files, which are no longer told apart: what one of them has left undefined, another defines. So an
//! object gets a symbol `__wrap_NAME` that is undefined, and what it loads into memory refers to that
//! instead. For `__real_NAME` it is one of the same name that is undefined, which is led to NAME as any such
//! symbol is. What describes code (debug information, frames) still means the code.
//!
//! A compiler that is told of redefinitions makes such a definition weak, so that it looks at none of its calls
//! (LLVM). A weak one of another file, which has lost against it, must not win then: it is as strong again as it
//! was in its file.
//!
//! Where no file of intermediate code has left the name undefined, references to it are those of the file
//! that defines it, and stay.

use std::collections::HashMap;

use crate::elf::format::Format;
use crate::elf::*;

/// Where references to a name are led.
#[derive(Clone, Copy, Debug)]
pub struct Led {
    /// What stands in front of the name then.
    pub prefix: &'static str,
    /// The definition that counts is one of intermediate code, and not weak.
    pub is_strong: bool,
}

/// The object in which references to `names` are led to undefined symbols, with what `names` says in front of
/// the name; `None` if it defines none of them, or is not as an object has to be, which is said when it is
/// read.
pub fn led_elsewhere(object: &[u8], names: &HashMap<&[u8], Led>) -> Option<Vec<u8>> {
    if names.is_empty() {
        return None;
    }
    let format = Format::of(object)?;
    let header = *records::<Ehdr>(object, format, 0, 1)?.first()?;
    let count = match header.e_shnum() {
        0 => records::<Shdr>(object, format, header.e_shoff(), 1)?.first()?.sh_size(),
        count => count.into(),
    };
    let sections = records::<Shdr>(object, format, header.e_shoff(), count)?.into_owned();
    let symtab = sections.iter().position(|shdr| shdr.sh_type() == SHT_SYMTAB)?;
    let table = &sections[symtab];
    let symbols = records::<Sym>(object, format, table.sh_offset(), table.sh_size() / format.size::<Sym>())?;
    let strtab = table.sh_link() as usize;
    let shdr = sections.get(strtab)?;
    let strings = slice(object, shdr.sh_offset(), shdr.sh_size())?;
    let mut made =
        Made { format, strings: strings.to_vec(), symbols: symbols.to_vec(), moved: HashMap::new() };
    for index in table.sh_info()..symbols.len() as u32 {
        let symbol = &symbols[index as usize];
        if symbol.st_shndx() != SHN_UNDEF
            && let Some(name) = string(strings, symbol.st_name())
            && let Some(led) = names.get(name)
        {
            made.lead(index, led.prefix, name);
            if led.is_strong && symbol.binding() == STB_WEAK {
                made.symbols[index as usize] = strong(symbol);
            }
        }
    }
    (!made.moved.is_empty()).then(|| made.write(object, &header, sections, [symtab, strtab]))
}

/// The same definition, not weak.
fn strong(symbol: &Sym) -> Sym {
    let info = STB_GLOBAL << 4 | symbol.kind();
    Sym::make(
        symbol.st_name(),
        info,
        symbol.st_other(),
        symbol.st_shndx(),
        symbol.st_value(),
        symbol.st_size(),
    )
}

/// What the object gets instead of what it had.
struct Made {
    format: Format,
    strings: Vec<u8>,
    symbols: Vec<Sym>,
    /// Symbols, and the ones that references to them lead to.
    moved: HashMap<u32, u32>,
}

impl Made {
    fn lead(&mut self, symbol: u32, prefix: &str, name: &[u8]) {
        let at = self.strings.len() as u32;
        self.strings.extend_from_slice(prefix.as_bytes());
        self.strings.extend_from_slice(name);
        self.strings.push(0);
        self.moved.insert(symbol, self.symbols.len() as u32);
        self.symbols.push(Sym::make(at, STB_GLOBAL << 4, 0, SHN_UNDEF, 0, 0));
    }

    /// The object with other relocations, and with its new tables at the end.
    fn write(
        &self,
        object: &[u8],
        header: &Ehdr,
        mut sections: Vec<Shdr>,
        [symtab, strtab]: [usize; 2],
    ) -> Vec<u8> {
        let format = self.format;
        let mut bytes = object.to_vec();
        for shdr in &sections {
            let target = sections.get(shdr.sh_info() as usize);
            let is_loaded = target.is_some_and(|target| target.sh_flags() & SHF_ALLOC != 0);
            let describes =
                target.is_some_and(|target| self.describes_code(object, header, &sections, target));
            if shdr.sh_link() as usize != symtab || !is_loaded || describes {
                continue;
            }
            match shdr.sh_type() {
                SHT_RELA => self.relocations::<Rela>(&mut bytes, shdr),
                SHT_REL => self.relocations::<Rel>(&mut bytes, shdr),
                _ => {}
            }
        }
        let mut symbols = Writer::new(format);
        self.symbols.iter().for_each(|symbol| _ = symbols.record(symbol));
        append(&mut bytes, &mut sections[symtab], &symbols.finish());
        append(&mut bytes, &mut sections[strtab], &self.strings);
        if let Some(indices) = sections.iter_mut().find(|shdr| shdr.sh_type() == SHT_SYMTAB_SHNDX) {
            let mut table =
                slice(object, indices.sh_offset(), indices.sh_size()).unwrap_or_default().to_vec();
            table.resize(self.symbols.len() * 4, 0);
            append(&mut bytes, indices, &table);
        }
        let at = header.e_shoff() as usize;
        let size = sections.len() * format.size::<Shdr>() as usize;
        put_records(format, &sections, &mut bytes[at..at + size]);
        bytes
    }

    /// Tables of frames are loaded, but mean the code itself.
    fn describes_code(&self, object: &[u8], header: &Ehdr, sections: &[Shdr], section: &Shdr) -> bool {
        let names = match header.e_shstrndx() {
            SHN_XINDEX => sections.first().map_or(0, |first| first.sh_link()),
            number => number.into(),
        };
        let names = sections.get(names as usize);
        let names =
            names.and_then(|shdr| slice(object, shdr.sh_offset(), shdr.sh_size())).unwrap_or_default();
        let name = string(names, section.sh_name()).unwrap_or_default();
        matches!(name, b".eh_frame" | b".sframe") || name.starts_with(b".llvm_")
    }

    fn relocations<R: Record + Reference>(&self, bytes: &mut [u8], shdr: &Shdr) {
        let (offset, size) = (shdr.sh_offset(), self.format.size::<R>());
        let Some(list) = records::<R>(bytes, self.format, offset, shdr.sh_size() / size) else { return };
        let mut list = list.into_owned();
        for relocation in &mut list {
            if let Some(symbol) = self.moved.get(&relocation.symbol()) {
                *relocation = relocation.to(*symbol);
            }
        }
        let length = list.len() * size as usize;
        put_records(self.format, &list, &mut bytes[offset as usize..offset as usize + length]);
    }
}

/// A record that names a symbol.
trait Reference {
    fn symbol(&self) -> u32;
    /// The same, naming another one.
    fn to(&self, symbol: u32) -> Self;
}

impl Reference for Rela {
    fn symbol(&self) -> u32 {
        self.sym()
    }

    fn to(&self, symbol: u32) -> Rela {
        Rela::make(self.r_offset(), symbol, self.kind(), self.r_addend())
    }
}

impl Reference for Rel {
    fn symbol(&self) -> u32 {
        self.sym()
    }

    fn to(&self, symbol: u32) -> Rel {
        let with_addend = Rela::make(self.r_offset(), symbol, self.kind(), 0);
        let mut rel = Rel([0; Rel::SIZE]);
        rel.0.copy_from_slice(&with_addend.0[..Rel::SIZE]);
        rel
    }
}

/// Puts new contents of a section at the end.
fn append(bytes: &mut Vec<u8>, shdr: &mut Shdr, contents: &[u8]) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    shdr.0[SH_OFFSET].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    shdr.0[SH_SIZE].copy_from_slice(&(contents.len() as u64).to_le_bytes());
    bytes.extend_from_slice(contents);
}

/// Fields of a native section header.
const SH_OFFSET: std::ops::Range<usize> = 24..32;
const SH_SIZE: std::ops::Range<usize> = 32..40;

#[cfg(test)]
mod tests {
    use weld_testkit::obj::{Obj, Section, Symbol};

    use super::*;
    use crate::elf::format::Format;

    #[test]
    fn what_is_loaded_refers_to_the_wrapper_and_what_describes_it_does_not() {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[0; 16]));
        let debug = obj.section(Section::debug(".debug_info").bytes(&[0; 8]));
        let f = obj.symbol(Symbol::global("f").at(text, 0));
        obj.reloc(text, 1, 4, f, -4);
        obj.reloc(debug, 0, 1, f, 0);
        let bytes = obj.build();
        let names = |name: &'static [u8]| HashMap::from([(name, Led { prefix: "__wrap_", is_strong: true })]);
        assert!(led_elsewhere(&bytes, &names(b"g")).is_none());
        let led = led_elsewhere(&bytes, &names(b"f")).unwrap();
        let format = Format::NATIVE;
        let header = records::<Ehdr>(&led, format, 0, 1).unwrap()[0];
        let sections = records::<Shdr>(&led, format, header.e_shoff(), header.e_shnum().into()).unwrap();
        let symtab = sections.iter().find(|shdr| shdr.sh_type() == SHT_SYMTAB).unwrap();
        let symbols = records::<Sym>(&led, format, symtab.sh_offset(), symtab.sh_size() / 24).unwrap();
        let strtab = &sections[symtab.sh_link() as usize];
        let strings = slice(&led, strtab.sh_offset(), strtab.sh_size()).unwrap();
        let referred = |kind: u32| {
            let mut of_kind = sections.iter().filter(|shdr| shdr.sh_type() == SHT_RELA);
            let shdr = of_kind.find(|shdr| sections[shdr.sh_info() as usize].sh_flags() as u32 & 2 == kind);
            let shdr = shdr.unwrap();
            let relocation = records::<Rela>(&led, format, shdr.sh_offset(), 1).unwrap()[0];
            string(strings, symbols[relocation.sym() as usize].st_name()).unwrap()
        };
        assert_eq!((referred(2), referred(0)), (&b"__wrap_f"[..], &b"f"[..]));
    }
}

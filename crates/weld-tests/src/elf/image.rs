//! The decoded form of an ELF file: headers, symbols with versions, dynamic
//! entries and relocations (`SHT_RELA`, `SHT_REL`; `SHT_RELR` as a list of addresses).

use super::form::Form;
use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

pub type Result<T> = std::result::Result<T, String>;

#[derive(Clone, Debug)]
pub struct Section {
    pub name: String,
    pub sh_type: u32,
    pub flags: u64,
    pub addr: u64,
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    pub info: u32,
    pub align: u64,
    pub entsize: u64,
}

impl Section {
    pub fn is_alloc(&self) -> bool {
        self.flags & elf::SHF_ALLOC.0 != 0
    }

    pub fn is_tls(&self) -> bool {
        self.flags & elf::SHF_TLS.0 != 0
    }

    pub fn is_nobits(&self) -> bool {
        self.sh_type == elf::SHT_NOBITS.0
    }

    /// First address after the section.
    pub fn end(&self) -> u64 {
        self.addr.saturating_add(self.size)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub p_type: u32,
    pub flags: u32,
    pub offset: u64,
    pub vaddr: u64,
    pub filesz: u64,
    pub memsz: u64,
    pub align: u64,
}

impl Segment {
    pub fn end(&self) -> u64 {
        self.vaddr.saturating_add(self.memsz)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Symbol {
    pub name: String,
    pub value: u64,
    pub size: u64,
    pub bind: u8,
    pub kind: u8,
    pub other: u8,
    pub shndx: u32,
    /// Dynamic symbols: the version and whether it is the default one (`@@`).
    pub version: Option<String>,
    pub hidden_version: bool,
    pub version_index: u16,
}

impl Symbol {
    pub fn is_undefined(&self) -> bool {
        self.shndx == 0
    }
}

#[derive(Clone, Debug)]
pub struct Reloc {
    /// Index of the relocation section.
    pub section: usize,
    pub offset: u64,
    pub r_type: u32,
    pub symbol: u32,
    pub symbol_name: String,
    pub addend: i64,
}

/// A needed version: `file` must define `name`.
#[derive(Clone, Debug)]
pub struct Need {
    pub file: String,
    pub name: String,
    pub hash: u32,
    pub index: u16,
    pub weak: bool,
}

#[derive(Clone, Debug)]
pub struct Def {
    pub name: String,
    pub parents: Vec<String>,
    pub index: u16,
    pub hash: u32,
    pub base: bool,
}

#[derive(Debug, Default)]
pub struct Image {
    pub data: Vec<u8>,
    pub form: Form,
    pub e_type: u16,
    pub machine: u16,
    pub entry: u64,
    pub phoff: u64,
    pub shoff: u64,
    pub shstrndx: u32,
    pub sections: Vec<Section>,
    pub segments: Vec<Segment>,
    pub symbols: Vec<Symbol>,
    pub dynsyms: Vec<Symbol>,
    pub dynamic: Vec<(i64, u64)>,
    pub relocs: Vec<Reloc>,
    /// Addresses that `SHT_RELR` relocates, and those where the loader signs pointers by
    /// `SHT_AARCH64_AUTH_RELR`.
    pub relr: Vec<u64>,
    pub signed_relr: Vec<u64>,
    pub needs: Vec<Need>,
    pub defs: Vec<Def>,
}

impl Image {
    pub fn read(path: &std::path::Path) -> Result<Image> {
        let data = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Image::parse(data)
    }

    pub fn parse(data: Vec<u8>) -> Result<Image> {
        let mut image = Image { data, ..Image::default() };
        image.form.narrow = image.data.get(4) == Some(&elf::ELFCLASS32.0);
        let read = match image.form.narrow {
            true => image.headers::<FileHeader32<Endianness>>(),
            false => image.headers::<FileHeader64<Endianness>>(),
        };
        read.map_err(|e| format!("ELF headers: {e}"))?;
        image.dynamic_table()?;
        image.symbols = image.symbol_table(elf::SHT_SYMTAB.0)?;
        image.dynsyms = image.symbol_table(elf::SHT_DYNSYM.0)?;
        image.version_tables()?;
        image.relocations()?;
        Ok(image)
    }

    fn headers<H: FileHeader<Endian = Endianness>>(&mut self) -> object::read::Result<()> {
        let data = self.data.as_slice();
        let header = H::parse(data)?;
        let endian = header.endian()?;
        self.form.endian = endian;
        self.e_type = header.e_type(endian).0;
        self.machine = header.e_machine(endian).0;
        self.entry = header.e_entry(endian).into();
        self.phoff = header.e_phoff(endian).into();
        self.shoff = header.e_shoff(endian).into();
        let mut segments = Vec::new();
        for p in header.program_headers(endian, data)? {
            segments.push(Segment {
                p_type: p.p_type(endian).0,
                flags: p.p_flags(endian).0,
                offset: p.p_offset(endian).into(),
                vaddr: p.p_vaddr(endian).into(),
                filesz: p.p_filesz(endian).into(),
                memsz: p.p_memsz(endian).into(),
                align: p.p_align(endian).into(),
            });
        }
        let mut sections = Vec::new();
        if self.shoff != 0 {
            self.shstrndx = header.shstrndx(endian, data)?;
            let table = header.sections(endian, data)?;
            for s in table.iter() {
                sections.push(Section {
                    name: String::from_utf8_lossy(table.section_name(endian, s)?).into_owned(),
                    sh_type: s.sh_type(endian).0,
                    flags: s.sh_flags(endian).0,
                    addr: s.sh_addr(endian).into(),
                    offset: s.sh_offset(endian).into(),
                    size: s.sh_size(endian).into(),
                    link: s.sh_link(endian),
                    info: s.sh_info(endian),
                    align: s.sh_addralign(endian).into(),
                    entsize: s.sh_entsize(endian).into(),
                });
            }
        }
        (self.segments, self.sections) = (segments, sections);
        Ok(())
    }

    /// File contents of a section; empty for `SHT_NOBITS`.
    pub fn contents(&self, s: &Section) -> Result<&[u8]> {
        if s.is_nobits() {
            return Ok(&[]);
        }
        let end = s.offset.checked_add(s.size).filter(|&e| e <= self.data.len() as u64);
        let end = end.ok_or_else(|| format!("section {} reaches past the end of the file", s.name))?;
        Ok(&self.data[s.offset as usize..end as usize])
    }

    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().skip(1).find(|s| s.name == name)
    }

    /// Whether symbols of functions in a section are those of descriptors, which lead to code elsewhere.
    pub fn has_descriptors(&self, section: &Section) -> bool {
        self.machine == elf::EM_PPC64.0 && section.name == ".opd"
    }

    pub fn section_of_type(&self, sh_type: u32) -> Option<&Section> {
        self.sections.iter().find(|s| s.sh_type == sh_type)
    }

    pub fn segment(&self, p_type: u32) -> Option<&Segment> {
        self.segments.iter().find(|s| s.p_type == p_type)
    }

    /// The value of the first dynamic entry with this tag.
    pub fn dynamic_value(&self, tag: i64) -> Option<u64> {
        self.dynamic.iter().find(|d| d.0 == tag).map(|d| d.1)
    }

    /// `len` bytes of the loaded image at `addr`; memory after the file part reads as zero.
    pub fn memory(&self, addr: u64, len: usize) -> Result<Vec<u8>> {
        let load = elf::PT_LOAD.0;
        for s in self.segments.iter().filter(|s| s.p_type == load) {
            let Some(skip) = addr.checked_sub(s.vaddr) else { continue };
            if skip.checked_add(len as u64).is_none_or(|end| end > s.memsz) {
                continue;
            }
            let start = s.offset.saturating_add(skip) as usize;
            let in_file = s.filesz.saturating_sub(skip).min(len as u64) as usize;
            let bytes =
                self.data.get(start..start + in_file).ok_or("segment reaches past the end of the file")?;
            let mut out = bytes.to_vec();
            out.resize(len, 0);
            return Ok(out);
        }
        // Relocatable files have no segments; their addresses are offsets in the first section that fits.
        Err(format!("no segment holds {len} bytes at {addr:#x}"))
    }

    fn strings(&self, s: &Section) -> Result<&[u8]> {
        let link = self.sections.get(s.link as usize).ok_or_else(|| format!("{}: bad sh_link", s.name))?;
        if link.sh_type != elf::SHT_STRTAB.0 {
            return Err(format!("{}: sh_link is not a string table", s.name));
        }
        self.contents(link)
    }

    fn symbol_table(&self, sh_type: u32) -> Result<Vec<Symbol>> {
        let Some(table) = self.section_of_type(sh_type) else { return Ok(Vec::new()) };
        let strings = self.strings(table)?;
        let index = self.sections.iter().position(|s| std::ptr::eq(s, table)).unwrap_or(0);
        let wide_table = elf::SHT_SYMTAB_SHNDX.0;
        let wide = self.sections.iter().find(|s| s.sh_type == wide_table && s.link as usize == index);
        let wide = wide.map(|s| self.contents(s)).transpose()?;
        let mut out = Vec::new();
        for (i, raw) in self.contents(table)?.chunks_exact(self.form.symbol_size()).enumerate() {
            let (name, mut symbol) = self.symbol(raw)?;
            symbol.name = string_at(strings, name)?;
            if symbol.shndx == u32::from(elf::SHN_XINDEX.0) && sh_type == elf::SHT_DYNSYM.0 {
                // Without a table all that is known is that it is defined.
                symbol.shndx = u32::from(elf::SHN_COMMON.0);
            } else if symbol.shndx == u32::from(elf::SHN_XINDEX.0) {
                let wide = wide.ok_or_else(|| format!("symbol {i}: no SHT_SYMTAB_SHNDX"))?;
                symbol.shndx = self.form.u32_at(wide, i * 4)?;
            }
            out.push(symbol);
        }
        Ok(out)
    }

    /// An entry of a symbol table, and the place of its name.
    fn symbol(&self, raw: &[u8]) -> Result<(u32, Symbol)> {
        let form = self.form;
        // The narrow form has value and size first.
        let (value, size, rest) = if form.narrow { (4, 8, 12) } else { (8, 16, 4) };
        let (info, other) = (raw[rest], raw[rest + 1]);
        let symbol = Symbol {
            value: form.word_at(raw, value)?,
            size: form.word_at(raw, size)?,
            bind: info >> 4,
            kind: info & 0xf,
            other,
            shndx: form.u16_at(raw, rest + 2)?.into(),
            ..Symbol::default()
        };
        Ok((form.u32_at(raw, 0)?, symbol))
    }

    fn dynamic_table(&mut self) -> Result<()> {
        let Some(p) = self.segment(elf::PT_DYNAMIC.0).copied() else { return Ok(()) };
        let range = p.offset as usize..p.offset.saturating_add(p.filesz) as usize;
        let bytes = self.data.get(range).ok_or("PT_DYNAMIC reaches past the end of the file")?;
        let mut out = Vec::new();
        let word = self.form.word();
        for raw in bytes.chunks_exact(2 * word) {
            let (tag, value) = (self.form.word_at(raw, 0)?, self.form.word_at(raw, word)?);
            // Tags are signed.
            let tag = if self.form.narrow { i64::from(tag as i32) } else { tag as i64 };
            out.push((tag, value));
            if tag == elf::DT_NULL.0 {
                break;
            }
        }
        self.dynamic = out;
        Ok(())
    }

    fn version_tables(&mut self) -> Result<()> {
        let (needs, defs) = (self.read_needs()?, self.read_defs()?);
        let Some(versym) = self.section_of_type(elf::SHT_GNU_VERSYM.0) else { return Ok(()) };
        let words: Vec<u16> =
            self.contents(versym)?.chunks_exact(2).map(|c| self.form.number(c) as u16).collect();
        for (s, &w) in self.dynsyms.iter_mut().zip(&words) {
            let index = w & 0x7fff;
            s.version_index = index;
            s.hidden_version = w & 0x8000 != 0;
            let need = needs.iter().find(|n| n.index == index).map(|n| n.name.clone());
            let def = defs.iter().find(|d| d.index == index && !d.base).map(|d| d.name.clone());
            s.version = if index < 2 { None } else { need.or(def) };
        }
        (self.needs, self.defs) = (needs, defs);
        Ok(())
    }

    fn read_needs(&self) -> Result<Vec<Need>> {
        let mut out = Vec::new();
        let Some(s) = self.section_of_type(elf::SHT_GNU_VERNEED.0) else { return Ok(out) };
        let (bytes, strings) = (self.contents(s)?, self.strings(s)?);
        let mut at = 0;
        for _ in 0..s.info {
            let file = string_at(strings, self.form.u32_at(bytes, at + 4)?)?;
            let mut aux = at + self.form.u32_at(bytes, at + 8)? as usize;
            for _ in 0..self.form.u16_at(bytes, at + 2)? {
                out.push(Need {
                    file: file.clone(),
                    hash: self.form.u32_at(bytes, aux)?,
                    weak: self.form.u16_at(bytes, aux + 4)? & 2 != 0,
                    index: self.form.u16_at(bytes, aux + 6)? & 0x7fff,
                    name: string_at(strings, self.form.u32_at(bytes, aux + 8)?)?,
                });
                aux += self.form.u32_at(bytes, aux + 12)? as usize;
            }
            at += self.form.u32_at(bytes, at + 12)? as usize;
        }
        Ok(out)
    }

    fn read_defs(&self) -> Result<Vec<Def>> {
        let mut out = Vec::new();
        let Some(s) = self.section_of_type(elf::SHT_GNU_VERDEF.0) else { return Ok(out) };
        let (bytes, strings) = (self.contents(s)?, self.strings(s)?);
        let mut at = 0;
        for _ in 0..s.info {
            let mut names = Vec::new();
            let mut aux = at + self.form.u32_at(bytes, at + 12)? as usize;
            for _ in 0..self.form.u16_at(bytes, at + 6)? {
                names.push(string_at(strings, self.form.u32_at(bytes, aux)?)?);
                aux += self.form.u32_at(bytes, aux + 4)? as usize;
            }
            if names.is_empty() {
                return Err("version definition without a name".to_owned());
            }
            out.push(Def {
                name: names.remove(0),
                parents: names,
                index: self.form.u16_at(bytes, at + 4)?,
                hash: self.form.u32_at(bytes, at + 8)?,
                base: self.form.u16_at(bytes, at + 2)? & 1 != 0,
            });
            at += self.form.u32_at(bytes, at + 16)? as usize;
        }
        Ok(out)
    }

    /// A symbol's name; that of its section if it stands for one.
    fn shown_name(&self, symbol: &Symbol) -> String {
        let section = self.sections.get(symbol.shndx as usize).filter(|_| symbol.kind == elf::STT_SECTION.0);
        section.map_or(&symbol.name, |s| &s.name).clone()
    }

    fn relocations(&mut self) -> Result<()> {
        let (mut relocs, mut relr, mut signed_relr) = (Vec::new(), Vec::new(), Vec::new());
        for (i, s) in self.sections.iter().enumerate() {
            let with_addend = match s.sh_type {
                t if t == elf::SHT_RELA.0 => true,
                t if t == elf::SHT_REL.0 => false,
                t if t == elf::SHT_RELR.0 => {
                    relr.extend(decode_relr(self.form, self.contents(s)?)?);
                    continue;
                }
                AARCH64_AUTH_RELR if self.machine == elf::EM_AARCH64.0 => {
                    signed_relr.extend(decode_relr(self.form, self.contents(s)?)?);
                    continue;
                }
                _ => continue,
            };
            let names = match self.sections.get(s.link as usize) {
                Some(t) if t.sh_type == elf::SHT_DYNSYM.0 => &self.dynsyms,
                _ => &self.symbols,
            };
            for raw in self.contents(s)?.chunks_exact(self.form.reloc_size(with_addend)) {
                let mut reloc = self.reloc(raw, with_addend)?;
                reloc.section = i;
                reloc.symbol_name =
                    names.get(reloc.symbol as usize).map(|s| self.shown_name(s)).unwrap_or_default();
                if !with_addend && s.is_alloc() {
                    reloc.addend = self.addend_in_place(reloc.offset);
                }
                relocs.push(reloc);
            }
        }
        (self.relocs, self.relr, self.signed_relr) = (relocs, relr, signed_relr);
        Ok(())
    }

    fn reloc(&self, raw: &[u8], with_addend: bool) -> Result<Reloc> {
        let word = self.form.word();
        let info = self.form.word_at(raw, word)?;
        // Types are three bytes after the symbol, the last of them first; the first one says most.
        let is_packed = self.machine == elf::EM_MIPS.0 && !self.form.narrow;
        let (symbol, r_type) = match self.form.narrow {
            true => (info >> 8, info & 0xff),
            false if is_packed && self.form.endian == Endianness::Little => (info & 0xffff_ffff, info >> 56),
            false if is_packed => (info >> 32, info & 0xff),
            false => (info >> 32, info & 0xffff_ffff),
        };
        let addend = if with_addend { self.signed(self.form.word_at(raw, 2 * word)?) } else { 0 };
        Ok(Reloc {
            section: 0,
            offset: self.form.word_at(raw, 0)?,
            r_type: r_type as u32,
            symbol: symbol as u32,
            symbol_name: String::new(),
            addend,
        })
    }

    /// What stands where a loader relocates; 0 if that is nowhere.
    fn addend_in_place(&self, address: u64) -> i64 {
        let bytes = self.memory(address, self.form.word()).unwrap_or_default();
        self.signed(self.form.number(&bytes))
    }

    /// A word as a signed number.
    fn signed(&self, value: u64) -> i64 {
        if self.form.narrow { i64::from(value as i32) } else { value as i64 }
    }
}

/// `SHT_AARCH64_AUTH_RELR`.
const AARCH64_AUTH_RELR: u32 = 0x7000_0004;

/// `SHT_RELR`: an even word is an address; an odd word is a bitmap of the 63 (31) words that follow the
/// place last relocated.
pub fn decode_relr(form: Form, bytes: &[u8]) -> Result<Vec<u64>> {
    let mut out = Vec::new();
    let mut next = None;
    let size = form.word() as u64;
    let bits = 8 * size - 1;
    for raw in bytes.chunks_exact(form.word()) {
        let word = form.number(raw);
        if word & 1 == 0 {
            out.push(word);
            next = Some(word.wrapping_add(size));
        } else {
            let base: u64 = next.ok_or("RELR starts with a bitmap")?;
            out.extend((0..bits).filter(|b| word >> (b + 1) & 1 != 0).map(|b| base.wrapping_add(size * b)));
            next = Some(base.wrapping_add(bits * size));
        }
    }
    Ok(out)
}

pub fn string_at(strings: &[u8], at: u32) -> Result<String> {
    let tail = strings.get(at as usize..).ok_or_else(|| format!("string offset {at} is out of range"))?;
    let len = tail.iter().position(|&c| c == 0).ok_or_else(|| format!("string at {at} has no end"))?;
    Ok(String::from_utf8_lossy(&tail[..len]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relr_bitmap() {
        let bytes: Vec<u8> = [0x1000u64, 0b1011].iter().flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!(decode_relr(Form::default(), &bytes).unwrap(), [0x1000, 0x1008, 0x1018]);
    }

    #[test]
    fn reads_what_the_testkit_writes() {
        use weld_testkit::dso::{Dso, DynSymbol};
        let f = DynSymbol::function("f").version("V1");
        let image = Image::parse(Dso::new("libx.so").symbol(f).build()).unwrap();
        assert_eq!(image.dynsyms[1].version.as_deref(), Some("V1"));
        assert_eq!(image.defs.len(), 2);
    }
}

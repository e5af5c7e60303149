//! Relocatable objects (`ET_REL`) in memory.
//!
//! An [`Obj`] collects [`Section`]s, [`Symbol`]s, relocations and groups in any order and
//! [`Obj::build`] lays them out: ELF header, contents, section headers. In the section header table
//! groups come first (gABI: a group precedes its members), then the sections as added, then
//! relocation sections, `.symtab`, `.symtab_shndx` if an index needs it, `.strtab`, `.shstrtab`.
//! Locals are moved before globals; ids stay valid. More than 65 279 sections work.

use crate::elf::*;
use crate::strtab::{Put, StrTab};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectionId(usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SymbolId(usize);

/// How relocation sections are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocFormat {
    Rela,
    /// `SHT_REL`: addends are lost; the caller puts them into the contents.
    Rel,
    /// `SHT_CREL`, with addends.
    Crel,
}

/// A section to be added; see the constructors. Alignment 1, no entry size, no link.
#[derive(Clone, Debug)]
pub struct Section {
    name: Vec<u8>,
    sh_type: u32,
    flags: u64,
    align: u64,
    entsize: u64,
    data: Vec<u8>,
    nobits_size: u64,
    link: Option<SectionId>,
    raw: RawHeader,
}

/// Header fields that are written as told instead of computed, for malformed inputs.
#[derive(Clone, Copy, Debug, Default)]
struct RawHeader {
    link: Option<u32>,
    info: Option<u32>,
    offset: Option<u64>,
    size: Option<u64>,
    name: Option<u32>,
}

impl Section {
    pub fn new(name: impl AsRef<[u8]>, sh_type: u32, flags: u64) -> Self {
        Section {
            name: name.as_ref().to_vec(),
            sh_type,
            flags,
            align: 1,
            entsize: 0,
            data: Vec::new(),
            nobits_size: 0,
            link: None,
            raw: RawHeader::default(),
        }
    }

    /// Allocated, executable, read-only.
    pub fn text(name: impl AsRef<[u8]>) -> Self {
        Section::new(name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR)
    }

    /// Allocated, writable.
    pub fn data(name: impl AsRef<[u8]>) -> Self {
        Section::new(name, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE)
    }

    /// Allocated, read-only.
    pub fn rodata(name: impl AsRef<[u8]>) -> Self {
        Section::new(name, SHT_PROGBITS, SHF_ALLOC)
    }

    /// Zeroed memory of `size` bytes.
    pub fn bss(name: impl AsRef<[u8]>, size: u64) -> Self {
        let mut s = Section::new(name, SHT_NOBITS, SHF_ALLOC | SHF_WRITE);
        s.nobits_size = size;
        s
    }

    /// Not allocated (debug information, comments).
    pub fn debug(name: impl AsRef<[u8]>) -> Self {
        Section::new(name, SHT_PROGBITS, 0)
    }

    /// `SHF_MERGE | SHF_STRINGS` with characters of `entsize` bytes.
    pub fn strings(name: impl AsRef<[u8]>, entsize: u64) -> Self {
        Section::new(name, SHT_PROGBITS, SHF_ALLOC | SHF_MERGE | SHF_STRINGS).entsize(entsize)
    }

    /// `SHF_MERGE` with constants of `entsize` bytes.
    pub fn constants(name: impl AsRef<[u8]>, entsize: u64) -> Self {
        Section::new(name, SHT_PROGBITS, SHF_ALLOC | SHF_MERGE).entsize(entsize).align(entsize)
    }

    pub fn bytes(mut self, data: &[u8]) -> Self {
        self.data = data.to_vec();
        self
    }

    /// Bytes; a power of two in a valid file.
    pub fn align(mut self, align: u64) -> Self {
        self.align = align;
        self
    }

    pub fn entsize(mut self, entsize: u64) -> Self {
        self.entsize = entsize;
        self
    }

    /// Adds to the flags.
    pub fn flags(mut self, more: u64) -> Self {
        self.flags |= more;
        self
    }

    pub fn sh_type(mut self, sh_type: u32) -> Self {
        self.sh_type = sh_type;
        self
    }

    /// `SHF_LINK_ORDER` with `sh_link` naming `target`.
    pub fn link_order(mut self, target: SectionId) -> Self {
        self.flags |= SHF_LINK_ORDER;
        self.link = Some(target);
        self
    }

    /// `sh_link` as is.
    pub fn raw_link(mut self, v: u32) -> Self {
        self.raw.link = Some(v);
        self
    }

    /// `sh_info` as is.
    pub fn raw_info(mut self, v: u32) -> Self {
        self.raw.info = Some(v);
        self
    }

    /// `sh_offset` as is.
    pub fn raw_offset(mut self, v: u64) -> Self {
        self.raw.offset = Some(v);
        self
    }

    /// `sh_size` as is.
    pub fn raw_size(mut self, v: u64) -> Self {
        self.raw.size = Some(v);
        self
    }

    /// `sh_name` as is.
    pub fn raw_name(mut self, v: u32) -> Self {
        self.raw.name = Some(v);
        self
    }
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Undefined,
    Section(SectionId),
    /// A reserved index, or any raw `st_shndx`.
    Index(u16),
}

/// A symbol to be added; see the constructors.
#[derive(Clone, Debug)]
pub struct Symbol {
    name: Vec<u8>,
    bind: u8,
    kind: u8,
    other: u8,
    place: Place,
    value: u64,
    size: u64,
    raw_name: Option<u32>,
}

impl Symbol {
    fn with(name: impl AsRef<[u8]>, bind: u8) -> Self {
        Symbol {
            name: name.as_ref().to_vec(),
            bind,
            kind: STT_NOTYPE,
            other: STV_DEFAULT,
            place: Place::Undefined,
            value: 0,
            size: 0,
            raw_name: None,
        }
    }

    pub fn local(name: impl AsRef<[u8]>) -> Self {
        Symbol::with(name, STB_LOCAL)
    }

    pub fn global(name: impl AsRef<[u8]>) -> Self {
        Symbol::with(name, STB_GLOBAL)
    }

    pub fn weak(name: impl AsRef<[u8]>) -> Self {
        Symbol::with(name, STB_WEAK)
    }

    /// A strong reference.
    pub fn undefined(name: impl AsRef<[u8]>) -> Self {
        Symbol::global(name)
    }

    pub fn weak_undefined(name: impl AsRef<[u8]>) -> Self {
        Symbol::weak(name)
    }

    /// `SHN_COMMON`; `align` in bytes.
    pub fn common(name: impl AsRef<[u8]>, size: u64, align: u64) -> Self {
        let mut s = Symbol::global(name).size(size).kind(STT_OBJECT).index(SHN_COMMON);
        s.value = align;
        s
    }

    pub fn absolute(name: impl AsRef<[u8]>, value: u64) -> Self {
        let mut s = Symbol::global(name).index(SHN_ABS);
        s.value = value;
        s
    }

    pub fn file(name: impl AsRef<[u8]>) -> Self {
        Symbol::local(name).kind(STT_FILE).index(SHN_ABS)
    }

    /// Defined at `offset` bytes in `section`.
    pub fn at(mut self, section: SectionId, offset: u64) -> Self {
        self.place = Place::Section(section);
        self.value = offset;
        self
    }

    /// `st_shndx` as is.
    pub fn index(mut self, shndx: u16) -> Self {
        self.place = Place::Index(shndx);
        self
    }

    pub fn value(mut self, value: u64) -> Self {
        self.value = value;
        self
    }

    pub fn size(mut self, size: u64) -> Self {
        self.size = size;
        self
    }

    pub fn kind(mut self, kind: u8) -> Self {
        self.kind = kind;
        self
    }

    pub fn bind(mut self, bind: u8) -> Self {
        self.bind = bind;
        self
    }

    pub fn function(self) -> Self {
        self.kind(STT_FUNC)
    }

    pub fn object(self) -> Self {
        self.kind(STT_OBJECT)
    }

    pub fn ifunc(self) -> Self {
        self.kind(STT_GNU_IFUNC)
    }

    pub fn tls(self) -> Self {
        self.kind(STT_TLS)
    }

    /// `st_other`, of which the low two bits are the visibility.
    pub fn other(mut self, other: u8) -> Self {
        self.other = other;
        self
    }

    pub fn hidden(self) -> Self {
        self.other(STV_HIDDEN)
    }

    pub fn protected(self) -> Self {
        self.other(STV_PROTECTED)
    }

    /// `st_name` as is.
    pub fn raw_name(mut self, v: u32) -> Self {
        self.raw_name = Some(v);
        self
    }
}

#[derive(Clone, Copy)]
struct Reloc {
    offset: u64,
    r_type: u32,
    symbol: Option<SymbolId>,
    raw_symbol: Option<u32>,
    addend: i64,
}

struct Group {
    signature: SymbolId,
    flags: u32,
    members: Vec<SectionId>,
}

/// A relocatable object under construction.
pub struct Obj {
    sections: Vec<Section>,
    relocs: Vec<Vec<Reloc>>,
    symbols: Vec<Symbol>,
    groups: Vec<Group>,
    machine: u16,
    e_type: u16,
    e_flags: u32,
    format: RelocFormat,
}

impl Default for Obj {
    fn default() -> Self {
        Obj::new()
    }
}

impl Obj {
    /// An empty x86-64 object.
    pub fn new() -> Self {
        Obj {
            sections: Vec::new(),
            relocs: Vec::new(),
            symbols: Vec::new(),
            groups: Vec::new(),
            machine: EM_X86_64,
            e_type: ET_REL,
            e_flags: 0,
            format: RelocFormat::Rela,
        }
    }

    pub fn machine(&mut self, machine: u16) -> &mut Self {
        self.machine = machine;
        self
    }

    pub fn e_type(&mut self, e_type: u16) -> &mut Self {
        self.e_type = e_type;
        self
    }

    pub fn e_flags(&mut self, e_flags: u32) -> &mut Self {
        self.e_flags = e_flags;
        self
    }

    pub fn reloc_format(&mut self, format: RelocFormat) -> &mut Self {
        self.format = format;
        self
    }

    pub fn section(&mut self, section: Section) -> SectionId {
        self.sections.push(section);
        self.relocs.push(Vec::new());
        SectionId(self.sections.len() - 1)
    }

    pub fn symbol(&mut self, symbol: Symbol) -> SymbolId {
        self.symbols.push(symbol);
        SymbolId(self.symbols.len() - 1)
    }

    /// A local `STT_SECTION` symbol for `section`.
    pub fn section_symbol(&mut self, section: SectionId) -> SymbolId {
        self.symbol(Symbol::local("").kind(STT_SECTION).at(section, 0))
    }

    /// Adds a relocation of `section` at `offset` bytes.
    pub fn reloc(&mut self, section: SectionId, offset: u64, r_type: u32, symbol: SymbolId, addend: i64) {
        let r = Reloc { offset, r_type, symbol: Some(symbol), raw_symbol: None, addend };
        self.relocs[section.0].push(r);
    }

    /// Adds a relocation with any symbol index, 0 included.
    pub fn raw_reloc(&mut self, section: SectionId, offset: u64, r_type: u32, index: u32, addend: i64) {
        let r = Reloc { offset, r_type, symbol: None, raw_symbol: Some(index), addend };
        self.relocs[section.0].push(r);
    }

    /// Adds a COMDAT group; the members get `SHF_GROUP`.
    pub fn comdat(&mut self, signature: SymbolId, members: &[SectionId]) {
        self.group(signature, GRP_COMDAT, members);
    }

    /// Adds a group with the flag word given; the members get `SHF_GROUP`.
    pub fn group(&mut self, signature: SymbolId, flags: u32, members: &[SectionId]) {
        for m in members {
            self.sections[m.0].flags |= SHF_GROUP;
        }
        self.groups.push(Group { signature, flags, members: members.to_vec() });
    }

    /// The index of a section in the header table, as long as no group is added any more.
    pub fn section_index(&self, id: SectionId) -> u32 {
        (1 + self.groups.len() + id.0) as u32
    }

    /// Names of the symbols an archive index would list.
    pub fn defined_globals(&self) -> Vec<Vec<u8>> {
        let defined = |s: &&Symbol| s.bind != STB_LOCAL && !matches!(s.place, Place::Undefined);
        self.symbols.iter().filter(defined).map(|s| s.name.clone()).collect()
    }

    /// The finished file.
    pub fn build(&self) -> Vec<u8> {
        Writer::new(self).finish()
    }
}

/// One row of the section header table on its way out.
struct Header {
    name: u32,
    sh_type: u32,
    flags: u64,
    offset: u64,
    size: u64,
    link: u32,
    info: u32,
    align: u64,
    entsize: u64,
}

struct Writer<'a> {
    obj: &'a Obj,
    out: Vec<u8>,
    names: StrTab,
    headers: Vec<Header>,
    /// Symbol id → index in `.symtab`.
    symbol_index: Vec<u32>,
    order: Vec<usize>,
    symtab_section: u32,
}

impl<'a> Writer<'a> {
    fn new(obj: &'a Obj) -> Self {
        let mut order: Vec<usize> = (0..obj.symbols.len()).collect();
        order.sort_by_key(|&i| obj.symbols[i].bind != STB_LOCAL);
        let mut symbol_index = vec![0; obj.symbols.len()];
        for (at, &i) in order.iter().enumerate() {
            symbol_index[i] = at as u32 + 1;
        }
        let relocated = obj.relocs.iter().filter(|r| !r.is_empty()).count();
        let symtab_section = (1 + obj.groups.len() + obj.sections.len() + relocated) as u32;
        Writer {
            obj,
            out: vec![0; 64],
            names: StrTab::new(),
            headers: Vec::new(),
            symbol_index,
            order,
            symtab_section,
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.groups();
        self.sections();
        self.relocations();
        self.symbols();
        let name = self.names.add(b".shstrtab");
        let bytes = std::mem::take(&mut self.names.bytes);
        let shstrndx = self.headers.len() as u32 + 1;
        self.push(name, SHT_STRTAB, &bytes, 1);
        self.header_table(shstrndx);
        self.out
    }

    /// Appends contents and a header with the fields that most synthetic sections share.
    fn push(&mut self, name: u32, sh_type: u32, bytes: &[u8], align: u64) -> &mut Header {
        self.out.align(align);
        let offset = self.out.len() as u64;
        self.out.extend_from_slice(bytes);
        let size = bytes.len() as u64;
        self.headers.push(Header {
            name,
            sh_type,
            flags: 0,
            offset,
            size,
            link: 0,
            info: 0,
            align,
            entsize: 0,
        });
        self.headers.last_mut().expect("just pushed")
    }

    fn groups(&mut self) {
        let name = self.names.add(b".group");
        for g in &self.obj.groups {
            let mut words = Vec::new();
            words.u32(g.flags);
            g.members.iter().for_each(|&m| words.u32(self.obj.section_index(m)));
            let (link, info) = (self.symtab_section, self.symbol_index[g.signature.0]);
            let h = self.push(name, SHT_GROUP, &words, 4);
            (h.link, h.info, h.entsize) = (link, info, 4);
        }
    }

    fn sections(&mut self) {
        for s in &self.obj.sections {
            let name = s.raw.name.unwrap_or_else(|| self.names.add(&s.name));
            let link = s.link.map_or(0, |id| self.obj.section_index(id));
            let in_file = if s.align <= 4096 { s.align } else { 1 };
            let h = self.push(name, s.sh_type, &s.data, in_file);
            (h.flags, h.entsize, h.align) = (s.flags, s.entsize, s.align);
            h.link = s.raw.link.unwrap_or(link);
            h.info = s.raw.info.unwrap_or(0);
            if s.sh_type == SHT_NOBITS {
                h.size = s.nobits_size;
            }
            h.offset = s.raw.offset.unwrap_or(h.offset);
            h.size = s.raw.size.unwrap_or(h.size);
        }
    }

    fn relocations(&mut self) {
        let (prefix, sh_type, entsize, align) = match self.obj.format {
            RelocFormat::Rela => (".rela", SHT_RELA, 24, 8),
            RelocFormat::Rel => (".rel", SHT_REL, 16, 8),
            RelocFormat::Crel => (".crel", SHT_CREL, 1, 1),
        };
        for (i, relocs) in self.obj.relocs.iter().enumerate() {
            if relocs.is_empty() {
                continue;
            }
            let rows: Vec<Row> = relocs.iter().map(|r| self.row(r)).collect();
            let bytes = match self.obj.format {
                RelocFormat::Rela => rela(&rows),
                RelocFormat::Rel => rel(&rows),
                RelocFormat::Crel => crel(&rows),
            };
            let name = [prefix.as_bytes(), &self.obj.sections[i].name].concat();
            let name = self.names.add(&name);
            let info = self.obj.section_index(SectionId(i));
            let in_group = self.obj.sections[i].flags & SHF_GROUP;
            let link = self.symtab_section;
            let h = self.push(name, sh_type, &bytes, align);
            (h.flags, h.link, h.info, h.entsize) = (SHF_INFO_LINK | in_group, link, info, entsize);
        }
    }

    fn row(&self, r: &Reloc) -> Row {
        let symbol = match (r.symbol, r.raw_symbol) {
            (Some(id), _) => self.symbol_index[id.0],
            (None, raw) => raw.unwrap_or(0),
        };
        Row { offset: r.offset, symbol, r_type: r.r_type, addend: r.addend }
    }

    fn symbols(&mut self) {
        let mut strings = StrTab::new();
        let mut table = vec![0; 24];
        let mut extended = vec![0; 4];
        let mut needs_extended = false;
        for &i in &self.order {
            let s = &self.obj.symbols[i];
            let (shndx, wide) = match s.place {
                Place::Undefined => (SHN_UNDEF, 0),
                Place::Index(i) => (i, 0),
                Place::Section(id) => match self.obj.section_index(id) {
                    index if index < u32::from(SHN_LORESERVE) => (index as u16, 0),
                    index => (SHN_XINDEX, index),
                },
            };
            needs_extended |= wide != 0;
            table.u32(s.raw_name.unwrap_or_else(|| strings.add(&s.name)));
            table.push(s.bind << 4 | s.kind);
            table.push(s.other);
            table.u16(shndx);
            table.u64(s.value);
            table.u64(s.size);
            extended.u32(wide);
        }
        let first_global = 1 + self.order.iter().filter(|&&i| self.obj.symbols[i].bind == STB_LOCAL).count();
        let strtab = self.symtab_section + 1 + u32::from(needs_extended);
        let name = self.names.add(b".symtab");
        let h = self.push(name, SHT_SYMTAB, &table, 8);
        (h.link, h.info, h.entsize) = (strtab, first_global as u32, 24);
        if needs_extended {
            let link = self.symtab_section;
            let name = self.names.add(b".symtab_shndx");
            let h = self.push(name, SHT_SYMTAB_SHNDX, &extended, 4);
            (h.link, h.entsize) = (link, 4);
        }
        let name = self.names.add(b".strtab");
        self.push(name, SHT_STRTAB, &strings.bytes, 1);
    }

    /// Section headers after the contents, then the ELF header in front.
    fn header_table(&mut self, shstrndx: u32) {
        self.out.align(8);
        let shoff = self.out.len() as u64;
        let count = self.headers.len() as u64 + 1;
        let wide_count = count >= u64::from(SHN_LORESERVE);
        let wide_names = shstrndx >= u32::from(SHN_LORESERVE);
        let out = &mut self.out;
        // gABI: the real numbers stand in the null section where the ELF header has no room.
        out.u64(0);
        out.u64(0);
        out.u64(0);
        out.u64(0);
        out.u64(if wide_count { count } else { 0 });
        out.u32(if wide_names { shstrndx } else { 0 });
        out.u32(0);
        out.u64(0);
        out.u64(0);
        for h in &self.headers {
            out.u32(h.name);
            out.u32(h.sh_type);
            out.u64(h.flags);
            out.u64(0);
            out.u64(h.offset);
            out.u64(h.size);
            out.u32(h.link);
            out.u32(h.info);
            out.u64(h.align);
            out.u64(h.entsize);
        }
        let shnum = if wide_count { 0 } else { count as u16 };
        let names = if wide_names { SHN_XINDEX } else { shstrndx as u16 };
        let mut header = elf_header(self.obj.e_type, self.obj.machine);
        header.u64(0);
        header.u64(0);
        header.u64(shoff);
        header.u32(self.obj.e_flags);
        for half in [64, 0, 0, 64, shnum, names] {
            header.u16(half);
        }
        self.out[..64].copy_from_slice(&header);
    }
}

/// `e_ident` to `e_version`.
pub(crate) fn elf_header(e_type: u16, machine: u16) -> Vec<u8> {
    let mut h = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    h.u16(e_type);
    h.u16(machine);
    h.u32(1);
    h
}

struct Row {
    offset: u64,
    symbol: u32,
    r_type: u32,
    addend: i64,
}

fn rela(rows: &[Row]) -> Vec<u8> {
    let mut out = Vec::new();
    for r in rows {
        out.u64(r.offset);
        out.u64(u64::from(r.symbol) << 32 | u64::from(r.r_type));
        out.u64(r.addend as u64);
    }
    out
}

fn rel(rows: &[Row]) -> Vec<u8> {
    let mut out = Vec::new();
    for r in rows {
        out.u64(r.offset);
        out.u64(u64::from(r.symbol) << 32 | u64::from(r.r_type));
    }
    out
}

/// CREL (proposed for the gABI): a header `count << 3 | has_addend << 2 | shift`, then for each
/// relocation the offset delta with three flag bits below it and the deltas of symbol, type and
/// addend that are not zero.
fn crel(rows: &[Row]) -> Vec<u8> {
    let mut out = Vec::new();
    uleb(&mut out, (rows.len() as u64) << 3 | 4);
    let mut last = Row { offset: 0, symbol: 0, r_type: 0, addend: 0 };
    for r in rows {
        let delta = r.offset.wrapping_sub(last.offset);
        let symbol = i64::from(r.symbol) - i64::from(last.symbol);
        let r_type = i64::from(r.r_type) - i64::from(last.r_type);
        let addend = r.addend.wrapping_sub(last.addend);
        let flags = u8::from(symbol != 0) | u8::from(r_type != 0) << 1 | u8::from(addend != 0) << 2;
        let first = (delta as u8 & 0xf) << 3 | flags;
        if delta < 0x10 {
            out.push(first);
        } else {
            out.push(first | 0x80);
            uleb(&mut out, delta >> 4);
        }
        [symbol, r_type, addend].into_iter().filter(|&d| d != 0).for_each(|d| sleb(&mut out, d));
        last = Row { ..*r };
    }
    out
}

fn uleb(out: &mut Vec<u8>, mut v: u64) {
    while v >= 0x80 {
        out.push(v as u8 | 0x80);
        v >>= 7;
    }
    out.push(v as u8);
}

fn sleb(out: &mut Vec<u8>, mut v: i64) {
    loop {
        let byte = v as u8 & 0x7f;
        v >>= 7;
        if (v == 0 && byte & 0x40 == 0) || (v == -1 && byte & 0x40 != 0) {
            out.push(byte);
            return;
        }
        out.push(byte | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn u16_at(b: &[u8], at: usize) -> u16 {
        u16::from_le_bytes(b[at..at + 2].try_into().unwrap())
    }

    fn u64_at(b: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(b[at..at + 8].try_into().unwrap())
    }

    #[test]
    fn empty_object_has_four_sections() {
        let b = Obj::new().build();
        assert_eq!(u16_at(&b, 60), 4);
        assert_eq!(b.len() as u64, u64_at(&b, 40) + 4 * 64);
    }

    #[test]
    fn locals_come_first() {
        let mut o = Obj::new();
        let text = o.section(Section::text(".text").bytes(&[0xc3]));
        o.symbol(Symbol::global("g").at(text, 0));
        o.symbol(Symbol::local("l").at(text, 0));
        let b = o.build();
        // null, .text, .symtab: its sh_info is the first global.
        let symtab = u64_at(&b, 40) as usize + 2 * 64;
        assert_eq!(b[symtab + 44], 2);
    }

    #[test]
    fn many_sections_use_the_null_header() {
        let mut o = Obj::new();
        let ids: Vec<_> =
            (0..66_000).map(|i| o.section(Section::data(format!(".d{i}")).bytes(&[1]))).collect();
        o.symbol(Symbol::global("last").at(ids[65_999], 0));
        let b = o.build();
        assert_eq!((u16_at(&b, 60), u16_at(&b, 62)), (0, SHN_XINDEX));
        assert_eq!(u64_at(&b, u64_at(&b, 40) as usize + 32), 66_000 + 5);
    }

    #[test]
    fn crel_uses_deltas() {
        let rows = [
            Row { offset: 1, symbol: 2, r_type: 4, addend: -4 },
            Row { offset: 33, symbol: 2, r_type: 4, addend: -4 },
        ];
        assert_eq!(crel(&rows), [2 << 3 | 4, 1 << 3 | 7, 2, 4, 0x7c, 0x80, 2]);
    }
}

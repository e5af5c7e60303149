//! Shared objects (`ET_DYN`) in memory: enough of one for a linker to link against, none of it
//! meant to run. Sections `.dynsym`, `.dynstr`, `.gnu.version`, `.gnu.version_d`, `.dynamic`, a
//! `.text` and a `.data` that symbols point into, section headers, and program headers for one
//! loadable segment and `PT_DYNAMIC`.

use crate::elf::*;
use crate::obj::elf_header;
use crate::strtab::{Put, StrTab};

const HEADERS: u64 = 64 + 2 * 56;

/// A dynamic symbol to be added.
#[derive(Clone, Debug)]
pub struct DynSymbol {
    name: String,
    version: Option<String>,
    default_version: bool,
    info: u8,
    other: u8,
    shndx: Option<u16>,
    value: u64,
    size: u64,
}

impl DynSymbol {
    fn with(name: &str, bind: u8, kind: u8, shndx: Option<u16>) -> Self {
        DynSymbol {
            name: name.to_owned(),
            version: None,
            default_version: true,
            info: bind << 4 | kind,
            other: 0,
            shndx,
            value: 0,
            size: 0,
        }
    }

    /// A global function in `.text`.
    pub fn function(name: &str) -> Self {
        DynSymbol::with(name, STB_GLOBAL, STT_FUNC, None)
    }

    /// A global variable of `size` bytes in `.data`.
    pub fn object(name: &str, size: u64) -> Self {
        DynSymbol { size, ..DynSymbol::with(name, STB_GLOBAL, STT_OBJECT, None) }
    }

    pub fn undefined(name: &str) -> Self {
        DynSymbol::with(name, STB_GLOBAL, STT_NOTYPE, Some(SHN_UNDEF))
    }

    /// `name@@version`.
    pub fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }

    /// `name@version`.
    pub fn hidden_version(mut self, version: &str) -> Self {
        self.default_version = false;
        self.version(version)
    }

    pub fn bind(mut self, bind: u8) -> Self {
        self.info = bind << 4 | self.info & 0xf;
        self
    }

    pub fn kind(mut self, kind: u8) -> Self {
        self.info = self.info & 0xf0 | kind;
        self
    }

    pub fn other(mut self, other: u8) -> Self {
        self.other = other;
        self
    }

    /// The address, instead of the start of its section.
    pub fn value(mut self, value: u64) -> Self {
        self.value = value;
        self
    }

    pub fn shndx(mut self, shndx: u16) -> Self {
        self.shndx = Some(shndx);
        self
    }
}

/// A shared object under construction.
pub struct Dso {
    soname: Option<String>,
    needed: Vec<String>,
    versions: Vec<String>,
    symbols: Vec<DynSymbol>,
    machine: u16,
}

/// The section indices that symbols name.
const TEXT: u16 = 6;
const DATA: u16 = 7;

impl Dso {
    pub fn new(soname: &str) -> Self {
        Dso {
            soname: Some(soname.to_owned()),
            needed: Vec::new(),
            versions: Vec::new(),
            symbols: Vec::new(),
            machine: EM_X86_64,
        }
    }

    /// One without `DT_SONAME`.
    pub fn without_soname() -> Self {
        Dso { soname: None, ..Dso::new("") }
    }

    pub fn needed(mut self, name: &str) -> Self {
        self.needed.push(name.to_owned());
        self
    }

    pub fn symbol(mut self, symbol: DynSymbol) -> Self {
        if let Some(v) = &symbol.version
            && !self.versions.contains(v)
        {
            self.versions.push(v.clone());
        }
        self.symbols.push(symbol);
        self
    }

    pub fn machine(mut self, machine: u16) -> Self {
        self.machine = machine;
        self
    }

    /// The finished file.
    pub fn build(&self) -> Vec<u8> {
        let mut strings = StrTab::new();
        let mut out = vec![0; HEADERS as usize];
        let mut rows: Vec<[u64; 8]> = Vec::new();
        let mut add = |out: &mut Vec<u8>,
                       bytes: &[u8],
                       sh_type: u32,
                       flags: u64,
                       link: u64,
                       info: u64,
                       entsize: u64| {
            out.align(8);
            let at = out.len() as u64;
            out.extend_from_slice(bytes);
            rows.push([u64::from(sh_type), flags, at, bytes.len() as u64, link, info, entsize, 8]);
            at
        };
        let dynsym = self.dynsym(&mut strings);
        let versym = self.versym();
        let verdef = self.verdef(&mut strings);
        let verdefs = if self.versions.is_empty() { 0 } else { self.versions.len() as u64 + 1 };
        let mut dynamic = Vec::new();
        for n in &self.needed {
            dynamic.u64(DT_NEEDED);
            dynamic.u64(u64::from(strings.add(n.as_bytes())));
        }
        if let Some(soname) = &self.soname {
            dynamic.u64(DT_SONAME);
            dynamic.u64(u64::from(strings.add(soname.as_bytes())));
        }
        let at_dynsym = add(&mut out, &dynsym, SHT_DYNSYM, SHF_ALLOC, 2, 1, 24);
        let at_strings = add(&mut out, &strings.bytes, SHT_STRTAB, SHF_ALLOC, 0, 0, 0);
        let at_versym = add(&mut out, &versym, SHT_GNU_VERSYM, SHF_ALLOC, 1, 0, 2);
        let at_verdef = add(&mut out, &verdef, SHT_GNU_VERDEF, SHF_ALLOC, 2, verdefs, 0);
        let mut tags = vec![
            (DT_SYMTAB, at_dynsym),
            (DT_SYMENT, 24),
            (DT_STRTAB, at_strings),
            (DT_STRSZ, strings.bytes.len() as u64),
        ];
        if verdefs > 0 {
            tags.extend([(DT_VERSYM, at_versym), (DT_VERDEF, at_verdef), (DT_VERDEFNUM, verdefs)]);
        }
        tags.push((DT_NULL, 0));
        tags.iter().for_each(|t| {
            dynamic.u64(t.0);
            dynamic.u64(t.1);
        });
        let at_dynamic = add(&mut out, &dynamic, SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, 2, 0, 16);
        add(&mut out, &[0xc3; 16], SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0, 0);
        add(&mut out, &[0; 64], SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, 0, 0);
        self.place_symbols(&mut out, &rows, at_dynsym);
        self.headers(&mut out, &rows, at_dynamic, dynamic.len() as u64);
        out
    }

    fn dynsym(&self, strings: &mut StrTab) -> Vec<u8> {
        let mut table = vec![0; 24];
        for s in &self.symbols {
            table.u32(strings.add(s.name.as_bytes()));
            table.push(s.info);
            table.push(s.other);
            let section = if s.info & 0xf == STT_FUNC { TEXT } else { DATA };
            table.u16(s.shndx.unwrap_or(section));
            table.u64(s.value);
            table.u64(s.size);
        }
        table
    }

    /// Gives symbols without a value of their own the address of their section.
    fn place_symbols(&self, out: &mut [u8], rows: &[[u64; 8]], at_dynsym: u64) {
        for (i, s) in self.symbols.iter().enumerate() {
            if s.shndx.is_none() && s.value == 0 {
                let section = if s.info & 0xf == STT_FUNC { TEXT } else { DATA };
                let at = at_dynsym as usize + 24 * (i + 1) + 8;
                out[at..at + 8].copy_from_slice(&rows[usize::from(section) - 1][2].to_le_bytes());
            }
        }
    }

    fn versym(&self) -> Vec<u8> {
        let mut table = vec![0; 2];
        for s in &self.symbols {
            let index = s.version.as_ref().and_then(|v| self.versions.iter().position(|w| w == v));
            let index = index.map_or(VER_NDX_GLOBAL, |i| i as u16 + 2);
            table.u16(if s.default_version { index } else { index | VERSYM_HIDDEN });
        }
        table
    }

    /// The base definition (the soname), then one for each version in order of first use.
    fn verdef(&self, strings: &mut StrTab) -> Vec<u8> {
        let mut out = Vec::new();
        if self.versions.is_empty() {
            return out;
        }
        let base = self.soname.clone().unwrap_or_default();
        let names: Vec<&String> = std::iter::once(&base).chain(&self.versions).collect();
        for (i, name) in names.iter().enumerate() {
            let last = i + 1 == names.len();
            out.u16(1);
            out.u16(u16::from(i == 0));
            out.u16(i as u16 + 1);
            out.u16(1);
            out.u32(sysv_hash(name.as_bytes()));
            out.u32(20);
            out.u32(if last { 0 } else { 28 });
            out.u32(strings.add(name.as_bytes()));
            out.u32(0);
        }
        out
    }

    fn headers(&self, out: &mut Vec<u8>, rows: &[[u64; 8]], at_dynamic: u64, dynamic_size: u64) {
        let mut names = StrTab::new();
        let labels = [".dynsym", ".dynstr", ".gnu.version", ".gnu.version_d", ".dynamic", ".text", ".data"];
        let name_at: Vec<u32> = labels.iter().map(|l| names.add(l.as_bytes())).collect();
        let shstrtab = names.add(b".shstrtab");
        let loaded = out.len() as u64;
        out.extend_from_slice(&names.bytes);
        out.align(8);
        let shoff = out.len() as u64;
        out.resize(out.len() + 64, 0);
        let names_row = [u64::from(SHT_STRTAB), 0, loaded, names.bytes.len() as u64, 0, 0, 0, 1];
        let all = rows.iter().zip(name_at).chain([(&names_row, shstrtab)]);
        for (r, name) in all {
            out.u32(name);
            out.u32(r[0] as u32);
            out.u64(r[1]);
            out.u64(if r[1] & SHF_ALLOC != 0 { r[2] } else { 0 });
            out.u64(r[2]);
            out.u64(r[3]);
            out.u32(r[4] as u32);
            out.u32(r[5] as u32);
            out.u64(r[7]);
            out.u64(r[6]);
        }
        let mut header = elf_header(ET_DYN, self.machine);
        header.u64(0);
        header.u64(64);
        header.u64(shoff);
        header.u32(0);
        for half in [64, 56, 2, 64, rows.len() as u16 + 2, rows.len() as u16 + 1] {
            header.u16(half);
        }
        for (p_type, flags, at, size) in
            [(PT_LOAD, PF_R | PF_W | PF_X, 0, loaded), (PT_DYNAMIC, PF_R | PF_W, at_dynamic, dynamic_size)]
        {
            header.u32(p_type);
            header.u32(flags);
            for v in [at, at, at, size, size, if p_type == PT_LOAD { 0x1000 } else { 8 }] {
                header.u64(v);
            }
        }
        out[..header.len()].copy_from_slice(&header);
    }
}

/// The hash of `DT_HASH` and of version names (gABI "Hash Table").
pub fn sysv_hash(name: &[u8]) -> u32 {
    name.iter().fold(0u32, |h, &c| {
        let h = (h << 4).wrapping_add(u32::from(c));
        let top = h & 0xf000_0000;
        (h ^ top >> 24) & !top
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hashes() {
        // The value every libc.so.6 carries for this version.
        assert_eq!(sysv_hash(b"GLIBC_2.2.5"), 0x0969_1a75);
    }

    #[test]
    fn symbol_points_into_its_section() {
        let b = Dso::new("libx.so").symbol(DynSymbol::function("f").version("V1")).build();
        assert_eq!(&b[16..18], &ET_DYN.to_le_bytes());
        let value = u64::from_le_bytes(b[HEADERS as usize + 24 + 8..][..8].try_into().unwrap());
        assert_eq!(b[value as usize], 0xc3);
    }
}

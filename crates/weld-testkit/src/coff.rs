//! A builder for COFF objects, plain and large (bigobj).
//!
//! ```
//! use weld_testkit::coff::*;
//! let mut object = Coff::new(AMD64);
//! let text = object.section(".text", CODE, &[0xe8, 0, 0, 0, 0, 0xc3]);
//! let callee = object.symbol("callee", 0, 0, EXTERNAL);
//! object.symbol("caller", 0, text, EXTERNAL);
//! object.reloc(text, 1, callee, REL32);
//! let bytes: Vec<u8> = object.build();
//! assert_eq!(&bytes[..2], &[0x64, 0x86]);
//! ```

pub const AMD64: u16 = 0x8664;

/// Flags of sections: code, data, data that is only read, zeroes; each with an alignment of 16, 8, 8 and 4.
pub const CODE: u32 = 0x6050_0020;
pub const DATA: u32 = 0xc040_0040;
pub const READ_ONLY: u32 = 0x4040_0040;
pub const BSS: u32 = 0xc030_0080;
pub const COMDAT: u32 = 0x1000;

pub const EXTERNAL: u8 = 2;
pub const STATIC: u8 = 3;
pub const WEAK_EXTERNAL: u8 = 105;

pub const ADDR64: u16 = 1;
pub const ADDR32NB: u16 = 3;
pub const REL32: u16 = 4;
pub const SECTION: u16 = 10;
pub const SECREL: u16 = 11;

/// How sections of one name are chosen from.
pub const NO_DUPLICATES: u8 = 1;
pub const ANY: u8 = 2;
pub const SAME_SIZE: u8 = 3;
pub const EXACT_MATCH: u8 = 4;
pub const ASSOCIATIVE: u8 = 5;
pub const LARGEST: u8 = 6;

struct Section {
    name: String,
    flags: u32,
    bytes: Vec<u8>,
    /// Size if there are no bytes.
    zeroes: u32,
    relocs: Vec<(u32, u32, u16)>,
}

enum Record {
    Symbol { name: String, value: u32, section: i32, typ: u16, class: u8, aux: u8 },
    Aux([u8; 18]),
}

pub struct Coff {
    machine: u16,
    big: bool,
    sections: Vec<Section>,
    records: Vec<Record>,
}

impl Coff {
    pub fn new(machine: u16) -> Coff {
        Coff { machine, big: false, sections: Vec::new(), records: Vec::new() }
    }

    /// Makes it a large object.
    pub fn big(mut self) -> Coff {
        self.big = true;
        self
    }

    /// Adds a section and returns its number.
    pub fn section(&mut self, name: &str, flags: u32, bytes: &[u8]) -> i32 {
        let (name, bytes) = (name.to_owned(), bytes.to_vec());
        self.sections.push(Section { name, flags, bytes, zeroes: 0, relocs: Vec::new() });
        self.sections.len() as i32
    }

    /// Adds a section of zeroes, with `more` flags.
    pub fn zeroes(&mut self, name: &str, more: u32, size: u32) -> i32 {
        let number = self.section(name, BSS | more, &[]);
        self.sections[number as usize - 1].zeroes = size;
        number
    }

    /// Adds a symbol and returns its number.
    pub fn symbol(&mut self, name: &str, value: u32, section: i32, class: u8) -> u32 {
        let number = self.records.len() as u32;
        let name = name.to_owned();
        self.records.push(Record::Symbol { name, value, section, typ: 0, class, aux: 0 });
        number
    }

    /// Adds a symbol with an auxiliary record.
    fn symbol_with(&mut self, name: &str, section: i32, class: u8, aux: [u8; 18]) -> u32 {
        let number = self.symbol(name, 0, section, class);
        if let Some(Record::Symbol { aux, .. }) = self.records.last_mut() {
            *aux = 1;
        }
        self.records.push(Record::Aux(aux));
        number
    }

    /// Adds the symbol of a section, which says how it is chosen, and what it goes with.
    pub fn section_symbol(&mut self, section: i32, selection: u8, parent: i32) -> u32 {
        let name = self.sections[section as usize - 1].name.clone();
        let mut aux = [0; 18];
        let size = self.sections[section as usize - 1].bytes.len() as u32;
        aux[..4].copy_from_slice(&size.to_le_bytes());
        aux[12..14].copy_from_slice(&(parent as u16).to_le_bytes());
        aux[14] = selection;
        aux[16..18].copy_from_slice(&((parent >> 16) as u16).to_le_bytes());
        self.symbol_with(&name, section, STATIC, aux)
    }

    /// Adds a weak external that falls back on symbol `target`.
    pub fn weak(&mut self, name: &str, target: u32) -> u32 {
        let mut aux = [0; 18];
        aux[..4].copy_from_slice(&target.to_le_bytes());
        aux[4] = 2;
        self.symbol_with(name, 0, WEAK_EXTERNAL, aux)
    }

    /// Adds a relocation at an offset in a section.
    pub fn reloc(&mut self, section: i32, offset: u32, symbol: u32, typ: u16) {
        self.sections[section as usize - 1].relocs.push((offset, symbol, typ));
    }

    pub fn build(&self) -> Vec<u8> {
        let mut strings = vec![0u8; 4];
        let headers = (if self.big { 56 } else { 20 }) + 40 * self.sections.len();
        let (mut table, mut body) = (Vec::new(), Vec::new());
        for section in &self.sections {
            let at = headers + body.len();
            body.extend_from_slice(&section.bytes);
            let relocs_at = headers + body.len();
            for (offset, symbol, typ) in &section.relocs {
                words(&mut body, &[*offset, *symbol]);
                body.extend_from_slice(&typ.to_le_bytes());
            }
            table.extend_from_slice(&section_name(&section.name, &mut strings));
            let (size, at) = match section.zeroes {
                0 => (section.bytes.len() as u32, at as u32),
                zeroes => (zeroes, 0),
            };
            let relocs = section.relocs.len() as u32;
            words(&mut table, &[0, 0, size, at, relocs_at as u32, 0, relocs, section.flags]);
        }
        let mut symbols = Vec::new();
        self.records.iter().for_each(|record| self.record(record, &mut symbols, &mut strings));
        let mut out = self.header((headers + body.len()) as u32);
        out.extend(table);
        out.extend(body);
        out.extend(symbols);
        let size = strings.len() as u32;
        strings[..4].copy_from_slice(&size.to_le_bytes());
        out.extend(strings);
        out
    }

    fn header(&self, symbols_at: u32) -> Vec<u8> {
        let (sections, symbols) = (self.sections.len() as u32, self.records.len() as u32);
        let mut out = Vec::new();
        if self.big {
            out.extend_from_slice(&[0, 0, 0xff, 0xff, 2, 0]);
            out.extend_from_slice(&self.machine.to_le_bytes());
            words(&mut out, &[0]);
            let class = [0xd1ba_a1c7, 0x4ba9_baee, 0xf6fa_20af, 0xb8dc_a46a];
            words(&mut out, &class);
            words(&mut out, &[0, 0, 0, 0, sections, symbols_at, symbols]);
        } else {
            out.extend_from_slice(&self.machine.to_le_bytes());
            out.extend_from_slice(&(sections as u16).to_le_bytes());
            words(&mut out, &[0, symbols_at, symbols, 0]);
        }
        out
    }

    fn record(&self, record: &Record, out: &mut Vec<u8>, strings: &mut Vec<u8>) {
        match record {
            Record::Aux(bytes) => {
                out.extend_from_slice(bytes);
                out.extend_from_slice(if self.big { &[0, 0] } else { &[] });
            }
            Record::Symbol { name, value, section, typ, class, aux } => {
                out.extend_from_slice(&symbol_name(name, strings));
                words(out, &[*value]);
                match self.big {
                    true => out.extend_from_slice(&section.to_le_bytes()),
                    false => out.extend_from_slice(&(*section as i16).to_le_bytes()),
                }
                out.extend_from_slice(&typ.to_le_bytes());
                out.extend_from_slice(&[*class, *aux]);
            }
        }
    }
}

fn words(out: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

/// Adds a text to the string table and returns where it is.
fn long(text: &str, strings: &mut Vec<u8>) -> u32 {
    let at = strings.len() as u32;
    strings.extend_from_slice(text.as_bytes());
    strings.push(0);
    at
}

fn section_name(text: &str, strings: &mut Vec<u8>) -> [u8; 8] {
    let text = if text.len() > 8 { format!("/{}", long(text, strings)) } else { text.to_owned() };
    let mut name = [0; 8];
    name[..text.len()].copy_from_slice(text.as_bytes());
    name
}

fn symbol_name(text: &str, strings: &mut Vec<u8>) -> [u8; 8] {
    let mut name = [0; 8];
    match text.len() > 8 {
        true => name[4..].copy_from_slice(&long(text, strings).to_le_bytes()),
        false => name[..text.len()].copy_from_slice(text.as_bytes()),
    }
    name
}

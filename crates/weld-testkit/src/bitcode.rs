//! Bitcode in memory: blocks of bits, of which only the symbol table says something; modules are empty, or
//! have a block of summaries.
//!
//! ```
//! use weld_testkit::bitcode::{Bitcode, Symbol, flag};
//! let mut file = Bitcode::new("x86_64-unknown-linux-gnu");
//! file.symbol(Symbol::new("main", flag::GLOBAL | flag::EXECUTABLE));
//! file.symbol(Symbol::new("printf", flag::GLOBAL | flag::EXECUTABLE | flag::UNDEFINED));
//! assert_eq!(&file.build()[..4], b"BC\xc0\xde");
//! ```

/// Ids of blocks.
pub mod block {
    pub const MODULE: u64 = 8;
    pub const IDENTIFICATION: u64 = 13;
    pub const SUMMARY: u64 = 20;
    pub const STRTAB: u64 = 23;
    pub const FULL_SUMMARY: u64 = 24;
    pub const SYMTAB: u64 = 25;
}

/// A symbol's flags; the lowest two bits are its visibility (0 default, 1 hidden, 2 protected).
pub mod flag {
    pub const HIDDEN: u32 = 1;
    pub const PROTECTED: u32 = 2;
    pub const HAS_UNCOMMON: u32 = 1 << 2;
    pub const UNDEFINED: u32 = 1 << 3;
    pub const WEAK: u32 = 1 << 4;
    pub const COMMON: u32 = 1 << 5;
    pub const INDIRECT: u32 = 1 << 6;
    pub const USED: u32 = 1 << 7;
    pub const TLS: u32 = 1 << 8;
    pub const MAY_OMIT: u32 = 1 << 9;
    pub const GLOBAL: u32 = 1 << 10;
    pub const FORMAT_SPECIFIC: u32 = 1 << 11;
    pub const UNNAMED_ADDR: u32 = 1 << 12;
    pub const EXECUTABLE: u32 = 1 << 13;
}

/// The flags of summaries that can take part in either kind of LTO.
pub const UNIFIED: u64 = 0x200;

/// Bits, the lowest first.
#[derive(Default)]
pub struct Bits {
    bytes: Vec<u8>,
    /// Bits of the last byte that are in use; 0 if all are.
    used: u32,
    /// Of each block that is open: the width of ids outside of it, and where its length is.
    open: Vec<(u32, usize)>,
    width: u32,
}

impl Bits {
    /// A stream behind the magic number of bitcode.
    pub fn new() -> Bits {
        Bits { bytes: b"BC\xc0\xde".to_vec(), width: 2, ..Bits::default() }
    }

    pub fn fixed(&mut self, value: u64, width: u32) {
        for bit in 0..width {
            if self.used == 0 {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().expect("pushed") |= ((value >> bit & 1) as u8) << self.used;
            self.used = (self.used + 1) % 8;
        }
    }

    pub fn vbr(&mut self, mut value: u64, width: u32) {
        let more = 1 << (width - 1);
        while value >= more {
            self.fixed(value & (more - 1) | more, width);
            value >>= width - 1;
        }
        self.fixed(value, width);
    }

    pub fn align(&mut self) {
        self.used = 0;
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    pub fn id(&mut self, id: u64) {
        self.fixed(id, self.width);
    }

    /// Opens a block whose entries have ids of `width` bits.
    pub fn enter(&mut self, block: u64, width: u32) {
        self.id(1);
        self.vbr(block, 8);
        self.vbr(u64::from(width), 4);
        self.align();
        self.open.push((self.width, self.bytes.len()));
        self.bytes.extend([0; 4]);
        self.width = width;
    }

    pub fn leave(&mut self) {
        self.id(0);
        self.align();
        let (width, at) = self.open.pop().expect("a block is open");
        let words = (self.bytes.len() - at) / 4 - 1;
        self.bytes[at..at + 4].copy_from_slice(&(words as u32).to_le_bytes());
        self.width = width;
    }

    /// A record without an abbreviation.
    pub fn record(&mut self, code: u64, operands: &[u64]) {
        self.id(3);
        self.vbr(code, 6);
        self.vbr(operands.len() as u64, 6);
        for &operand in operands {
            self.vbr(operand, 6);
        }
    }

    /// A block with nothing but a blob.
    pub fn blob(&mut self, block: u64, code: u64, bytes: &[u8]) {
        self.enter(block, 3);
        // An abbreviation of two operands: the code as it is, and a blob.
        self.id(2);
        self.vbr(2, 5);
        self.fixed(1, 1);
        self.vbr(code, 8);
        self.fixed(0, 1);
        self.fixed(5, 3);
        self.id(4);
        self.vbr(bytes.len() as u64, 6);
        self.align();
        self.bytes.extend(bytes);
        self.align();
        self.leave();
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

#[derive(Clone, Debug, Default)]
pub struct Symbol {
    pub name: String,
    pub flags: u32,
    /// Index of the COMDAT group.
    pub comdat: Option<u32>,
    /// Of a common: bytes and alignment.
    pub common: (u64, u32),
    pub fallback: String,
    pub section: String,
}

impl Symbol {
    pub fn new(name: &str, flags: u32) -> Symbol {
        Symbol { name: name.to_owned(), flags, ..Symbol::default() }
    }
}

/// A file of bitcode. Its fields are what is written, whether it makes sense or not.
#[derive(Clone, Debug)]
pub struct Bitcode {
    /// The version of the symbol table's format: 3 or 4.
    pub version: u32,
    pub producer: String,
    pub triple: String,
    pub source: String,
    pub directives: String,
    pub libraries: Vec<String>,
    /// Name and selection.
    pub comdats: Vec<(String, u32)>,
    pub symbols: Vec<Symbol>,
    /// Where each module's symbols end.
    pub modules: Vec<u32>,
    /// The block of summaries that modules have, and its flags.
    pub summary: Option<(u64, u64)>,
    pub has_symtab: bool,
    pub has_wrapper: bool,
}

impl Bitcode {
    pub fn new(triple: &str) -> Bitcode {
        Bitcode {
            version: 3,
            producer: "22.1.8".to_owned(),
            triple: triple.to_owned(),
            source: "a.c".to_owned(),
            directives: String::new(),
            libraries: Vec::new(),
            comdats: Vec::new(),
            symbols: Vec::new(),
            modules: Vec::new(),
            summary: None,
            has_symtab: true,
            has_wrapper: false,
        }
    }

    pub fn symbol(&mut self, symbol: Symbol) -> &mut Bitcode {
        self.symbols.push(symbol);
        self
    }

    pub fn comdat(&mut self, name: &str, selection: u32) -> &mut Bitcode {
        self.comdats.push((name.to_owned(), selection));
        self
    }

    /// The file's bytes. One module has all symbols unless `modules` says otherwise.
    pub fn build(&self) -> Vec<u8> {
        let mut bits = Bits::new();
        let ends = if self.modules.is_empty() { &[self.symbols.len() as u32][..] } else { &self.modules };
        bits.enter(block::IDENTIFICATION, 5);
        let letters: Vec<u64> = format!("LLVM{}", self.producer).bytes().map(u64::from).collect();
        bits.record(1, &letters);
        bits.record(2, &[0]);
        bits.leave();
        for _ in ends {
            bits.enter(block::MODULE, 3);
            bits.record(1, &[2]);
            if let Some((block, flags)) = self.summary {
                bits.enter(block, 4);
                bits.record(10, &[9]);
                bits.record(20, &[flags]);
                bits.leave();
            }
            bits.leave();
        }
        if self.has_symtab {
            let (symtab, strtab) = self.tables(ends);
            bits.blob(block::SYMTAB, 1, &symtab);
            bits.blob(block::STRTAB, 1, &strtab);
        }
        let bytes = bits.finish();
        if !self.has_wrapper {
            return bytes;
        }
        let header = [0x0b17_c0de, 0, 20, bytes.len() as u32, 7];
        let header: Vec<u8> = header.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        // What follows the size that the header says is padding.
        [header, bytes, vec![0; 12]].concat()
    }

    /// The symbol table and the table of strings.
    pub fn tables(&self, ends: &[u32]) -> (Vec<u8>, Vec<u8>) {
        let mut strings = Vec::new();
        let mut string = |text: &str| {
            let at = strings.len() as u32;
            strings.extend(text.as_bytes());
            [at, text.len() as u32]
        };
        let producer = string(&self.producer);
        let texts = [string(&self.triple), string(&self.source), string(&self.directives)];
        let mut symbols = Vec::new();
        let mut uncommons: Vec<Vec<u32>> = Vec::new();
        for symbol in &self.symbols {
            let is_rare =
                symbol.common != (0, 0) || !symbol.fallback.is_empty() || !symbol.section.is_empty();
            let flags = symbol.flags | if is_rare { flag::HAS_UNCOMMON } else { 0 };
            let [at, len] = string(&symbol.name);
            symbols.push(vec![at, len, at, len, symbol.comdat.unwrap_or(u32::MAX), flags]);
            if is_rare {
                let (size, alignment) = symbol.common;
                let mut record = vec![size as u32];
                if self.version != 3 {
                    record.push((size >> 32) as u32);
                }
                record.push(alignment);
                record.extend([string(&symbol.fallback), string(&symbol.section)].concat());
                uncommons.push(record);
            }
        }
        let comdats: Vec<Vec<u32>> = self
            .comdats
            .iter()
            .map(|(name, selection)| [&string(name)[..], &[*selection]].concat())
            .collect();
        let libraries: Vec<Vec<u32>> = self.libraries.iter().map(|name| string(name).to_vec()).collect();
        let begins = [0].into_iter().chain(ends.iter().copied());
        let modules: Vec<Vec<u32>> = begins.zip(ends).map(|(begin, &end)| vec![begin, end, 0]).collect();
        let mut words: Vec<u32> = vec![self.version, producer[0], producer[1]];
        let mut at = 76;
        let mut table = |records: &[Vec<u32>]| {
            let bytes = records.iter().map(|record| record.len() as u32 * 4).sum::<u32>();
            at += bytes;
            [at - bytes, records.len() as u32]
        };
        let tables = [table(&modules), table(&comdats), table(&symbols), table(&uncommons)];
        words.extend(tables.concat());
        words.extend(texts.concat());
        words.extend(table(&libraries));
        for records in [modules, comdats, symbols, uncommons, libraries] {
            words.extend(records.concat());
        }
        (words.iter().flat_map(|word| word.to_le_bytes()).collect(), strings)
    }
}

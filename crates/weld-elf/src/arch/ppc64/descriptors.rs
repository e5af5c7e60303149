//! Function descriptors (ELFv1): a function's symbol is that of three words in `.opd`: the address of its code, the TOC's,
//! and an environment. Pointers to functions lead there, and branches to the code that the first word leads to.
//!
//! An object has its descriptors in one section, whatever sections the code is in. Here each gets a section of its own,
//! so that it stays or goes by itself, with its function if that lost with its COMDAT group. What names the section
//! with an offset names that descriptor's then, by a symbol that the object has there, or by a new one. The object is
//! copied for that. One that cannot be understood stays as it is, and its descriptors are one.
//!
//! Older compilers call code by a name of its own, the function's with a dot in front. Where an object does not define
//! such a name, branches mean the function, and others the address of its code, which the linker's own definition of the
//! name is then ([`crate::symbols::internal`]). One that it does define is not seen by other modules, which look for functions;
//! and if it defines the function, too, branches name that, for another module may define it.
//!
//! Specification: "64-bit PowerPC ELF Application Binary Interface Supplement 1.9", "Function Descriptors".

use std::collections::{HashMap, HashSet};

use super::types::*;
use crate::elf::format::{Class, Order};
use crate::elf::*;

pub const SECTION: &[u8] = b".opd";

const FORMAT: Format = Format { class: Class::Elf64, order: Order::Big };
/// Descriptors may lack the environment, or share that word with the next one.
const SMALLEST: u64 = 16;
const WORD: u64 = 8;

/// The object with a section for each descriptor, if it has several; `None` if it may stay as it is.
pub fn separate(file: &[u8]) -> Option<Vec<u8>> {
    let object = Parsed::new(file)?;
    let (dots, codes) = object.dotted();
    let tables: Vec<Table> = (1..object.shdrs.len()).filter_map(|i| object.table(i)).collect();
    let tables: Vec<Table> = tables.into_iter().filter(|table| table.starts.len() > 1).collect();
    if dots.is_empty() && codes.is_empty() && tables.is_empty() {
        return None;
    }
    let called = object.functions_of(&codes);
    let mut writer =
        Rewriter { out: file.to_vec(), shdrs: object.shdrs.clone(), symbols: object.symbols.clone(), called };
    let kept = object.named_by_others(&dots)?;
    for symbol in dots {
        let sym = &object.symbols[symbol];
        let (info, other) = (sym.st_info(), sym.st_other());
        let function = Sym::make(sym.st_name() + 1, info, other, SHN_UNDEF, sym.st_value(), sym.st_size());
        if kept.contains(&(symbol as u32)) {
            writer.called.insert(symbol as u32, u32::try_from(writer.symbols.len()).ok()?);
            writer.symbols.push(function);
        } else {
            writer.symbols[symbol] = function;
        }
    }
    for symbol in codes {
        let sym = &object.symbols[symbol];
        let other =
            if sym.visibility() == STV_INTERNAL { sym.st_other() } else { sym.st_other() & !3 | STV_HIDDEN };
        let (info, index) = (sym.st_info(), sym.st_shndx());
        writer.symbols[symbol] = Sym::make(sym.st_name(), info, other, index, sym.st_value(), sym.st_size());
    }
    writer.split(&object, &tables)?;
    writer.finish(&object)
}

/// The tables of an object.
struct Parsed<'f> {
    file: &'f [u8],
    shdrs: Vec<Shdr>,
    section_names: &'f [u8],
    symtab: usize,
    symbols: Vec<Sym>,
    names: &'f [u8],
    /// Section indices of symbols that have them elsewhere.
    indices: Vec<u32>,
    indices_at: Option<usize>,
}

/// The descriptors of an object.
struct Table {
    section: usize,
    size: u64,
    /// Where each begins.
    starts: Vec<u64>,
    /// Their relocations, by place, and the section that these are in.
    relocs: Vec<Rela>,
    relocs_at: usize,
}

impl Table {
    /// The number of the descriptor that a byte belongs to. The end is the last one's.
    fn holder(&self, offset: u64) -> Option<usize> {
        (offset <= self.size).then(|| self.starts.partition_point(|start| *start <= offset).saturating_sub(1))
    }

    fn end(&self, number: usize) -> u64 {
        self.starts.get(number + 1).copied().unwrap_or(self.size)
    }

    /// Which of its relocations a descriptor has.
    fn relocs_of(&self, number: usize) -> std::ops::Range<usize> {
        let from = |offset: u64| self.relocs.partition_point(|reloc| reloc.r_offset() < offset);
        from(self.starts[number])..from(self.end(number))
    }
}

fn list<R: Record>(file: &[u8], shdr: &Shdr) -> Option<Vec<R>> {
    let size = FORMAT.size::<R>();
    let found = records::<R>(file, FORMAT, shdr.sh_offset(), shdr.sh_size() / size)?;
    shdr.sh_size().is_multiple_of(size).then(|| found.into_owned())
}

impl<'f> Parsed<'f> {
    /// `None` if it is damaged, which others tell, or if it has no symbols.
    fn new(file: &'f [u8]) -> Option<Parsed<'f>> {
        let header = records::<Ehdr>(file, FORMAT, 0, 1)?[0];
        let first = records::<Shdr>(file, FORMAT, header.e_shoff(), 1)?[0];
        let count = if header.e_shnum() == 0 { first.sh_size() } else { header.e_shnum().into() };
        let shdrs = records::<Shdr>(file, FORMAT, header.e_shoff(), count)?.into_owned();
        let names = match header.e_shstrndx() {
            SHN_XINDEX => first.sh_link(),
            index => index.into(),
        };
        let section_names = bytes(file, shdrs.get(names as usize)?)?;
        let of_kind = |kind: u32| shdrs.iter().position(|shdr| shdr.sh_type() == kind);
        let symtab = of_kind(SHT_SYMTAB)?;
        let symbols: Vec<Sym> = list(file, &shdrs[symtab])?;
        let names = bytes(file, shdrs.get(shdrs[symtab].sh_link() as usize)?)?;
        let indices_at = of_kind(SHT_SYMTAB_SHNDX);
        let indices = match indices_at {
            Some(at) => list::<Word>(file, &shdrs[at])?.iter().map(Word::get).collect(),
            None => Vec::new(),
        };
        let sound = shdrs[symtab].sh_info() as usize <= symbols.len()
            && (indices_at.is_none() || indices.len() == symbols.len());
        sound.then_some(Parsed { file, shdrs, section_names, symtab, symbols, names, indices, indices_at })
    }

    fn first_global(&self) -> usize {
        self.shdrs[self.symtab].sh_info() as usize
    }

    /// The section that a symbol is in; 0 if in none.
    fn section_of(&self, symbol: usize) -> usize {
        match self.symbols[symbol].st_shndx() {
            SHN_XINDEX => self.indices.get(symbol).map_or(0, |index| *index as usize),
            SHN_LORESERVE.. => 0,
            index => index.into(),
        }
    }

    /// Global symbols whose names are those of functions with a dot in front: undefined ones, and those of code.
    fn dotted(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut undefined, mut codes) = (Vec::new(), Vec::new());
        for symbol in self.first_global()..self.symbols.len() {
            let name = string(self.names, self.symbols[symbol].st_name());
            if !matches!(name, Some([b'.', first, ..]) if name != Some(b".TOC.") && *first != b'.') {
                continue;
            }
            let section = self.shdrs.get(self.section_of(symbol));
            match self.symbols[symbol].st_shndx() {
                SHN_UNDEF => undefined.push(symbol),
                _ if section.is_some_and(|shdr| shdr.sh_flags() & SHF_EXECINSTR != 0) => codes.push(symbol),
                _ => {}
            }
        }
        (undefined, codes)
    }

    /// Those of these symbols that other relocations than those of branches name.
    fn named_by_others(&self, symbols: &[usize]) -> Option<HashSet<u32>> {
        let mut found = HashSet::new();
        if symbols.is_empty() {
            return Some(found);
        }
        let symbols: HashSet<u32> = symbols.iter().map(|symbol| *symbol as u32).collect();
        for shdr in self.shdrs.iter().filter(|shdr| shdr.sh_type() == SHT_RELA) {
            let relocs = list::<Rela>(self.file, shdr)?;
            let others = relocs.iter().filter(|r| r.kind() != R_PPC64_NONE && !is_branch(r.kind()));
            found.extend(others.map(Rela::sym).filter(|symbol| symbols.contains(symbol)));
        }
        Some(found)
    }

    /// The functions that the object defines of which these symbols are the code's.
    fn functions_of(&self, codes: &[usize]) -> HashMap<u32, u32> {
        let named = |symbol: &usize| string(self.names, self.symbols[*symbol].st_name());
        let of: HashMap<&[u8], usize> =
            codes.iter().filter_map(|code| Some((named(code)?.get(1..)?, *code))).collect();
        if of.is_empty() {
            return HashMap::new();
        }
        let globals = self.first_global()..self.symbols.len();
        let functions = globals.filter(|symbol| self.symbols[*symbol].st_shndx() != SHN_UNDEF);
        functions.filter_map(|symbol| Some((*of.get(named(&symbol)?)? as u32, symbol as u32))).collect()
    }

    /// The descriptors in a section, if it has such.
    fn table(&self, section: usize) -> Option<Table> {
        let shdr = &self.shdrs[section];
        let is_one = shdr.sh_type() == SHT_PROGBITS
            && shdr.sh_flags() & (SHF_ALLOC | SHF_COMPRESSED) == SHF_ALLOC
            && string(self.section_names, shdr.sh_name()) == Some(SECTION);
        if !is_one {
            return None;
        }
        let is_for_it = |shdr: &Shdr| {
            matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL) && shdr.sh_info() as usize == section
        };
        let mut all = (0..self.shdrs.len()).filter(|i| is_for_it(&self.shdrs[*i]));
        let (relocs_at, None) = (all.next()?, all.next()) else { return None };
        if self.shdrs[relocs_at].sh_type() != SHT_RELA
            || self.shdrs[relocs_at].sh_link() as usize != self.symtab
        {
            return None;
        }
        let mut relocs: Vec<Rela> = list(self.file, &self.shdrs[relocs_at])?;
        relocs.sort_by_key(Rela::r_offset);
        let is_code = |reloc: &&Rela| reloc.kind() == R_PPC64_ADDR64;
        let starts: Vec<u64> = relocs.iter().filter(is_code).map(Rela::r_offset).collect();
        let size = shdr.sh_size();
        let is_whole = |(start, end): (&u64, &u64)| {
            start.is_multiple_of(WORD) && end.checked_sub(*start).is_some_and(|size| size >= SMALLEST)
        };
        let sound = starts.first() == Some(&0)
            && starts.iter().zip(starts.iter().skip(1).chain([&size])).all(is_whole)
            && relocs.last().is_some_and(|reloc| reloc.r_offset() < size);
        sound.then_some(Table { section, size, starts, relocs, relocs_at })
    }
}

fn bytes<'f>(file: &'f [u8], shdr: &Shdr) -> Option<&'f [u8]> {
    slice(file, shdr.sh_offset(), shdr.file_size())
}

/// The copy of an object in the making.
struct Rewriter {
    out: Vec<u8>,
    shdrs: Vec<Shdr>,
    symbols: Vec<Sym>,
    /// What branches to these symbols are to go to.
    called: HashMap<u32, u32>,
}

/// A section header with another place, size, link and info.
fn moved(shdr: &Shdr, offset: u64, size: u64, info: u32) -> Shdr {
    let mut copy = *shdr;
    copy.0[24..32].copy_from_slice(&offset.to_le_bytes());
    copy.0[32..40].copy_from_slice(&size.to_le_bytes());
    copy.0[44..48].copy_from_slice(&info.to_le_bytes());
    copy
}

impl Rewriter {
    /// Gives descriptors sections of their own. `None` if the object has what cannot be changed.
    fn split(&mut self, object: &Parsed, tables: &[Table]) -> Option<()> {
        // The section of each descriptor, by table and number.
        let mut sections: Vec<Vec<usize>> = Vec::new();
        for table in tables {
            let (shdr, relocs) = (object.shdrs[table.section], object.shdrs[table.relocs_at]);
            let mut list = Vec::new();
            for number in 0..table.starts.len() {
                let (start, of) = (table.starts[number], table.relocs_of(number));
                let at = if number == 0 { table.section } else { self.shdrs.len() };
                list.push(at);
                let piece = moved(&shdr, shdr.sh_offset() + start, table.end(number) - start, shdr.sh_info());
                let size = FORMAT.size::<Rela>();
                let (from, count) = (relocs.sh_offset() + size * of.start as u64, size * of.len() as u64);
                let own: Vec<Rela> = table.relocs[of]
                    .iter()
                    .map(|r| Rela::make(r.r_offset() - start, r.sym(), r.kind(), r.r_addend()))
                    .collect();
                put_records(FORMAT, &own, self.out.get_mut(from as usize..(from + count) as usize)?);
                let own = moved(&relocs, from, count, at as u32);
                if number == 0 {
                    (self.shdrs[table.section], self.shdrs[table.relocs_at]) = (piece, own);
                } else {
                    self.shdrs.extend([piece, own]);
                }
            }
            sections.push(list);
        }
        self.name(object, tables, &sections)
    }

    /// Has all that names descriptors name them where they are now.
    fn name(&mut self, object: &Parsed, tables: &[Table], sections: &[Vec<usize>]) -> Option<()> {
        let table_of: HashMap<usize, usize> =
            tables.iter().enumerate().map(|(i, table)| (table.section, i)).collect();
        let place = |table: usize, offset: u64| {
            let number = tables[table].holder(offset)?;
            Some((sections[table][number], offset - tables[table].starts[number]))
        };
        let mut indices: Vec<u32> = (0..object.symbols.len()).map(|i| object.section_of(i) as u32).collect();
        // Functions that only had names with a dot.
        indices.resize(self.symbols.len(), 0);
        // The section symbols of tables, and local symbols at the starts of descriptors, by their sections.
        let (mut whole, mut named) = (HashMap::new(), HashMap::new());
        for (i, sym) in object.symbols.iter().enumerate().skip(1) {
            let Some(table) = table_of.get(&object.section_of(i)) else { continue };
            if sym.kind() == STT_SECTION {
                whole.insert(i as u32, *table);
                continue;
            }
            let (section, value) = place(*table, sym.st_value())?;
            let (info, other) = (sym.st_info(), sym.st_other());
            self.symbols[i] = Sym::make(sym.st_name(), info, other, sym.st_shndx(), value, sym.st_size());
            indices[i] = section as u32;
            if i < object.first_global() && value == 0 {
                named.entry(section).or_insert(i as u32);
            }
        }
        // Descriptors that only the section's symbol and an offset named.
        if self.shdrs.iter().any(|shdr| shdr.sh_type() == SHT_CREL) {
            return None;
        }
        let lists: Vec<usize> =
            (0..self.shdrs.len()).filter(|i| self.shdrs[*i].sh_type() == SHT_RELA).collect();
        let mut nameless = HashSet::new();
        for &i in &lists {
            for reloc in list::<Rela>(&self.out, &self.shdrs[i])? {
                let Some(&table) = whole.get(&reloc.sym()) else { continue };
                let (section, _) = place(table, reloc.r_addend() as u64)?;
                if section != tables[table].section && !named.contains_key(&section) {
                    nameless.insert(section);
                }
            }
        }
        let mut nameless: Vec<usize> = nameless.into_iter().collect();
        nameless.sort_unstable();
        let (first_global, more) = (object.first_global() as u32, nameless.len() as u32);
        for (number, section) in nameless.iter().enumerate() {
            let at = first_global as usize + number;
            self.symbols.insert(at, Sym::make(0, STT_SECTION, 0, 0, 0, 0));
            indices.insert(at, *section as u32);
            named.insert(*section, at as u32);
        }
        for &i in &lists {
            let mut relocs: Vec<Rela> = list(&self.out, &self.shdrs[i])?;
            for reloc in &mut relocs {
                let called = self.called.get(&reloc.sym()).filter(|_| is_branch(reloc.kind()));
                let symbol = called.copied().unwrap_or(reloc.sym());
                let (symbol, addend) = match whole.get(&symbol) {
                    Some(&table) => {
                        let (section, rest) = place(table, reloc.r_addend() as u64)?;
                        (named.get(&section).copied().unwrap_or(symbol), rest as i64)
                    }
                    None if symbol >= first_global => (symbol.checked_add(more)?, reloc.r_addend()),
                    None => (symbol, reloc.r_addend()),
                };
                *reloc = Rela::make(reloc.r_offset(), symbol, reloc.kind(), addend);
            }
            let start = self.shdrs[i].sh_offset() as usize;
            let size = self.shdrs[i].sh_size() as usize;
            put_records(FORMAT, &relocs, self.out.get_mut(start..start + size)?);
        }
        self.shift(first_global, more)?;
        self.put_indices(object, &indices)
    }

    /// Has groups know their symbols, of which there are `more` local ones.
    fn shift(&mut self, first_global: u32, more: u32) -> Option<()> {
        for shdr in self.shdrs.iter_mut().filter(|_| more > 0) {
            match shdr.sh_type() {
                SHT_GROUP if shdr.sh_info() >= first_global => {
                    *shdr = moved(shdr, shdr.sh_offset(), shdr.sh_size(), shdr.sh_info().checked_add(more)?);
                }
                SHT_SYMTAB => {
                    *shdr = moved(shdr, shdr.sh_offset(), shdr.sh_size(), first_global.checked_add(more)?);
                }
                // They have numbers of symbols.
                SHT_LLVM_ADDRSIG | SHT_REL => return None,
                _ => {}
            }
        }
        Some(())
    }

    /// Gives symbols the indices of their sections, in a table of their own if one is large.
    fn put_indices(&mut self, object: &Parsed, indices: &[u32]) -> Option<()> {
        let is_in_section = |symbol: &Sym| matches!(symbol.st_shndx(), 0..SHN_LORESERVE | SHN_XINDEX);
        let mut words = vec![0u32; indices.len()];
        let mut is_large = object.indices_at.is_some();
        for (i, symbol) in self.symbols.iter_mut().enumerate().filter(|(_, symbol)| is_in_section(symbol)) {
            let small = u16::try_from(indices[i]).ok().filter(|index| *index < SHN_LORESERVE);
            if small.is_none() {
                (words[i], is_large) = (indices[i], true);
            }
            let (info, other, index) = (symbol.st_info(), symbol.st_other(), small.unwrap_or(SHN_XINDEX));
            *symbol = Sym::make(symbol.st_name(), info, other, index, symbol.st_value(), symbol.st_size());
        }
        if !is_large {
            return Some(());
        }
        let start = self.end();
        words.iter().for_each(|word| self.out.extend_from_slice(&word.to_be_bytes()));
        let like = match object.indices_at {
            Some(at) => self.shdrs[at],
            None => Shdr([0; Shdr::SIZE]),
        };
        let mut header = moved(&like, start, 4 * words.len() as u64, 0);
        header.0[4..8].copy_from_slice(&SHT_SYMTAB_SHNDX.to_le_bytes());
        header.0[40..44].copy_from_slice(&(object.symtab as u32).to_le_bytes());
        header.0[48..56].copy_from_slice(&4u64.to_le_bytes());
        match object.indices_at {
            Some(at) => self.shdrs[at] = header,
            None => self.shdrs.push(header),
        }
        Some(())
    }

    /// Where what is added begins.
    fn end(&mut self) -> u64 {
        self.out.resize(self.out.len().next_multiple_of(WORD as usize), 0);
        self.out.len() as u64
    }

    /// Adds the tables of symbols and of sections.
    fn finish(mut self, object: &Parsed) -> Option<Vec<u8>> {
        let start = self.end();
        let symbols = std::mem::take(&mut self.symbols);
        self.add(&symbols);
        let symtab = &self.shdrs[object.symtab];
        self.shdrs[object.symtab] = moved(symtab, start, self.out.len() as u64 - start, symtab.sh_info());
        let start = self.end();
        let count = self.shdrs.len();
        let small = u16::try_from(count).ok().filter(|count| *count < SHN_LORESERVE);
        if small.is_none() {
            let first = &self.shdrs[0];
            self.shdrs[0] = moved(first, first.sh_offset(), count as u64, first.sh_info());
        }
        let shdrs = std::mem::take(&mut self.shdrs);
        self.add(&shdrs);
        self.out[40..48].copy_from_slice(&start.to_be_bytes());
        self.out[60..62].copy_from_slice(&small.unwrap_or(0).to_be_bytes());
        Some(self.out)
    }

    fn add<R: Record>(&mut self, list: &[R]) {
        let start = self.out.len();
        self.out.resize(start + list.len() * FORMAT.size::<R>() as usize, 0);
        put_records(FORMAT, list, &mut self.out[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[u8] = b"\0.opd\0.g\0f\0";

    /// An object with two descriptors, `f` and one without a name, a pointer to the latter, and a branch to `.g`, which
    /// it does not define.
    fn object(named: bool) -> Vec<u8> {
        let local =
            if named { Sym::make(9, STT_FUNC, 0, 2, 24, 4) } else { Sym::make(0, 0, 0, SHN_ABS, 0, 0) };
        let symbols = [
            Sym([0; Sym::SIZE]),
            Sym::make(0, STT_SECTION, 0, 2, 0, 0),
            Sym::make(0, STT_SECTION, 0, 1, 0, 0),
            local,
            Sym::make(9, STB_GLOBAL << 4 | STT_FUNC, 0, 2, 0, 4),
            Sym::make(6, STB_GLOBAL << 4, 0, SHN_UNDEF, 0, 0),
        ];
        let code =
            |at: u64, of: i64| [Rela::make(at, 2, R_PPC64_ADDR64, of), Rela::make(at + 8, 0, R_PPC64_TOC, 0)];
        let opd = [code(0, 0), code(24, 4)].concat();
        let text = [Rela::make(4, 5, R_PPC64_REL24, 0)];
        let data = [Rela::make(0, 1, R_PPC64_ADDR64, 24)];
        let mut out = vec![0; 64];
        let mut shdrs = vec![Shdr([0; Shdr::SIZE])];
        let mut add = |name: u32, kind: u32, flags: u64, link: [u32; 2], bytes: &[u8]| {
            let mut shdr = Shdr([0; Shdr::SIZE]);
            shdr.0[0..4].copy_from_slice(&name.to_le_bytes());
            shdr.0[4..8].copy_from_slice(&kind.to_le_bytes());
            shdr.0[8..16].copy_from_slice(&flags.to_le_bytes());
            shdr.0[40..44].copy_from_slice(&link[0].to_le_bytes());
            shdrs.push(moved(&shdr, out.len() as u64, bytes.len() as u64, link[1]));
            out.extend_from_slice(bytes);
        };
        let encoded = |relocs: &[Rela]| {
            let mut bytes = vec![0; Rela::SIZE * relocs.len()];
            put_records(FORMAT, relocs, &mut bytes);
            bytes
        };
        add(0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, [0, 0], &[0; 8]);
        add(1, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, [0, 0], &[0; 48]);
        add(0, SHT_RELA, 0, [7, 2], &encoded(&opd));
        add(0, SHT_RELA, 0, [7, 1], &encoded(&text));
        add(0, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, [0, 0], &[0; 8]);
        add(0, SHT_RELA, 0, [7, 5], &encoded(&data));
        let mut table = vec![0; Sym::SIZE * symbols.len()];
        put_records(FORMAT, &symbols, &mut table);
        add(0, SHT_SYMTAB, 0, [8, 4], &table);
        add(0, SHT_STRTAB, 0, [0, 0], NAMES);
        let start = out.len();
        out.resize(start + Shdr::SIZE * shdrs.len(), 0);
        put_records(FORMAT, &shdrs, &mut out[start..]);
        out[40..48].copy_from_slice(&(start as u64).to_be_bytes());
        out[60..62].copy_from_slice(&(shdrs.len() as u16).to_be_bytes());
        out[62..64].copy_from_slice(&8u16.to_be_bytes());
        out
    }

    fn relocs(file: &[u8], parsed: &Parsed, section: usize) -> Vec<(u64, u32, i64)> {
        let list: Vec<Rela> = list(file, &parsed.shdrs[section]).unwrap();
        list.iter().map(|reloc| (reloc.r_offset(), reloc.sym(), reloc.r_addend())).collect()
    }

    #[test]
    fn descriptors_get_sections() {
        for named in [true, false] {
            let file = separate(&object(named)).unwrap();
            let parsed = Parsed::new(&file).unwrap();
            assert_eq!(parsed.shdrs.len(), 11);
            // The first keeps its section, the second has a new one, with its relocations.
            assert_eq!([parsed.shdrs[2].sh_size(), parsed.shdrs[9].sh_size()], [24, 24]);
            assert_eq!(parsed.shdrs[10].sh_info(), 9);
            assert_eq!(relocs(&file, &parsed, 3), [(0, 2, 0), (8, 0, 0)]);
            assert_eq!(relocs(&file, &parsed, 10), [(0, 2, 4), (8, 0, 0)]);
            // The pointer names it by the symbol that it has, or by a new one, the last that is local.
            let symbol = if named { 3 } else { 4 };
            assert_eq!(relocs(&file, &parsed, 6), [(0, symbol, 0)]);
            assert_eq!(parsed.section_of(symbol as usize), 9);
            assert_eq!(parsed.symbols[symbol as usize].st_value(), 0);
            assert_eq!(parsed.first_global(), symbol.max(4) as usize + usize::from(!named));
            // What is called is the function.
            let called = relocs(&file, &parsed, 4)[0].1 as usize;
            assert_eq!(string(parsed.names, parsed.symbols[called].st_name()), Some(&b"g"[..]));
        }
    }

    #[test]
    fn addresses_of_code_keep_their_names() {
        let mut file = object(true);
        let parsed = Parsed::new(&file).unwrap();
        let data = parsed.shdrs[6].sh_offset() as usize;
        // The pointer is one to `.g` now.
        put_records(FORMAT, &[Rela::make(0, 5, R_PPC64_ADDR64, 8)], &mut file[data..data + Rela::SIZE]);
        let file = separate(&file).unwrap();
        let parsed = Parsed::new(&file).unwrap();
        let name = |symbol: u32| string(parsed.names, parsed.symbols[symbol as usize].st_name()).unwrap();
        let (pointer, branch) = (relocs(&file, &parsed, 6)[0], relocs(&file, &parsed, 4)[0]);
        assert_eq!((name(pointer.1), pointer.2), (&b".g"[..], 8));
        assert_eq!(name(branch.1), b"g");
        assert_eq!(parsed.symbols[branch.1 as usize].st_shndx(), SHN_UNDEF);
    }

    #[test]
    fn what_is_cut_off_is_left_alone_or_parsed() {
        let file = object(false);
        for len in 0..file.len() {
            _ = separate(&file[..len]);
        }
        for at in 0..file.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[at] = byte;
                _ = separate(&damaged);
            }
        }
    }
}

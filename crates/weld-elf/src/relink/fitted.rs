//! Objects with sections more than their compiler gave them, so that a spare object may be any of several kinds.
//!
//! Codegen units differ in whether they have lists of ranges and places, or scripts for debuggers; a crate's library has
//! none of these, its program does. A spare object has all of them, and an object that takes its place is given those of
//! the skeleton ([`super::skeleton`]) that it lacks, where these stand among the others, with what they define. Nobody
//! refers to them: a section that the skeleton itself refers to is none of those.

use weld_common::io::input::InputStore;

use super::skeleton::{self, may_come};
use crate::elf::*;
use crate::input::made::Names;
use crate::input::object::Headers;

/// A section of a skeleton that an object lacks.
struct Lacking {
    /// Its number in the skeleton.
    number: usize,
    /// In front of which one it stands, counted among those that stay.
    before: usize,
}

/// An object as far as sections go.
struct Read<'d> {
    data: &'d [u8],
    headers: Headers<'d>,
    shdrs: &'d [Shdr],
    /// The numbers of sections that stay, without the first one, which is none.
    kept: Vec<usize>,
}

impl<'d> Read<'d> {
    fn of(data: &'d [u8], store: &'d InputStore<'d>) -> Option<Read<'d>> {
        let headers = Headers::of(data, store)?;
        let stays = |(_, shdr): &(usize, &Shdr)| !may_come(shdr, headers.name(shdr));
        let kept = headers.shdrs.iter().enumerate().skip(1).filter(stays).map(|(number, _)| number).collect();
        Some(Read { data, shdrs: headers.shdrs, headers, kept })
    }

    fn name(&self, number: usize) -> &'d [u8] {
        self.headers.name(&self.shdrs[number])
    }

    fn bytes(&self, number: usize) -> Option<&'d [u8]> {
        slice(self.data, self.shdrs[number].sh_offset(), self.shdrs[number].file_size())
    }

    /// The table of symbols: its number, what is in it, and their names.
    fn symbols(&self) -> Option<(usize, &'d [Sym], &'d [u8])> {
        let number = self.kept.iter().copied().find(|number| self.shdrs[*number].sh_type() == SHT_SYMTAB)?;
        let shdr = &self.shdrs[number];
        let symbols = table::<Sym>(self.data, shdr.sh_offset(), shdr.sh_size() / Sym::SIZE as u64)?;
        Some((number, symbols, self.bytes(shdr.sh_link() as usize).filter(|_| shdr.sh_link() > 0)?))
    }

    /// The names that are defined, with the numbers of their sections.
    fn defined(&self) -> Option<Vec<(&'d [u8], &'d Sym)>> {
        let (number, symbols, names) = self.symbols()?;
        let globals = symbols.get(self.shdrs[number].sh_info() as usize..)?;
        let defined = globals.iter().filter(|symbol| symbol.st_shndx() != SHN_UNDEF);
        defined.map(|symbol| Some((string(names, symbol.st_name())?, symbol))).collect()
    }
}

/// Whether a section of one skeleton is that of another one.
fn are_the_same((a, i): (&Read, usize), (b, j): (&Read, usize)) -> bool {
    let [x, y] = [&a.shdrs[i], &b.shdrs[j]];
    let said = |shdr: &Shdr| (shdr.sh_type(), shdr.sh_flags(), shdr.sh_addralign(), shdr.sh_entsize());
    let is_table = matches!(x.sh_type(), SHT_SYMTAB | SHT_STRTAB);
    a.name(i) == b.name(j) && said(x) == said(y) && (is_table || a.bytes(i) == b.bytes(j))
}

/// What an object lacks whose skeleton is `own`, and that is to be like `wanted`; `None` if it has others.
fn lacking(own: &Read, wanted: &Read) -> Option<Vec<Lacking>> {
    let (mut lacking, mut next) = (Vec::new(), 0);
    for number in &wanted.kept {
        match own.kept.get(next) {
            Some(mine) if are_the_same((own, *mine), (wanted, *number)) => next += 1,
            _ => lacking.push(Lacking { number: *number, before: next }),
        }
    }
    let is_lacking = |number: usize| lacking.iter().any(|one| one.number == number);
    let mut relocated = wanted.shdrs.iter().filter(|shdr| shdr.sh_type() == SHT_RELA);
    if next < own.kept.len() || relocated.any(|shdr| is_lacking(shdr.sh_info() as usize)) {
        return None;
    }
    // What sections that stay define is the same.
    let names = own.defined()?;
    let of_others = wanted.defined()?.into_iter().filter(|(_, symbol)| !is_lacking(symbol.st_shndx().into()));
    let of_others: Vec<&[u8]> = of_others.map(|(name, _)| name).collect();
    names.iter().map(|(name, _)| *name).eq(of_others).then_some(lacking)
}

/// Whether an object whose skeleton is `own` can be made like `wanted`.
pub fn fits<'d>(own: &'d [u8], wanted: &'d [u8], store: &'d InputStore<'d>) -> bool {
    let both = Read::of(own, store).zip(Read::of(wanted, store));
    own == wanted || both.is_some_and(|(own, wanted)| lacking(&own, &wanted).is_some())
}

/// The object `data` with what it lacks of the skeleton `wanted`; `None` if it needs nothing, or cannot be made like that.
pub fn fitted<'d>(data: &'d [u8], wanted: &'d [u8], store: &'d InputStore<'d>) -> Option<Vec<u8>> {
    let own = skeleton::of(data, store)?;
    if own == wanted {
        return None;
    }
    let (object, wanted) = (Read::of(data, store)?, Read::of(wanted, store)?);
    let defined = wanted.defined()?;
    let mut new = Vec::new();
    for one in lacking(&Read::of(&own, store)?, &wanted)? {
        let of_it = defined.iter().filter(|(_, symbol)| usize::from(symbol.st_shndx()) == one.number);
        new.push(New {
            before: object.kept.get(one.before).copied().unwrap_or(object.shdrs.len()),
            name: wanted.name(one.number),
            shdr: wanted.shdrs[one.number],
            bytes: wanted.bytes(one.number)?,
            defines: of_it.map(|(name, symbol)| (*name, **symbol)).collect(),
        });
    }
    with(&object, &new)
}

/// A skeleton with the tables that units may have and none of this kind had: of lists of places and of ranges, as LLVM
/// orders them. `None` if it has them.
pub fn with_lists<'d>(skeleton: &'d [u8], store: &'d InputStore<'d>) -> Option<Vec<u8>> {
    const NONE: [u8; 16] = [0; 16];
    let object = Read::of(skeleton, store)?;
    let by_name = |name: &[u8]| (1..object.shdrs.len()).find(|number| object.name(*number) == name);
    let info = object.bytes(by_name(b".debug_info")?)?;
    if !matches!(info.get(4..6)?, [2..=4, 0]) {
        return None;
    }
    let mut new = Vec::new();
    for (name, before) in [(&b".debug_loc"[..], &b".debug_abbrev"[..]), (b".debug_ranges", b".debug_str")] {
        if by_name(name).is_none() {
            let mut shdr = Shdr([0; Shdr::SIZE]);
            set(&mut shdr, (4, 4), SHT_PROGBITS.into());
            set(&mut shdr, (32, 8), NONE.len() as u64);
            set(&mut shdr, (48, 8), 1);
            new.push(New { before: by_name(before)?, name, shdr, bytes: &NONE, defines: Vec::new() });
        }
    }
    if new.is_empty() { None } else { with(&object, &new) }
}

/// A section that an object is given.
struct New<'n> {
    /// The number of the one that it stands in front of.
    before: usize,
    name: &'n [u8],
    shdr: Shdr,
    bytes: &'n [u8],
    defines: Vec<(&'n [u8], Sym)>,
}

/// An object with sections more, which stand in their order.
fn with(object: &Read, added: &[New]) -> Option<Vec<u8>> {
    let (symtab, symbols, strings) = object.symbols()?;
    if object.shdrs.iter().any(|shdr| matches!(shdr.sh_type(), SHT_SYMTAB_SHNDX | SHT_CREL)) {
        return None;
    }
    // In which order sections are, and what numbers they have then.
    let mut order: Vec<Result<usize, &New>> = Vec::with_capacity(object.shdrs.len() + added.len());
    let mut left = added.iter().peekable();
    for number in 0..=object.shdrs.len() {
        order.extend(std::iter::from_fn(|| left.next_if(|one| one.before <= number)).map(Err));
        order.push(Ok(number));
    }
    order.pop();
    u16::try_from(order.len()).ok().filter(|count| *count < SHN_LORESERVE)?;
    let mut numbers = vec![0; object.shdrs.len()];
    for (place, one) in order.iter().enumerate() {
        if let Ok(number) = one {
            numbers[*number] = place;
        }
    }
    let new = |number: usize| numbers.get(number).copied().unwrap_or(0);
    let mut out = object.data.to_vec();
    let mut shdrs: Vec<Shdr> = Vec::with_capacity(order.len());
    let names = object.headers.header.e_shstrndx() as usize;
    let string_table = object.shdrs[symtab].sh_link() as usize;
    let [mut of_sections, mut of_symbols] = [object.bytes(names)?, strings].map(Names::of);
    let mut all: Vec<u8> = Vec::with_capacity(size_of_val(symbols));
    symbols.iter().for_each(|symbol| all.extend_from_slice(&moved(*symbol, &new).0));
    for (place, one) in order.iter().enumerate() {
        shdrs.push(match *one {
            Ok(number) => {
                let mut shdr = object.shdrs[number];
                if shdr.sh_type() == SHT_GROUP {
                    let at = put(&mut out, &members(object.bytes(number)?, &new));
                    set(&mut shdr, (24, 8), at);
                }
                let link = new(shdr.sh_link() as usize);
                set(&mut shdr, (40, 4), link as u64);
                if matches!(shdr.sh_type(), SHT_REL | SHT_RELA) || shdr.sh_flags() & SHF_INFO_LINK != 0 {
                    let of = new(shdr.sh_info() as usize);
                    set(&mut shdr, (44, 4), of as u64);
                }
                shdr
            }
            Err(one) => {
                let mut shdr = one.shdr;
                let table = if names == string_table { &mut of_symbols } else { &mut of_sections };
                set(&mut shdr, (0, 4), table.add(&[one.name]).into());
                let at = put(&mut out, one.bytes);
                set(&mut shdr, (24, 8), at);
                for (name, symbol) in &one.defines {
                    let name = of_symbols.add(&[name]);
                    let (info, other) = (symbol.0[4], symbol.st_other());
                    let (value, size) = (symbol.st_value(), symbol.st_size());
                    all.extend(Sym::make(name, info, other, place as u16, value, size).0);
                }
                shdr
            }
        });
    }
    if names != string_table {
        replace(&mut out, &mut shdrs[new(names)], of_sections.bytes());
    }
    replace(&mut out, &mut shdrs[new(string_table)], of_symbols.bytes());
    replace(&mut out, &mut shdrs[new(symtab)], &all);
    let table: Vec<[u8; Shdr::SIZE]> = shdrs.iter().map(|shdr| shdr.0).collect();
    let at = put(&mut out, table.as_flattened());
    out[40..48].copy_from_slice(&at.to_le_bytes());
    out[60..62].copy_from_slice(&(order.len() as u16).to_le_bytes());
    out[62..64].copy_from_slice(&(new(names) as u16).to_le_bytes());
    Some(out)
}

/// Adds bytes. Where they are.
fn put(out: &mut Vec<u8>, bytes: &[u8]) -> u64 {
    out.resize(out.len().next_multiple_of(8), 0);
    let at = out.len() as u64;
    out.extend_from_slice(bytes);
    at
}

/// Has a section have other contents.
fn replace(out: &mut Vec<u8>, shdr: &mut Shdr, bytes: &[u8]) {
    let at = put(out, bytes);
    set(shdr, (24, 8), at);
    set(shdr, (32, 8), bytes.len() as u64);
}

/// Sets a field of a header, of so many bytes.
fn set(shdr: &mut Shdr, (at, size): (usize, usize), value: u64) {
    shdr.0[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// What is in a group, with other numbers of sections.
fn members(bytes: &[u8], new: &impl Fn(usize) -> usize) -> Vec<u8> {
    let (words, _) = bytes.as_chunks::<4>();
    let words = words.iter().map(|word| u32::from_le_bytes(*word)).enumerate();
    // The first says what kind of a group it is.
    let words = words.map(|(at, word)| if at == 0 { word } else { new(word as usize) as u32 });
    words.flat_map(u32::to_le_bytes).collect()
}

/// The symbol with the other number of its section.
fn moved(mut symbol: Sym, new: &impl Fn(usize) -> usize) -> Sym {
    if symbol.st_shndx() < SHN_LORESERVE {
        let number = new(symbol.st_shndx().into()) as u16;
        symbol.0[6..8].copy_from_slice(&number.to_le_bytes());
    }
    symbol
}

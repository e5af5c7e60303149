//! Intermediate code as an object: bitcode, and what GCC leaves in sections of objects.
//!
//! Resolution needs of a file of intermediate code what it needs of any other: symbols, how COMDAT sections
//! are chosen, and directives. These become a large object in memory without contents, so no phase needs to
//! know of intermediate code but the one that asks a compiler for the machine code (`crate::lto`).
//!
//! ```text
//! sections   a COMDAT section for the leader of each group, and one that goes with it for the other members;
//!            .text, .data, .drectve
//! symbols    one for each COMDAT section, which says how it is chosen; then the file's, in its order
//! ```
//!
//! Definitions that others may replace are what compilers for Windows make of them: weak externals that fall
//! back on a symbol that only the object sees; what may stay undefined falls back on 0.
//!
//! Source: "PE Format", COFF Symbol Table and Auxiliary Symbol Records; `ANON_OBJECT_HEADER_BIGOBJ` in
//! `winnt.h`.

use std::collections::HashMap;

use object::LittleEndian as LE;
use weld_common::io::input::InputStore;
use weld_lto::ir::{Comdat, IrFile, IrSymbol, Kind, ReadError, Selection};
use weld_lto::options::Options;
use weld_lto::{bitcode, gcc, told};

use crate::coff::identify::{self, of_triple};
use crate::coff::machine::Machine;
use crate::coff::object::{ABSOLUTE, ObjectFile, UNDEFINED};
use crate::coff::pe;

/// The section of an object with machine code that has the bitcode, too.
const FAT: &[u8] = b".llvm.lto";

/// Of which compilers code is looked for in objects that have machine code, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// `.llvm.lto` (`--fat-lto-objects`).
    pub llvm: bool,
    /// `.gnu.lto_*`, if GCC has called the linker and named its plugin.
    pub gcc: bool,
}

impl Search {
    pub fn of(options: &Options) -> Search {
        Search { llvm: options.fat_objects, gcc: options.engine.has_gcc_plugin() }
    }
}

/// Intermediate code in a file.
#[derive(Debug)]
pub struct Code<'a> {
    pub file: IrFile<'a>,
    pub machine: Machine,
    /// What its compiler reads: bitcode, or the whole object that GCC's code is in.
    pub bytes: &'a [u8],
}

/// The intermediate code of a file that is to be compiled.
///
/// # Errors
/// If its symbols cannot be read, or there are no COFF objects for its target.
pub fn find<'a>(
    data: &'a [u8],
    kind: identify::Kind,
    options: &Options,
    store: &'a InputStore<'_>,
) -> Result<Option<Code<'a>>, CodeError> {
    let is_big = match kind {
        identify::Kind::Bitcode => return of_bitcode(data, options, store).map(Some),
        identify::Kind::Object => false,
        identify::Kind::BigObject => true,
        _ => return Ok(None),
    };
    // What is wrong with an object is said by who reads it.
    ObjectFile::parse(data, is_big).map_or(Ok(None), |object| in_object(&object, Search::of(options)))
}

/// That of an object, which may have machine code, too.
///
/// # Errors
/// As [`find`] has them.
pub fn in_object<'a>(object: &ObjectFile<'a>, search: Search) -> Result<Option<Code<'a>>, CodeError> {
    match search.llvm.then(|| bitcode_in(object)).flatten() {
        Some(bytes) => code(bitcode::read(bytes), bytes).map(Some),
        None => of_gcc(object, search),
    }
}

/// That of a file of bitcode.
///
/// # Errors
/// As [`find`] has them.
pub fn of_bitcode<'a>(
    bytes: &'a [u8],
    options: &Options,
    store: &'a InputStore<'_>,
) -> Result<Code<'a>, CodeError> {
    code(told::read_or_ask(bytes, options, store), bytes)
}

fn code<'a>(file: Result<IrFile<'a>, ReadError>, bytes: &'a [u8]) -> Result<Code<'a>, CodeError> {
    let file = file.map_err(CodeError::Read)?;
    match of_triple(file.triple) {
        Some(machine) => Ok(Code { file, machine, bytes }),
        None => Err(CodeError::Target(String::from_utf8_lossy(file.triple).into())),
    }
}

/// The bitcode that an object with machine code has besides.
fn bitcode_in<'a>(object: &ObjectFile<'a>) -> Option<&'a [u8]> {
    let named = |header: &&pe::ImageSectionHeader| object.section_name(header).is_ok_and(|name| name == FAT);
    let bytes = object.contents(object.sections.iter().find(named)?).ok()?;
    bitcode::is_bitcode(bytes).then_some(bytes)
}

/// GCC's code, if there is nothing else in the object or if it is looked for.
fn of_gcc<'a>(object: &ObjectFile<'a>, search: Search) -> Result<Option<Code<'a>>, CodeError> {
    // Few sections are not for the image and have a long name, so most names need not be looked at.
    let is_removed = |header: &&pe::ImageSectionHeader| {
        header.name[0] == b'/' && header.characteristics.get(LE).0 & pe::IMAGE_SCN_LNK_REMOVE.0 != 0
    };
    let section = |header| Some((object.section_name(header).ok()?, object.contents(header).ok()?));
    let removed = object.sections.iter().filter(is_removed).filter_map(section);
    let sections: Vec<(&[u8], &[u8])> = removed.filter(|(name, _)| name.starts_with(b".gnu.lto_")).collect();
    let Some(machine) = object.machine.filter(|_| sections.iter().any(|(name, _)| gcc::is_symtab(name)))
    else {
        return Ok(None);
    };
    let file = gcc::read(&sections).map_err(CodeError::Read)?;
    let is_compiled = search.gcc || !file.is_fat;
    let code = || Code { file: each_alone(file), machine, bytes: object.data };
    Ok(is_compiled.then(code))
}

/// GCC's objects for Windows have a COMDAT section for each function or variable, whatever group it is in
/// elsewhere.
fn each_alone(mut file: IrFile) -> IrFile {
    file.comdats.clear();
    for symbol in file.symbols.iter_mut().filter(|symbol| symbol.comdat.is_some()) {
        symbol.comdat = Some(file.comdats.len() as u32);
        file.comdats.push(Comdat { name: symbol.name, selection: Selection::Any });
    }
    file
}

/// Why intermediate code cannot take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeError {
    Read(ReadError),
    /// It is for this target, which has no COFF objects.
    Target(Box<str>),
}

impl std::fmt::Display for CodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CodeError::Read(error) => error.fmt(f),
            CodeError::Target(triple) => write!(f, "bitcode for {triple}, which is linked otherwise"),
        }
    }
}

impl std::error::Error for CodeError {}

/// The object that stands for intermediate code.
pub fn standing_for(code: &IrFile, machine: Machine) -> Vec<u8> {
    Made::of(code).assemble(machine)
}

/// Where a symbol of intermediate code is in the object that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The record of its name.
    pub symbol: u32,
    /// The record that is in the section where it is defined: the same, or what a weak external falls back
    /// on.
    pub definition: Option<u32>,
}

/// The places of the symbols that linkers have to do with, in their order.
pub fn places(code: &IrFile) -> Vec<Place> {
    Made::of(code).places
}

/// `IMAGE_WEAK_EXTERN_SEARCH_ALIAS`: the name stands for another one.
const ALIAS: u32 = 3;

const FUNCTION: u16 = 0x20;
const EXTERNAL: u8 = pe::IMAGE_SYM_CLASS_EXTERNAL.0;
const STATIC: u8 = pe::IMAGE_SYM_CLASS_STATIC.0;
const WEAK: u8 = pe::IMAGE_SYM_CLASS_WEAK_EXTERNAL.0;

const CODE: u32 = pe::IMAGE_SCN_CNT_CODE.0 | pe::IMAGE_SCN_MEM_READ.0 | pe::IMAGE_SCN_MEM_EXECUTE.0;
const DATA: u32 = pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0 | pe::IMAGE_SCN_MEM_READ.0 | pe::IMAGE_SCN_MEM_WRITE.0;
const DIRECTIVES: u32 = pe::IMAGE_SCN_LNK_INFO.0 | pe::IMAGE_SCN_LNK_REMOVE.0;

/// Bytes of the header, a section header, a symbol.
const HEADER: usize = 56;
const SECTION: usize = 40;
const SYMBOL: usize = 20;

/// A record of the symbol table.
#[derive(Clone, Copy)]
enum Record {
    /// Where its name is in the string table.
    Symbol {
        name: u32,
        value: u32,
        section: i32,
        typ: u16,
        class: u8,
        aux: u8,
    },
    Weak {
        target: u32,
    },
    Chosen {
        selection: u8,
        parent: u32,
    },
}

/// An object in the making.
struct Made {
    records: Vec<Record>,
    places: Vec<Place>,
    /// Names and flags of sections.
    sections: Vec<(&'static [u8; 8], u32)>,
    /// The string table without its length.
    strings: Vec<u8>,
    directives: Vec<u8>,
}

impl Made {
    fn of(code: &IrFile) -> Made {
        let mut made = Made {
            records: Vec::new(),
            places: Vec::new(),
            sections: Vec::new(),
            strings: Vec::new(),
            directives: directives(code),
        };
        let leaders = leaders(code);
        made.add_groups(code, &leaders);
        let plain = made.sections.len() as i32;
        made.sections.extend([(b".text\0\0\0", CODE), (b".data\0\0\0", DATA), (b".drectve", DIRECTIVES)]);
        let mut aliases = Vec::new();
        for (number, symbol) in (0..).zip(code.symbols_for_linkers()) {
            let group = symbol.comdat.filter(|group| leaders[*group as usize].is_some());
            let section = match group {
                Some(group) => 2 * group as i32 + if leaders[group as usize] == Some(number) { 1 } else { 2 },
                None => plain + if symbol.is_function { 1 } else { 2 },
            };
            made.add(symbol, number, section, group.is_some());
            if let (true, Some(fallback)) = (symbol.is_weak && symbol.is_indirect, symbol.fallback) {
                aliases.push((number as usize, fallback));
            }
        }
        made.add_fallbacks(code, &aliases);
        made
    }

    fn string(&mut self, parts: &[&[u8]]) -> u32 {
        let at = 4 + self.strings.len() as u32;
        parts.iter().for_each(|part| self.strings.extend_from_slice(part));
        self.strings.push(0);
        at
    }

    /// Two sections for each group, of which there may be one in another object as well.
    fn add_groups(&mut self, code: &IrFile, leaders: &[Option<u32>]) {
        let name = self.string(&[b".text"]);
        let functions: Vec<bool> = code.symbols_for_linkers().map(|symbol| symbol.is_function).collect();
        for (comdat, leader) in code.comdats.iter().zip(leaders) {
            let is_code = leader.is_some_and(|leader| functions[leader as usize]);
            let flags = if is_code { CODE } else { DATA } | pe::IMAGE_SCN_LNK_COMDAT.0;
            let section = self.sections.len() as i32 + 1;
            self.sections.extend([(b".text\0\0\0", flags); 2]);
            let with_parent = pe::IMAGE_COMDAT_SELECT_ASSOCIATIVE.0;
            let pair =
                [(section, selection(comdat.selection), 0), (section + 1, with_parent, section as u32)];
            for (section, selection, parent) in pair {
                self.records.push(Record::Symbol { name, value: 0, section, typ: 0, class: STATIC, aux: 1 });
                self.records.push(Record::Chosen { selection, parent });
            }
        }
    }

    fn add(&mut self, symbol: &IrSymbol, number: u32, section: i32, in_group: bool) {
        let name = self.string(&[symbol.name]);
        let typ = if symbol.is_function { FUNCTION } else { 0 };
        let own = self.records.len() as u32;
        let record = |value, section, class, aux| Record::Symbol { name, value, section, typ, class, aux };
        // Values tell symbols of one section apart.
        let value = number + 1;
        let is_alias = symbol.is_weak && symbol.is_indirect && symbol.fallback.is_some();
        let definition = match symbol.kind {
            // The record that it falls back on is known when all have been added.
            _ if is_alias => {
                self.records.extend([record(0, UNDEFINED, WEAK, 1), Record::Weak { target: own }]);
                None
            }
            Kind::Undefined if !symbol.is_weak => {
                self.records.push(record(0, UNDEFINED, EXTERNAL, 0));
                None
            }
            Kind::Common { size, .. } => {
                let size = u32::try_from(size.max(1)).unwrap_or(u32::MAX);
                self.records.push(record(size, UNDEFINED, EXTERNAL, 0));
                Some(own)
            }
            Kind::Defined if !symbol.is_weak || in_group => {
                self.records.push(record(value, section, EXTERNAL, 0));
                Some(own)
            }
            Kind::Defined | Kind::Undefined => {
                let target = own + 2;
                self.records.extend([record(0, UNDEFINED, WEAK, 1), Record::Weak { target }]);
                let name = self.string(&[b".weak.", symbol.name, b".default"]);
                let is_defined = symbol.kind == Kind::Defined;
                let (value, section) = if is_defined { (value, section) } else { (0, ABSOLUTE) };
                let class = STATIC;
                self.records.push(Record::Symbol { name, value, section, typ, class, aux: 0 });
                is_defined.then_some(target)
            }
        };
        self.places.push(Place { symbol: own, definition });
    }

    /// Leads weak externals to what they name.
    fn add_fallbacks(&mut self, code: &IrFile, aliases: &[(usize, &[u8])]) {
        if aliases.is_empty() {
            return;
        }
        let mut known: HashMap<&[u8], Place> = HashMap::new();
        for (symbol, place) in code.symbols_for_linkers().zip(&self.places) {
            known.entry(symbol.name).or_insert(*place);
        }
        for &(number, fallback) in aliases {
            let found = known.get(fallback);
            // Where the other name counts, this one does.
            self.places[number].definition = found.and_then(|place| place.definition);
            let target = found.map(|place| place.symbol).unwrap_or_else(|| {
                let name = self.string(&[fallback]);
                let (value, typ, class, aux) = (0, 0, EXTERNAL, 0);
                self.records.push(Record::Symbol { name, value, section: UNDEFINED, typ, class, aux });
                self.records.len() as u32 - 1
            });
            self.records[self.places[number].symbol as usize + 1] = Record::Weak { target };
        }
    }

    fn assemble(self, machine: Machine) -> Vec<u8> {
        let directives_at = HEADER + self.sections.len() * SECTION;
        let symbols_at = directives_at + self.directives.len();
        let mut out = Vec::with_capacity(symbols_at + self.records.len() * SYMBOL + self.strings.len() + 4);
        out.extend([0, 0, 0xff, 0xff, 2, 0]);
        out.extend(machine.number().to_le_bytes());
        out.extend([0; 4]);
        out.extend(pe::ANON_OBJECT_HEADER_BIGOBJ_CLASS_ID.0);
        out.extend([0; 16]);
        for number in [self.sections.len(), symbols_at, self.records.len()] {
            out.extend((number as u32).to_le_bytes());
        }
        for (name, flags) in &self.sections {
            let size = if *flags == DIRECTIVES { self.directives.len() } else { 0 };
            out.extend(*name);
            out.extend([0; 8]);
            out.extend((size as u32).to_le_bytes());
            out.extend((directives_at as u32).to_le_bytes());
            out.extend([0; 12]);
            out.extend(flags.to_le_bytes());
        }
        out.extend(&self.directives);
        self.records.iter().for_each(|record| out.extend(record.bytes()));
        out.extend((self.strings.len() as u32 + 4).to_le_bytes());
        out.extend(&self.strings);
        out
    }
}

impl Record {
    fn bytes(self) -> [u8; SYMBOL] {
        let mut bytes = [0; SYMBOL];
        match self {
            Record::Symbol { name, value, section, typ, class, aux } => {
                bytes[4..8].copy_from_slice(&name.to_le_bytes());
                bytes[8..12].copy_from_slice(&value.to_le_bytes());
                bytes[12..16].copy_from_slice(&section.to_le_bytes());
                bytes[16..18].copy_from_slice(&typ.to_le_bytes());
                (bytes[18], bytes[19]) = (class, aux);
            }
            Record::Weak { target } => {
                bytes[..4].copy_from_slice(&target.to_le_bytes());
                bytes[4..8].copy_from_slice(&ALIAS.to_le_bytes());
            }
            Record::Chosen { selection, parent } => {
                bytes[12..14].copy_from_slice(&(parent as u16).to_le_bytes());
                bytes[14] = selection;
                bytes[16..18].copy_from_slice(&((parent >> 16) as u16).to_le_bytes());
            }
        }
        bytes
    }
}

/// Of each group the symbol by whose name it is known, among those that the file shows to linkers.
fn leaders(code: &IrFile) -> Vec<Option<u32>> {
    let mut leaders = vec![None; code.comdats.len()];
    for (number, symbol) in
        (0..).zip(code.symbols_for_linkers()).filter(|(_, symbol)| symbol.kind == Kind::Defined)
    {
        let Some(group) = symbol.comdat.map(|group| group as usize) else { continue };
        if code.comdats[group].name == symbol.name && leaders[group].is_none() {
            leaders[group] = Some(number);
        }
    }
    leaders
}

fn selection(selection: Selection) -> u8 {
    match selection {
        Selection::Any => pe::IMAGE_COMDAT_SELECT_ANY,
        Selection::ExactMatch => pe::IMAGE_COMDAT_SELECT_EXACT_MATCH,
        Selection::Largest => pe::IMAGE_COMDAT_SELECT_LARGEST,
        Selection::NoDuplicates => pe::IMAGE_COMDAT_SELECT_NODUPLICATES,
        Selection::SameSize => pe::IMAGE_COMDAT_SELECT_SAME_SIZE,
    }
    .0
}

/// What the file asks for: its own directives, libraries, and what is to stay although nothing refers to it.
fn directives(code: &IrFile) -> Vec<u8> {
    let mut text = code.directives.join(&b' ');
    let used = code.symbols_for_linkers().filter(|symbol| symbol.is_used && symbol.kind != Kind::Undefined);
    let words = code.libraries.iter().map(|name| (&b"/defaultlib:"[..], *name));
    let words = words.chain(used.map(|symbol| (&b"/include:"[..], symbol.name)));
    for (option, name) in words.filter(|(_, name)| !name.contains(&b'"')) {
        text.extend([b" \"", option, name, b"\""].concat());
    }
    text
}

#[cfg(test)]
mod tests {
    use weld_lto::ir::{Comdat, Compiler};

    use super::*;
    use crate::coff::object::Symbol;

    fn symbol(name: &[u8], kind: Kind) -> IrSymbol<'_> {
        IrSymbol { is_function: true, ..IrSymbol::new(name, kind) }
    }

    fn file<'a>(comdats: Vec<Comdat<'a>>, symbols: Vec<IrSymbol<'a>>) -> IrFile<'a> {
        IrFile {
            triple: b"x86_64-pc-windows-msvc",
            comdats,
            symbols,
            libraries: vec![b"m.lib"],
            directives: vec![b"/export:f"],
            ..IrFile::new(Compiler::Llvm)
        }
    }

    /// Name, value, section and storage class.
    fn shown<'a>(object: &ObjectFile<'a>, symbol: &Symbol<'a>) -> (String, u32, i32, u8) {
        let name = String::from_utf8_lossy(object.symbol_name(symbol).unwrap()).into_owned();
        (name, symbol.value, symbol.section, symbol.class)
    }

    #[test]
    fn symbols_are_what_compilers_make_of_them() {
        let comdats = vec![
            Comdat { name: b"one", selection: Selection::Largest },
            Comdat { name: b"nobody", selection: Selection::Any },
        ];
        let symbols = vec![
            IrSymbol { comdat: Some(0), is_weak: true, ..symbol(b"beside", Kind::Defined) },
            IrSymbol { comdat: Some(0), is_weak: true, is_used: true, ..symbol(b"one", Kind::Defined) },
            IrSymbol { comdat: Some(1), is_function: false, ..symbol(b"left", Kind::Defined) },
            symbol(b"asked", Kind::Undefined),
            IrSymbol { is_internal: true, ..symbol(b"llvm.used", Kind::Defined) },
            IrSymbol { is_weak: true, ..symbol(b"soft", Kind::Defined) },
            IrSymbol { is_weak: true, ..symbol(b"maybe", Kind::Undefined) },
            symbol(b"c", Kind::Common { size: 40, alignment: 16 }),
        ];
        let code = file(comdats, symbols);
        let bytes = standing_for(&code, Machine::X64);
        let object = ObjectFile::parse(&bytes, true).unwrap();
        assert_eq!(object.machine, Some(Machine::X64));
        let places = places(&code);
        let at = |number: u32| shown(&object, &object.symbols.get(number).unwrap());
        let named = |name: &str, value, section, class| (name.to_owned(), value, section, class);
        let of = |place: usize| (at(places[place].symbol), places[place].definition.map(at));
        let same = |place: usize, expected: (String, u32, i32, u8)| {
            assert_eq!(of(place), (expected.clone(), Some(expected)));
        };
        same(0, named("beside", 1, 2, EXTERNAL));
        same(1, named("one", 2, 1, EXTERNAL));
        same(2, named("left", 3, 6, EXTERNAL));
        assert_eq!(of(3), (named("asked", 0, 0, EXTERNAL), None));
        assert_eq!(of(4), (named("soft", 0, 0, WEAK), Some(named(".weak.soft.default", 5, 5, STATIC))));
        assert_eq!(of(5), (named("maybe", 0, 0, WEAK), None));
        same(6, named("c", 40, 0, EXTERNAL));
        let maybe = object.symbols.get(places[5].symbol).unwrap();
        let (fallback, _) = object.symbols.weak_external(places[5].symbol, &maybe).unwrap();
        assert_eq!(at(fallback), named(".weak.maybe.default", 0, ABSOLUTE, STATIC));
        let chosen: Vec<_> = object
            .symbols
            .iter()
            .filter_map(|(index, symbol)| object.symbols.section_definition(index, &symbol))
            .map(|definition| (definition.selection, definition.number))
            .collect();
        assert_eq!(chosen, [(6, 0), (5, 1), (2, 0), (5, 3)]);
        let directives = object.contents(object.section(7).unwrap()).unwrap();
        assert_eq!(directives, b"/export:f \"/defaultlib:m.lib\" \"/include:one\"");
    }

    #[test]
    fn weak_externals_lead_to_other_names() {
        let alias = |name, fallback| IrSymbol {
            is_weak: true,
            is_indirect: true,
            fallback: Some(fallback),
            ..symbol(name, Kind::Undefined)
        };
        let code =
            file(vec![], vec![alias(b"f", b"g"), alias(b"far", b"elsewhere"), symbol(b"g", Kind::Defined)]);
        let bytes = standing_for(&code, Machine::X64);
        let object = ObjectFile::parse(&bytes, true).unwrap();
        let target = |place: &Place| {
            let symbol = object.symbols.get(place.symbol).unwrap();
            let (target, _) = object.symbols.weak_external(place.symbol, &symbol).unwrap();
            shown(&object, &object.symbols.get(target).unwrap()).0
        };
        let places = places(&code);
        assert_eq!((places[0].definition, places[1].definition), (Some(places[2].symbol), None));
        assert_eq!((target(&places[0]), target(&places[1])), ("g".to_owned(), "elsewhere".to_owned()));
    }
}

//! Intermediate code as an object: bitcode, and what GCC leaves in sections of objects.
//!
//! Resolution needs of such a file what it needs of any other: symbols, and the sections and COMDAT groups
//! that they are in. These become an object in memory without contents, so no phase needs to know of
//! intermediate code but those that ask a compiler for the machine code (`crate::lto`).
//!
//! ```text
//! symbols    a local one for the name of each COMDAT group, then the file's, in its order
//! sections   for each group and each name of a section an empty one; the libraries that are asked for
//! ```

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use weld_common::hash::NameHasher;
use weld_lto::ir::{Compiler, IrFile, IrSymbol, Kind, ReadError, Selection, Visibility};
use weld_lto::triple::{ElfMachine, Triple};
use weld_lto::{bitcode, gcc, told};

use super::made::{self, Section};
use super::object::Object;
use super::unusable::{Malformed, Unusable};
use super::{FileName, Reading};
use crate::elf::format::{Class, Order};
use crate::elf::*;
use crate::ids::*;

/// What objects define that have GCC's intermediate code and no machine code.
pub const SLIM: &str = "__gnu_lto_slim";

/// Of which compilers code is looked for in objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// `.llvm.lto` (`--fat-lto-objects`).
    pub llvm: bool,
    /// `.gnu.lto_*`, whether there is machine code, too, or not.
    pub gcc: bool,
    /// `.gnu.lto_*` where there is no machine code.
    pub slim: bool,
}

/// The part of an object that is bitcode.
pub fn bitcode_of<'a>(object: &Object<'a>) -> Option<&'a [u8]> {
    let is_bitcode = |(shndx, shdr): &(usize, &Shdr)| {
        shdr.sh_type() == SHT_LLVM_LTO || object.section_name(*shndx) == Some(b".llvm.lto")
    };
    let (shndx, _) = object.shdrs.iter().enumerate().find(is_bitcode)?;
    object.section_data(shndx)
}

/// The sections of an object that GCC's intermediate code is in, with their names.
pub fn gcc_sections<'a>(object: &Object<'a>) -> Vec<(&'a [u8], &'a [u8])> {
    // No other sections of an object are for linkers alone, so most names need not be looked at.
    let excluded = object.shdrs.iter().enumerate().filter(|(_, shdr)| shdr.sh_flags() & SHF_EXCLUDE != 0);
    let named = excluded.filter_map(|(shndx, _)| Some((object.section_name(shndx)?, shndx)));
    let of_gcc = named.filter(|(name, _)| name.starts_with(b".gnu.lto_"));
    of_gcc.filter_map(|(name, shndx)| Some((name, object.section_data(shndx)?))).collect()
}

/// What an object has of intermediate code, if that is looked for.
///
/// # Errors
/// If its symbols cannot be read.
pub fn inside<'a>(object: &Object<'a>, search: Search) -> Result<Option<IrFile<'a>>, ReadError> {
    if search.llvm
        && let Some(bitcode) = bitcode_of(object)
    {
        return bitcode::read(bitcode).map(|code| Some(IrFile { is_fat: true, ..code }));
    }
    let sections = if search.gcc || search.slim { gcc_sections(object) } else { Vec::new() };
    if !sections.iter().any(|(name, _)| gcc::is_symtab(name)) {
        return Ok(None);
    }
    let code = gcc::read(&sections)?;
    Ok(Some(code).filter(|code| search.gcc || !code.is_fat))
}

/// The intermediate code of a file that is known to have some, and where it is.
///
/// # Errors
/// If it cannot be read.
pub fn find<'a>(
    file: FileId,
    name: FileName<'a>,
    data: &'a [u8],
    reading: Reading<'a>,
) -> Option<(IrFile<'a>, &'a [u8])> {
    if bitcode::is_bitcode(data) {
        return Some((told::read(data, reading.store).ok()?, data));
    }
    let object = Object::parse(file, name, data, reading).ok()?;
    let code = inside(&object, Search { llvm: true, gcc: true, slim: true }).ok()??;
    let bytes = match code.compiler {
        Compiler::Llvm => bitcode_of(&object)?,
        Compiler::Gcc => data,
    };
    Some((code, bytes))
}

/// The object that stands for intermediate code of a file.
///
/// # Errors
/// If the code is for another machine than what is linked.
pub fn standing_for<'a>(
    code: &IrFile,
    file: FileId,
    name: FileName<'a>,
    reading: Reading<'a>,
) -> Result<Object<'a>, Unusable> {
    let target = reading.machine.target;
    if let Some(other) = target_of(code).filter(|other| !other.is_for(target)) {
        return Err(Malformed::OtherMachine { linked: reading.machine.emulation(), of: other }.into());
    }
    let data = reading.store.keep(object(code, target));
    let mut object = Object::parse(file, name, data, reading)?;
    object.code = Some(code.compiler);
    Ok(object)
}

/// What bitcode is for.
pub fn target_of(code: &IrFile) -> Option<Target> {
    let ElfMachine { machine, is_64, is_big_endian } = Triple::new(code.triple).elf()?;
    let class = if is_64 { Class::Elf64 } else { Class::Elf32 };
    let order = if is_big_endian { Order::Big } else { Order::Little };
    Some(Target::new(machine, Format { class, order }))
}

/// Makes the object for a file.
fn object(ir: &IrFile, target: Target) -> Vec<u8> {
    let mut made = Made::new(ir);
    ir.symbols_for_linkers().for_each(|symbol| made.add(symbol));
    made.assemble(target)
}

/// What tells sections apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place<'a> {
    /// 0 for none.
    group: u32,
    name: &'a [u8],
    flags: u64,
}

/// A symbol, and the header index of the section that it is in; 0 if its record says where it is.
struct Placed {
    record: Sym,
    section: u32,
}

/// An object in the making.
struct Made<'a> {
    groups: u32,
    /// Of each group, whether it stays beside others of its name.
    is_kept: Vec<bool>,
    /// Names of libraries, each with its NUL.
    libraries: Vec<u8>,
    symbols: Vec<Placed>,
    strings: Vec<u8>,
    sections: Vec<Place<'a>>,
    numbers: HashMap<Place<'a>, u32, BuildHasherDefault<NameHasher>>,
}

impl<'a> Made<'a> {
    fn new(ir: &IrFile<'a>) -> Made<'a> {
        let groups = ir.comdats.len();
        let names = ir.symbols.iter().map(|symbol| symbol.name.len() + 1).sum::<usize>();
        let signatures = ir.comdats.iter().map(|comdat| comdat.name.len() + 1).sum::<usize>();
        // Most sections are of a group each, or one of the three without a name of their own.
        let sections = groups + 3;
        let mut made = Made {
            groups: groups as u32,
            is_kept: ir.comdats.iter().map(|comdat| comdat.selection == Selection::NoDuplicates).collect(),
            libraries: ir.libraries.iter().flat_map(|name| [name, &b"\0"[..]].concat()).collect(),
            symbols: Vec::with_capacity(1 + groups + ir.symbols.len()),
            strings: Vec::with_capacity(1 + names + signatures + sections * 8),
            sections: Vec::with_capacity(sections),
            numbers: HashMap::with_capacity_and_hasher(sections, BuildHasherDefault::default()),
        };
        made.symbols.push(Placed { record: Sym([0; Sym::SIZE]), section: 0 });
        made.strings.push(0);
        for comdat in &ir.comdats {
            let record = Sym::make(made.string(comdat.name), 0, 0, SHN_ABS, 0, 0);
            made.symbols.push(Placed { record, section: 0 });
        }
        made
    }

    fn string(&mut self, text: &[u8]) -> u32 {
        let at = self.strings.len() as u32;
        self.strings.extend_from_slice(text);
        self.strings.push(0);
        at
    }

    fn add(&mut self, symbol: &IrSymbol<'a>) {
        let name = self.string(symbol.name);
        let kind = match symbol.kind {
            Kind::Undefined => STT_NOTYPE,
            _ if symbol.is_tls => STT_TLS,
            _ if symbol.is_function => STT_FUNC,
            _ => STT_OBJECT,
        };
        let binding = if symbol.is_weak { STB_WEAK } else { STB_GLOBAL };
        let visibility = match symbol.visibility {
            Visibility::Default => STV_DEFAULT,
            Visibility::Hidden => STV_HIDDEN,
            Visibility::Protected => STV_PROTECTED,
            Visibility::Internal => STV_INTERNAL,
        };
        let record =
            |shndx, value, size| Sym::make(name, binding << 4 | kind, visibility, shndx, value, size);
        let placed = match symbol.kind {
            Kind::Undefined => Placed { record: record(SHN_UNDEF, 0, 0), section: 0 },
            Kind::Common { size, alignment } => {
                Placed { record: record(SHN_COMMON, alignment.max(1), size), section: 0 }
            }
            Kind::Defined => {
                let section = self.section(symbol);
                // What has no room in the record is in a table beside it.
                let shndx = u16::try_from(section).ok().filter(|shndx| *shndx < SHN_LORESERVE);
                Placed { record: record(shndx.unwrap_or(SHN_XINDEX), 0, 0), section }
            }
        };
        self.symbols.push(placed);
    }

    /// The header index of the section that a definition is in.
    fn section(&mut self, symbol: &IrSymbol<'a>) -> u32 {
        let (default, flags): (&[u8], u64) = match symbol {
            _ if symbol.is_tls => (b".tdata", SHF_WRITE | SHF_TLS),
            _ if symbol.is_function => (b".text", SHF_EXECINSTR),
            _ => (b".data", SHF_WRITE),
        };
        let name = if symbol.section.is_empty() { default } else { symbol.section };
        let place = Place { group: symbol.comdat.map_or(0, |group| group + 1), name, flags };
        // After the null section and the groups.
        let next = 1 + self.groups + self.sections.len() as u32;
        *self.numbers.entry(place).or_insert_with(|| {
            self.sections.push(place);
            next
        })
    }

    /// Sections that are in a group: its number (from 1) and their header index, group by group.
    fn members(&self) -> Vec<(u32, u32)> {
        let numbered = self.sections.iter().zip(1 + self.groups..);
        let mut members: Vec<_> = numbered.map(|(place, number)| (place.group, number)).collect();
        members.sort_unstable();
        let outside = members.partition_point(|(group, _)| *group == 0);
        members.drain(..outside);
        members
    }

    /// Bytes of the object, about.
    fn size(&self, format: Format) -> usize {
        let headers = (self.sections.len() + self.groups as usize + 5) * format.size::<Shdr>() as usize;
        let words = (self.sections.len() + self.groups as usize) * 4;
        let symbols = self.symbols.len() * format.size::<Sym>() as usize;
        headers + words + symbols + self.strings.len() + self.libraries.len() + 128
    }

    fn assemble(mut self, target: Target) -> Vec<u8> {
        let format = target.format;
        let mut sections = Vec::with_capacity(self.sections.len() + self.groups as usize + 5);
        sections.resize(1 + self.groups as usize, Section::default());
        for place in self.sections.clone() {
            let in_group = if place.group != 0 { SHF_GROUP } else { 0 };
            sections.push(Section {
                name: self.string(place.name),
                kind: SHT_PROGBITS,
                flags: SHF_ALLOC | place.flags | in_group,
                ..Section::default()
            });
        }
        let (symtab, strtab) = (sections.len() as u32, sections.len() as u32 + 1);
        let mut out = Writer::with_room(format, self.size(format));
        made::begin(&mut out, format);
        let members = self.members();
        let mut left = &members[..];
        for (number, is_kept) in (1..).zip(&self.is_kept) {
            let own = left.partition_point(|(group, _)| *group == number);
            let (members, others) = left.split_at(own);
            left = others;
            let at = out.position();
            out.u32(if *is_kept { 0 } else { GRP_COMDAT });
            members.iter().for_each(|(_, member)| _ = out.u32(*member));
            let link = [symtab, number];
            sections[number as usize] =
                Section { kind: SHT_GROUP, link, ..Section::default() }.over(at, &out).of_entries(4);
        }
        let at = out.align(8).position();
        self.symbols.iter().for_each(|symbol| _ = out.record(&symbol.record));
        let link = [strtab, self.groups + 1];
        let table = Section { kind: SHT_SYMTAB, link, ..Section::default() }.over(at, &out);
        sections.push(table.of_entries(format.size::<Sym>()));
        let at = out.position();
        out.bytes(&self.strings);
        sections.push(Section { kind: SHT_STRTAB, ..Section::default() }.over(at, &out));
        if !self.libraries.is_empty() {
            let at = out.position();
            out.bytes(&self.libraries);
            sections
                .push(Section { kind: SHT_LLVM_DEPENDENT_LIBRARIES, ..Section::default() }.over(at, &out));
        }
        if sections.len() >= SHN_LORESERVE.into() {
            let at = out.align(8).position();
            self.symbols.iter().for_each(|symbol| _ = out.u32(symbol.section));
            let table = Section { kind: SHT_SYMTAB_SHNDX, link: [symtab, 0], ..Section::default() };
            sections.push(table.over(at, &out).of_entries(4));
            // The header has no room for these numbers.
            sections[0] = Section { size: sections.len() as u64, link: [strtab, 0], ..Section::default() };
        }
        let at = out.align(8).position();
        sections.iter().for_each(|section| section.write(&mut out));
        made::complete(out, target, 0, at, sections.len(), strtab)
    }
}

#[cfg(test)]
mod tests {
    use weld_common::host::QuietHost;
    use weld_common::io::input::InputStore;
    use weld_lto::ir::Comdat;

    use super::super::object::SymbolPlace;
    use super::*;
    use crate::arch;

    fn file<'a>(comdats: Vec<Comdat<'a>>, symbols: Vec<IrSymbol<'a>>) -> IrFile<'a> {
        IrFile {
            triple: b"x86_64-unknown-linux-gnu",
            comdats,
            symbols,
            libraries: vec![b"m", b"dl"],
            ..IrFile::new(Compiler::Llvm)
        }
    }

    fn standing<'a>(code: &IrFile<'a>, store: &'a InputStore<'a>) -> Result<Object<'a>, Unusable> {
        let reading = Reading { machine: arch::default().facts(), store, parallel: false };
        standing_for(code, FileId(7), FileName { path: "a.o".into(), member: None }, reading)
    }

    /// Of several ABIs of a machine, code does not say for which it is.
    #[test]
    fn code_is_for_all_abis_of_its_machine() {
        let host = QuietHost::new();
        let store = InputStore::new(&host);
        for (triple, machine) in
            [("powerpc64le-unknown-linux-gnu", "elf64lppc"), ("powerpc64-linux", "elf64ppc")]
        {
            let code = IrFile { triple: triple.as_bytes(), ..file(Vec::new(), Vec::new()) };
            let named = arch::by_emulation(machine).unwrap();
            for machine in arch::MACHINES {
                let reading = Reading { machine: machine.facts(), store: &store, parallel: false };
                let name = FileName { path: "a.o".into(), member: None };
                let is_one = arch::namesake(named, Some(*machine)) == *machine;
                assert_eq!(
                    standing_for(&code, FileId(7), name, reading).is_ok(),
                    is_one,
                    "{triple} {machine:?}"
                );
            }
        }
    }

    #[test]
    fn symbols_are_where_the_file_has_them() {
        let group = |name| Comdat { name, selection: Selection::Any };
        let hidden = IrSymbol {
            visibility: Visibility::Hidden,
            is_weak: true,
            is_function: true,
            comdat: Some(1),
            ..IrSymbol::new(b"f", Kind::Defined)
        };
        let symbols = vec![
            IrSymbol::new(b"asked", Kind::Undefined),
            IrSymbol { is_internal: true, ..IrSymbol::new(b"llvm.used", Kind::Defined) },
            hidden,
            IrSymbol { section: b"set", ..IrSymbol::new(b"d", Kind::Defined) },
            IrSymbol { is_tls: true, ..IrSymbol::new(b"t", Kind::Defined) },
            IrSymbol::new(b"c", Kind::Common { size: 40, alignment: 16 }),
        ];
        let code = file(vec![group(b"one"), group(b"f")], symbols);
        let host = QuietHost::new();
        let store = InputStore::new(&host);
        let object = standing(&code, &store).unwrap();
        assert_eq!(object.code, Some(Compiler::Llvm));
        let first = object.first_global;
        let names: Vec<&[u8]> = (first..object.syms.len() as u32).map(|i| object.symbol_name(i)).collect();
        assert_eq!(names, [&b"asked"[..], b"f", b"d", b"t", b"c"]);
        let at = |i: u32| object.place(first + i, &object.syms[(first + i) as usize]);
        assert_eq!((at(0), at(4)), (SymbolPlace::Undefined, SymbolPlace::Common));
        let section = |i: u32| match at(i) {
            SymbolPlace::Section(shndx) => object.section_name(shndx as usize).unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!((section(1), section(2), section(3)), (&b".text"[..], &b"set"[..], &b".tdata"[..]));
        let f = &object.syms[first as usize + 1];
        assert_eq!((f.binding(), f.visibility(), f.kind()), (STB_WEAK, STV_HIDDEN, STT_FUNC));
        let common = &object.syms[first as usize + 4];
        assert_eq!((common.st_value(), common.st_size()), (16, 40));
        // The group of `f` has its section, the other one nothing.
        let members =
            |g: usize| object.group_words(object.groups[g].shndx).unwrap().members().collect::<Vec<_>>();
        assert_eq!((members(0), members(1)), (vec![], vec![3]));
        let libraries = object.section_data(object.dependent_libraries as usize);
        assert_eq!(libraries, Some(&b"m\0dl\0"[..]));
    }

    #[test]
    fn more_sections_than_the_header_has_room_for() {
        let names: Vec<String> = (0..70_000).map(|i| format!("f{i}")).collect();
        let symbols = names.iter().map(|name| IrSymbol {
            section: name.as_bytes(),
            ..IrSymbol::new(name.as_bytes(), Kind::Defined)
        });
        let code = file(Vec::new(), symbols.collect());
        let host = QuietHost::new();
        let store = InputStore::new(&host);
        let object = standing(&code, &store).unwrap();
        for i in [0, 65_000, 65_279, 65_280, 69_999] {
            let index = object.first_global + i;
            let place = object.place(index, &object.syms[index as usize]);
            assert_eq!(place, SymbolPlace::Section(1 + i));
            assert_eq!(object.section_name(1 + i as usize), Some(format!("f{i}").as_bytes()));
        }
    }

    #[test]
    fn code_for_another_machine() {
        let code = IrFile { triple: b"aarch64-unknown-linux-gnu", ..file(Vec::new(), Vec::new()) };
        let host = QuietHost::new();
        let store = InputStore::new(&host);
        let error = standing(&code, &store).err().unwrap();
        assert_eq!(error.to_string(), "is incompatible with elf_x86_64: it is for AArch64 (64-bit)");
    }
}

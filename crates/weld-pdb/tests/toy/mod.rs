//! As little of a linker as makes a PDB: reads objects, and takes the places of their sections from where
//! another linker put them.

#![allow(dead_code)]

use std::collections::{HashMap, HashSet, VecDeque};

use object::pe::{self, ImageFileHeader, ImageRelocation, ImageSectionHeader};
use object::read::coff::{CoffHeader, SectionTable, Symbol, SymbolTable};
use object::{LittleEndian as LE, ReadRef};
use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::host::QuietHost;
use weld_common::io::output::{OutputFile, OutputOptions};
use weld_pdb::input::Fixup;
use weld_pdb::linker_module::{LINKER_MODULE, Records};
use weld_pdb::{
    Contribution, Identity, Image, Module, ObjectTypes, OutputSection, Pdb, Public, Relocate, Sources,
    Symbols, Types,
};

/// A file that is in the PDB itself.
pub const NATVIS: &[u8] = b"<?xml version=\"1.0\"?>\n<AutoVisualizer/>\n";

/// The machines' numbers.
const I386: u16 = 0x14c;

/// Sections of debug information that have no place in the image.
const DEBUG_SYMBOLS: &str = ".debug$S";

pub struct Object<'a> {
    pub name: String,
    data: &'a [u8],
    sections: SectionTable<'a>,
    symbols: SymbolTable<'a>,
    /// Of each section: not dropped as a copy of another object's.
    live: Vec<bool>,
    /// Of each section, where the other linker put it.
    rva: Vec<Option<u32>>,
    /// The live sections with symbols and lines.
    debug: Vec<&'a ImageSectionHeader>,
}

/// A section, and its number among those of the object, from 0 on.
type Numbered<'a> = (usize, &'a ImageSectionHeader);

impl<'a> Object<'a> {
    pub fn parse(name: &str, data: &'a [u8]) -> Object<'a> {
        let mut offset = 0;
        let header = ImageFileHeader::parse(data, &mut offset).unwrap();
        let sections = header.sections(data, offset).unwrap();
        let symbols = header.symbols(data).unwrap();
        let count = sections.iter().count();
        Object {
            name: name.into(),
            data,
            sections,
            symbols,
            live: vec![true; count],
            rva: vec![None; count],
            debug: Vec::new(),
        }
    }

    fn sections(&self) -> impl Iterator<Item = Numbered<'a>> {
        let sections = self.sections;
        (0..self.live.len()).map(move |i| (i, sections.section(object::SectionIndex(i + 1)).unwrap()))
    }

    fn section_name(&self, section: &ImageSectionHeader) -> String {
        String::from_utf8_lossy(section.name(self.symbols.strings()).unwrap()).into_owned()
    }

    fn contents(&self, section: &ImageSectionHeader) -> &'a [u8] {
        section.coff_data(self.data).unwrap_or_default()
    }

    fn named(&self, name: &str) -> Vec<Numbered<'a>> {
        self.sections().filter(|(i, section)| self.live[*i] && self.section_name(section) == name).collect()
    }

    fn first(&self, name: &str) -> &'a [u8] {
        self.named(name).first().map_or(&[], |(_, section)| self.contents(section))
    }

    /// Drops sections of which an object before has a copy, with all that belongs to them.
    fn drop_copies(&mut self, leaders: &mut HashSet<Vec<u8>>) {
        let mut parents = Vec::new();
        let mut leader_of: HashMap<i32, Vec<u8>> = HashMap::new();
        let mut comdat = HashMap::new();
        for (index, symbol) in self.symbols.iter() {
            let section = symbol.section_number().0;
            if section > 0 && symbol.has_aux_section() {
                let aux = self.symbols.aux_section(index).unwrap();
                match aux.selection {
                    pe::ComdatSelection(0) => {}
                    pe::IMAGE_COMDAT_SELECT_ASSOCIATIVE => {
                        parents.push((section, i32::from(aux.number.get(LE))));
                    }
                    _ => _ = comdat.insert(section, ()),
                }
            } else if comdat.contains_key(&section) {
                let name = symbol.name(self.symbols.strings()).unwrap().to_vec();
                leader_of.entry(section).or_insert(name);
            }
        }
        for (section, name) in leader_of {
            self.live[section as usize - 1] = leaders.insert(name);
        }
        for (child, parent) in parents {
            self.live[child as usize - 1] = self.live[parent as usize - 1];
        }
    }
}

/// The objects of a link and the sections of its image.
pub struct Link<'a> {
    pub objects: Vec<Object<'a>>,
    pub sections: Vec<OutputSection>,
    machine: u16,
    /// Where names are: object and symbol.
    defined: HashMap<Vec<u8>, (usize, usize)>,
}

/// Where something is in the image.
#[derive(Clone, Copy, Default)]
struct Place {
    rva: u32,
    section: u16,
    offset: u32,
}

impl<'a> Link<'a> {
    /// `map` is what `lld-link /lldmap` says of the same objects, `image` what it wrote.
    pub fn like(mut objects: Vec<Object<'a>>, map: &str, image: &[u8]) -> Link<'a> {
        let mut leaders = HashSet::new();
        objects.iter_mut().for_each(|object| object.drop_copies(&mut leaders));
        let mut places = places(map);
        for object in &mut objects {
            let sections: Vec<_> = object.sections().collect();
            for (i, section) in sections.into_iter().filter(|(i, _)| object.live[*i]) {
                let size = section.size_of_raw_data.get(LE);
                let key = (object.name.clone(), object.section_name(section));
                let Some(queue) = places.get_mut(&key).filter(|_| size > 0) else { continue };
                let (rva, found) = queue.pop_front().unwrap();
                assert_eq!(found, size, "{key:?}");
                object.rva[i] = Some(rva);
            }
        }
        let mut link = Link {
            objects,
            sections: output_sections(image),
            machine: machine_of(image),
            defined: HashMap::new(),
        };
        link.define();
        link
    }

    /// Objects whose code is nowhere: for measurements.
    pub fn nowhere(mut objects: Vec<Object<'a>>) -> Link<'a> {
        let mut leaders = HashSet::new();
        objects.iter_mut().for_each(|object| object.drop_copies(&mut leaders));
        let mut link = Link { objects, sections: Vec::new(), machine: 0x8664, defined: HashMap::new() };
        link.define();
        link
    }

    fn define(&mut self) {
        for object in &mut self.objects {
            object.debug = object.named(DEBUG_SYMBOLS).into_iter().map(|(_, section)| section).collect();
        }
        for (i, object) in self.objects.iter().enumerate() {
            for (index, symbol) in object.symbols.iter() {
                let section = symbol.section_number().0;
                if section > 0
                    && symbol.storage_class == pe::IMAGE_SYM_CLASS_EXTERNAL
                    && object.live[section as usize - 1]
                {
                    let name = symbol.name(object.symbols.strings()).unwrap();
                    self.defined.entry(name.to_vec()).or_insert((i, index.0));
                }
            }
        }
    }

    fn place_of(&self, object: usize, symbol: usize) -> Place {
        let index = object::SymbolIndex(symbol);
        let (object, symbol) = match self.objects[object].symbols.symbol(index) {
            Ok(symbol) if symbol.storage_class == pe::IMAGE_SYM_CLASS_EXTERNAL => {
                let name = symbol.name(self.objects[object].symbols.strings()).unwrap();
                match self.defined.get(name) {
                    Some(&(object, symbol)) => (object, symbol),
                    None => return Place::default(),
                }
            }
            _ => (object, symbol),
        };
        let object = &self.objects[object];
        let symbol = object.symbols.symbol(object::SymbolIndex(symbol)).unwrap();
        let section = symbol.section_number().0;
        if section <= 0 {
            return Place::default();
        }
        match object.rva[section as usize - 1] {
            Some(rva) => self.place(rva + symbol.value.get(LE)),
            None => Place::default(),
        }
    }

    fn place(&self, rva: u32) -> Place {
        let is_in =
            |s: &OutputSection| (s.virtual_address..=s.virtual_address + s.virtual_size).contains(&rva);
        let Some(i) = self.sections.iter().rposition(is_in) else { return Place { rva, ..Place::default() } };
        Place { rva, section: i as u16 + 1, offset: rva - self.sections[i].virtual_address }
    }

    fn contributions(&self) -> Vec<Contribution> {
        let mut all = Vec::new();
        for (module, object) in self.objects.iter().enumerate() {
            for (i, section) in object.sections() {
                let Some(rva) = object.rva[i] else { continue };
                let place = self.place(rva);
                all.push(Contribution {
                    module: module as u16,
                    section: place.section,
                    offset: place.offset,
                    size: section.size_of_raw_data.get(LE),
                    characteristics: section.characteristics.get(LE).0,
                    crc: 0,
                });
            }
        }
        all.sort_by_key(|c| (c.section, c.offset, c.size));
        all
    }

    fn publics(&self) -> Vec<Public<'_>> {
        let mut all = Vec::new();
        for (name, &(object, index)) in &self.defined {
            let symbol = self.objects[object].symbols.symbol(object::SymbolIndex(index)).unwrap();
            let place = self.place_of(object, index);
            if place.section == 0 {
                continue;
            }
            let flags =
                if symbol.derived_type() == pe::IMAGE_SYM_DTYPE_FUNCTION { Public::FUNCTION } else { 0 };
            all.push(Public { name, offset: place.offset, section: place.section, flags });
        }
        all.sort_by_key(|public| public.name);
        all
    }

    pub fn types(&self) -> Vec<ObjectTypes<'_>> {
        let types = |object: &'_ Object<'a>| (object.first(".debug$T"), object.first(".debug$P"));
        let one = |object| {
            let (types, precompiled) = types(object);
            ObjectTypes { name: &object.name, types, precompiled, server: None }
        };
        self.objects.iter().map(one).collect()
    }

    /// Makes the PDB at `path` on `threads` threads. What is told of phases and their times goes to `tell`.
    pub fn write(
        &self,
        path: &std::path::Path,
        threads: usize,
        tell: &mut (dyn FnMut(&str) + Send),
    ) -> Result<(Identity, Vec<Diagnostic>), Diagnostic> {
        let trace = weld_common::trace::Trace::new(false);
        let pool = weld_common::par::Pool::new(threads, &trace);
        pool.install(|| self.write_on(path, threads, tell))
    }

    fn write_on(
        &self,
        path: &std::path::Path,
        threads: usize,
        tell: &mut (dyn FnMut(&str) + Send),
    ) -> Result<(Identity, Vec<Diagnostic>), Diagnostic> {
        let sink = DiagSink::new();
        let parallel = threads > 1;
        let object_types = self.types();
        tell("read");
        let types = Types::merge(&object_types, &[], parallel, &sink)?;
        tell("types");
        let contributions = self.contributions();
        let contents = |i: usize| -> Vec<&[u8]> {
            self.objects[i].debug.iter().map(|section| self.objects[i].contents(section)).collect()
        };
        let sections: Vec<Vec<&[u8]>> = (0..self.objects.len()).map(contents).collect();
        let records = self.linker_records();
        let mut modules: Vec<Module<'_>> = self
            .objects
            .iter()
            .enumerate()
            .map(|(i, object)| Module {
                name: &object.name,
                file: &object.name,
                types: Some(i as u32),
                sections: &sections[i],
                records: &[],
                contribution: contributions.iter().find(|c| usize::from(c.module) == i).copied(),
            })
            .collect();
        modules.push(Module { name: LINKER_MODULE, records: records.bytes(), ..Module::default() });
        tell("modules");
        let sources = Sources { root: b"/tmp", injected: &[("Rules.natvis", NATVIS)], keeps: false };
        let symbols = Symbols::scan(&modules, &types, sources, parallel, &sink)?;
        tell("symbols");
        let publics = self.publics();
        tell("publics");
        let image = Image {
            machine: self.machine,
            sections: &self.sections,
            contributions: &contributions,
            publics: &publics,
            pdb_path: "/x/y.pdb",
            ..Image::default()
        };
        let pdb = Pdb::plan(&types, &symbols, &image, parallel, &sink)?;
        tell("plan");
        let host = QuietHost::new();
        let options = OutputOptions { threads, ..OutputOptions::default() };
        let file = OutputFile::create(path, pdb.file_len(), &options, &host)?;
        let identity = pdb.write(&file, threads, self, &sink)?;
        file.commit(false)?;
        tell("write");
        Ok((identity, sink.finish()))
    }

    fn linker_records(&self) -> Records {
        let mut records = Records::new();
        records.object_name(LINKER_MODULE.as_bytes());
        records.compiler(self.machine, "weld");
        records.environment(&[("cwd", b"/x"), ("exe", b"/x/weld"), ("pdb", b"/x/y.pdb"), ("cmd", b"/debug")]);
        for (i, section) in self.sections.iter().enumerate() {
            records.section(i as u16 + 1, section, 4096, &[]);
        }
        records
    }
}

impl Relocate for Link<'_> {
    fn fixups(&self, module: u32, section: u32, fixups: &mut Vec<Fixup>) {
        let object = &self.objects[module as usize];
        let section = object.debug[section as usize];
        for reloc in section.coff_relocations(object.data).unwrap() {
            let reloc: &ImageRelocation = reloc;
            let place = self.place_of(module as usize, reloc.symbol_table_index.get(LE) as usize);
            // The same numbers mean the same on both machines, but for this one.
            let typ = match reloc.typ.get(LE) {
                pe::IMAGE_REL_I386_DIR32NB if self.machine == I386 => pe::IMAGE_REL_AMD64_ADDR32NB,
                typ => typ,
            };
            let (size, value) = match typ {
                pe::IMAGE_REL_AMD64_SECTION => (2, u64::from(place.section)),
                pe::IMAGE_REL_AMD64_SECREL => (4, u64::from(place.offset)),
                pe::IMAGE_REL_AMD64_ADDR32NB => (4, u64::from(place.rva)),
                other => panic!("relocation of type {other}"),
            };
            fixups.push(Fixup { offset: reloc.virtual_address.get(LE), size, value });
        }
    }
}

/// Of each object and name of section, the places and sizes of all of them, in order.
fn places(map: &str) -> HashMap<(String, String), VecDeque<(u32, u32)>> {
    let mut all: HashMap<_, VecDeque<_>> = HashMap::new();
    for line in map.lines().skip(1) {
        let mut words = line.split_whitespace();
        let (Some(rva), Some(size), Some(_), Some(place)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        if let Some((object, section)) = place.strip_suffix(')').and_then(|place| place.rsplit_once(":(")) {
            let hex = |word| u32::from_str_radix(word, 16).unwrap();
            if hex(size) > 0 && words.next().is_none() {
                all.entry((object.to_string(), section.to_string()))
                    .or_default()
                    .push_back((hex(rva), hex(size)));
            }
        }
    }
    all
}

fn output_sections(image: &[u8]) -> Vec<OutputSection> {
    let header_at = u64::from(u32::from_le_bytes(image[60..64].try_into().unwrap())) + 4;
    let mut offset = header_at;
    let header: &ImageFileHeader = image.read(&mut offset).unwrap();
    offset += u64::from(header.size_of_optional_header.get(LE));
    let sections = header.sections(image, offset).unwrap();
    let one = |section: &ImageSectionHeader| OutputSection {
        name: section.name,
        virtual_size: section.virtual_size.get(LE),
        virtual_address: section.virtual_address.get(LE),
        raw_size: section.size_of_raw_data.get(LE),
        raw_pointer: section.pointer_to_raw_data.get(LE),
        characteristics: section.characteristics.get(LE).0,
    };
    sections.iter().map(one).collect()
}

/// The machine in the header of an image.
fn machine_of(image: &[u8]) -> u16 {
    let at = u32::from_le_bytes(image[60..64].try_into().unwrap()) as usize + 4;
    u16::from_le_bytes([image[at], image[at + 1]])
}

//! The import library of a DLL: an archive of short imports, with three objects for linkers that make import
//! tables from sections.
//!
//! Source: "PE Format", Import Library Format.

use std::collections::HashMap;

use weld_common::text;

use crate::coff::import::{Import, ImportType, NameType, short_import};
use crate::coff::library::{self, Member};
use crate::coff::machine::Machine;
use crate::coff::pe;
use crate::ids::SymbolId;
use crate::options::Export;

/// The library for `exports` of `dll`.
///
/// Something that is exported.
#[derive(Clone, Debug)]
pub struct Entry {
    pub export: Export,
    /// What the DLL calls it, if the import library does not say otherwise, and what programs call it.
    pub name: String,
    pub import_symbol: String,
    pub symbol: SymbolId,
    pub ordinal: u16,
}

impl Entry {
    /// What the DLL calls it.
    pub fn name(&self) -> &str {
        self.export.export_as.as_deref().unwrap_or(&self.name)
    }
}

/// # Errors
/// If it is too large.
pub fn bytes(dll: &str, machine: Machine, exports: &[Entry]) -> Result<Vec<u8>, library::TooLarge> {
    let base = dll.rsplit_once('.').map_or(dll, |(base, _)| base);
    let mut members =
        vec![descriptor(dll, base, machine), null_descriptor(machine), null_thunk(base, machine)];
    let public = || exports.iter().filter(|entry| !entry.export.private);
    // The first of what the DLL has under each name. What is called otherwise in programs stands for that.
    let plain = public().filter(|entry| entry.export.import_name.is_none());
    let plain: HashMap<&str, &Entry> = plain.map(|entry| (entry.name(), entry)).collect();
    let mut aliases = Vec::new();
    for entry in public() {
        match entry.export.import_name.as_deref().and_then(|name| plain.get(name)) {
            Some(target) => aliases.extend(["", "__imp_"].map(|front| alias(entry, target, front, machine))),
            None => members.push(import(entry, dll, machine)),
        }
    }
    members.append(&mut aliases);
    members.iter_mut().for_each(|member| member.name = dll.as_bytes().to_vec());
    library::bytes(&members, library::Style::Whole)
}

fn import(entry: &Entry, dll: &str, machine: Machine) -> Member<'static> {
    let export = &entry.export;
    let kind = match (export.data, export.constant) {
        (true, _) => ImportType::Data,
        (_, true) => ImportType::Const,
        _ => ImportType::Code,
    };
    let symbol = &*text::bytes(&entry.import_symbol);
    let named = export.export_as.as_deref().or(export.import_name.as_deref()).unwrap_or(&entry.name);
    let named = text::bytes(named);
    let name_type = match export.noname {
        true => NameType::Ordinal,
        false => NameType::that_makes(symbol, &named),
    };
    let external = (name_type == NameType::ExportAs).then_some(&*named);
    let ordinal = if export.noname { entry.ordinal } else { 0 };
    let bytes =
        short_import(&Import { machine, symbol, dll: dll.as_bytes(), external, ordinal, kind, name_type });
    let mut symbols = vec![[b"__imp_", symbol].concat()];
    if kind != ImportType::Data {
        symbols.push(symbol.to_vec());
    }
    Member { name: Vec::new(), bytes: bytes.into(), symbols }
}

/// An object in which the name of `entry` stands for that of `target`; `front` is in front of both.
fn alias(entry: &Entry, target: &Entry, front: &str, machine: Machine) -> Member<'static> {
    let [name, target] =
        [entry, target].map(|entry| [front.as_bytes(), &text::bytes(&entry.import_symbol)].concat());
    let symbols = vec![
        (b"@comp.id".to_vec(), ABSOLUTE, STATIC),
        (b"@feat.00".to_vec(), ABSOLUTE, STATIC),
        (target, 0, EXTERNAL),
        (name.clone(), 0, WEAK),
    ];
    let bytes = Builder { machine, sections: Vec::new(), symbols }.build();
    Member { name: Vec::new(), bytes: bytes.into(), symbols: vec![name] }
}

/// Name, flags, contents, and relocations: offset and symbol.
type BuiltSection = (&'static [u8; 8], u32, Vec<u8>, Vec<(u32, u32)>);

/// A small object under construction.
struct Builder {
    machine: Machine,
    sections: Vec<BuiltSection>,
    /// Name, section number, class.
    symbols: Vec<(Vec<u8>, u16, u8)>,
}

const DATA: u32 = pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0 | pe::IMAGE_SCN_MEM_READ.0 | pe::IMAGE_SCN_MEM_WRITE.0;
const EXTERNAL: u8 = pe::IMAGE_SYM_CLASS_EXTERNAL.0;
const STATIC: u8 = pe::IMAGE_SYM_CLASS_STATIC.0;
const SECTION: u8 = pe::IMAGE_SYM_CLASS_SECTION.0;
const WEAK: u8 = pe::IMAGE_SYM_CLASS_WEAK_EXTERNAL.0;
const ABSOLUTE: u16 = u16::MAX;

/// A weak external is looked for in libraries, and stands for the symbol in front of it.
const ALIAS: u32 = 3;

impl Builder {
    fn build(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let headers = 20 + 40 * self.sections.len();
        let body: usize =
            self.sections.iter().map(|(_, _, bytes, relocs)| bytes.len() + 10 * relocs.len()).sum();
        let words = |out: &mut Vec<u8>, values: &[u32]| {
            values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        };
        out.extend_from_slice(&self.machine.number().to_le_bytes());
        out.extend_from_slice(&(self.sections.len() as u16).to_le_bytes());
        let records = self.symbols.iter().map(|(_, _, class)| 1 + u32::from(*class == WEAK)).sum();
        words(&mut out, &[0, (headers + body) as u32, records, 0]);
        let mut at = headers as u32;
        for (name, flags, bytes, relocs) in &self.sections {
            out.extend_from_slice(*name);
            let size = bytes.len() as u32;
            let relocs_at = if relocs.is_empty() { 0 } else { at + size };
            words(&mut out, &[0, 0, size, at, relocs_at, 0, relocs.len() as u32, *flags]);
            at += size + 10 * relocs.len() as u32;
        }
        for (_, _, bytes, relocs) in &self.sections {
            out.extend_from_slice(bytes);
            for (offset, symbol) in relocs {
                words(&mut out, &[*offset, *symbol]);
                out.extend_from_slice(&relative(self.machine).to_le_bytes());
            }
        }
        let mut strings = vec![0; 4];
        for (number, (name, section, class)) in (0u32..).zip(&self.symbols) {
            let mut short = [0; 8];
            if name.len() <= 8 {
                short[..name.len()].copy_from_slice(name);
            } else {
                short[4..].copy_from_slice(&(strings.len() as u32).to_le_bytes());
                strings.extend_from_slice(name);
                strings.push(0);
            }
            out.extend_from_slice(&short);
            out.extend_from_slice(&[0; 4]);
            out.extend_from_slice(&section.to_le_bytes());
            out.extend_from_slice(&[0, 0, *class, u8::from(*class == WEAK)]);
            if *class == WEAK {
                words(&mut out, &[number - 1, ALIAS]);
                out.extend_from_slice(&[0; 10]);
            }
        }
        let size = strings.len() as u32;
        strings[..4].copy_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&strings);
        out
    }
}

/// The relocation for an offset in the image.
fn relative(machine: Machine) -> u16 {
    match machine {
        Machine::X86 => pe::IMAGE_REL_I386_DIR32NB.0,
        Machine::X64 => pe::IMAGE_REL_AMD64_ADDR32NB.0,
        _ => pe::IMAGE_REL_ARM64_ADDR32NB.0,
    }
}

fn align(bytes: u32) -> u32 {
    (bytes.trailing_zeros() + 1) << 20
}

const NULL_DESCRIPTOR: &str = "__NULL_IMPORT_DESCRIPTOR";

/// The DLL's entry in the import directory.
fn descriptor(dll: &str, base: &str, machine: Machine) -> Member<'static> {
    let name = format!("__IMPORT_DESCRIPTOR_{base}").into_bytes();
    let mut text = dll.as_bytes().to_vec();
    text.push(0);
    let text_len = text.len().next_multiple_of(2);
    text.resize(text_len, 0);
    let symbols = vec![
        (name.clone(), 1, EXTERNAL),
        (b".idata$2".to_vec(), 1, SECTION),
        (b".idata$6".to_vec(), 2, STATIC),
        (b".idata$4".to_vec(), 0, SECTION),
        (b".idata$5".to_vec(), 0, SECTION),
        (NULL_DESCRIPTOR.as_bytes().to_vec(), 0, EXTERNAL),
        (null_thunk_name(base), 0, EXTERNAL),
    ];
    let relocs = vec![(12, 2), (0, 3), (16, 4)];
    let sections = vec![
        (b".idata$2", DATA | align(4), vec![0; 20], relocs),
        (b".idata$6", DATA | align(2), text, Vec::new()),
    ];
    Member {
        name: Vec::new(),
        bytes: Builder { machine, sections, symbols }.build().into(),
        symbols: vec![name],
    }
}

/// The end of the import directory.
fn null_descriptor(machine: Machine) -> Member<'static> {
    let name = NULL_DESCRIPTOR.as_bytes().to_vec();
    let sections = vec![(b".idata$3", DATA | align(4), vec![0; 20], Vec::new())];
    let symbols = vec![(name.clone(), 1, EXTERNAL)];
    Member {
        name: Vec::new(),
        bytes: Builder { machine, sections, symbols }.build().into(),
        symbols: vec![name],
    }
}

fn null_thunk_name(base: &str) -> Vec<u8> {
    format!("\x7f{base}_NULL_THUNK_DATA").into_bytes()
}

/// The ends of the DLL's tables of slots.
fn null_thunk(base: &str, machine: Machine) -> Member<'static> {
    let size = if machine.is_64() { 8 } else { 4 };
    let name = null_thunk_name(base);
    let sections = vec![
        (b".idata$5", DATA | align(size), vec![0; size as usize], Vec::new()),
        (b".idata$4", DATA | align(size), vec![0; size as usize], Vec::new()),
    ];
    let symbols = vec![(name.clone(), 1, EXTERNAL)];
    Member {
        name: Vec::new(),
        bytes: Builder { machine, sections, symbols }.build().into(),
        symbols: vec![name],
    }
}

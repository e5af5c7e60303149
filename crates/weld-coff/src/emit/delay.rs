//! The code and the tables for DLLs that are loaded late, once everything has its place.

use weld_common::diag::{DiagSink, Diagnostic};

use crate::arch::Place;
use crate::arch::{Refers, Rules, Snippet, Target};
use crate::ids::{ImportId, SectionId};
use crate::image::Image;
use crate::symbols::SyntheticSection;
use crate::synth::Table;
use crate::synth::delay::{DIRECTORY_ENTRY, HANDLE};
use crate::with_rules;

/// Writes a thunk or a loader.
pub fn write_code(image: &Image, made: SyntheticSection, id: SectionId, bytes: &mut [u8], sink: &DiagSink) {
    let code = &image.facts().delay;
    match made {
        SyntheticSection::DelayThunk(import) => {
            let place = |refers| match refers {
                Refers::Loader => Some(image.layout.rva(image.symbols.delays.loader(import))),
                _ => image.import_slot(import),
            };
            with_rules!(image.resolved.machine, write(image, &code.thunk, id, bytes, &place, sink));
        }
        SyntheticSection::DelayLoader(number) => {
            let helper = image.resolved.program.delay_helper;
            let place = |refers| match refers {
                Refers::Helper => image.rva_of(helper?),
                _ => Some(image.table(Table::DelayDirectory)? + entry(image, number)? * DIRECTORY_ENTRY),
            };
            with_rules!(image.resolved.machine, write(image, &code.loader, id, bytes, &place, sink));
        }
        _ => {}
    }
}

fn write<R: Rules>(
    image: &Image,
    snippet: &Snippet,
    id: SectionId,
    bytes: &mut [u8],
    place: &dyn Fn(Refers) -> Option<u32>,
    sink: &DiagSink,
) {
    bytes.copy_from_slice(snippet.bytes);
    for &(at, typ, refers) in snippet.fixups {
        let target = Target {
            place: place(refers).map_or(Place::Gone, Place::At),
            part: None,
            base: image.base,
            sections: image.layout,
        };
        let rva = image.layout.rva(id) + at;
        if R::apply(typ, &mut bytes[at as usize..], rva, &target).is_err() {
            sink.push(Diagnostic::error("code that loads a DLL late does not reach what it refers to"));
        }
    }
}

/// Which entry of the directory the loader with this number is for. Of DLLs that nothing is taken from there
/// is none.
fn entry(image: &Image, loader: u32) -> Option<u32> {
    let own = image.symbols.delays.loaders[loader as usize];
    let is_it = |imports: &[ImportId]| {
        imports.first().is_some_and(|import| image.symbols.delays.loader(*import) == own)
    };
    let mut all = (0..).zip(image.tables.delayed.imports.dlls());
    all.find(|(_, (.., imports))| is_it(imports)).map(|(entry, _)| entry)
}

/// What the helper is told: offsets in the image.
pub fn directory(image: &Image) -> Vec<u8> {
    /// Addresses are offsets in the image.
    const RELATIVE: u32 = 1;
    let at = |table| image.table(table).unwrap_or(0);
    let (names, handles) = (at(Table::DelayDlls), at(Table::DelayHandles));
    let mut bytes = Vec::new();
    for (i, (name, slots, _)) in (0..).zip(image.tables.delayed.imports.dlls()) {
        let unload = image.table(Table::DelayUnload).map_or(0, |table| table + slots);
        let handle = handles + i * HANDLE;
        let (address, lookup) = (at(Table::DelayAddress) + slots, at(Table::DelayLookup) + slots);
        let words = [RELATIVE, names + name, handle, address, lookup, 0, unload, 0];
        words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    }
    bytes.resize(bytes.len() + DIRECTORY_ENTRY as usize, 0);
    bytes
}

/// The slots before anything is loaded: addresses of thunks.
pub fn slots(image: &Image) -> Vec<u8> {
    let [_, _, size, ..] = image.tables.delayed.imports.sizes();
    let width = image.facts().address as usize;
    let mut bytes = vec![0; size as usize];
    for (at, import) in image.tables.delayed.slots() {
        let Some(thunk) = image.symbols.delays.thunk(import) else { continue };
        let address = image.base + u64::from(image.layout.rva(thunk));
        bytes[at as usize..][..width].copy_from_slice(&address.to_le_bytes()[..width]);
    }
    bytes
}

/// Entries of loaders in the table of functions for unwinding.
pub fn functions(image: &Image) -> Vec<u8> {
    let unwind = image.table(Table::DelayUnwind).unwrap_or(0);
    let code = &image.facts().delay;
    let mut bytes = Vec::new();
    for (.., imports) in image.tables.delayed.imports.dlls() {
        let Some(first) = imports.first() else { continue };
        let start = image.layout.rva(image.symbols.delays.loader(*first));
        bytes.extend_from_slice(&start.to_le_bytes());
        if code.has_ends {
            bytes.extend_from_slice(&(start + code.loader.bytes.len() as u32).to_le_bytes());
        }
        bytes.extend_from_slice(&unwind.to_le_bytes());
    }
    bytes
}

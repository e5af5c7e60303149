//! The code for DLLs that are loaded late, once everything has its place.

use weld_common::diag::{Cause, DiagSink, Diagnostic};

use crate::address::Rva;
use crate::arch::{Place, Refers, Rules, Snippet, Target, with_rules};
use crate::ids::{ImportId, SectionId};
use crate::symbols::SyntheticSection;
use crate::synth::Table;
use crate::synth::delay::DIRECTORY_ENTRY;
use crate::synth::image::Image;

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
    place: &dyn Fn(Refers) -> Option<Rva>,
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
            sink.push(Diagnostic::error(
                Cause::RelocationOutOfRange,
                "code that loads a DLL late does not reach what it refers to",
            ));
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

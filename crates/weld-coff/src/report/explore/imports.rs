//! The DLLs that an image names, and which sections refer to what it imports from them.
//!
//! Import libraries come in two shapes. Microsoft's tools and LLVM's write a record for each import, of which the
//! linker makes tables and jumps. binutils' dlltool and ld, and so MinGW's own libraries, write objects that hold
//! these tables and jumps: a member of the library for each import, with the place of its address in `.idata$5` and
//! the symbol `__imp_NAME` there, and one member that has the DLL's name, as text, in `.idata$7`.

use std::collections::HashMap;

use weld_common::text;
use weld_explore::model::{Import, Library, Model, Ref};
use weld_explore::names::Name;

use crate::ids::{ObjectId, SectionId, SymbolId};
use crate::input::object::Object;
use crate::sections::{Kind, Section};
use crate::symbols::{Kind as SymbolKind, Symbol, SyntheticSection};
use crate::synth::image::Image;

/// Not an import.
const NONE: u32 = u32::MAX;

/// What the image imports: a symbol of a DLL.
#[derive(Clone, Copy)]
struct Imported<'a> {
    library: Ref,
    symbol: &'a [u8],
}

/// All that the image imports, by number: first the records, by their ids, then the objects.
pub struct Imports<'a> {
    list: Vec<Imported<'a>>,
    /// Of each object, which of them it holds.
    of_object: Vec<u32>,
}

impl<'a> Imports<'a> {
    /// Collects them, and adds the DLLs to the page.
    pub fn collect(model: &mut Model, image: &Image<'_, 'a>) -> Imports<'a> {
        let records = &image.resolved.imports;
        let list = records.iter().map(|record| Imported { library: Ref::NONE, symbol: record.import.symbol });
        let mut imports =
            Imports { list: list.collect(), of_object: vec![NONE; image.resolved.objects.len()] };
        let mut libraries = Libraries::default();
        let tables = [&image.tables.imports, &image.tables.delayed.imports];
        for (.., ids) in tables.into_iter().flat_map(|table| table.dlls()) {
            let Some(first) = ids.first() else { continue };
            let library = libraries.of(model, records[first.index()].import.dll);
            ids.iter().for_each(|id| imports.list[id.index()].library = library);
        }
        imports.add_objects(model, image, &mut libraries);
        imports
    }

    fn add_objects(&mut self, model: &mut Model, image: &Image<'_, 'a>, libraries: &mut Libraries) {
        let parts = &image.sections.parts;
        let [is_place, is_name] = [&b".idata$5"[..], b".idata$7"]
            .map(|name| parts.iter().map(|part| part.name == name).collect::<Vec<bool>>());
        if !is_place.contains(&true) {
            return;
        }
        let sections = |object: usize| {
            let of = image.sections.first[object]..image.sections.first[object + 1];
            of.map(|id| image.sections.get(SectionId(id))).filter(|section| section.kind == Kind::Regular)
        };
        let mut dlls: HashMap<&str, &[u8]> = HashMap::new();
        for (number, object) in image.resolved.objects.iter().enumerate() {
            let mut names = sections(number).filter(|section| is_name[section.part as usize]);
            if let Some(name) = names.find_map(|section| dll(image, section)) {
                dlls.entry(&object.name.path).or_insert(name);
            }
        }
        for (number, object) in image.resolved.objects.iter().enumerate() {
            let mut places = sections(number).filter(|section| is_place[section.part as usize]);
            let Some(symbol) = places.find_map(|section| imported(object, section.number)) else { continue };
            let dll = dlls.get(&*object.name.path).filter(|_| object.name.member.is_some());
            let library = dll.map_or(Ref::NONE, |dll| libraries.of(model, dll));
            self.of_object[number] = self.list.len() as u32;
            self.list.push(Imported { library, symbol });
        }
    }

    /// The number of the import that a symbol leads to, of a reference in this object: the place of its address, or
    /// a jump there.
    pub fn number_of(&self, image: &Image, from: ObjectId, target: Symbol) -> Option<u32> {
        let target = match target.kind {
            SymbolKind::AutoImport => image.symbols.get(SymbolId(target.target)),
            _ => target,
        };
        match target.kind {
            SymbolKind::ImportAddress => Some(target.target),
            SymbolKind::Section => {
                let section = image.sections.get(SectionId(target.target));
                if section.object.is_some() {
                    let number = self.of_object[section.object.index()];
                    return (number != NONE && section.object != from).then_some(number);
                }
                match image.made(section)? {
                    SyntheticSection::Thunk(import) | SyntheticSection::DelayThunk(import) => {
                        Some(import.index() as u32)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Adds who wants what to the page: numbers of imports, and rows of sections.
    pub fn add(&self, model: &mut Model, image: &Image, mut wanted: Vec<(u32, u32)>) {
        wanted.sort_unstable();
        wanted.dedup();
        for (number, section) in wanted {
            let Imported { library, symbol } = self.list[number as usize];
            let symbol = model.names.add(&image.options.shown(symbol));
            model.imports.push(Import { library, symbol, section: Ref::to(section as usize) });
        }
        model.imports.sort_by_key(|import| import.library);
    }
}

/// The name of a DLL, if the section holds one and nothing else.
fn dll<'a>(image: &Image<'_, 'a>, section: &Section) -> Option<&'a [u8]> {
    let contents = image.contents(section);
    let name = &contents[..memchr::memchr(0, contents)?];
    let is_text = name.len() > 1 && name.iter().all(|byte| !byte.is_ascii_control());
    (is_text && image.relocations(section).is_empty()).then_some(name)
}

/// The symbol that the object imports by the address in this section of it.
fn imported<'a>(object: &Object<'a>, section: u32) -> Option<&'a [u8]> {
    let mut symbols = object.coff.symbols.iter().filter(|(_, symbol)| symbol.section == section as i32);
    symbols.find_map(|(_, symbol)| object.coff.symbol_name(&symbol).ok()?.strip_prefix(b"__imp_"))
}

/// The rows of DLLs by name.
#[derive(Default)]
struct Libraries(HashMap<Name, Ref>);

impl Libraries {
    fn of(&mut self, model: &mut Model, dll: &[u8]) -> Ref {
        let name = model.names.add(&text::text(dll));
        *self.0.entry(name).or_insert_with(|| {
            model.libraries.push(Library { name });
            Ref::to(model.libraries.len() - 1)
        })
    }
}

//! Which sections have an address that somebody may compare.
//!
//! Clang lists in `.llvm_addrsig` the symbols whose addresses mean something: those that are not only called
//! or read from. What is not in an object's list may share its address with others. An object without the
//! list may compare whatever it names, and so may other modules what is exported.
//!
//! Source: "LLVM Extensions", "CodeView/COFF: .llvm_addrsig": indices of symbols in ULEB128, to the end of
//! the section.

use weld_common::par;
use weld_common::reader::Reader;
use weld_common::walk::Marks;

use super::Link;
use crate::ids::{ObjectId, SectionId};
use crate::symbols::{Kind, Symbol, of_object};

/// Objects looked at by one task.
const OBJECTS: usize = 32;

pub struct Compared(Marks);

impl Compared {
    pub fn collect(link: &Link) -> Compared {
        let compared = Compared(Marks::new(link.sections.list.len()));
        let objects = &link.resolved.objects;
        _ = par::runs("compared addresses", link.parallel, objects.len(), OBJECTS, |run| {
            run.for_each(|object| compared.object(link, ObjectId(object as u32)));
        });
        for export in &link.resolved.program.exports {
            if export.symbol.is_some() {
                compared.add(link.symbols.get(export.symbol));
            }
        }
        compared
    }

    pub fn has(&self, section: SectionId) -> bool {
        self.0.get(section.0)
    }

    fn add(&self, symbol: Symbol) {
        if symbol.kind == Kind::Section {
            self.0.set(symbol.target);
        }
    }

    fn object(&self, link: &Link, id: ObjectId) {
        let object = &link.resolved.objects[id.index()];
        let symbol = |index: u32| of_object(link.symbols, link.sections, id, object, index);
        let named = |header: &&_| object.coff.section_name(header).is_ok_and(|name| name == b".llvm_addrsig");
        let list =
            object.coff.sections.iter().find(named).and_then(|header| object.coff.contents(header).ok());
        let Some(list) = list else {
            return object.coff.symbols.iter().for_each(|(index, _)| self.add(symbol(index)));
        };
        let mut reader = Reader::new(list);
        while let Some(index) = reader.uleb128() {
            if let Ok(index) = u32::try_from(index) {
                self.add(symbol(index));
            }
        }
    }
}

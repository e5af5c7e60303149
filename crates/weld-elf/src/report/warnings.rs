//! Warnings that inputs carry for those who use them.
//!
//! A section `.gnu.warning.SYMBOL` holds what to say to whoever refers to the symbol (glibc has them for
//! `gets`, `tmpnam` and, in its archives, for what needs shared objects at run time), and a section
//! `.gnu.warning` what to say to whoever links the file. References count if they are in the image.
//!
//! Source: GNU ld manual, "WARNING" and "Simple Assignments"; GNU libc, `link_warning`.

use weld_common::diag::{Cause, Diagnostic};

use crate::elf::*;
use crate::ids::*;
use crate::job::Job;
use crate::live::Live;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbol_names::{Rank, flag};
use crate::wording::place;

/// How many references to a symbol are shown.
const REFERRERS: usize = 3;

const SECTION: &[u8] = b".gnu.warning";

/// What the references are looked for in.
pub struct Warnings<'c, 'a> {
    pub job: &'c Job<'a>,
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub live: &'c Live,
}

impl Warnings<'_, '_> {
    pub fn report(&self) {
        if self.job.options.reports.no_warnings {
            return;
        }
        for (object, extra) in self.resolved.objects.iter().zip(&self.sections.objects) {
            if extra.has_warnings {
                let shown = object.name.to_string();
                self.file(object.file, object.data, object.shdrs, object.section_names, &shown);
            }
        }
        for dso in &self.resolved.shared {
            if let Some((shdrs, names)) = dso.section_names() {
                self.file(dso.file, dso.data, shdrs, names, &dso.name.to_string());
            }
        }
    }

    /// The warnings of one file with these section headers and section names.
    fn file(&self, file: FileId, data: &[u8], shdrs: &[Shdr], names: &[u8], shown: &str) {
        for shdr in shdrs {
            let Some(rest) = string(names, shdr.sh_name()).and_then(|n| n.strip_prefix(SECTION)) else {
                continue;
            };
            let text = slice(data, shdr.sh_offset(), shdr.file_size()).unwrap_or(&[]);
            let text = String::from_utf8_lossy(text);
            let text = text.trim_end_matches(['\0', '\n']);
            match rest {
                b"" => self.job.sink.push(
                    Diagnostic::warning(Cause::SymbolWarning, format!("{shown}: {text}"))
                        .in_file(shown)
                        .of(file, 0),
                ),
                [b'.', symbol @ ..] => self.symbol(file, symbol, text),
                _ => {}
            }
        }
    }

    fn symbol(&self, file: FileId, name: &[u8], text: &str) {
        let names = &self.resolved.names;
        let Some(id) = names.find(name) else { return };
        let entry = names.get(id);
        // Somebody else's definition is not what the warning is about.
        let other = entry.rank() != Rank::Undefined && entry.file() != file;
        if entry.flags & (flag::REF_STRONG | flag::REF_WEAK) == 0 || other {
            return;
        }
        let mut diagnostic = Diagnostic::warning(Cause::SymbolWarning, text).of(file, 0);
        let mut count = 0;
        for (i, object) in self.resolved.objects.iter().enumerate().filter(|(_, o)| o.file != file) {
            let named =
                |g: &std::sync::atomic::AtomicU32| g.load(std::sync::atomic::Ordering::Relaxed) == id.0;
            let Some(index) = object.globals.iter().position(named) else { continue };
            for (shndx, offset) in self.references(ObjectId(i as u32), object.first_global + index as u32) {
                count += 1;
                if count <= REFERRERS {
                    let place = place::reference(self.job.options, object, shndx, offset);
                    diagnostic = diagnostic.note(format!("referenced by {place}")).place(place::of(
                        ObjectId(i as u32),
                        shndx,
                        offset,
                    ));
                }
            }
        }
        match count {
            0 => return,
            n if n > REFERRERS => {
                diagnostic = diagnostic.note(format!("referenced {} more times", n - REFERRERS))
            }
            _ => {}
        }
        self.job.sink.push(diagnostic);
    }

    /// Section and offset of each relocation in the image against symbol `index` of an object.
    fn references(&self, id: ObjectId, index: u32) -> Vec<(u32, u64)> {
        let object = &self.resolved.objects[id.index()];
        let mut list = Vec::new();
        for shndx in 1..object.shdrs.len() as u32 {
            let section = SectionId(object.section_base + shndx);
            let alloc = object.shdrs[shndx as usize].sh_flags() & SHF_ALLOC != 0;
            if !alloc || !self.live.contains(section) {
                continue;
            }
            let relocs = self.sections.relocs(object, id.index(), self.sections.get(section));
            list.extend(relocs.iter().filter(|r| r.sym() == index).map(|r| (shndx, r.r_offset())));
        }
        list
    }
}

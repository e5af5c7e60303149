//! Which file uses which: `--print-dependencies` (mold's), a line for each section and each symbol of another
//! file that it refers to, and `--print-archive-stats` (lld's), a line for each archive.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use weld_common::diag::Diagnostics;

use crate::elf::*;
use crate::ids::*;
use crate::input::load::{Input, Inputs};
use crate::job::Job;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbol_names::Rank;
use crate::symbols::{Symbols, symbol_flags};
use crate::wording::{place, shown};

/// `--print-archive-stats`: how many members each archive has, and how many of them take part.
pub fn archives(job: &Job, inputs: &Inputs, resolved: &Resolved) -> Result<(), Diagnostics> {
    let Some(path) = &job.options.reports.archive_stats else { return Ok(()) };
    let mut taken: HashMap<&str, usize> = HashMap::new();
    let names: Vec<_> = resolved.objects.iter().map(|object| inputs.name(object.file)).collect();
    for name in names.iter().filter(|name| name.member.is_some()) {
        *taken.entry(&name.path).or_default() += 1;
    }
    let mut text = String::from("members\textracted\tarchive\n");
    for archive in &inputs.archives {
        let members = archive.archive.members().map_while(Result::ok).count();
        let taken = taken.get(&*archive.path).copied().unwrap_or(0);
        _ = writeln!(text, "{members}\t{taken}\t{}", archive.path);
    }
    job.report(path, &text)
}

/// `--print-dependencies`: tab-separated: who refers, who defines, `u` or `w` for a weak reference, the
/// symbol.
pub fn dependencies(
    job: &Job,
    inputs: &Inputs,
    resolved: &Resolved,
    sections: &Sections,
    symbols: &Symbols,
) -> Result<(), Diagnostics> {
    if !job.options.reports.dependencies {
        return Ok(());
    }
    let link = Link { job, inputs, resolved, symbols };
    let mut text = String::from("# section or file, what it refers to, u(ndefined) or w(eak), symbol\n");
    for (index, object) in resolved.objects.iter().enumerate() {
        for shndx in 1..object.shdrs.len() as u32 {
            let section = sections.get(SectionId(object.section_base + shndx));
            if !section.in_image() {
                continue;
            }
            let mut seen = HashSet::new();
            for reloc in sections.relocs(object, index, section) {
                let Some(symbol) = object.syms.get(reloc.sym() as usize) else { continue };
                if reloc.sym() >= object.first_global
                    && symbol.st_shndx() == SHN_UNDEF
                    && seen.insert(reloc.sym())
                {
                    let from = object.at_section(shndx).to_string();
                    link.line(&mut text, &from, object.file, object.global(reloc.sym()), symbol);
                }
            }
        }
    }
    for library in &resolved.shared {
        for (i, symbol) in library.syms.iter().enumerate().skip(library.first_global as usize) {
            if symbol.st_shndx() == SHN_UNDEF {
                let from = library.name.to_string();
                link.line(&mut text, &from, library.file, library.global(i as u32), symbol);
            }
        }
    }
    job.print(&text)
}

struct Link<'c, 'a> {
    job: &'c Job<'a>,
    inputs: &'c Inputs<'a>,
    resolved: &'c Resolved<'a>,
    symbols: &'c Symbols,
}

impl Link<'_, '_> {
    /// Says where the symbol is that `symbol` of a file refers to, if that is in another file.
    fn line(&self, text: &mut String, from: &str, file: FileId, id: SymbolId, symbol: &Sym) {
        let entry = self.resolved.names.get(id);
        let defined = self.symbols[id].kind();
        if entry.rank() >= Rank::Undefined || entry.file() == file || defined == symbol_flags::UNDEFINED {
            return;
        }
        let to = match (&self.inputs.files[entry.file().index()], defined) {
            (Input::Internal, _) => return,
            (Input::Object { .. } | Input::Member { .. }, symbol_flags::DEFINED) => {
                let index = self.resolved.index_of_file[entry.file().index()] as usize;
                let object = &self.resolved.objects[index];
                match place::section_of(object, entry.sym()) {
                    Some((shndx, _)) => object.at_section(shndx).to_string(),
                    None => object.name.to_string(),
                }
            }
            _ => self.inputs.name(entry.file()).to_string(),
        };
        let how = if symbol.binding() == STB_WEAK { 'w' } else { 'u' };
        _ = writeln!(text, "{from}\t{to}\t{how}\t{}", shown(self.job.options, entry.name));
    }
}

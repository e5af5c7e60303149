//! `.symtab` and `.strtab`.
//!
//! Locals of all objects come first, then globals by the object that defines them, then the
//! linker's own, then what other modules define. Each object's ranges follow from counts, so objects
//! are written independently, straight from their own tables: names are copied, not deduplicated.
//! Hidden globals become local.
//!
//! Specification: gABI chapter 4 "Symbol Table".

use rayon::prelude::*;

use crate::elf::*;
use crate::ids::*;
use crate::image::Image;
use crate::input::object::{Object, SymbolPlace};
use crate::input::sections::{SectionKind, Sections};
use crate::live::Live;
use crate::options::{Discard, Options};
use crate::resolve::Resolved;
use crate::resolve::symbols::{Symbols, sym};
use crate::util::prefetch;

/// Where an object's symbols and names go.
#[derive(Clone, Copy, Default, Debug)]
pub struct Range {
    pub locals: u32,
    pub globals: u32,
    pub strings: u64,
}

pub struct SymTab {
    /// Start of each object's ranges, and one past the last.
    pub starts: Vec<Range>,
    /// Symbols behind those of the objects: the linker's own that are local, the others, and
    /// what is undefined here; with their names' total size.
    extra_locals: Vec<SymbolId>,
    extra_globals: Vec<SymbolId>,
    pub strings: u64,
    pub count: u64,
    /// `sh_info`: index of the first global.
    pub first_global: u32,
    /// Section indices do not fit 16 bits.
    pub extended: bool,
}

pub struct Counter<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
    pub options: &'c Options,
}

impl<'a> Counter<'_, 'a> {
    pub fn plan(&self, parallel: bool) -> SymTab {
        let one = |object: &Object<'a>| self.count(object);
        let objects = &self.resolved.objects;
        let counts: Vec<Range> =
            if parallel { objects.par_iter().map(one).collect() } else { objects.iter().map(one).collect() };
        let (mut extra_locals, mut extra_globals) = (Vec::new(), Vec::new());
        self.collect_extra(&mut extra_locals, &mut extra_globals);
        let locals: u32 = counts.iter().map(|c| c.locals).sum();
        let first_global = 1 + locals + extra_locals.len() as u32;
        let mut at = Range { locals: 1, globals: first_global, strings: 1 };
        let mut starts = Vec::with_capacity(counts.len() + 1);
        for count in counts {
            starts.push(at);
            at.locals += count.locals;
            at.globals += count.globals;
            at.strings += count.strings;
        }
        starts.push(at);
        let extra = extra_locals.iter().chain(&extra_globals);
        let names: u64 = extra.map(|id| self.resolved.names.get(*id).name.len() as u64 + 1).sum();
        SymTab {
            count: at.globals as u64 + extra_globals.len() as u64,
            strings: at.strings + names,
            starts,
            extra_locals,
            extra_globals,
            first_global,
            // There are about as many output sections as names for them, some of the linker's own included.
            extended: self.sections.names.len() + 64 >= SHN_LORESERVE as usize,
        }
    }

    fn count(&self, object: &Object) -> Range {
        let mut range = Range::default();
        for (i, symbol) in object.syms.iter().enumerate().skip(1) {
            let i = i as u32;
            prefetch_global(self.resolved, self.symbols, object, i);
            let global = i >= object.first_global;
            let kept = if global {
                keeps_global(self.resolved, self.symbols, self.live, object, i)
            } else {
                self.keeps_local(object, i, symbol)
            };
            let Some(local) = kept else { continue };
            if local {
                range.locals += 1
            } else {
                range.globals += 1
            }
            let name = object.symbol_name(i);
            range.strings += if name.is_empty() { 0 } else { name.len() as u64 + 1 };
        }
        range
    }

    /// `Some(true)` if the local symbol is written.
    fn keeps_local(&self, object: &Object, index: u32, symbol: &Sym) -> Option<bool> {
        keeps_local(
            &Kept { sections: self.sections, live: self.live, options: self.options },
            object,
            index,
            symbol,
        )
    }

    fn collect_extra(&self, locals: &mut Vec<SymbolId>, globals: &mut Vec<SymbolId>) {
        for (id, _) in self.resolved.names.iter() {
            let flags = self.symbols[id].flags();
            match flags & sym::KIND {
                sym::INTERNAL if flags & (sym::HIDDEN | sym::LOCALIZED) != 0 => locals.push(id),
                sym::INTERNAL => globals.push(id),
                sym::ABSOLUTE
                    if self.resolved.names.get(id).rank() == crate::resolve::names::Rank::Internal =>
                {
                    globals.push(id);
                }
                sym::UNDEFINED | sym::SHARED if flags & (sym::USED | sym::NEEDS) != 0 => globals.push(id),
                _ => {}
            }
        }
        let order = |id: &SymbolId| {
            let entry = self.resolved.names.get(*id);
            (entry.best, entry.name)
        };
        locals.sort_unstable_by_key(order);
        globals.sort_unstable_by_key(order);
    }
}

/// What the choice of local symbols depends on.
struct Kept<'c, 'a> {
    sections: &'c Sections<'a>,
    live: &'c Live,
    options: &'c Options,
}

fn keeps_local(kept: &Kept, object: &Object, index: u32, symbol: &Sym) -> Option<bool> {
    if symbol.st_name() == 0 || symbol.kind() == STT_SECTION {
        return None;
    }
    if kept.options.discard == Discard::All {
        return None;
    }
    let mut merged = false;
    match object.place(index, symbol) {
        SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
            let id = SectionId(object.section_base + shndx);
            let section = kept.sections.get(id);
            if !section.in_image() || !kept.live.contains(id) || section.kind() == SectionKind::EhFrame {
                return None;
            }
            merged = section.kind() == SectionKind::Merge;
        }
        SymbolPlace::Absolute => {}
        _ => return None,
    }
    let temporary = || object.symbol_name(index).starts_with(b".L");
    match kept.options.discard {
        Discard::Locals if temporary() => None,
        Discard::Default if merged && temporary() => None,
        _ => Some(true),
    }
}

/// How many symbols ahead what is known of their names is asked for.
const GLOBAL_AHEAD: u32 = 8;

/// Asks for what [`keeps_global`] will look at a few symbols behind `index`.
#[inline(always)]
fn prefetch_global(resolved: &Resolved, symbols: &Symbols, object: &Object, index: u32) {
    let ahead = index + GLOBAL_AHEAD;
    if ahead >= object.first_global
        && object.syms.get(ahead as usize).is_some_and(|s| s.st_shndx() != SHN_UNDEF)
    {
        let id = object.global(ahead);
        symbols.prefetch(id);
        if let Some(entry) = resolved.names.try_get(id) {
            prefetch(entry);
        }
        object.prefetch_name(ahead);
    }
}

/// Whether this object's symbol `index` is the definition of its name, in the image; and whether it
/// is written as a local symbol.
fn keeps_global(
    resolved: &Resolved,
    symbols: &Symbols,
    live: &Live,
    object: &Object,
    index: u32,
) -> Option<bool> {
    if object.syms[index as usize].st_shndx() == SHN_UNDEF {
        return None;
    }
    let id = object.global(index);
    let symbol = &symbols[id];
    let flags = symbol.flags();
    let here = match flags & sym::KIND {
        sym::DEFINED => live.contains(SectionId(symbol.section)),
        sym::ABSOLUTE => true,
        // gc gave it no place if it has no section.
        sym::COMMON => symbol.section != u32::MAX,
        _ => false,
    };
    if !here {
        return None;
    }
    let entry = resolved.names.get(id);
    let mine = entry.sym() == index && entry.file() == object.file;
    mine.then_some(flags & (sym::HIDDEN | sym::LOCALIZED) != 0)
}

/// Output of one run of objects, or of the symbols behind them: bytes and where they go.
#[derive(Default)]
pub struct Part {
    pub locals: Vec<u8>,
    pub globals: Vec<u8>,
    pub strings: Vec<u8>,
    /// Extended indices beside `locals` and `globals`, if the output needs them.
    pub local_indices: Vec<u8>,
    pub global_indices: Vec<u8>,
}

pub struct Writer<'c, 'i, 'a> {
    pub image: &'c Image<'i, 'a>,
    pub symtab: &'c SymTab,
}

impl Writer<'_, '_, '_> {
    /// The symbols of objects `range`.
    pub fn objects(&self, range: std::ops::Range<usize>) -> Part {
        let mut part = Part::default();
        let mut string = self.symtab.starts[range.start].strings;
        if range.start == 0 {
            part.locals.extend_from_slice(&[0; Sym::SIZE]);
            part.local_indices.extend_from_slice(&[0; 4]);
            part.strings.push(0);
        }
        for object in &self.image.resolved.objects[range] {
            self.object(object, &mut string, &mut part);
        }
        part
    }

    fn object(&self, object: &Object, string: &mut u64, part: &mut Part) {
        let image = self.image;
        let kept = Kept { sections: image.sections, live: image.live, options: image.options };
        for (i, symbol) in object.syms.iter().enumerate().skip(1) {
            let i = i as u32;
            prefetch_global(image.resolved, image.symbols, object, i);
            let (local, value, out) = if i >= object.first_global {
                let Some(local) = keeps_global(image.resolved, image.symbols, image.live, object, i) else {
                    continue;
                };
                let (value, out) = self.global_place(object.global(i));
                (local, value, out)
            } else {
                let Some(local) = keeps_local(&kept, object, i, symbol) else { continue };
                let (value, out) = self.local_place(object, i, symbol);
                (local, value, out)
            };
            let name = object.symbol_name(i);
            let binding = if local { STB_LOCAL } else { symbol.binding() };
            let by_plt = i >= object.first_global && image.is_known_by_plt(object.global(i));
            let (kind, size) = match symbol.kind() {
                STT_COMMON => (STT_OBJECT, symbol.st_size()),
                STT_GNU_IFUNC if by_plt => (STT_FUNC, 0),
                k => (k, symbol.st_size()),
            };
            let name_at = if name.is_empty() { 0 } else { *string };
            let bytes = (name_at as u32, binding << 4 | kind, symbol.st_other());
            self.put(part, local, bytes, (value, size), out);
            if !name.is_empty() {
                part.strings.extend_from_slice(name);
                part.strings.push(0);
                *string += name.len() as u64 + 1;
            }
        }
    }

    fn put(
        &self,
        part: &mut Part,
        local: bool,
        (name, info, other): (u32, u8, u8),
        (value, size): (u64, u64),
        out: u32,
    ) {
        let reserved = out >= SHN_LORESERVE as u32;
        let special = out == SHN_ABS as u32 + ABSOLUTE;
        let shndx = if special {
            SHN_ABS
        } else if reserved {
            SHN_XINDEX
        } else {
            out as u16
        };
        let record = Sym::make(name, info, other, shndx, value, size);
        let (records, indices) = if local {
            (&mut part.locals, &mut part.local_indices)
        } else {
            (&mut part.globals, &mut part.global_indices)
        };
        records.extend_from_slice(&record.0);
        if self.symtab.extended {
            let word = if reserved && !special { out } else { 0 };
            indices.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// The value and section index of a global symbol.
    fn global_place(&self, id: SymbolId) -> (u64, u32) {
        let image = self.image;
        let symbol = &image.symbols[id];
        let value = if symbol.has(sym::TLS) {
            symbol.value.wrapping_sub(image.bases.tls_start)
        } else {
            symbol.value
        };
        let out = image.output_index(id);
        (value, out.unwrap_or(SHN_ABS as u32 + ABSOLUTE))
    }

    fn local_place(&self, object: &Object, index: u32, symbol: &Sym) -> (u64, u32) {
        let image = self.image;
        let place = image.local_place(object, index, 0);
        let value = if symbol.kind() == STT_TLS {
            place.address.wrapping_sub(image.bases.tls_start)
        } else {
            place.address
        };
        match object.place(index, symbol) {
            SymbolPlace::Section(shndx) => {
                let section = image.sections.get(SectionId(object.section_base + shndx));
                (value, image.layout.of_name[section.out() as usize] + 1)
            }
            _ => (value, SHN_ABS as u32 + ABSOLUTE),
        }
    }

    /// The symbols that no object defines.
    pub fn extra(&self) -> Part {
        let mut part = Part::default();
        if self.image.resolved.objects.is_empty() {
            part.locals.extend_from_slice(&[0; Sym::SIZE]);
            part.local_indices.extend_from_slice(&[0; 4]);
            part.strings.push(0);
        }
        let end = self.symtab.starts[self.symtab.starts.len() - 1];
        let mut string = end.strings;
        let lists = [(&self.symtab.extra_locals, true), (&self.symtab.extra_globals, false)];
        for (list, local) in lists {
            for &id in list {
                self.put_extra(id, local, string as u32, &mut part);
                let name = self.image.resolved.names.get(id).name;
                part.strings.extend_from_slice(name);
                part.strings.push(0);
                string += name.len() as u64 + 1;
            }
        }
        part
    }

    fn put_extra(&self, id: SymbolId, local: bool, name: u32, part: &mut Part) {
        let image = self.image;
        let symbol = &image.symbols[id];
        let flags = symbol.flags();
        let weak = match flags & sym::KIND {
            sym::UNDEFINED => flags & sym::WEAK_UNDEFINED != 0 || flags & sym::USED_STRONG == 0,
            kind => kind == sym::SHARED && flags & sym::USED_STRONG == 0,
        };
        let binding = if local {
            STB_LOCAL
        } else if weak {
            STB_WEAK
        } else {
            STB_GLOBAL
        };
        let kind = image.made_type(id);
        let undefined =
            matches!(flags & sym::KIND, sym::UNDEFINED | sym::SHARED) && flags & sym::NEEDS_COPY == 0;
        let (value, out) = if undefined {
            let canonical = flags & sym::NEEDS_CANONICAL_PLT != 0;
            (if canonical { symbol.value } else { 0 }, 0)
        } else {
            self.global_place(id)
        };
        let hidden = if flags & sym::HIDDEN != 0 { STV_HIDDEN } else { STV_DEFAULT };
        let size =
            if flags & sym::NEEDS_COPY != 0 { image.shared_symbol(id).map_or(0, |s| s.st_size()) } else { 0 };
        self.put(part, local, (name, binding << 4 | kind, hidden), (value, size), out);
    }
}

/// Marks an absolute symbol among section indices, which have 22 bits.
const ABSOLUTE: u32 = 1 << 30;

/// The byte ranges, within the tables, of the symbols behind the objects'.
pub fn extra_start(symtab: &SymTab) -> Range {
    let end = symtab.starts[symtab.starts.len() - 1];
    Range { locals: end.locals, globals: end.globals, strings: end.strings }
}

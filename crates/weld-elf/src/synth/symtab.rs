//! `.symtab` and `.strtab`.
//!
//! Locals of all objects come first, then globals by the object that defines them, then the
//! linker's own, then what other modules define. Each object's ranges follow from counts, so objects
//! are written independently, straight from their own tables: names are copied, not deduplicated.
//! Hidden globals become local. With `--emit-relocs`, section symbols come before all others.
//!
//! Specification: gABI chapter 4 "Symbol Table".

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use weld_common::trace;

use super::symbol_choice::{Choice, Special, Suffixes};
use super::symbol_numbers::{Kept, Needed, Numbers};
use crate::elf::*;
use crate::ids::*;
use crate::image::Image;
use crate::input::object::{Object, SymbolPlace};
use crate::resolve::Resolved;
use crate::resolve::names::Rank;
use crate::resolve::symbols::{Symbols, sym};
use crate::util::zeroed_atomics;

/// Where a slice's symbols and names go.
#[derive(Clone, Copy, Default, Debug)]
pub struct Range {
    pub locals: u32,
    pub globals: u32,
    pub strings: u64,
}

/// Symbols of an object that are counted, and written, in one go: nearly always all.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slice {
    object: u32,
    /// Indices in the object's table.
    symbols: std::ops::Range<u32>,
}

/// Symbols of a slice.
const SLICE: u32 = 32 << 10;
/// Objects with fewer symbols are one slice.
const LARGE: u32 = 2 * SLICE;
/// Objects that are written in one go.
const RUN: u32 = 32;

pub struct SymTab {
    /// In the order of objects and symbols.
    slices: Vec<Slice>,
    /// Start of each slice's ranges, and one past the last.
    starts: Vec<Range>,
    /// The first slice of each run that is written in one go, and the number of slices.
    runs: Vec<usize>,
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
    /// The symbols of output sections, which the first so many have: 1 and up.
    pub sections: u32,
    special: Special,
}

impl<'a> Choice<'_, 'a> {
    pub fn table(&self, parallel: bool) -> SymTab {
        let region = trace::region("count symbols");
        let slices = slices(&self.resolved.objects);
        let one = |slice: &Slice| {
            let _task = region.task();
            self.count(slice)
        };
        let counts: Vec<Range> = match parallel {
            true => slices.par_iter().map(one).collect(),
            false => slices.iter().map(one).collect(),
        };
        drop(region);
        let _stretch = trace::stretch("plan linker's own and undefined symbols");
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
            runs: runs(&slices),
            slices,
            starts,
            extra_locals,
            extra_globals,
            first_global,
            extended: self.has_many_sections(),
            sections: 0,
            special: Special::default(),
        }
    }

    /// There are about as many output sections as names for them, some of the linker's own included.
    fn has_many_sections(&self) -> bool {
        let with_relocs = 1 + usize::from(self.options.emit_relocs);
        self.sections.names.len() * with_relocs + 64 >= SHN_LORESERVE as usize
    }

    fn count(&self, slice: &Slice) -> Range {
        let mut range = Range::default();
        let number = slice.object as usize;
        let object = &self.resolved.objects[number];
        for i in slice.symbols.clone() {
            let symbol = &object.syms[i as usize];
            prefetch_global(self.resolved, self.symbols, object, i);
            let global = i >= object.first_global;
            let kept = match global {
                true => self.keeps_global(object, i),
                false => self.keeps_local((number, object), i, symbol).then_some(true),
            };
            let Some(local) = kept else { continue };
            if local {
                range.locals += 1
            } else {
                range.globals += 1
            }
            let name = object.symbol_name(i).len() as u64;
            range.strings += if name == 0 { 0 } else { name + 1 };
            if let (Some(suffixes), false) = (&self.special.suffixes, global) {
                range.strings += suffixes.get(number, i).map_or(0, |suffix| suffix.len() as u64);
            }
        }
        range
    }

    fn collect_extra(&self, locals: &mut Vec<SymbolId>, globals: &mut Vec<SymbolId>) {
        for (id, entry) in self.resolved.names.iter() {
            let flags = self.symbols[id].flags();
            let list = match flags & sym::KIND {
                sym::INTERNAL if flags & (sym::HIDDEN | sym::LOCALIZED) != 0 => &mut *locals,
                sym::INTERNAL => &mut *globals,
                sym::ABSOLUTE if entry.rank() == Rank::Internal => &mut *globals,
                sym::UNDEFINED | sym::SHARED
                    if flags & (sym::USED | sym::NEEDS) != 0 || self.needs_global(id) =>
                {
                    &mut *globals
                }
                _ => continue,
            };
            if self.retains(entry.name, || self.needs_global(id)) {
                list.push(id);
            }
        }
        let order = |id: &SymbolId| {
            let entry = self.resolved.names.get(*id);
            (entry.best, entry.name)
        };
        locals.sort_unstable_by_key(order);
        globals.sort_unstable_by_key(order);
    }

    /// The indices of all symbols, once the table has its symbols of sections.
    pub fn number(&self, symtab: &SymTab, parallel: bool) -> Numbers {
        let choice = Choice { special: &symtab.special, ..*self };
        let globals: Vec<AtomicU32> = zeroed_atomics(self.symbols.list.len());
        let set = |id: SymbolId, index: u32| globals[id.index()].store(index, Ordering::Relaxed);
        let one = |(number, object): (usize, &Object<'a>)| {
            let start = symtab.start_of(number);
            let mut kept = Kept::new(object.first_global as usize);
            for i in 1..object.first_global {
                if choice.keeps_local((number, object), i, &object.syms[i as usize]) {
                    kept.set(i);
                }
            }
            let mut next = (start.locals + kept.count(), start.globals);
            for i in object.first_global..object.syms.len() as u32 {
                let Some(local) = choice.keeps_global(object, i) else { continue };
                let next = if local { &mut next.0 } else { &mut next.1 };
                set(object.global(i), *next);
                *next += 1;
            }
            (start.locals, kept)
        };
        let objects = &self.resolved.objects;
        let locals = match parallel {
            true => objects.par_iter().enumerate().map(one).collect(),
            false => objects.iter().enumerate().map(one).collect(),
        };
        let end = symtab.starts[symtab.starts.len() - 1];
        (end.locals..).zip(&symtab.extra_locals).for_each(|(index, id)| set(*id, index));
        (end.globals..).zip(&symtab.extra_globals).for_each(|(index, id)| set(*id, index));
        Numbers { locals, globals }
    }
}

/// Cuts the symbols of objects into slices.
fn slices(objects: &[Object]) -> Vec<Slice> {
    let counts = objects.iter().map(|o| o.syms.len() as u32).enumerate();
    let of_object = |(object, count)| cut(count).map(move |symbols| Slice { object: object as u32, symbols });
    counts.flat_map(of_object).collect()
}

/// Cuts a table of `count` symbols. The null symbol is in no slice.
fn cut(count: u32) -> impl Iterator<Item = std::ops::Range<u32>> {
    let slices = if count < LARGE { 1 } else { count / SLICE };
    let first = count.min(1);
    (0..slices).map(move |i| {
        let start = if i == 0 { first } else { i * SLICE };
        let end = if i + 1 == slices { count } else { (i + 1) * SLICE };
        start..end
    })
}

/// The first slices of runs, and the number of slices: so many objects, or one slice of a large one.
fn runs(slices: &[Slice]) -> Vec<usize> {
    let is_part = |i: usize| {
        let same = |j: usize| slices.get(j).is_some_and(|s| s.object == slices[i].object);
        same(i + 1) || i > 0 && same(i - 1)
    };
    let starts_run = |i: &usize| slices[*i].object.is_multiple_of(RUN) || is_part(*i) || is_part(*i - 1);
    let starts = (0..slices.len()).filter(|i| *i == 0 || starts_run(i));
    starts.chain([slices.len()]).collect()
}

/// How many symbols ahead what is known of their names is asked for.
const GLOBAL_AHEAD: u32 = 8;

/// Asks for what [`Choice::keeps_global`] will look at a few symbols behind `index`.
#[inline(always)]
fn prefetch_global(resolved: &Resolved, symbols: &Symbols, object: &Object, index: u32) {
    let ahead = index + GLOBAL_AHEAD;
    if ahead >= object.first_global
        && object.syms.get(ahead as usize).is_some_and(|s| s.st_shndx() != SHN_UNDEF)
    {
        let id = object.global(ahead);
        symbols.prefetch(id);
        resolved.names.prefetch(id);
        object.prefetch_name(ahead);
    }
}

impl SymTab {
    /// The table, with what options ask for beyond [`Choice::table`].
    pub fn plan(choice: Choice, mut special: Special, parallel: bool) -> SymTab {
        if choice.options.emit_relocs {
            special.needed = Some(Needed::collect(choice.resolved, choice.sections, choice.live, parallel));
        }
        if choice.options.z_unique_symbol {
            let suffixes = Suffixes::collect(&Choice { special: &special, ..choice }, parallel);
            special.suffixes = Some(suffixes);
        }
        let symtab = Choice { special: &special, ..choice }.table(parallel);
        SymTab { special, ..symtab }
    }

    /// The number of runs of slices.
    pub fn runs(&self) -> usize {
        self.runs.len() - 1
    }

    /// Where the symbols of run `run` go; behind the last run, those that no object defines.
    pub fn start_of_run(&self, run: usize) -> Range {
        self.starts[self.runs[run]]
    }

    fn start_of(&self, object: usize) -> Range {
        self.starts[self.slices.partition_point(|s| (s.object as usize) < object)]
    }

    /// Puts symbols for the first `count` output sections before all others.
    pub fn add_sections(&mut self, count: u32) {
        for start in &mut self.starts {
            start.locals += count;
            start.globals += count;
        }
        self.sections = count;
        self.first_global += count;
        self.count += u64::from(count);
    }
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
    /// The null symbol and those of sections.
    fn head(&self, part: &mut Part) {
        part.locals.extend_from_slice(&[0; Sym::SIZE]);
        part.local_indices.extend_from_slice(&[0; 4]);
        part.strings.push(0);
        for (i, out) in self.image.layout.sections[..self.symtab.sections as usize].iter().enumerate() {
            self.put(part, true, (0, STT_SECTION, 0), (out.address, 0), i as u32 + 1);
        }
    }

    /// The symbols of run `run`; the first starts with [`Self::head`], behind the last are those that no
    /// object defines.
    pub fn run(&self, run: usize) -> Part {
        let symtab = self.symtab;
        if run == symtab.runs() {
            return self.extra();
        }
        let mut part = Part::default();
        let mut string = symtab.start_of_run(run).strings;
        if run == 0 {
            self.head(&mut part);
        }
        for slice in &symtab.slices[symtab.runs[run]..symtab.runs[run + 1]] {
            self.slice(slice, &mut string, &mut part);
        }
        part
    }

    fn slice(&self, slice: &Slice, string: &mut u64, part: &mut Part) {
        let image = self.image;
        let number = slice.object as usize;
        let object = &image.resolved.objects[number];
        let choice = Choice {
            resolved: image.resolved,
            sections: image.sections,
            symbols: image.symbols,
            live: image.live,
            options: image.options,
            special: &self.symtab.special,
        };
        for i in slice.symbols.clone() {
            let symbol = &object.syms[i as usize];
            prefetch_global(image.resolved, image.symbols, object, i);
            let (local, value, out, other) = if i >= object.first_global {
                let Some(local) = choice.keeps_global(object, i) else { continue };
                let id = object.global(i);
                let (value, out) = self.global_place(id);
                (local, value, out, united(symbol.st_other(), image.symbols[id].flags()))
            } else {
                if !choice.keeps_local((number, object), i, symbol) {
                    continue;
                }
                let (value, out) = self.local_place(object, i, symbol);
                (true, value, out, symbol.st_other())
            };
            let name = object.symbol_name(i);
            let binding = match symbol.binding() {
                _ if local => STB_LOCAL,
                STB_GNU_UNIQUE if !image.options.gnu_unique => STB_GLOBAL,
                binding => binding,
            };
            let by_plt = i >= object.first_global && image.is_known_by_plt(object.global(i));
            let (kind, size) = match symbol.kind() {
                STT_COMMON => (STT_OBJECT, symbol.st_size()),
                STT_GNU_IFUNC if by_plt => (STT_FUNC, 0),
                k => (k, symbol.st_size()),
            };
            let name_at = if name.is_empty() { 0 } else { *string };
            let bytes = (name_at as u32, binding << 4 | kind, other);
            self.put(part, local, bytes, (value, size), out);
            if name.is_empty() {
                continue;
            }
            let before = part.strings.len();
            part.strings.extend_from_slice(name);
            if let (Some(suffixes), true) = (&choice.special.suffixes, i < object.first_global) {
                part.strings.extend(suffixes.get(number, i).iter().flat_map(|suffix| suffix.bytes()));
            }
            part.strings.push(0);
            *string += (part.strings.len() - before) as u64;
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
    fn extra(&self) -> Part {
        let mut part = Part::default();
        if self.image.resolved.objects.is_empty() {
            self.head(&mut part);
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
        // How its own library protects it is not said of a reference.
        let shared = flags & sym::KIND == sym::SHARED;
        let visibility = if shared { STV_DEFAULT } else { united(STV_DEFAULT, flags) };
        let size =
            if flags & sym::NEEDS_COPY != 0 { image.shared_symbol(id).map_or(0, |s| s.st_size()) } else { 0 };
        self.put(part, local, (name, binding << 4 | kind, visibility), (value, size), out);
    }
}

/// `st_other` of a definition, with the visibility that all files together ask for.
fn united(other: u8, flags: u32) -> u8 {
    let stricter = match other & 3 {
        STV_HIDDEN | STV_INTERNAL => return other,
        _ if flags & sym::HIDDEN != 0 => STV_HIDDEN,
        _ if flags & sym::PROTECTED != 0 => STV_PROTECTED,
        own => own,
    };
    other & !3 | stricter
}

/// Marks an absolute symbol among section indices, which have 22 bits.
const ABSOLUTE: u32 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_cover_a_table() {
        for count in [0, 1, 2, LARGE - 1, LARGE, LARGE + 1, 3 * SLICE - 1, 3 * SLICE, 1_000_000] {
            let slices: Vec<_> = cut(count).collect();
            assert_eq!(slices[0].start, count.min(1));
            assert_eq!(slices[slices.len() - 1].end, count);
            assert!(slices.windows(2).all(|w| w[0].end == w[1].start));
            assert!(slices.iter().all(|s| s.len() < LARGE as usize), "{slices:?}");
        }
        assert_eq!(cut(LARGE - 1).count(), 1);
    }

    #[test]
    fn slices_and_runs() {
        let list = |objects: &[(u32, u32, u32)]| -> Vec<Slice> {
            objects
                .iter()
                .map(|(object, start, end)| Slice { object: *object, symbols: *start..*end })
                .collect()
        };
        // Objects of at most 32 in a run, parts of a large one each by itself.
        let small: Vec<(u32, u32, u32)> = (0..70).map(|i| (i, 1, 5)).collect();
        assert_eq!(runs(&list(&small)), [0, 32, 64, 70]);
        let mut mixed = small[..3].to_vec();
        mixed.extend([(3, 1, 10), (3, 10, 20), (3, 20, 30), (4, 1, 5), (5, 1, 5)]);
        assert_eq!(runs(&list(&mixed)), [0, 3, 4, 5, 6, 8]);
        assert_eq!(runs(&[]), [0]);
    }
}

//! `.symtab` and `.strtab`.
//!
//! Locals of all objects come first, then globals by the object that defines them, then the
//! linker's own, then what other modules define. Each object's ranges follow from counts, so objects
//! are written independently, straight from their own tables: names are copied, not deduplicated.
//! Hidden globals become local. With `--emit-relocs`, section symbols come before all others.
//!
//! Where a later link may relink ([`crate::relink`]), an object has room for more symbols and names. What is left
//! over of it are symbols of the first section, and among globals such of a file without a name: readers that
//! list symbols or look them up pass over both. (`nm` shows null symbols as undefined ones without a name, and
//! checkers want no symbol of a section behind the local ones.) There are some of the latter behind all, for
//! functions of other modules ([`crate::sections::spare_imports`]).
//!
//! Specification: gABI chapter 4 "Symbol Table".

use std::sync::atomic::{AtomicU32, Ordering};
use weld_common::diag::Cause;

use weld_common::zeroed;
use weld_common::{par, sort, trace};

use super::error::TableTooLarge;
use super::plan::Plan;
use super::section::{At, Cuts, Header, Info, Links, Sizes, Source, Spec, Synthetic};
use super::symbol_choice::{Choice, Special, Suffixes};
use super::symbol_numbers::{Kept, Needed, Numbers};
use super::symbol_record::Record;
use super::{plt_marks, thunks};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::layout::ChunkKind;
use crate::resolve::Resolved;
use crate::sections::rooms;
use crate::symbol_names::Rank;
use crate::symbols::{Symbols, strong_use, symbol_flags};
use crate::synth::image::Image;
use weld_common::io::units::UNIT_BYTES;

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

pub struct SymTab {
    /// In the order of objects and symbols.
    slices: Vec<Slice>,
    /// Which symbols of each slice are written, counted from its first.
    kept: Vec<Kept>,
    /// Start of each slice's ranges, and one past the last.
    pub starts: Vec<Range>,
    /// Symbols after those of the objects: the linker's own that are local, the others, and
    /// what is undefined here; with their names' total size.
    extra_locals: Vec<SymbolId>,
    extra_globals: Vec<SymbolId>,
    pub strings: u64,
    pub count: u64,
    /// `sh_info`: index of the first global.
    pub first_global: u32,
    /// Section indices do not fit 16 bits.
    pub extended: bool,
    /// The output sections that have symbols: those from 1 on.
    pub sections: std::ops::Range<u32>,
    pub special: Special,
}

impl<'a> Choice<'_, 'a> {
    pub fn table(&self, parallel: bool) -> SymTab {
        let region = trace::region("count symbols");
        let slices = slices(&self.resolved.objects, self.sections.has_rooms);
        let one = |i: usize| {
            let _task = region.task();
            self.count(&slices[i])
        };
        let (counts, kept): (Vec<Range>, Vec<Kept>) =
            par::map(parallel, slices.len(), one).into_iter().unzip();
        drop(region);
        let mut counts = counts;
        if self.sections.has_rooms {
            self.give_rooms(&slices, &mut counts);
        }
        let (extra_locals, extra_globals) = self.collect_extra(parallel);
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
        let spares = &self.special.spares;
        SymTab {
            count: at.globals as u64 + extra_globals.len() as u64 + u64::from(spares.count),
            strings: at.strings + names + spares.names(),
            slices,
            kept,
            starts,
            extra_locals,
            extra_globals,
            first_global,
            extended: self.has_many_sections(),
            sections: 0..0,
            special: Special::default(),
        }
    }

    /// Gives each object room for more symbols, in its last slice.
    fn give_rooms(&self, slices: &[Slice], counts: &mut [Range]) {
        let last = self.sections.last_runs.as_ref();
        let mut first = 0;
        for mine in slices.chunk_by(|a, b| a.object == b.object) {
            let counts = &mut counts[first..first + mine.len()];
            first += mine.len();
            let sum = |of: fn(&Range) -> u64| counts.iter().map(of).sum::<u64>();
            let locals = sum(|c| c.locals.into()) as u32;
            let globals = sum(|c| c.globals.into()) as u32;
            let strings = sum(|c| c.strings);
            let file = self.resolved.objects[mine[0].object as usize].file;
            let runs = match last {
                Some(last) => last.of_file.get(&file).copied().unwrap_or_default(),
                None => rooms::room_of_symbols(locals, globals, strings, self.sections.growth(file)),
            };
            if let Some(count) = counts.last_mut() {
                count.locals += runs.locals.saturating_sub(locals);
                count.globals += runs.globals.saturating_sub(globals);
                count.strings += runs.strings.saturating_sub(strings);
            }
        }
    }

    /// There are about as many output sections as names for them, some of the linker's own included.
    fn has_many_sections(&self) -> bool {
        let with_relocs = 1 + usize::from(self.options.keeps_relocs());
        self.sections.bins.len() * with_relocs + 64 >= SHN_LORESERVE as usize
    }

    fn count(&self, slice: &Slice) -> (Range, Kept) {
        let mut range = Range::default();
        let mut marks = Kept::new(slice.symbols.len());
        let number = slice.object as usize;
        let object = &self.resolved.objects[number];
        for i in slice.symbols.clone() {
            let symbol = &object.syms[i as usize];
            prefetch_counted(self.resolved, self.symbols, object, i + AHEAD as u32);
            let global = i >= object.first_global;
            let kept = match global {
                true => self.keeps_global(number, object, i),
                false => {
                    object.check_local(i, symbol, self.sink);
                    self.keeps_local(number, object, i, symbol).then_some(true)
                }
            };
            let Some(local) = kept else { continue };
            marks.set(i - slice.symbols.start);
            if local {
                range.locals += 1
            } else {
                range.globals += 1
            }
            let name = match global && !object.spells_versions {
                // The name is in the table of names, with its length.
                true => self.resolved.names.get(object.global(i)).name.len() as u64,
                false if global => self.name_of_global(object, i).len() as u64,
                false => object.symbol_name(i).len() as u64,
            };
            range.strings += if name == 0 { 0 } else { name + 1 };
            if let (Some(suffixes), false) = (&self.special.suffixes, global) {
                range.strings += suffixes.get(number, i).map_or(0, |suffix| suffix.len() as u64);
            }
        }
        (range, marks)
    }

    /// The linker's own symbols and those that nothing here defines: locals and globals.
    fn collect_extra(&self, parallel: bool) -> (Vec<SymbolId>, Vec<SymbolId>) {
        if let Some(mentions) = &self.special.mentions {
            return (Vec::new(), mentions.own.clone());
        }
        let region = "linker's own and undefined symbols";
        let parts = par::runs(region, parallel, self.symbols.list.len(), NAMES, |run| {
            let (mut locals, mut globals) = (Vec::new(), Vec::new());
            run.for_each(|i| self.extra_symbol(SymbolId(i as u32), &mut locals, &mut globals));
            (locals, globals)
        });
        let (mut locals, mut globals) = (Vec::new(), Vec::new());
        for mut part in parts {
            locals.append(&mut part.0);
            globals.append(&mut part.1);
        }
        let spares = &self.special.spares;
        if !spares.ids.is_empty() {
            globals.retain(|(_, id)| !spares.have(*id));
        }
        let names = &self.resolved.names;
        let sorted = |list: Vec<(u64, SymbolId)>| {
            let name = |id| names.get(id).name;
            let order = sort::by(list, parallel, |a, b| a.0.cmp(&b.0).then_with(|| name(a.1).cmp(name(b.1))));
            order.into_iter().map(|(_, id)| id).collect()
        };
        (sorted(locals), sorted(globals))
    }

    #[inline]
    fn extra_symbol(
        &self,
        id: SymbolId,
        locals: &mut Vec<(u64, SymbolId)>,
        globals: &mut Vec<(u64, SymbolId)>,
    ) {
        let flags = self.symbols[id].flags();
        let list = match flags & symbol_flags::KIND {
            symbol_flags::INTERNAL if flags & (symbol_flags::HIDDEN | symbol_flags::LOCALIZED) != 0 => locals,
            symbol_flags::ABSOLUTE if flags & symbol_flags::ASSIGNED != 0 && self.is_hidden_number(id) => {
                locals
            }
            symbol_flags::INTERNAL | symbol_flags::ABSOLUTE => globals,
            symbol_flags::UNDEFINED | symbol_flags::SHARED
                if flags
                    & (symbol_flags::USED
                        | symbol_flags::NEEDS
                        | strong_use(self.options.sections.gc_sections))
                    != 0
                    || self.needs_global(id) =>
            {
                globals
            }
            _ => return,
        };
        let entry = self.resolved.names.get(id);
        let by_object =
            flags & symbol_flags::KIND == symbol_flags::ABSOLUTE && entry.rank() != Rank::Internal;
        if !by_object && self.retains(entry.name, || self.needs_global(id)) {
            // Whatever archives offer that nobody reads.
            let is_here = flags & symbol_flags::KIND != symbol_flags::UNDEFINED;
            list.push((if is_here { entry.best } else { u64::MAX }, id));
        }
    }

    /// Whether a value that a script gives a symbol stays inside of the output.
    #[cold]
    fn is_hidden_number(&self, id: SymbolId) -> bool {
        let hidden = self.symbols[id].flags() & (symbol_flags::HIDDEN | symbol_flags::LOCALIZED) != 0;
        hidden && self.resolved.names.get(id).rank() == Rank::Internal
    }

    /// The indices of all symbols, once the table has its symbols of sections.
    pub fn number(&self, symtab: &SymTab, parallel: bool) -> Numbers {
        let globals: Vec<AtomicU32> = zeroed::sparse(self.symbols.list.len());
        let set = |id: SymbolId, index: u32| globals[id.index()].store(index, Ordering::Relaxed);
        let objects = &self.resolved.objects;
        let one = |number: usize| {
            let object = &objects[number];
            let start = symtab.start_of(number);
            let mut kept = Kept::new(object.first_global as usize);
            let is_local = |&index: &u32| index < object.first_global;
            symtab.kept_of(number).filter(is_local).for_each(|index| kept.set(index));
            let mut next = (start.locals + kept.count(), start.globals);
            for index in symtab.kept_of(number).skip_while(is_local) {
                let id = object.global(index);
                let next = if self.is_local(id) { &mut next.0 } else { &mut next.1 };
                set(id, *next);
                *next += 1;
            }
            (start.locals, kept)
        };
        let locals = par::map(parallel, objects.len(), one);
        let end = extra_start(symtab);
        (end.locals..).zip(&symtab.extra_locals).for_each(|(index, id)| set(*id, index));
        (end.globals..).zip(&symtab.extra_globals).for_each(|(index, id)| set(*id, index));
        Numbers { locals, globals, sections: symtab.sections.clone() }
    }
}

/// Names looked at by one task.
const NAMES: usize = 1 << 15;
/// Objects, or slices of large ones, whose symbols are written in one go, at most.
const SLICES_PER_RUN: usize = 32;

/// Cuts the symbols of objects into slices. If an object may be written again (`has_rooms`), all of its are one: how many of
/// them come first may change.
fn slices(objects: &[Object], has_rooms: bool) -> Vec<Slice> {
    let counts = objects.iter().map(|o| o.syms.len() as u32).enumerate();
    let of_object =
        |(object, count)| cut(count, has_rooms).map(move |symbols| Slice { object: object as u32, symbols });
    counts.flat_map(of_object).collect()
}

/// Cuts a table of `count` symbols. The null symbol is in no slice.
fn cut(count: u32, is_one: bool) -> impl Iterator<Item = std::ops::Range<u32>> {
    let slices = if is_one || count < LARGE { 1 } else { count / SLICE };
    let first = count.min(1);
    (0..slices).map(move |i| {
        let start = if i == 0 { first } else { i * SLICE };
        let end = if i + 1 == slices { count } else { (i + 1) * SLICE };
        start..end
    })
}

/// `.strtab` of so many bytes.
fn check_size(strings: u64) -> Result<(), TableTooLarge> {
    match u32::try_from(strings) {
        Ok(_) => Ok(()),
        Err(_) => Err(TableTooLarge::Section(".strtab")),
    }
}

/// How many symbols ahead what is known of them is asked for.
const AHEAD: usize = 8;

/// String tables of so many bytes do not stay in the cache.
const FAR: usize = 1 << 20;

/// Asks for what counting will look at.
#[inline(always)]
fn prefetch_counted(resolved: &Resolved, symbols: &Symbols, object: &Object, index: u32) {
    if index < object.first_global {
        if object.strtab.len() > FAR {
            object.prefetch_name(index);
        }
    } else if object.syms.get(index as usize).is_some_and(|s| s.st_shndx() != SHN_UNDEF) {
        resolved.names.prefetch(object.global(index));
        symbols.prefetch(object.global(index));
    }
}

/// Asks for the name of a symbol, and for where it is.
#[inline(always)]
fn prefetch(symbols: &Symbols, object: &Object, index: u32) {
    if index >= object.first_global {
        symbols.prefetch(object.global(index));
    }
    object.prefetch_name(index);
}

impl SymTab {
    /// The table, with what options ask for beyond [`Choice::table`].
    ///
    /// # Errors
    /// If the names are more than `st_name` can tell apart.
    pub fn plan(choice: Choice, mut special: Special, parallel: bool) -> Result<SymTab, TableTooLarge> {
        if special.mentions.is_some() {
            special.needed = Some(Needed::on_demand(choice.resolved.objects.len()));
        } else if choice.options.relocs.emit_relocs {
            special.needed = Some(Needed::collect(choice.resolved, choice.sections, choice.live, parallel));
        }
        if choice.options.symbols.unique_symbol {
            let suffixes = Suffixes::collect(&Choice { special: &special, ..choice }, parallel);
            special.suffixes = Some(suffixes);
        }
        let symtab = Choice { special: &special, ..choice }.table(parallel);
        check_size(symtab.strings)?;
        if symtab.count + choice.sections.bins.len() as u64 > u64::from(u32::MAX) {
            return Err(TableTooLarge::Symbols(symtab.count));
        }
        Ok(SymTab { special, ..symtab })
    }

    /// The first slice of an object.
    fn first_slice(&self, object: usize) -> usize {
        self.slices.partition_point(|s| (s.object as usize) < object)
    }

    /// Runs of symbols of the same object: where its ranges start, and where they end.
    pub fn ranges(&self) -> impl Iterator<Item = (ObjectId, [Range; 2])> {
        self.slices
            .iter()
            .zip(self.starts.windows(2))
            .map(|(slice, ends)| (ObjectId(slice.object), [ends[0], ends[1]]))
    }

    /// Where the symbols of an object go; of the number behind the last one, where all end.
    pub fn start_of(&self, object: usize) -> Range {
        self.starts[self.first_slice(object)]
    }

    /// The symbols of an object that are written, by their indices in its table.
    fn kept_of(&self, object: usize) -> impl Iterator<Item = u32> {
        let first = self.first_slice(object);
        let slices = self.slices[first..].iter().zip(&self.kept[first..]);
        let mine = slices.take_while(move |(slice, _)| slice.object as usize == object);
        mine.flat_map(|(slice, kept)| kept.iter().map(|i| slice.symbols.start + i))
    }

    /// Runs of slices whose symbols are written in one go: of about as many bytes as other units of the
    /// image, but not of too many objects, whose symbols have to be looked at though few may be kept.
    pub fn runs(&self) -> Vec<std::ops::Range<usize>> {
        let bytes = |start: &Range| (start.locals + start.globals) as u64 * Sym::SIZE as u64 + start.strings;
        let mut runs = Vec::new();
        let mut first = 0;
        for end in 1..self.starts.len() {
            let size = bytes(&self.starts[end]) - bytes(&self.starts[first]);
            if end - first == SLICES_PER_RUN || size >= UNIT_BYTES || end + 1 == self.starts.len() {
                runs.push(first..end);
                first = end;
            }
        }
        runs
    }

    /// Makes room for the symbols of code that the linker makes, after the other local ones.
    ///
    /// # Errors
    /// If the names are more than `st_name` can tell apart.
    pub fn add_code(&mut self, names: thunks::Names) -> Result<(), TableTooLarge> {
        for start in &mut self.starts {
            start.globals += names.count;
        }
        self.first_global += names.count;
        self.count += u64::from(names.count);
        self.strings += names.bytes;
        check_size(self.strings)
    }

    /// Puts symbols for output sections before all others, in place of those that were there.
    pub fn add_sections(&mut self, sections: std::ops::Range<usize>) {
        let (count, before) = (sections.len() as u32, self.sections.len() as u32);
        let sections = sections.start as u32..sections.end as u32;
        for start in &mut self.starts {
            start.locals = start.locals - before + count;
            start.globals = start.globals - before + count;
        }
        self.sections = sections;
        self.first_global = self.first_global - before + count;
        self.count = self.count - u64::from(before) + u64::from(count);
    }
}

/// Output of one run of objects, or of the symbols after them: native records, and names.
#[derive(Default)]
pub struct Part {
    pub locals: Vec<u8>,
    pub globals: Vec<u8>,
    pub strings: Vec<u8>,
    /// Extended indices beside `locals` and `globals`, if the output needs them.
    pub local_indices: Vec<u8>,
    pub global_indices: Vec<u8>,
}

impl Part {
    /// What goes into a file of the form `format`.
    pub fn in_form(self, format: Format) -> Part {
        Part {
            locals: in_form::<Sym>(format, self.locals),
            globals: in_form::<Sym>(format, self.globals),
            strings: self.strings,
            local_indices: in_form::<Word>(format, self.local_indices),
            global_indices: in_form::<Word>(format, self.global_indices),
        }
    }
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
        for id in self.symtab.sections.clone().map(OutputSectionId) {
            let out = &self.image.layout[id];
            self.put(part, true, 0, Record::section(id.header(), out.address));
        }
    }

    /// The symbols of slices `range`; the first run starts with [`Self::head`].
    pub fn slices(&self, range: std::ops::Range<usize>) -> Part {
        let (start, end) = (&self.symtab.starts[range.start], &self.symtab.starts[range.end]);
        let head = if range.start == 0 { 1 + self.symtab.sections.len() as u32 } else { 0 };
        let room = |symbols: u32| Vec::with_capacity(symbols as usize * Sym::SIZE);
        let mut part = Part {
            locals: room(end.locals - start.locals + head),
            globals: room(end.globals - start.globals),
            strings: Vec::with_capacity((end.strings - start.strings) as usize + 1),
            ..Part::default()
        };
        let mut string = start.strings;
        if range.start == 0 {
            self.head(&mut part);
        }
        let ends = &self.symtab.starts[range.start + 1..];
        for ((slice, kept), end) in
            self.symtab.slices[range.clone()].iter().zip(&self.symtab.kept[range]).zip(ends)
        {
            self.slice(slice, kept, &mut string, &mut part);
            if self.image.sections.has_rooms {
                let locals = (end.locals - start.locals + head) as usize;
                self.fill(&mut part, (locals, (end.globals - start.globals) as usize));
                part.strings.resize(part.strings.len() + (end.strings - string) as usize, 0);
                string = end.strings;
            }
        }
        part
    }

    /// Has the part so many local and global symbols.
    fn fill(&self, part: &mut Part, (locals, globals): (usize, usize)) {
        let Some((local, global)) = left_over(self.image) else { return };
        while part.locals.len() < locals * Sym::SIZE {
            self.put(part, true, 0, local);
        }
        while part.globals.len() < globals * Sym::SIZE {
            self.put(part, false, 0, global);
        }
    }

    fn slice(&self, slice: &Slice, kept: &Kept, string: &mut u64, part: &mut Part) {
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
            sink: image.sink,
        };
        let indices = || kept.iter().map(|i| slice.symbols.start + i);
        let mut ahead = indices().skip(AHEAD);
        for i in indices() {
            ahead.next().inspect(|&later| prefetch(image.symbols, object, later));
            let symbol = &object.syms[i as usize];
            let (local, record) = match i >= object.first_global {
                true => {
                    let id = object.global(i);
                    (choice.is_local(id), image.global_record(id, symbol))
                }
                false => (true, image.local_record(object, i, symbol)),
            };
            let mut name = object.symbol_name(i);
            if record.is_mention() && !local {
                name = choice.name_of_global(object, i);
            }
            let name_at = if name.is_empty() { 0 } else { *string };
            self.put(part, local, name_at as u32, record);
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

    fn put(&self, part: &mut Part, local: bool, name: u32, mut record: Record) {
        if local {
            record.binding = STB_LOCAL;
        }
        if record.other != 0 && self.image.mode.facts().is_of_second_set(record.other) {
            record.value &= !1;
        }
        let (symbol, extended) = record.make(name);
        let (records, indices) = if local {
            (&mut part.locals, &mut part.local_indices)
        } else {
            (&mut part.globals, &mut part.global_indices)
        };
        records.extend_from_slice(&symbol.0);
        if self.symtab.extended {
            indices.extend_from_slice(&extended.to_le_bytes());
        }
    }

    /// The symbols that no object defines.
    pub fn extra(&self) -> Part {
        let mut part = Part::default();
        if self.image.resolved.objects.is_empty() {
            self.head(&mut part);
        }
        let end = self.symtab.starts[self.symtab.starts.len() - 1];
        let mut string = end.strings;
        let lists = [(&self.symtab.extra_locals, true), (&self.symtab.extra_globals, false)];
        for (list, local) in lists {
            for &id in list {
                self.put(&mut part, local, string as u32, self.image.made_record(id));
                let name = self.image.resolved.names.get(id).name;
                part.strings.extend_from_slice(name);
                part.strings.push(0);
                string += name.len() as u64 + 1;
            }
            if local {
                self.code(&mut part, &mut string);
            }
        }
        self.spares(&mut part, string);
        part
    }

    /// What is room for what other modules define, or has taken it.
    fn spares(&self, part: &mut Part, string: u64) {
        let spares = &self.symtab.special.spares;
        for symbol in spares.symbols(Record::nothing().make(0).0, string as u32) {
            part.globals.extend_from_slice(&symbol.0);
            if self.symtab.extended {
                part.global_indices.extend_from_slice(&[0; 4]);
            }
        }
        part.strings.extend(spares.strings());
    }

    /// The symbols of code that the linker makes.
    fn code(&self, part: &mut Part, string: &mut u64) {
        let mut take = |name: &[u8], record| {
            self.put(part, true, *string as u32, record);
            let before = part.strings.len();
            part.strings.extend_from_slice(name);
            part.strings.push(0);
            *string += (part.strings.len() - before) as u64;
        };
        self.image.thunks.symbols(self.image, &mut take);
        plt_marks::symbols(self.image, take);
    }
}

/// What room for local and for global symbols has that is left over.
pub fn left_over(image: &Image) -> Option<(Record, Record)> {
    let first = image.layout.sections.first()?;
    Some((Record::section(OutputSectionId(0).header(), first.address), Record::nothing()))
}

/// The byte ranges, within the tables, of the symbols after the objects'.
pub fn extra_start(symtab: &SymTab) -> Range {
    let end = symtab.starts[symtab.starts.len() - 1];
    Range { locals: end.locals, globals: end.globals, strings: end.strings }
}

/// `.symtab`. Its symbols are written by object, beside their names: by [`Writer`], in units of their own.
pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let format = sizes.format();
        let entsize = format.size::<Sym>();
        let header = Header { name: b".symtab", kind: SHT_SYMTAB, flags: 0, entsize };
        Spec::own(header, format.word(), planned(sizes)?.count * entsize)
    }

    fn resize(&self, plan: &Plan) -> Option<u64> {
        Some(plan.symtab.as_ref()?.count * plan.layout.format.size::<Sym>())
    }

    fn links(&self, plan: &Plan) -> Option<Links> {
        Links::with(ChunkKind::StrTab, Info::Number(plan.symtab.as_ref()?.first_global))
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::Elsewhere
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        not_here(at, out);
    }
}

/// `.symtab_shndx`: section indices that do not fit 16 bits; written beside `.symtab`.
pub struct Indices;

impl Synthetic for Indices {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let symtab = planned(sizes).filter(|s| s.extended)?;
        let header = Header { name: b".symtab_shndx", kind: SHT_SYMTAB_SHNDX, flags: 0, entsize: 4 };
        Spec::own(header, 4, symtab.count * 4)
    }

    fn resize(&self, plan: &Plan) -> Option<u64> {
        Some(plan.symtab.as_ref()?.count * 4)
    }

    fn links(&self, _: &Plan) -> Option<Links> {
        Links::to(ChunkKind::SymTab)
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::Elsewhere
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        not_here(at, out);
    }
}

/// `.strtab`: the names of the symbols in `.symtab`, written beside them.
pub struct Names;

impl Synthetic for Names {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let header = Header { name: b".strtab", kind: SHT_STRTAB, flags: 0, entsize: 0 };
        Spec::own(header, 1, planned(sizes)?.strings)
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::Elsewhere
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        not_here(at, out);
    }
}

/// The table, if there is one.
fn planned<'c>(sizes: &Sizes<'c>) -> Option<&'c SymTab> {
    sizes.plan.symtab.as_ref().filter(|_| sizes.options.layout.sectionheader)
}

/// Nobody asks a table for its bytes that is written elsewhere.
fn not_here(at: &At, out: &mut [u8]) {
    let kind = at.chunk.kind;
    at.image()
        .sink
        .error(Cause::Internal, format!("internal error: {kind:?} is written beside other sections"));
    out.fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_4_gib_are_an_error() {
        assert!(check_size(u64::from(u32::MAX)).is_ok());
        assert!(check_size(u64::from(u32::MAX) + 1).is_err());
    }

    #[test]
    fn slices_cover_a_table() {
        for count in [0, 1, 2, LARGE - 1, LARGE, LARGE + 1, 3 * SLICE - 1, 3 * SLICE, 1_000_000] {
            let slices: Vec<_> = cut(count, false).collect();
            assert_eq!(slices[0].start, count.min(1));
            assert_eq!(slices[slices.len() - 1].end, count);
            assert!(slices.windows(2).all(|w| w[0].end == w[1].start));
            assert!(slices.iter().all(|s| s.len() < LARGE as usize), "{slices:?}");
        }
        assert_eq!(cut(LARGE - 1, false).count(), 1);
        assert!(cut(3 * LARGE, true).eq(std::iter::once(1..3 * LARGE)));
    }
}

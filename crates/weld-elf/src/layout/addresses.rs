//! From offsets to addresses: of input sections, chunks and symbols.
//!
//! After this, the places of input sections and symbols are final virtual addresses, and
//! a relocation's target is one load away. Merge sections have no address of their own; their place says
//! which part and which input of it they are.

use std::collections::HashMap;

use weld_common::{par, trace};

use super::runs::RUN;
use super::segments::is_tls_zeroes;
use super::*;
use crate::address::Address;
use crate::arch::facts::{Facts, GotBase, Tls};
use crate::arch::plt;
use crate::live::Live;
use crate::sections::{InputSection, SectionKind, Sections};
use crate::symbols::internal::{Internal, Internals, Target};
use crate::symbols::{Symbol, Symbols, symbol_flags};

/// Addresses that relocations are computed from.
#[derive(Clone, Copy, Default)]
pub struct Bases {
    pub got: Address,
    pub got_plt: Address,
    /// What `_GLOBAL_OFFSET_TABLE_` stands for.
    pub got_base: Address,
    pub plt: Address,
    pub plt_sec: Address,
    pub iplt: Address,
    pub tls_start: Address,
    pub thread_pointer: Address,
    /// The bytes of a slot of the GOT.
    pub slot: u64,
}

impl Bases {
    /// From where offsets in the module's thread-local storage count, less what they all have added. In a
    /// program they are those from the thread pointer, where there is code that makes its own storage's
    /// address.
    #[inline(always)]
    pub fn module_start(&self, shared: bool, facts: &Facts) -> Address {
        match facts.tls {
            _ if shared || facts.keeps_local_dynamic => self.tls_start,
            Tls::Behind(bytes) => self.thread_pointer.back(bytes),
            _ => self.thread_pointer,
        }
    }

    /// The address of the entry of the PLT that is called.
    pub fn plt_entry(&self, facts: &Facts, jump_slots: u32, style: plt::Style, entry: u32) -> Address {
        let (table, offset) = plt::place_of(facts, jump_slots, style, entry);
        let start = match table {
            plt::Table::Plt => self.plt,
            plt::Table::PltSec => self.plt_sec,
            plt::Table::Iplt => self.iplt,
        };
        start + offset
    }
}

/// Adds section addresses to what lies in them. Sections that are not allocated count from 0, unless a script
/// gives them an address.
pub fn place(layout: &mut Layout, sections: &mut Sections, live: &Live, parallel: bool) {
    let alloc = layout.with_ids().filter(|(_, out)| out.is_alloc());
    let mut by_address: Vec<_> = alloc.map(|(id, out)| (out.address, id)).collect();
    by_address.sort_unstable();
    layout.by_address = by_address;
    for chunk in &mut layout.chunks {
        chunk.move_to(layout.sections[chunk.out.index()].address);
    }
    let of_out =
        |out: &OutputSectionId| layout.sections.get(out.index()).map_or(Address::ZERO, |out| out.address);
    let starts: Vec<Address> = layout.of_bin.iter().map(of_out).collect();
    let region = trace::region("place sections");
    par::each_piece(parallel, &mut sections.list, RUN, |run, sections| {
        let _task = region.task();
        for (i, section) in sections.iter_mut().enumerate() {
            if section.is_copied() && live.contains(SectionId((run * RUN + i) as u32)) {
                section.move_to(starts[section.bin().index()]);
            }
        }
    });
    drop(region);
    live.folds.place(sections);
    sections.place_guests();
}

/// What code counts from that counts from the GOT, of which so many bytes lie in `front`; `address` knows where chunks
/// are.
pub fn got_base(machine: &Facts, front: u64, address: impl Fn(ChunkKind) -> Option<Address>) -> Address {
    let got_plt = || address(ChunkKind::GotPlt);
    let got = || {
        let start = address(ChunkKind::Got).unwrap_or_default();
        start.wrapping_add(front + machine.toc.as_ref().map_or(0, |toc| toc.bias))
    };
    match machine.got_base {
        GotBase::GotPlt => got_plt().unwrap_or_else(got),
        _ => got(),
    }
}

/// Where tables are, if so many bytes of the GOT lie in `front` of its base.
pub fn bases(layout: &Layout, machine: &Facts, front: u64) -> Bases {
    let got = layout.chunk_address(ChunkKind::Got);
    let got_plt = layout.chunk_address(ChunkKind::GotPlt);
    Bases {
        got,
        got_plt,
        got_base: got_base(machine, front, |kind| layout.chunk(kind).map(Chunk::address)),
        plt: layout.chunk_address(ChunkKind::Plt),
        plt_sec: layout.chunk_address(ChunkKind::PltSec),
        iplt: layout.chunk_address(ChunkKind::Iplt),
        tls_start: layout.tls().map_or(Address::ZERO, |t| t.address),
        thread_pointer: layout.thread_pointer(machine.tls),
        slot: machine.slot(),
    }
}

/// Where each block of common symbols lies.
fn common_addresses(layout: &Layout) -> Vec<Address> {
    let mut list = Vec::new();
    for chunk in &layout.chunks {
        if let ChunkKind::Common(block) = chunk.kind {
            list.resize(list.len().max(block as usize + 1), Address::ZERO);
            list[block as usize] = chunk.address();
        }
    }
    list
}

/// Values of symbols in sections, commons and copies.
pub fn place_symbols(
    symbols: &mut Symbols,
    sections: &Sections,
    layout: &Layout,
    merged: &[MergedPart],
    relro_copies: &[SymbolId],
    parallel: bool,
) {
    let common = common_addresses(layout);
    let copy = layout.chunk_address(ChunkKind::CopyBss);
    let relro = layout.chunk_address(ChunkKind::CopyRelro);
    let eh_frame = layout.chunk_address(ChunkKind::EhFrame);
    let rearranged = sections.rearranged();
    for id in relro_copies {
        // The offset counts from the other block; what is added below is `copy`.
        let symbol = &mut symbols.list[id.index()];
        symbol.set_offset(symbol.offset().wrapping_add(relro.wrapping_sub(copy)));
    }
    let one = |symbol: &mut Symbol| {
        let flags = symbol.flags();
        match flags & symbol_flags::KIND {
            symbol_flags::DEFINED => {
                let section = &sections.list[symbol.section as usize];
                if flags & symbol_flags::MERGED != 0 {
                    place_merged(symbol, section, layout, merged);
                } else if !section.is_one_of(rearranged) {
                    symbol.move_to(section.address());
                } else {
                    place_rearranged(symbol, sections, eh_frame);
                }
            }
            symbol_flags::COMMON => {
                let base = common.get(symbol.section as usize).copied().unwrap_or_default();
                symbol.move_to(base);
            }
            symbol_flags::SHARED if flags & symbol_flags::NEEDS_COPY != 0 => symbol.move_to(copy),
            _ => {}
        }
    };
    let region = trace::region("place symbols");
    par::each_piece(parallel, &mut symbols.list, RUN, |_, symbols| {
        let _task = region.task();
        symbols.iter_mut().for_each(one);
    });
}

/// The address of a symbol in a section whose bytes are elsewhere in the output than in the input.
#[inline(never)]
fn place_rearranged(symbol: &mut Symbol, sections: &Sections, eh_frame: Address) {
    let id = SectionId(symbol.section);
    let address = match sections.get(id).kind() {
        // Its records have moved apart; what names the section means its start.
        SectionKind::EhFrame => eh_frame,
        _ => sections.address_of(id, symbol.offset()),
    };
    symbol.set_address(address);
}

/// The address of a symbol in a section of pieces. Seldom: strings and constants have no names that others
/// know.
#[inline(never)]
fn place_merged(symbol: &mut Symbol, section: &InputSection, layout: &Layout, merged: &[MergedPart]) {
    let (part, input) = section.merged();
    let part = merged.get(part);
    let at = part.and_then(|p| p.merged.output_offset(input, symbol.offset()));
    let base = part.map_or(Address::ZERO, |p| layout.chunks[p.chunk.index()].address());
    if symbol.offset() >= section.size {
        symbol.add(symbol_flags::OUTSIDE);
    }
    symbol.set_address(at.map_or(Address::ZERO, |at| base + at));
}

/// Values of names of functions' code.
pub fn place_codes(symbols: &mut Symbols, internals: &Internals, sections: &Sections) {
    for internal in &internals.list {
        if let Target::Code { symbol, section, offset } = internal.target {
            symbols.list[symbol.index()].set_address(sections.address_of(section, offset));
        }
    }
}

/// Values of what the linker defines. Aliases of aliases are followed in a bounded number of steps. Notes in
/// the layout what is a bound of which section.
pub fn place_internals(
    symbols: &mut Symbols,
    internals: &Internals,
    layout: &mut Layout,
    bases: &Bases,
    shared: bool,
) {
    let named = Named::find(layout, internals);
    let bound = |internal: &Internal| match &internal.target {
        Target::TlsModuleBase => thread_local(layout, shared),
        target => bounded(layout, &named, target),
    };
    layout.bounds = internals.list.iter().map(bound).collect();
    for _ in 0..4 {
        for (internal, bound) in internals.list.iter().zip(&layout.bounds) {
            let value = match &internal.target {
                Target::Computed { .. } => {
                    let value = layout.script.as_ref().and_then(|script| script.value_of(internal.id));
                    Address::new(value.map_or(0, |value| value.number))
                }
                target => Values { symbols, layout, internals, bases, shared }.value(target, *bound),
            };
            symbols.list[internal.id.index()].set_address(value);
        }
    }
}

/// What the values of the linker's own symbols follow from.
pub struct Values<'v> {
    pub symbols: &'v Symbols,
    pub layout: &'v Layout<'v>,
    pub internals: &'v Internals,
    pub bases: &'v Bases,
    /// The output is a shared library.
    pub shared: bool,
}

impl Values<'_> {
    /// The value of what the linker defines, as far as it is known while a script lays out.
    pub fn of(&self, target: &Target) -> Address {
        self.value(target, bounded(self.layout, &Named::find(self.layout, self.internals), target))
    }

    /// What stands for places in output sections and bounds of them, while the rest is not placed yet.
    pub fn by_sections(&self) -> HashMap<SymbolId, Address> {
        let named = Named::find(self.layout, self.internals);
        let value = |target: &Target| match target {
            Target::SectionStart(_)
            | Target::StartOfZeroes
            | Target::SectionLoad { .. }
            | Target::SectionEnd(_)
            | Target::Pointer { .. }
            | Target::ImageStart
            | Target::Headers
            | Target::EndOfText
            | Target::EndOfData
            | Target::End
            | Target::Absolute(_) => Some(self.value(target, bounded(self.layout, &named, target))),
            _ => None,
        };
        let one = |internal: &Internal| {
            let by_script = self.layout.script.as_ref().and_then(|script| script.value_of(internal.id));
            let by_script = by_script.map(|value| Address::new(value.number));
            Some((internal.id, by_script.or_else(|| value(&internal.target))?))
        };
        self.internals.list.iter().filter_map(one).collect()
    }

    /// The value of what the linker defines; `bound` is the section that it is a bound of ([`bounded`]).
    fn value(&self, target: &Target, bound: Option<OutputSectionId>) -> Address {
        let Values { symbols, layout, bases, shared, .. } = *self;
        let image = layout.image_base;
        let end_of = |id: Option<OutputSectionId>| id.map_or(image, |id| layout[id].end());
        match target {
            Target::SectionStart(_) => bound.map_or(image, |id| layout[id].address),
            Target::SectionLoad { end, .. } => bound.map_or(image, |id| {
                let out = &layout[id];
                if *end { out.load_address + out.size } else { out.load_address }
            }),
            Target::StartOfZeroes => match bound {
                Some(id) => layout[id].address,
                None => end_of(last(layout, |out| !out.is_nobits())),
            },
            Target::Pointer { offset, .. } => {
                bound.map_or(image, |id| layout[id].address).wrapping_add(*offset)
            }
            Target::SectionEnd(_) | Target::EndOfText | Target::EndOfData | Target::End => end_of(bound),
            Target::ImageStart => image,
            Target::Headers => layout.headers_address().unwrap_or(image),
            Target::GotBase => bases.got_base,
            Target::Dynamic => layout.chunk_address(ChunkKind::Dynamic),
            Target::FrameHeader => layout.chunk(ChunkKind::EhFrameHdr).map_or(image, |c| c.address()),
            Target::RelaIpltStart => resolver_relocs(layout).map_or(image, |c| c.address()),
            Target::RelaIpltEnd => resolver_relocs(layout).map_or(image, |c| c.address() + c.size),
            // In an executable, offsets from the module's block are those from the thread pointer; see
            // `apply`, which treats DTPOFF so.
            Target::TlsModuleBase if shared => bases.tls_start,
            Target::TlsModuleBase => bases.thread_pointer,
            Target::Absolute(value) => Address::new(*value),
            // It has its address already: [`place_codes`].
            Target::Code { symbol, .. } => symbols[*symbol].address(),
            Target::Version | Target::Computed { .. } => Address::ZERO,
            Target::Alias(id, offset) => symbols[*id].address().wrapping_add(*offset as u64),
        }
    }
}

/// The output sections that symbols ask for by name: the first and the last of each name.
struct Named<'n>(HashMap<&'n [u8], Option<(OutputSectionId, OutputSectionId)>>);

impl<'n> Named<'n> {
    fn find(layout: &Layout, internals: &'n Internals) -> Named<'n> {
        let mut all = HashMap::new();
        for internal in &internals.list {
            if let Target::SectionStart(name)
            | Target::SectionEnd(name)
            | Target::SectionLoad { section: name, .. }
            | Target::Pointer { section: name, .. } = &internal.target
            {
                all.insert(&name[..], None);
            }
        }
        if all.is_empty() {
            return Named(all);
        }
        for (id, out) in layout.with_ids() {
            if let Some(place) = all.get_mut(&*out.name) {
                // With --unique there may be several.
                let first = place.map_or(id, |(first, _)| first);
                *place = Some((first, id));
            }
        }
        Named(all)
    }

    fn get(&self, name: &[u8]) -> Option<(OutputSectionId, OutputSectionId)> {
        self.0.get(name).copied().flatten()
    }
}

/// What a program that nobody loads has relocations in: those that call resolvers, and no others.
fn resolver_relocs<'l>(layout: &'l Layout) -> Option<&'l Chunk> {
    layout.chunk(ChunkKind::RelaPlt).or_else(|| layout.chunk(ChunkKind::RelaDyn))
}

/// The section that something is a bound of, whatever else begins or ends there; `None` for what is no bound
/// of sections that there are.
fn bounded(layout: &Layout, named: &Named, target: &Target) -> Option<OutputSectionId> {
    match target {
        Target::SectionStart(name)
        | Target::SectionLoad { section: name, end: false }
        | Target::Pointer { section: name, .. } => named.get(name).map(|(first, _)| first),
        Target::SectionEnd(name) | Target::SectionLoad { section: name, end: true } => {
            named.get(name).map(|(_, last)| last)
        }
        Target::StartOfZeroes => first_zeroes(layout),
        Target::EndOfText => last(layout, |out| out.flags & crate::elf::SHF_EXECINSTR != 0),
        Target::EndOfData => last(layout, |out| !out.is_nobits()),
        Target::End => last(layout, |_| true),
        _ => None,
    }
}

/// The section of the template that the base of the module's thread-local storage is in: it begins the
/// template of a shared object and ends that of an executable.
fn thread_local(layout: &Layout, shared: bool) -> Option<OutputSectionId> {
    let mut all = layout.with_ids().filter(|(_, out)| out.flags & crate::elf::SHF_TLS != 0);
    let found = if shared { all.next() } else { all.last() };
    found.map(|(id, _)| id)
}

/// The section in memory that ends last of those that pass a test. Thread-local zeroes overlap what follows
/// them.
fn last(layout: &Layout, test: impl Fn(&OutputSection) -> bool) -> Option<OutputSectionId> {
    let all = layout.with_ids().filter(|(_, out)| out.is_alloc() && !is_tls_zeroes(out) && test(out));
    all.max_by_key(|(_, out)| out.end()).map(|(id, _)| id)
}

/// The section with which zeroes start that programs without a loader may have to clear themselves.
fn first_zeroes(layout: &Layout) -> Option<OutputSectionId> {
    let is_one = |out: &OutputSection| out.is_alloc() && matches!(&*out.name, b".bss" | b".sbss");
    let all = layout.with_ids().filter(|(_, out)| is_one(out));
    all.min_by_key(|(_, out)| out.address).map(|(id, _)| id)
}

/// The last address of the image, and its span in bytes; large sections count too, since GOT loads
/// of their symbols could be shortened like others.
pub fn extent(layout: &Layout) -> (Address, u64) {
    let alloc = layout.sections.iter().filter(|s| s.is_alloc());
    let end = alloc.map(|s| s.end()).max().unwrap_or_default();
    (end, end.since(layout.image_base))
}

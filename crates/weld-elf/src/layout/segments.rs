//! Program headers.
//!
//! The list of segments follows from the order of sections alone, so the size of the headers is
//! known before any address is. `place` then gives the addresses, and what segments span is measured.
//! Only whether the headers themselves can be loaded depends on addresses: where something was put
//! so low that they do not fit below it, all is done again without.
//!
//! Specification: gABI chapter 5 "Program Header"; `PT_GNU_*` from the LSB and the GNU tools.

use std::cmp::Reverse;

use super::error::LayoutError;
use super::program::{Memory, Program};
use super::*;
use crate::address::Address;
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::mode::Mode;
use crate::options::LayoutOptions;

/// Facts for the program headers that do not come from the sections.
#[derive(Clone, Copy)]
pub struct SegmentFacts {
    pub executable_stack: bool,
    /// `EI_OSABI` of the output.
    pub os_abi: u8,
    pub mode: Mode,
    pub pages: PageSizes,
}

/// What program headers follow from besides the sections: where these belong, and the facts.
#[derive(Clone, Copy)]
pub struct SegmentRules<'r> {
    pub program: &'r Program<'r>,
    pub facts: SegmentFacts,
}

/// The sizes of pages that count for the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSizes {
    /// For what the file is laid out.
    pub max: u64,
    /// With what pages protected data ends.
    pub common: u64,
    /// The largest that a kernel for the machine may have, whatever was asked for.
    pub kernel: u64,
}

impl PageSizes {
    /// What was asked for, or what the machine has.
    pub fn new(options: &LayoutOptions, machine: &Facts) -> PageSizes {
        let asked = options.common_page_size;
        let max = options.max_page_size.unwrap_or(machine.pages.max.max(asked.unwrap_or(0)));
        let common = asked.unwrap_or(machine.pages.common).min(max);
        PageSizes { max, common, kernel: machine.pages.max }
    }
}

/// Plans segments and assigns addresses and offsets. May be called again after chunk sizes changed.
pub fn assign(layout: &mut Layout, rules: SegmentRules) -> Result<(), LayoutError> {
    let SegmentRules { program, facts } = rules;
    if facts.mode.relocatable {
        return place::object(layout);
    }
    let options = program.options;
    layout.segments = plan(layout, rules, program.loads_headers());
    let default = if facts.mode.pic { Address::ZERO } else { facts.mode.facts().image_base };
    let page = facts.mode.facts().pages.smallest;
    layout.image_base = options.layout.image_base.map_or(default, Address::new);
    if !layout.image_base.is_multiple_of(page) {
        return Err(LayoutError::ImageBasePage { base: layout.image_base, page });
    }
    place::all(layout, options, facts)?;
    if options.layout.image_base.is_none() && !options.layout.section_starts.is_empty() {
        move_headers(layout, rules)?;
    }
    drop_empty_loads(layout);
    measure(layout, facts);
    if let Some(base) = options.layout.physical_image_base {
        load_elsewhere(layout, Address::new(base), page);
    }
    check_numbers(layout)?;
    if layout.raw {
        overlaps::check_sections(layout)?;
        return place::raw(layout);
    }
    if !options.layout.check_sections {
        return Ok(());
    }
    let page = page.min(facts.pages.max);
    let checked = overlaps::check(layout, page);
    if !matches!(checked, Err(LayoutError::SharedPage { .. })) {
        return checked;
    }
    if place::by_address(layout, options, (facts.pages, page))? {
        measure(layout, facts);
    }
    overlaps::check(layout, page)
}

/// Puts the headers, and the sections that come before the first one with an address of its own
/// (`-Ttext=0x7c00`), below all that have one; headers alone go right below, where code reaches them. Where
/// there is no room for them they are not loaded.
fn move_headers(layout: &mut Layout, rules: SegmentRules) -> Result<(), LayoutError> {
    let SegmentRules { program, facts } = rules;
    let options = program.options;
    let moved = |s: &OutputSection| s.start.is_some();
    let alloc = || layout.sections.iter().take_while(|s| s.is_alloc());
    let Some(lowest) = alloc().filter(|s| moved(s)).map(|s| s.address).min() else { return Ok(()) };
    let before = || alloc().take_while(|s| !moved(s));
    let headers = layout.segments.iter().any(|s| s.headers);
    if !headers && before().next().is_none() {
        layout.image_base = lowest;
        return Ok(());
    }
    let end = before().map(|s| s.end()).fold(layout.image_base + layout.headers_size(), Address::max);
    let page = facts.pages.max;
    let floor = lowest.aligned_down(page);
    // What stays after the headers needs no others nearby.
    if before().next().is_some() && end.checked_aligned(page).is_some_and(|end| end <= floor) {
        return Ok(());
    }
    let size = (end - layout.image_base).checked_next_multiple_of(page);
    match size.and_then(|size| floor.checked_back(size)) {
        Some(base) if !facts.mode.pic => layout.image_base = base,
        // What moves as a whole begins at 0, however far below.
        Some(_) => return Ok(()),
        _ if headers && before().next().is_none() => {
            if facts.mode.interp {
                return Err(LayoutError::NoRoomForHeaders { lowest });
            }
            layout.segments = plan(layout, rules, false);
            layout.image_base = floor;
        }
        _ => return Ok(()),
    }
    place::all(layout, options, facts)
}

/// `--physical-image-base`: has the image loaded from `base` on. What is loaded where it runs needs no
/// copying, so that goes on as long as segments do not lie further apart than two pages; from then on they
/// are loaded one after the other.
fn load_elsewhere(layout: &mut Layout, base: Address, page: u64) {
    let Layout { segments, sections, .. } = layout;
    let (mut next, mut stays) = (base, true);
    for load in segments.iter_mut().filter(|segment| segment.kind == PT_LOAD) {
        let gap = load.address.checked_sub(next).filter(|gap| *gap < 2 * page);
        stays &= if next == base { load.address == base } else { gap.is_some() };
        load.load_address = if stays { load.address } else { next };
        next = load.load_address.saturating_add(load.mem_size);
        for out in &mut sections[load.sections.clone()] {
            out.load_address = load.load_address.wrapping_add(out.address.wrapping_sub(load.address));
        }
    }
    let headers = segments.iter().find(|s| s.kind == PT_LOAD && s.headers);
    let headers = headers.map_or(0, |load| load.load_address.wrapping_sub(load.address));
    for segment in segments.iter_mut().filter(|s| s.kind != PT_LOAD) {
        segment.load_address = match segment.kind {
            PT_PHDR => segment.address.wrapping_add(headers),
            _ => load_address(segment, sections[segment.sections.clone()].first()),
        };
    }
}

/// Leaves out loadable segments of which nothing is in memory. The room for their headers stays, so that no
/// address depends on what turns out to be empty.
fn drop_empty_loads(layout: &mut Layout) {
    let sections = &layout.sections;
    layout.segments.retain(|segment| segment.kind != PT_LOAD || has_memory(segment, sections));
}

/// Whether something of a loadable segment is in memory.
pub(super) fn has_memory(segment: &Segment, sections: &[OutputSection]) -> bool {
    let span = &sections[segment.sections.clone()];
    segment.headers || span.iter().any(|out| out.size > 0 && !is_tls_zeroes(out))
}

/// Thread-local zeroes are part of no loadable segment.
pub fn is_tls_zeroes(out: &OutputSection) -> bool {
    out.is_tls() && out.is_nobits()
}

/// Fills the segments' numbers from their sections.
pub(super) fn measure(layout: &mut Layout, facts: SegmentFacts) {
    let headers = layout.headers_size();
    let sections = &layout.sections;
    // A script says itself what program headers that it lists allow.
    let listed = layout.script.as_ref().is_some_and(|script| script.lists_segments());
    let unread = if listed { 0 } else { facts.mode.facts().execute_only };
    let index = layout.chunk(ChunkKind::CodeIndex).map(|chunk| (chunk.offset(), chunk.size));
    for segment in &mut layout.segments {
        if segment.kind == PT_PHDR {
            let start = layout.format.size::<Ehdr>();
            segment.offset = FileOffset::START + start;
            segment.address = layout.image_base + start;
            segment.load_address = segment.address;
            segment.file_size = headers - start;
            segment.mem_size = segment.file_size;
            continue;
        }
        let span = &sections[segment.sections.clone()];
        let template = segment.kind == PT_TLS;
        let outside = |out: &&OutputSection| is_tls_zeroes(out) && !template;
        let (mut file_end, mut end) = (FileOffset::START, Address::ZERO);
        if segment.headers {
            segment.offset = FileOffset::START;
            segment.address = layout.image_base;
            (file_end, end) = (FileOffset::START + headers, layout.image_base + headers);
        } else if let Some(first) = span.iter().find(|s| !outside(s) && !is_apart(s, segment)) {
            segment.offset = first.offset;
            segment.address = first.address;
            if segment.kind == PT_LOAD && first.is_nobits() {
                let units = [segment.align, facts.pages.common];
                (segment.offset, segment.address) = start_of_zeroes(units, span, first);
            }
            (file_end, end) = (segment.offset, segment.address);
        }
        for out in span.iter().filter(|s| !outside(s)) {
            if !out.is_nobits() {
                file_end = out.offset + out.size;
            }
            end = end.max(out.end());
            // A read-only section of the template may lie apart from the others, and what lies between counts
            // not.
            if !matches!(segment.kind, PT_LOAD | PT_GNU_STACK) && (!template || out.is_tls()) {
                segment.align = segment.align.max(out.align);
            }
        }
        if segment.kind == PT_GNU_STACK {
            continue;
        }
        if segment.kind == PT_LOAD
            && segment.flags == PF_R | PF_X
            && !segment.headers
            && is_unread(span, unread)
        {
            segment.flags = PF_X;
        }
        if segment.kind == PT_GNU_RELRO {
            end = end.checked_aligned(facts.pages.common).unwrap_or(end);
            segment.align = 1;
        }
        segment.file_size = file_end - segment.offset;
        segment.mem_size = end - segment.address;
        // A script may have put something else in front of it.
        if facts.mode.facts().is_code_index(segment.kind)
            && let Some((offset, size)) = index
        {
            (segment.offset, segment.address) = (segment.offset + offset, segment.address + offset);
            segment.load_address = segment.load_address + offset;
            (segment.file_size, segment.mem_size, segment.align) = (size, size, 4);
        }
        if !segment.loads_at {
            segment.load_address = load_address(segment, span.first());
        }
        while segment.kind == PT_LOAD
            && !segment.offset.distance(segment.address).is_multiple_of(segment.align)
        {
            // A fixed image base may be less aligned than a section after it.
            segment.align /= 2;
        }
    }
    extend_relro_loads(layout);
    if !layout.script.as_ref().is_some_and(|script| script.lists_segments()) {
        sort_loads(layout);
    }
}

/// Whether a section that begins a segment of memory is empty and has an offset that pages cannot have there:
/// after zeroes, such sections take no room in the file.
fn is_apart(out: &OutputSection, segment: &Segment) -> bool {
    out.size == 0
        && segment.kind == PT_LOAD
        && !out.is_nobits()
        && !out.offset.distance(out.address).is_multiple_of(segment.align)
}

/// Whether all sections say by flag `unread` that nobody reads them.
fn is_unread(sections: &[OutputSection], unread: u64) -> bool {
    let mut with_bytes = sections.iter().filter(|out| out.size > 0);
    unread != 0 && sections.iter().any(|out| out.size > 0) && with_bytes.all(|out| out.flags & unread != 0)
}

/// Offset and address of a loadable segment that begins with a section without contents, its `first`. They
/// agree in the larger of the `units`, its alignment and that of pages, in which they can.
fn start_of_zeroes(units: [u64; 2], span: &[OutputSection], first: &OutputSection) -> (FileOffset, Address) {
    if let Some(contents) = span.iter().find(|s| !s.is_nobits()) {
        // Contents follow, so it has room in the file.
        let distance = contents.address.wrapping_sub(first.address);
        return (FileOffset(contents.offset.0.saturating_sub(distance)), first.address);
    }
    // What has no contents may begin anywhere in the file. It begins in memory with its first section: pages
    // before that are others'.
    let first_offset = first.offset.0;
    let down = |unit: &u64| first_offset.checked_sub(first_offset.wrapping_sub(first.address.get()) % unit);
    (FileOffset(units.iter().find_map(down).unwrap_or(first.address.get() % units[1])), first.address)
}

/// Program headers of 32 bits cannot say everything that may be asked for.
pub(super) fn check_numbers(layout: &Layout) -> Result<(), LayoutError> {
    let max = layout.format.max_address();
    for s in &layout.segments {
        if [s.offset.0, s.address.get(), s.load_address.get(), s.file_size, s.mem_size, s.align]
            .iter()
            .any(|&n| n > max)
        {
            let (size, address, align) = (s.mem_size, s.address, s.align);
            return Err(LayoutError::SegmentBeyondAddresses { address, size, align });
        }
    }
    Ok(())
}

/// The load address of a segment: as far from its address as that of its first section.
fn load_address(segment: &Segment, first: Option<&OutputSection>) -> Address {
    let distance = first.map_or(0, |out| out.load_address.wrapping_sub(out.address));
    segment.address.wrapping_add(distance)
}

/// The page that relro ends in belongs to it, so its loadable segment must reach that far. Only where
/// nothing follows, and the last section is smaller than the strictest alignment, does it not.
fn extend_relro_loads(layout: &mut Layout) {
    let relro = layout.segments.iter().find(|s| s.kind == PT_GNU_RELRO);
    let Some((start, end)) = relro.map(|s| (s.address, s.address + s.mem_size)) else { return };
    for load in layout.segments.iter_mut().filter(|s| s.kind == PT_LOAD) {
        if load.address <= start && start < load.address + load.mem_size {
            load.mem_size = load.mem_size.max(end - load.address);
        }
    }
}

/// Loadable segments are listed by address, wherever `--section-start` put them. Those of `PHDRS` stay as
/// they are listed there.
fn sort_loads(layout: &mut Layout) {
    let is_load = |s: &Segment| s.kind == PT_LOAD;
    let (first, last) = (layout.segments.iter().position(is_load), layout.segments.iter().rposition(is_load));
    if let (Some(first), Some(last)) = (first, last) {
        layout.segments[first..=last].sort_by_key(|s| s.address);
    }
}

/// Sections that OpenBSD's loader or kernel finds by segments of their own: data that it makes read-only
/// late, data that it fills with random bytes, and the places that may call the kernel.
const OPENBSD: &[(&[u8], u32)] = &[
    (b".openbsd.mutable", PT_OPENBSD_MUTABLE),
    (b".openbsd.randomdata", PT_OPENBSD_RANDOMIZE),
    (b".openbsd.syscalls", PT_OPENBSD_SYSCALLS),
];

/// `headers`: whether the headers are loaded.
fn plan(layout: &Layout, rules: SegmentRules, headers: bool) -> Vec<Segment> {
    let alloc = layout.sections.iter().take_while(|s| s.is_alloc()).count();
    plan_with(layout, rules, headers, |list| {
        plan_loads(&layout.sections[..alloc], rules, headers, list);
    })
}

/// All program headers; `plan_loads` adds those that are loaded.
pub(super) fn plan_with(
    layout: &Layout,
    SegmentRules { program, facts }: SegmentRules,
    headers: bool,
    plan_loads: impl FnOnce(&mut Vec<Segment>),
) -> Vec<Segment> {
    let options = program.options;
    let sections = &layout.sections;
    let alloc = sections.iter().take_while(|s| s.is_alloc()).count();
    let mut list = Vec::new();
    // Inputs may have sections of the same name.
    let has = |kind: ChunkKind| layout.chunk(kind).map(|c| c.out.index());
    if headers {
        list.push(segment(PT_PHDR, PF_R, 0..0, layout.format.word()));
    }
    // What inputs have by that name does as well: that is how glibc makes a library that runs.
    let from_inputs =
        || sections[..alloc].iter().position(|s| *s.name == *b".interp" && !s.is_nobits() && s.size > 0);
    if let Some(i) = has(ChunkKind::Interp).or_else(from_inputs) {
        list.push(segment(PT_INTERP, PF_R, i..i + 1, 1));
    }
    plan_loads(&mut list);
    let find = |test: &dyn Fn(&OutputSection) -> bool| {
        let first = sections[..alloc].iter().position(test)?;
        let last = sections[..alloc].iter().rposition(test)?;
        Some(first..last + 1)
    };
    if let Some(span) = find(&|s| s.is_tls()) {
        list.push(segment(PT_TLS, PF_R, span, 1));
    }
    if let Some(i) = has(ChunkKind::Dynamic) {
        let flags = if options.layout.rodynamic { PF_R } else { PF_R | PF_W };
        list.push(segment(PT_DYNAMIC, flags, i..i + 1, layout.format.word()));
    }
    // What is empty may be in no loadable segment.
    if let Some(span) = find(&|s| s.is_relro() && s.size > 0 && !is_tls_zeroes(s)) {
        list.push(segment(PT_GNU_RELRO, PF_R, span, 1));
    }
    for (name, kind) in OPENBSD.iter().filter(|_| facts.os_abi == ELFOSABI_OPENBSD) {
        if let Some(span) = find(&|s| *s.name == **name) {
            list.push(segment(*kind, program.rights(sections[span.start].memory), span, 1));
        }
    }
    if let Some(i) = has(ChunkKind::EhFrameHdr) {
        list.push(segment(PT_GNU_EH_FRAME, PF_R, i..i + 1, 4));
    }
    if options.layout.gnustack {
        let stack = PF_R | PF_W | if facts.executable_stack { PF_X } else { 0 };
        let mut stack = segment(PT_GNU_STACK, stack, 0..0, 0);
        stack.mem_size = options.layout.stack_size.unwrap_or(0);
        list.push(stack);
    }
    let marks =
        [(options.layout.nobtcfi, PT_OPENBSD_NOBTCFI), (options.layout.wxneeded, PT_OPENBSD_WXNEEDED)];
    list.extend(marks.iter().filter(|(asked, _)| *asked).map(|&(_, kind)| segment(kind, PF_X, 0..0, 0)));
    plan_notes(&sections[..alloc], &mut list);
    list.extend(of_single_sections(layout));
    list.extend(spare(program));
    list
}

/// Those of sections that have one each, the machine's own first.
pub(super) fn of_single_sections(layout: &Layout) -> Vec<Segment> {
    // Readers look for a note among others, but take anything else for the whole of its segment.
    let is_findable = |chunk: &&Chunk| {
        let out = &layout[chunk.out];
        out.own == Some(chunk.kind) || out.kind == SHT_NOTE || chunk.kind == ChunkKind::CodeIndex
    };
    let found = layout.single_chunks().filter(is_findable);
    let mut found: Vec<_> = found.filter_map(|chunk| Some((chunk.segment?, chunk))).collect();
    found.sort_by_key(|(kind, _)| Reverse(*kind));
    let header = |(kind, chunk): (u32, &Chunk)| {
        let out = chunk.out.index();
        segment(kind, PF_R, out..out + 1, chunk.align)
    };
    found.into_iter().map(header).collect()
}

/// `--spare-program-headers`
pub(super) fn spare(program: &Program) -> impl Iterator<Item = Segment> {
    (0..program.options.layout.spare_headers).map(|_| segment(PT_NULL, 0, 0..0, 0))
}

pub(super) fn segment(kind: u32, flags: u32, sections: std::ops::Range<usize>, align: u64) -> Segment {
    Segment {
        kind,
        flags,
        sections,
        offset: FileOffset::START,
        address: Address::ZERO,
        load_address: Address::ZERO,
        file_size: 0,
        mem_size: 0,
        align,
        headers: false,
        loads_at: false,
    }
}

/// Data that becomes read-only has a segment of its own, of whole pages: what fills the last of them is a
/// section, so that tools that go by sections do not cut it off.
fn plan_loads(sections: &[OutputSection], rules: SegmentRules, headers: bool, list: &mut Vec<Segment>) {
    let (program, page) = (rules.program, rules.facts.pages.max);
    let mut load = headers.then(|| segment(PT_LOAD, program.rights(Memory::ReadOnly), 0..0, page));
    load.iter_mut().for_each(|load| load.headers = true);
    let mut previous: Option<&OutputSection> = None;
    for (i, out) in sections.iter().enumerate().filter(|(_, s)| !is_tls_zeroes(s)) {
        let moved = out.start.is_some();
        let bits_after_nobits = previous.is_some_and(|p| p.is_nobits()) && !out.is_nobits();
        let large = previous.is_some_and(|p| p.large != out.large);
        let rights = program.rights_of(out);
        let other = load.as_ref().is_none_or(|load| load.flags != rights);
        let behind_relro = previous.is_some_and(|p| p.pads_relro);
        let apart = (bits_after_nobits || large) && out.size > 0;
        if other || moved || behind_relro || apart {
            list.extend(load.replace(segment(PT_LOAD, rights, i..i, page)));
        }
        let Some(load) = &mut load else { continue };
        load.align = load.align.max(out.align);
        load.sections.end = i + 1;
        previous = Some(out);
    }
    list.extend(load);
}

/// Neighbouring notes of one alignment share a `PT_NOTE`: readers step through it by that alignment.
fn plan_notes(sections: &[OutputSection], list: &mut Vec<Segment>) {
    let mut current: Option<(Segment, u64)> = None;
    for (i, out) in sections.iter().enumerate() {
        let note = out.kind == SHT_NOTE;
        match &mut current {
            Some((segment, align)) if note && *align == out.align && segment.sections.end == i => {
                segment.sections.end = i + 1;
            }
            _ => {
                list.extend(current.take().map(|c| c.0));
                if note {
                    current = Some((segment(PT_NOTE, PF_R, i..i + 1, out.align), out.align));
                }
            }
        }
    }
    list.extend(current.map(|c| c.0));
}

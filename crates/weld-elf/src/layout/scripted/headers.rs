//! Program headers and offsets in the file of a layout by a script.
//!
//! With `PHDRS` they are as that says. Else neighbours share a loadable segment as long as they may be
//! treated alike, no page of memory between them would be wasted, and their load addresses are as far from
//! their addresses. Sections that share a page share a segment in any case: a script decides on addresses, so
//! nothing can be moved apart. The ELF header and the program headers are loaded if there is room for them on
//! the first page.
//!
//! Source: gABI chapter 5 "Program Header"; GNU ld manual, "PHDRS Command".

use weld_common::runs::align_to;

use super::evaluate::Pass;
use super::*;
use crate::address::Address;
use crate::elf::*;
use crate::layout::overlaps;
use crate::layout::place;
use crate::layout::program::{Memory, Program};
use crate::layout::segments::{self, SegmentFacts, SegmentRules, is_tls_zeroes};
use crate::layout::{Chunk, ChunkKind, FileOffset, OutputSection, Segment};

/// Passes after which a script that still changes is given up.
const PASSES: usize = 32;
/// From this pass on headers that no longer fit where they were stay out: with a program header less they
/// would fit again, and so on. And `SIZEOF_HEADERS` gets no smaller: what a script places after it may need a
/// program header less then, and one more again.
const STEADY: usize = 4;

/// Gives everything its address, and the file its program headers.
///
/// # Errors
/// All that is wrong about the script's values, or if they do not settle.
pub fn assign<'a>(
    draft: &mut Draft<'_, 'a>,
    world: &World<'_, 'a>,
    rules: SegmentRules,
    parallel: bool,
) -> Result<(), LayoutError> {
    let Some(mut script) = draft.layout.script.take() else { return Ok(()) };
    let result = settle(&mut script, draft, world, rules, parallel);
    draft.layout.script = Some(script);
    result?;
    if rules.program.is_object() {
        return place::object(draft.layout);
    }
    finish(draft.layout, rules)
}

/// Computes what a script does beside the default layout, where everything has its address.
///
/// # Errors
/// All that is wrong about the script's values.
pub fn compute<'a>(
    draft: &mut Draft<'_, 'a>,
    world: &World<'_, 'a>,
    rules: SegmentRules,
) -> Result<(), LayoutError> {
    let Some(mut script) = draft.layout.script.take() else { return Ok(()) };
    let mut result = Ok(());
    let (mut before, mut earlier) = (Vec::new(), Vec::new());
    // What is used before it is assigned to is known in the next pass.
    for number in 0..=PASSES {
        if number == PASSES {
            result = Err(unsettled("values", &script, &earlier).into());
            break;
        }
        let mut pass = Pass::new(&mut script, draft, world, rules);
        pass.run();
        let errors = std::mem::take(&mut pass.errors);
        let now = script.values();
        if now == before {
            result = if errors.is_empty() { Ok(()) } else { Err(LayoutError::Several(errors)) };
            break;
        }
        earlier = std::mem::replace(&mut before, now);
    }
    draft.layout.script = Some(script);
    result
}

/// `before` is what symbols were in the last pass but one.
fn unsettled(what: &'static str, script: &Scripted, before: &[Value]) -> ScriptError {
    let symbol = script.changed(before).map(|name| name.to_string());
    ScriptError::Unsettled { what, passes: PASSES, symbol }
}

fn settle<'a>(
    script: &mut Scripted,
    draft: &mut Draft<'_, 'a>,
    world: &World<'_, 'a>,
    rules: SegmentRules,
    parallel: bool,
) -> Result<(), LayoutError> {
    let mut before = Vec::new();
    let mut earlier = Vec::new();
    let mut had_headers = false;
    for number in 0..PASSES {
        if number + 1 == PASSES {
            earlier = script.values();
        }
        let mut pass = Pass::new(script, draft, world, rules);
        pass.run();
        let mut errors = std::mem::take(&mut pass.errors);
        let Draft { layout, sections } = &mut *draft;
        if !rules.program.is_object() {
            mark_relro(script, layout, rules);
            layout.segments = plan(script, layout, rules, &mut errors)?;
            let has_headers = layout.segments.iter().any(|segment| segment.headers);
            script.without_headers |= number >= STEADY && had_headers && !has_headers;
            had_headers = has_headers;
            if number >= STEADY {
                script.room_for_headers = script.room_for_headers.max(layout.headers_size());
            }
        }
        if script.needs_places {
            place_members(script, layout, sections, parallel);
        }
        let now = state(script, layout);
        if now == before {
            if !errors.is_empty() {
                return Err(LayoutError::Several(errors));
            }
            if script.sort_linked(layout) {
                before.clear();
                continue;
            }
            if !script.needs_places {
                place_members(script, layout, sections, parallel);
            }
            return Ok(());
        }
        before = now;
    }
    Err(unsettled("addresses", script, &earlier).into())
}

/// All that a pass may change and another one may see.
fn state(script: &Scripted, layout: &Layout) -> Vec<u64> {
    let of_sections =
        layout.sections.iter().flat_map(|s| [s.address.get(), s.load_address.get(), s.size, s.align]);
    let rest = [layout.segments.len() as u64, script.data_segment.padding];
    let data = script.data.iter().flatten().map(|byte| u64::from(*byte));
    let values = script.assigned.iter().flat_map(|assigned| assigned.value.in_numbers());
    of_sections.chain(values).chain(rest).chain(data).collect()
}

/// What becomes read-only is what the script says (`DATA_SEGMENT_RELRO_END`), or what the default layout does
/// if that has pages of its own. With `.relro_padding`, as the default layout has it as a script, that is all
/// from the first such section up to there.
fn mark_relro(script: &Scripted, layout: &mut Layout, rules: SegmentRules) {
    let SegmentRules { program, facts: SegmentFacts { pages, .. } } = rules;
    let segment = script.data_segment;
    let page = pages.common;
    let loads = |s: &OutputSection| s.is_alloc() && s.flags & SHF_WRITE != 0 && s.flags & SHF_EXECINSTR == 0;
    if let Some(end) = segment.relro_end {
        for out in layout.sections.iter_mut().filter(|s| loads(s)) {
            let inside = out.address.get() >= segment.base && out.end().get() <= end;
            out.memory = if inside { Memory::Relro } else { Memory::Data };
        }
        return;
    }
    layout.sections.iter_mut().filter(|s| loads(s)).for_each(|out| out.memory = program.usual_memory(out));
    if let Some(padding) = layout.sections.iter().position(|s| s.pads_relro)
        && let Some(first) = layout.sections[..padding].iter().position(|s| s.is_alloc() && s.is_relro())
    {
        let inside = layout.sections[first..padding].iter_mut().filter(|s| loads(s));
        inside.for_each(|out| out.memory = Memory::Relro);
    }
    let is_it = |s: &OutputSection| s.is_relro() && s.size > 0 && !is_tls_zeroes(s);
    let first = layout.sections.iter().position(is_it);
    let last = layout.sections.iter().rposition(is_it);
    let (Some(first), Some(last)) = (first, last) else { return };
    let inner = &layout.sections[first..=last];
    let contiguous = inner.iter().all(|s| s.is_relro() || s.size == 0);
    let end = inner.iter().map(|s| s.end()).max().unwrap_or_default();
    let next = layout.sections[last + 1..].iter().filter(|s| s.is_alloc() && s.size > 0);
    let apart =
        next.clone().all(|s| s.address.get() >= align_to(end.get(), page) || s.end() <= inner[0].address);
    let start = inner[0].address;
    let before = layout
        .sections
        .iter()
        .filter(|s| s.is_alloc() && s.size > 0 && s.address < start && !is_tls_zeroes(s));
    let starts =
        start.is_multiple_of(page) || before.clone().all(|s| s.end() <= start.aligned_down(pages.max));
    if !(contiguous && apart && starts) {
        layout.sections.iter_mut().filter(|s| s.is_relro()).for_each(|out| out.memory = Memory::Data);
    }
}

/// The program headers, without numbers. `errors` is for what is wrong about addresses, which may be others
/// in the next pass.
fn plan(
    script: &Scripted,
    layout: &mut Layout,
    rules: SegmentRules,
    errors: &mut Vec<LayoutError>,
) -> Result<Vec<Segment>, LayoutError> {
    match &script.script.phdrs {
        Some(_) => {
            let mut list = explicit(script, layout, rules, errors)?;
            list.extend(segments::spare(rules.program));
            Ok(list)
        }
        None => {
            let loads = loads(layout, rules);
            let headers = headers_base(layout, &loads, rules).filter(|_| !script.without_headers);
            let count = layout.sections.iter().take_while(|s| s.is_alloc()).count();
            let mut list = segments::plan_with(layout, rules, headers.is_some(), |list| {
                list.extend(loads);
                if let Some(first) = list.iter_mut().find(|s| s.kind == PT_LOAD).filter(|_| headers.is_some())
                {
                    first.headers = true;
                    if first.sections.is_empty() {
                        first.sections = 0..count.min(1);
                    }
                }
            });
            list = list.into_iter().flat_map(|segment| by_distance(layout, segment)).collect();
            if headers.is_none() {
                list.retain(|segment| segment.kind != PT_PHDR);
            }
            layout.image_base = headers.unwrap_or_else(|| lowest(layout));
            Ok(list)
        }
    }
}

/// Notes whose load addresses are not as far from their addresses are in program headers of their own.
fn by_distance(layout: &Layout, segment: Segment) -> Vec<Segment> {
    if segment.kind != PT_NOTE {
        return vec![segment];
    }
    let distance = |i: &usize| {
        let out = &layout.sections[*i];
        out.load_address.wrapping_sub(out.address)
    };
    let all: Vec<usize> = segment.sections.clone().collect();
    let parts = all.chunk_by(|a, b| distance(a) == distance(b));
    parts.map(|part| Segment { sections: part[0]..part[part.len() - 1] + 1, ..segment.clone() }).collect()
}

fn lowest(layout: &Layout) -> Address {
    let alloc = layout.sections.iter().filter(|s| s.is_alloc() && s.size > 0 && !is_tls_zeroes(s));
    alloc.map(|s| s.address).min().unwrap_or_default()
}

/// Where the headers are loaded: on the page where the first segment begins, if there is room before it.
fn headers_base(layout: &Layout, loads: &[Segment], rules: SegmentRules) -> Option<Address> {
    let SegmentRules { program, facts } = rules;
    let first = loads.first()?;
    let start = layout.sections[first.sections.start].address;
    if !program.loads_headers() || start != lowest(layout) {
        return None;
    }
    // As many as there will be; one more or less is found in the next pass.
    let base = start.aligned_down(facts.pages.max);
    (start - base >= layout.headers_size() && layout.headers_size() > 0).then_some(base)
}

/// Loadable segments where the script does not say which.
fn loads(layout: &Layout, rules: SegmentRules) -> Vec<Segment> {
    let SegmentRules { program, facts } = rules;
    let page = facts.pages.max;
    let mut list: Vec<Segment> = Vec::new();
    let mut previous: Option<&OutputSection> = None;
    for (i, out) in layout.sections.iter().enumerate() {
        if !out.is_alloc() || is_tls_zeroes(out) || out.size == 0 {
            continue;
        }
        let rights = program.rights_of(out);
        let joins = match (previous, list.last()) {
            (Some(before), Some(load)) => {
                let end = before.end();
                let distance = |s: &OutputSection| s.load_address.wrapping_sub(s.address);
                let same_page =
                    out.address >= end && out.address.page(page) == end.get().saturating_sub(1) / page;
                let near =
                    out.address >= end && out.address.aligned_down(page).get() <= align_to(end.get(), page);
                let alike =
                    load.flags == rights && !before.pads_relro && (!before.is_nobits() || out.is_nobits());
                distance(before) == distance(out) && (same_page || near && alike)
            }
            _ => false,
        };
        match list.last_mut().filter(|_| joins) {
            Some(load) => {
                load.flags |= rights;
                load.sections.end = i + 1;
                load.align = load.align.max(out.align);
            }
            None => {
                let align = if program.loads_headers() { page.max(out.align) } else { out.align };
                list.push(segments::segment(PT_LOAD, rights, i..i + 1, align));
            }
        }
        previous = Some(out);
    }
    list
}

/// Those of `PHDRS`.
fn explicit(
    script: &Scripted,
    layout: &mut Layout,
    SegmentRules { program, facts }: SegmentRules,
    errors: &mut Vec<LayoutError>,
) -> Result<Vec<Segment>, LayoutError> {
    let headers = script.script.phdrs.as_deref().unwrap_or_default();
    let mut list: Vec<Segment> = Vec::with_capacity(headers.len());
    for header in headers {
        let align = match header.kind {
            PT_LOAD if program.loads_headers() => facts.pages.max,
            PT_PHDR => layout.format.word(),
            _ => 1,
        };
        let mut segment = segments::segment(header.kind, 0, 0..0, align);
        segment.headers = header.kind == PT_LOAD && (header.file_header || header.program_headers);
        list.push(segment);
    }
    assign_sections(script, layout, program, &mut list)?;
    for (segment, &[address, flags]) in list.iter_mut().zip(&script.header_values) {
        if segment.kind == PT_GNU_STACK && segment.flags == 0 {
            segment.flags = PF_R | PF_W;
        }
        if segment.kind == PT_PHDR && segment.flags == 0 {
            segment.flags = PF_R;
        }
        segment.flags = flags.map_or(segment.flags, |flags| flags as u32);
        segment.load_address = address.map_or(segment.load_address, Address::new);
        segment.loads_at |= address.is_some();
    }
    // The machine's own need not be listed: GNU ld and ld.lld have them, too, and tools that copy a file make
    // those that are missing, for which there is no room then.
    for own in segments::of_single_sections(layout) {
        if own.kind >= PT_LOPROC && list.iter().all(|segment| segment.kind != own.kind) {
            list.push(own);
        }
    }
    let size = layout.format.size::<Ehdr>() + list.len() as u64 * layout.format.size::<Phdr>();
    layout.image_base = match list.iter().find(|segment| segment.headers) {
        None => lowest(layout),
        Some(first) => {
            let start =
                layout.sections[first.sections.clone()].first().map_or(Address::new(size), |out| out.address);
            let page = facts.pages.max;
            // On the page of the first section, or in front of it.
            let before = || start.checked_back(align_to(size, page)).map(|at| at.aligned_down(page));
            match start - start.aligned_down(page) >= size {
                true => start.aligned_down(page),
                false => before().unwrap_or_else(|| {
                    errors.push(ScriptError::NoRoomForHeaders { lowest: start }.into());
                    start
                }),
            }
        }
    };
    Ok(list)
}

/// Gives each section to the program headers that it names, or that the one before it did.
fn assign_sections(
    script: &Scripted,
    layout: &Layout,
    program: &Program,
    list: &mut [Segment],
) -> Result<(), LayoutError> {
    let first_load = list.iter().position(|segment| segment.kind == PT_LOAD);
    let mut current: Option<&[usize]> = None;
    let ended = script.steps.iter().filter_map(|step| match step {
        Step::End(block) => Some(&script.blocks[*block]),
        _ => None,
    });
    for block in ended {
        // What an empty section names holds for those after it, too.
        current = block.phdrs.as_deref().or(current);
        let Some(i) = block.out.map(|out| out.index()) else { continue };
        let out = &layout.sections[i];
        if !out.is_alloc() {
            for &number in block.phdrs.iter().flatten() {
                add_unloaded(&mut list[number], i, layout);
            }
            continue;
        }
        for &number in current.unwrap_or(first_load.as_slice()) {
            let segment = &mut list[number];
            // An orphan is loaded, and nothing else.
            let is_others = block.place.is_none() && current.is_some() && segment.kind != PT_LOAD;
            if is_others || is_tls_zeroes(out) && segment.kind != PT_TLS {
                continue;
            }
            segment.flags |= program.rights(out.memory);
            segment.align = segment.align.max(if segment.kind == PT_LOAD { out.align } else { 1 });
            match segment.sections.is_empty() {
                true => segment.sections = i..i + 1,
                false => segment.sections.end = i + 1,
            }
        }
    }
    Ok(())
}

/// A section that is not loaded can be in a program header, which then says where it is in the file; in one
/// of its own.
fn add_unloaded(segment: &mut Segment, i: usize, layout: &Layout) {
    let alone = segment.sections.is_empty();
    if segment.kind == PT_LOAD || !alone && segment.sections.end != i {
        return;
    }
    if alone {
        segment.sections = i..i + 1;
    } else if !layout.sections[segment.sections.start].is_alloc() {
        segment.sections.end = i + 1;
    }
    segment.flags |= PF_R;
}

/// Offsets in the file, and what segments span.
fn finish(layout: &mut Layout, rules: SegmentRules) -> Result<(), LayoutError> {
    let SegmentRules { program, facts } = rules;
    debug_assert!(
        layout.chunks.iter().all(|chunk| is_inside(layout, chunk)),
        "a chunk is outside of its section"
    );
    offsets(layout, rules)?;
    place::behind(layout, program.options.layout.sectionheader)?;
    segments::measure(layout, facts);
    segments::check_numbers(layout)?;
    if !program.options.layout.check_sections {
        return if layout.raw { place::raw(layout) } else { Ok(()) };
    }
    check_overlaps(layout)?;
    if layout.raw {
        return place::raw(layout);
    }
    Ok(())
}

impl Scripted {
    /// What is wrong with program headers by `PHDRS` for whoever loads the file: sections in memory that are
    /// not loaded, or are not where a loader looks for them; and whether the file is of no use by that.
    pub fn not_loaded(&self, layout: &Layout) -> Vec<(String, bool)> {
        if self.script.phdrs.is_none() || layout.raw {
            return Vec::new();
        }
        let dynamic = layout.chunk(ChunkKind::Dynamic).map(|chunk| chunk.out);
        let unloaded: Vec<_> =
            self.blocks.iter().filter(|block| block.unloaded).filter_map(|b| b.out).collect();
        let mut list = Vec::new();
        for (id, out) in layout.with_ids() {
            let is_loaded = |s: &Segment| s.kind == PT_LOAD && s.sections.contains(&id.index());
            if !out.is_alloc()
                || out.size == 0
                || is_tls_zeroes(out)
                || unloaded.contains(&id)
                || layout.segments.iter().any(is_loaded)
            {
                continue;
            }
            let name = String::from_utf8_lossy(&out.name);
            list.push((
                format!("section {name} is in memory, but in no loadable program header of PHDRS"),
                Some(id) == dynamic,
            ));
        }
        let mut named = layout.segments.iter().filter(|s| s.kind == PT_DYNAMIC && !s.sections.is_empty());
        if let Some(first) = named.find(|s| dynamic.is_none_or(|id| s.sections.start != id.index())) {
            let name = String::from_utf8_lossy(&layout.sections[first.sections.start].name);
            list.push((format!("section {name} is where PHDRS has the dynamic section (PT_DYNAMIC)"), true));
        }
        list
    }
}

fn is_inside(layout: &Layout, chunk: &Chunk) -> bool {
    let out = layout.sections.get(chunk.out.index());
    out.is_none_or(|out| chunk.offset().checked_add(chunk.size).is_some_and(|end| end <= out.size))
}

/// Nothing in memory lies on anything else, but for overlays; and nothing is loaded onto anything else.
fn check_overlaps(layout: &Layout) -> Result<(), LayoutError> {
    let Some(script) = &layout.script else { return Ok(()) };
    let takes = |s: &OutputSection| s.is_alloc() && s.size > 0 && !is_tls_zeroes(s);
    let all = || layout.with_ids().filter(|(_, s)| takes(s));
    let overlaid = script.overlaid();
    let once = |id: &OutputSectionId| overlaid.binary_search(id).is_err();
    let run: Vec<_> = all().filter(|(id, _)| once(id)).map(|(_, s)| (s.address, s)).collect();
    overlaps::check_ranges(run, false)?;
    let loaded: Vec<_> = all().filter(|(_, s)| !s.is_nobits()).map(|(_, s)| (s.load_address, s)).collect();
    overlaps::check_ranges(loaded, true)
}

/// Sections lie in the file as far from the start of their segment as in memory; segments at offsets that
/// agree with their addresses by pages.
fn offsets(layout: &mut Layout, rules: SegmentRules) -> Result<(), LayoutError> {
    let SegmentRules { program, facts } = rules;
    let headers = layout.headers_size();
    let count = layout.sections.iter().take_while(|s| s.is_alloc()).count();
    let mut load_of: Vec<Option<usize>> = vec![None; count];
    for (number, segment) in layout.segments.iter().enumerate().filter(|(_, s)| s.kind == PT_LOAD) {
        for i in segment.sections.clone().filter(|&i| i < count) {
            load_of[i] = load_of[i].or(Some(number));
        }
    }
    let paged = program.loads_headers();
    let mut cursor = FileOffset::START + headers;
    let mut starts: HashMap<usize, u64> = HashMap::new();
    for (i, load) in load_of.into_iter().enumerate() {
        let out = &layout.sections[i];
        if is_tls_zeroes(out) {
            layout.sections[i].offset = cursor;
            continue;
        }
        // Address less offset: one number throughout a segment.
        let distance = match load {
            None => {
                let offset = FileOffset(align_to(cursor.0, out.align.min(facts.pages.max)));
                offset.distance(out.address)
            }
            Some(load) => match starts.get(&load) {
                Some(distance) => *distance,
                None => {
                    let segment = &layout.segments[load];
                    let page = match paged {
                        true => segment.align.max(facts.pages.kernel),
                        false => segment.align.max(1),
                    };
                    let distance = match segment.headers {
                        true => FileOffset::START.distance(layout.image_base),
                        false => (cursor + cursor.distance(out.address) % page).distance(out.address),
                    };
                    starts.insert(load, distance);
                    distance
                }
            },
        };
        let offset = FileOffset::of_address(out.address, distance);
        if let Some(load) = load
            && let Some(first) = layout.segments[load].sections.clone().next()
            && out.address < layout.sections[first].address
            && out.size > 0
        {
            let first = &layout.sections[first];
            let (section, address) = (SectionName::of(out), out.address);
            let (first, start) = (SectionName::of(first), first.address);
            return Err(ScriptError::BelowSegment { section, address, first, start }.into());
        }
        let out = &mut layout.sections[i];
        if out.is_nobits() {
            out.offset = if offset >= cursor && offset - cursor < facts.pages.max { offset } else { cursor };
            continue;
        }
        if offset < cursor && out.size > 0 {
            let (section, address) = (SectionName::of(out), out.address);
            return Err(ScriptError::OutOfOrder { section, address }.into());
        }
        place::set_offset(out, offset.max(cursor), cursor)?;
        cursor = out.offset + out.size;
    }
    layout.end_of_image = cursor;
    Ok(())
}

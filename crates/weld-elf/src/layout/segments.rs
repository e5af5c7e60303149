//! Program headers, addresses and file offsets.
//!
//! The list of segments follows from the order of sections alone, so the size of the headers is
//! known before any address is. Addresses then run upwards; a new loadable segment starts on a new
//! page. By default its file contents continue right behind the previous segment's (the page is
//! mapped twice); `-z separate-code` pads the file instead.
//!
//! Specification: gABI chapter 5 "Program Header"; `PT_GNU_*` from the LSB and the GNU tools.

use super::*;
use crate::elf::*;
use crate::mode::Mode;
use crate::options::{Options, SeparateCode};
use crate::util::align_up;

/// Facts for the program headers that do not come from the sections.
#[derive(Clone, Copy)]
pub struct SegmentFacts {
    pub executable_stack: bool,
    pub mode: Mode,
}

/// Where an executable at fixed addresses starts unless told otherwise.
const DEFAULT_BASE: u64 = 0x20_0000;
/// The smallest page there is on x86-64, in bytes. The loader maps whole ones.
pub const PAGE: u64 = 4096;

/// Plans segments and assigns addresses and offsets. May be called again after chunk sizes changed.
pub fn assign(layout: &mut Layout, options: &Options, facts: SegmentFacts) -> Result<(), String> {
    layout.segments = plan(layout, options, facts);
    let default = if facts.mode.pic { 0 } else { DEFAULT_BASE };
    layout.image_base = options.image_base.unwrap_or(default);
    if !layout.image_base.is_multiple_of(PAGE) {
        return Err(format!(
            "image base {:#x} is not a multiple of the page size {PAGE:#x}",
            layout.image_base
        ));
    }
    place_all(layout, options, facts)?;
    if options.image_base.is_none()
        && !facts.mode.pic
        && let Some(lower) = base_below(layout, options)
    {
        layout.image_base = lower;
        place_all(layout, options, facts)?;
    }
    measure(layout, options);
    if facts.mode.relocatable || !options.check_sections {
        return Ok(());
    }
    overlaps::check(layout)
}

fn headers_size(layout: &Layout) -> u64 {
    Ehdr::SIZE as u64 + layout.segments.len() as u64 * Phdr::SIZE as u64
}

fn place_all(layout: &mut Layout, options: &Options, facts: SegmentFacts) -> Result<(), String> {
    let mut cursor = Cursor { address: layout.image_base, offset: 0 };
    if !facts.mode.relocatable {
        let headers = headers_size(layout);
        let address = layout.image_base.checked_add(headers).ok_or("the image base is too high")?;
        cursor = Cursor { address, offset: headers };
    } else {
        cursor.offset = Ehdr::SIZE as u64;
    }
    place_allocated(layout, options, &mut cursor)?;
    place_rest(layout, &mut cursor, options.z_sectionheader)
}

/// The base from which the headers, and the sections that come before the first one with an address of
/// its own (`-Ttext=0x7c00`), lie below all that have one; `None` if they are out of the way already, or
/// if there is no room below.
fn base_below(layout: &Layout, options: &Options) -> Option<u64> {
    let moved = |s: &OutputSection| options.section_starts.iter().any(|(n, _)| n.as_bytes() == &*s.name);
    let alloc = || layout.sections.iter().take_while(|s| s.is_alloc());
    let lowest = alloc().filter(|s| moved(s)).map(|s| s.address).min()?;
    let ends = alloc().take_while(|s| !moved(s)).map(|s| s.end());
    let end = ends.fold(layout.image_base + headers_size(layout), u64::max);
    let page = options.z_max_page_size;
    let floor = lowest - lowest % page;
    if checked_align_up(end, page)? <= floor {
        return None;
    }
    floor.checked_sub(checked_align_up(end - layout.image_base, page)?)
}

struct Cursor {
    address: u64,
    offset: u64,
}

/// Addresses stay below this, so that sums of a few of them do not overflow.
const MAX_ADDRESS: u64 = 1 << 63;
/// File offsets stay below this.
const MAX_FILE: u64 = 1 << 46;
/// More padding than this comes from an absurd alignment.
const MAX_PADDING: u64 = 1 << 32;

fn does_not_fit(out: &OutputSection) -> String {
    format!("section {} does not fit the address space", String::from_utf8_lossy(&out.name))
}

fn does_not_fit_file(out: &OutputSection) -> String {
    format!("section {} makes the file too large", String::from_utf8_lossy(&out.name))
}

fn checked_align_up(value: u64, align: u64) -> Option<u64> {
    value.checked_next_multiple_of(align)
}

fn place_allocated(layout: &mut Layout, options: &Options, cursor: &mut Cursor) -> Result<(), String> {
    let loads = layout.segments.iter().filter(|s| s.kind == PT_LOAD && !s.headers);
    let starts: Vec<(usize, u64)> = loads.map(|s| (s.sections.start, s.align)).collect();
    let page = options.z_max_page_size;
    let tls_align = layout.sections.iter().filter(|s| s.is_tls()).map(|s| s.align).max().unwrap_or(1);
    // Address less offset is one number throughout a segment.
    let mut distance = layout.image_base;
    let mut tls_address = None;
    for i in 0..layout.sections.len() {
        let segment_align = starts.iter().find(|s| s.0 == i).map(|s| s.1);
        let before = (i > 0).then(|| layout.sections[i - 1].flags);
        let out = &mut layout.sections[i];
        if !out.is_alloc() {
            break;
        }
        let explicit = options.section_starts.iter().find(|(name, _)| name.as_bytes() == &*out.name);
        let explicit = explicit.map(|(_, address)| *address);
        // The thread pointer is aligned as the whole template is, so its start has to be too.
        let align = if out.is_tls() && tls_address.is_none() { out.align.max(tls_align) } else { out.align };
        if is_tls_zeroes(out) {
            // Takes no space in the image: the next section has the same address.
            let from = explicit.or(tls_address).unwrap_or(cursor.address);
            out.address = checked_align_up(from, align).ok_or_else(|| does_not_fit(out))?;
            let end = out.address.checked_add(out.size).filter(|end| *end <= MAX_ADDRESS);
            tls_address = Some(end.ok_or_else(|| does_not_fit(out))?);
            out.offset = cursor.offset;
            continue;
        }
        if let Some(segment_align) = segment_align {
            if separate(options, before.unwrap_or(0), out.flags) {
                cursor.offset = align_up(cursor.offset, page);
            }
            let base = match explicit {
                Some(address) => address.checked_sub(address % segment_align),
                None => checked_align_up(cursor.address, segment_align),
            };
            let base = base.ok_or_else(|| does_not_fit(out))?;
            cursor.address =
                base.checked_add(cursor.offset % segment_align).ok_or_else(|| does_not_fit(out))?;
            if let Some(address) = explicit {
                // Never before the contents that the file already has.
                cursor.offset += address.wrapping_sub(cursor.offset) % segment_align;
                cursor.address = address;
            }
            distance = cursor.address.wrapping_sub(cursor.offset);
        }
        out.address = checked_align_up(cursor.address, align).ok_or_else(|| does_not_fit(out))?;
        if out.address.checked_add(out.size).is_none_or(|end| end > MAX_ADDRESS) {
            return Err(does_not_fit(out));
        }
        if out.is_nobits() {
            out.offset = cursor.offset;
        } else {
            out.offset = out.address.wrapping_sub(distance);
            let padding = out.offset.saturating_sub(cursor.offset);
            if padding > MAX_PADDING || out.offset > MAX_FILE || out.size > MAX_FILE {
                return Err(does_not_fit_file(out));
            }
            cursor.offset = out.offset + out.size;
        }
        cursor.address = out.end();
        if out.is_tls() {
            tls_address = Some(out.end());
        }
    }
    Ok(())
}

/// Thread-local zeroes are part of no loadable segment.
pub fn is_tls_zeroes(out: &OutputSection) -> bool {
    out.is_tls() && out.is_nobits()
}

/// Whether the file is padded so that two segments share no page of it.
fn separate(options: &Options, before: u64, after: u64) -> bool {
    match options.separate_code {
        SeparateCode::None => false,
        SeparateCode::Code => (before ^ after) & SHF_EXECINSTR != 0,
        SeparateCode::Loadable => true,
    }
}

/// Gives the sections outside memory their offsets anew, after their sizes changed.
pub fn place_unallocated(layout: &mut Layout) -> Result<(), String> {
    let Some(first) = layout.sections.iter().find(|s| !s.is_alloc()) else { return Ok(()) };
    let mut cursor = Cursor { address: 0, offset: first.offset };
    place_rest(layout, &mut cursor, true)
}

fn place_rest(layout: &mut Layout, cursor: &mut Cursor, headers: bool) -> Result<(), String> {
    for out in layout.sections.iter_mut().filter(|s| !s.is_alloc()) {
        let offset = checked_align_up(cursor.offset, out.align);
        out.offset = offset.ok_or_else(|| does_not_fit_file(out))?;
        out.address = 0;
        if out.offset > MAX_FILE || out.offset - cursor.offset > MAX_PADDING || out.file_size() > MAX_FILE {
            return Err(does_not_fit_file(out));
        }
        cursor.offset = out.offset + out.file_size();
    }
    if !headers {
        (layout.section_headers, layout.file_size) = (0, cursor.offset);
        return Ok(());
    }
    layout.section_headers = align_up(cursor.offset, 8);
    layout.file_size = layout.section_headers + (layout.sections.len() as u64 + 1) * Shdr::SIZE as u64;
    Ok(())
}

/// Fills the segments' numbers from their sections.
fn measure(layout: &mut Layout, options: &Options) {
    let headers = headers_size(layout);
    let sections = &layout.sections;
    for segment in &mut layout.segments {
        if segment.kind == PT_PHDR {
            segment.offset = Ehdr::SIZE as u64;
            segment.address = layout.image_base + Ehdr::SIZE as u64;
            segment.file_size = headers - Ehdr::SIZE as u64;
            segment.mem_size = segment.file_size;
            continue;
        }
        let span = &sections[segment.sections.clone()];
        let template = segment.kind == PT_TLS;
        let outside = |out: &&OutputSection| is_tls_zeroes(out) && !template;
        let (mut file_end, mut end) = (0, 0);
        if segment.headers {
            segment.offset = 0;
            segment.address = layout.image_base;
            (file_end, end) = (headers, layout.image_base + headers);
        } else if let Some(first) = span.iter().find(|s| !outside(s)) {
            segment.offset = first.offset;
            segment.address = first.address;
            if segment.kind == PT_LOAD && first.is_nobits() {
                // Its address may be rounded up; the segment starts where address and offset agree.
                segment.address -= first.address.wrapping_sub(first.offset) % segment.align;
            }
            (file_end, end) = (segment.offset, segment.address);
        }
        for out in span.iter().filter(|s| !outside(s)) {
            if !out.is_nobits() {
                file_end = out.offset + out.size;
            }
            end = end.max(out.end());
            if !matches!(segment.kind, PT_LOAD | PT_GNU_STACK) {
                segment.align = segment.align.max(out.align);
            }
        }
        if segment.kind == PT_GNU_STACK {
            continue;
        }
        if segment.kind == PT_GNU_RELRO {
            end = align_up(end, options.z_common_page_size);
            segment.align = 1;
        }
        segment.file_size = file_end - segment.offset;
        segment.mem_size = end - segment.address;
        while segment.kind == PT_LOAD
            && !segment.address.wrapping_sub(segment.offset).is_multiple_of(segment.align)
        {
            // A fixed image base may be less aligned than a section behind it.
            segment.align /= 2;
        }
    }
    extend_relro_loads(layout);
    sort_loads(layout);
}

/// The page that relro ends in belongs to it, so its loadable segment must reach that far.
fn extend_relro_loads(layout: &mut Layout) {
    let relro = layout.segments.iter().find(|s| s.kind == PT_GNU_RELRO);
    let Some((start, end)) = relro.map(|s| (s.address, s.address + s.mem_size)) else { return };
    for load in layout.segments.iter_mut().filter(|s| s.kind == PT_LOAD) {
        if load.address <= start && start < load.address + load.mem_size {
            load.mem_size = load.mem_size.max(end - load.address);
        }
    }
}

/// Loadable segments are listed by address, wherever `--section-start` put them.
fn sort_loads(layout: &mut Layout) {
    let is_load = |s: &Segment| s.kind == PT_LOAD;
    let (first, last) = (layout.segments.iter().position(is_load), layout.segments.iter().rposition(is_load));
    if let (Some(first), Some(last)) = (first, last) {
        layout.segments[first..=last].sort_by_key(|s| s.address);
    }
}

fn plan(layout: &Layout, options: &Options, facts: SegmentFacts) -> Vec<Segment> {
    if facts.mode.relocatable {
        return Vec::new();
    }
    let sections = &layout.sections;
    let alloc = sections.iter().take_while(|s| s.is_alloc()).count();
    let mut list = Vec::new();
    // Inputs may have sections of the same name.
    let has = |kind: ChunkKind| layout.chunk(kind).map(|c| c.out as usize);
    if has(ChunkKind::Interp).is_some() || facts.mode.dynamic {
        list.push(segment(PT_PHDR, PF_R, 0..0, 8));
    }
    if let Some(i) = has(ChunkKind::Interp) {
        list.push(segment(PT_INTERP, PF_R, i..i + 1, 1));
    }
    plan_loads(&sections[..alloc], options, &mut list);
    let find = |test: &dyn Fn(&OutputSection) -> bool| {
        let first = sections[..alloc].iter().position(test)?;
        let last = sections[..alloc].iter().rposition(test)?;
        Some(first..last + 1)
    };
    if let Some(span) = find(&|s| s.is_tls()) {
        list.push(segment(PT_TLS, PF_R, span, 1));
    }
    if let Some(i) = has(ChunkKind::Dynamic) {
        let flags = if options.z_rodynamic { PF_R } else { PF_R | PF_W };
        list.push(segment(PT_DYNAMIC, flags, i..i + 1, 8));
    }
    if let Some(span) = find(&|s| s.relro && !is_tls_zeroes(s)) {
        list.push(segment(PT_GNU_RELRO, PF_R, span, 1));
    }
    if let Some(i) = has(ChunkKind::EhFrameHdr) {
        list.push(segment(PT_GNU_EH_FRAME, PF_R, i..i + 1, 4));
    }
    let stack = PF_R | PF_W | if facts.executable_stack { PF_X } else { 0 };
    let mut stack = segment(PT_GNU_STACK, stack, 0..0, 0);
    stack.mem_size = options.z_stack_size.unwrap_or(0);
    list.push(stack);
    plan_notes(&sections[..alloc], &mut list);
    if let Some(i) = has(ChunkKind::Properties) {
        list.push(segment(PT_GNU_PROPERTY, PF_R, i..i + 1, 8));
    }
    list
}

fn segment(kind: u32, flags: u32, sections: std::ops::Range<usize>, align: u64) -> Segment {
    Segment { kind, flags, sections, offset: 0, address: 0, file_size: 0, mem_size: 0, align, headers: false }
}

/// The rights that a section's memory needs.
fn rights(out: &OutputSection) -> u32 {
    let write = if out.flags & SHF_WRITE != 0 { PF_W } else { 0 };
    let exec = if out.flags & SHF_EXECINSTR != 0 { PF_X } else { 0 };
    PF_R | write | exec
}

fn plan_loads(sections: &[OutputSection], options: &Options, list: &mut Vec<Segment>) {
    let mut load = segment(PT_LOAD, PF_R, 0..0, options.z_max_page_size);
    load.headers = true;
    let mut previous: Option<&OutputSection> = None;
    for (i, out) in sections.iter().enumerate() {
        if is_tls_zeroes(out) {
            continue;
        }
        let moved = options.section_starts.iter().any(|(name, _)| name.as_bytes() == &*out.name);
        let bits_after_nobits = previous.is_some_and(|p| p.is_nobits()) && !out.is_nobits();
        let relro_ends = previous.is_some_and(|p| p.relro) && !out.relro;
        let large = previous.is_some_and(|p| (p.flags ^ out.flags) & SHF_X86_64_LARGE != 0);
        if rights(out) != load.flags || bits_after_nobits || relro_ends || moved || large {
            let next = segment(PT_LOAD, rights(out), i..i, options.z_max_page_size);
            list.push(std::mem::replace(&mut load, next));
        }
        load.align = load.align.max(out.align);
        load.sections.end = i + 1;
        previous = Some(out);
    }
    list.push(load);
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

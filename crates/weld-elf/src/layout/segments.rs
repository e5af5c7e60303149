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

/// Plans segments and assigns addresses and offsets. May be called again after chunk sizes changed.
pub fn assign(layout: &mut Layout, options: &Options, facts: SegmentFacts) -> Result<(), String> {
    layout.segments = plan(&layout.sections, options, facts);
    layout.image_base = match options.image_base {
        Some(base) => base,
        None if facts.mode.pic => 0,
        None => 0x20_0000,
    };
    let mut cursor = Cursor { address: layout.image_base, offset: 0 };
    let headers = Ehdr::SIZE as u64 + layout.segments.len() as u64 * Phdr::SIZE as u64;
    if !facts.mode.relocatable {
        cursor = Cursor { address: layout.image_base + headers, offset: headers };
    } else {
        cursor.offset = Ehdr::SIZE as u64;
    }
    place_allocated(layout, options, &mut cursor)?;
    place_rest(layout, &mut cursor);
    measure(layout, options);
    Ok(())
}

struct Cursor {
    address: u64,
    offset: u64,
}

fn place_allocated(layout: &mut Layout, options: &Options, cursor: &mut Cursor) -> Result<(), String> {
    let starts: Vec<usize> = layout
        .segments
        .iter()
        .filter(|s| s.kind == PT_LOAD && !s.headers)
        .map(|s| s.sections.start)
        .collect();
    let page = options.z_max_page_size;
    let mut tls_address = None;
    for i in 0..layout.sections.len() {
        let new_segment = starts.contains(&i);
        let before = (i > 0).then(|| layout.sections[i - 1].flags);
        let out = &mut layout.sections[i];
        if !out.is_alloc() {
            break;
        }
        if new_segment {
            if separate(options, before.unwrap_or(0), out.flags) {
                cursor.offset = align_up(cursor.offset, page);
            }
            cursor.address = align_up(cursor.address, page) + cursor.offset % page;
        }
        let explicit = options.section_starts.iter().find(|(name, _)| name.as_bytes() == &*out.name);
        if let Some((_, address)) = explicit {
            cursor.address = *address;
        }
        // Thread-local zeroes take no space in the image: the next section has the same address.
        let tbss = out.is_tls() && out.is_nobits();
        let from = if tbss { tls_address.unwrap_or(cursor.address) } else { cursor.address };
        out.address = align_up(from, out.align);
        let overflow =
            || format!("section {} does not fit the address space", String::from_utf8_lossy(&out.name));
        if out.address.checked_add(out.size).is_none_or(|end| end > 1 << 63) {
            return Err(overflow());
        }
        if tbss {
            if tls_address.is_none() {
                // It opens the template and perhaps the segment, so nothing behind it lies before it.
                cursor.offset += out.address.wrapping_sub(cursor.offset) % page;
                cursor.address = out.address;
            }
            out.offset = cursor.offset;
            tls_address = Some(out.end());
            continue;
        }
        if out.is_nobits() {
            // A segment's offset is that of its first section, and congruent to its address.
            cursor.offset += if new_segment { out.address.wrapping_sub(cursor.offset) % page } else { 0 };
            out.offset = cursor.offset;
        } else {
            // Offsets stay congruent to addresses, whatever was skipped.
            let skip = out.address.wrapping_sub(cursor.offset) % page;
            cursor.offset += skip;
            out.offset = cursor.offset;
            cursor.offset += out.size;
        }
        cursor.address = out.end();
        if out.is_tls() {
            tls_address = Some(out.end());
        }
    }
    Ok(())
}

/// Whether the file is padded so that two segments share no page of it.
fn separate(options: &Options, before: u64, after: u64) -> bool {
    match options.separate_code {
        SeparateCode::None => false,
        SeparateCode::Code => (before ^ after) & SHF_EXECINSTR != 0,
        SeparateCode::Loadable => true,
    }
}

fn place_rest(layout: &mut Layout, cursor: &mut Cursor) {
    for out in layout.sections.iter_mut().filter(|s| !s.is_alloc()) {
        out.offset = align_up(cursor.offset, out.align);
        out.address = 0;
        cursor.offset = out.offset + out.file_size();
    }
    layout.section_headers = align_up(cursor.offset, 8);
    layout.file_size = layout.section_headers + (layout.sections.len() as u64 + 1) * Shdr::SIZE as u64;
}

/// Fills the segments' numbers from their sections.
fn measure(layout: &mut Layout, options: &Options) {
    let sections = &layout.sections;
    let headers = Ehdr::SIZE as u64 + layout.segments.len() as u64 * Phdr::SIZE as u64;
    for segment in &mut layout.segments {
        if segment.kind == PT_PHDR {
            segment.offset = Ehdr::SIZE as u64;
            segment.address = layout.image_base + Ehdr::SIZE as u64;
            segment.file_size = headers - Ehdr::SIZE as u64;
            segment.mem_size = segment.file_size;
            continue;
        }
        let span = &sections[segment.sections.clone()];
        let (mut file_end, mut end) = (0, 0);
        if segment.headers {
            segment.offset = 0;
            segment.address = layout.image_base;
            (file_end, end) = (headers, layout.image_base + headers);
        } else if let Some(first) = span.first() {
            segment.offset = first.offset;
            segment.address = first.address;
            (file_end, end) = (first.offset, first.address);
        }
        for out in span {
            if !out.is_nobits() {
                file_end = out.offset + out.size;
            }
            let outside = out.is_tls() && out.is_nobits() && segment.kind != PT_TLS;
            if !outside {
                end = end.max(out.end());
            }
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
    }
    extend_relro_loads(layout);
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

fn plan(sections: &[OutputSection], options: &Options, facts: SegmentFacts) -> Vec<Segment> {
    if facts.mode.relocatable {
        return Vec::new();
    }
    let alloc = sections.iter().take_while(|s| s.is_alloc()).count();
    let mut list = Vec::new();
    let has = |name: &[u8]| sections[..alloc].iter().position(|s| *s.name == *name);
    if has(b".interp").is_some() || facts.mode.dynamic {
        list.push(segment(PT_PHDR, PF_R, 0..0, 8));
    }
    if let Some(i) = has(b".interp") {
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
    if let Some(i) = has(b".dynamic") {
        let flags = if options.z_rodynamic { PF_R } else { PF_R | PF_W };
        list.push(segment(PT_DYNAMIC, flags, i..i + 1, 8));
    }
    // Thread-local zeroes alone take no memory that could be protected.
    let protects = sections[..alloc].iter().any(|s| s.relro && !(s.is_tls() && s.is_nobits()));
    if let Some(span) = find(&|s| s.relro).filter(|_| protects) {
        list.push(segment(PT_GNU_RELRO, PF_R, span, 1));
    }
    if let Some(i) = has(b".eh_frame_hdr") {
        list.push(segment(PT_GNU_EH_FRAME, PF_R, i..i + 1, 4));
    }
    let stack = PF_R | PF_W | if facts.executable_stack { PF_X } else { 0 };
    let mut stack = segment(PT_GNU_STACK, stack, 0..0, 0);
    stack.mem_size = options.z_stack_size.unwrap_or(0);
    list.push(stack);
    plan_notes(&sections[..alloc], &mut list);
    if let Some(i) = has(b".note.gnu.property") {
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
    for (i, out) in sections.iter().enumerate() {
        let tbss = out.is_tls() && out.is_nobits();
        let previous = i.checked_sub(1).map(|p| &sections[p]);
        let moved = options.section_starts.iter().any(|(name, _)| name.as_bytes() == &*out.name);
        let bits_after_nobits =
            previous.is_some_and(|p| p.is_nobits() && !p.is_tls()) && !out.is_nobits() && !tbss;
        let relro_ends = previous.is_some_and(|p| p.relro) && !out.relro;
        let large = previous.is_some_and(|p| (p.flags ^ out.flags) & SHF_X86_64_LARGE != 0);
        if rights(out) != load.flags || bits_after_nobits || relro_ends || moved || large {
            let next = segment(PT_LOAD, rights(out), i..i, options.z_max_page_size);
            list.push(std::mem::replace(&mut load, next));
        }
        load.sections.end = i + 1;
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

//! Addresses and file offsets of output sections.
//!
//! Addresses run upwards; a new loadable segment starts on a new page. By default its file contents
//! continue right after the previous segment's (the page is mapped twice); `-z separate-code` pads the
//! file instead. Data that becomes read-only is a segment that is filled with zeroes up to the end of a page,
//! which the file does not have; so the loader can protect it as a whole.
//!
//! Specification: gABI chapter 5 "Program Header".

use super::error::LayoutError;
use super::segments::{self, PageSizes, SegmentFacts, is_tls_zeroes};
use super::*;
use crate::address::Address;
use crate::elf::*;
use crate::options::{Magic, Options, SeparateCode};

/// Sections end here at the latest, so that addresses of the page after the last one do not overflow. Kernels
/// are linked to within 2 GiB of the top.
const MAX_END: u64 = u64::MAX - (1 << 16) + 1;
/// File offsets go no further than this.
const MAX_FILE: u64 = 1 << 46;
/// Sections of an object are aligned in its file as they ask for, up to this; more would only make the file
/// larger.
const MAX_FILE_ALIGN: u64 = 4096;
/// More padding than this comes from an absurd alignment.
const MAX_PADDING: u64 = 1 << 32;

struct Cursor {
    address: Address,
    offset: FileOffset,
}

/// Where sections of a file of this form end at the latest: what lies at the very top ends after the last
/// address.
pub(super) fn max_end(format: Format) -> Address {
    Address::new(format.max_address().saturating_add(1).min(MAX_END))
}

/// The last offset in a file of this form.
fn max_file(format: Format) -> FileOffset {
    FileOffset(format.max_address().min(MAX_FILE))
}

/// Gives all sections their places, by the segments and the image base that are set.
pub(super) fn all(layout: &mut Layout, options: &Options, facts: SegmentFacts) -> Result<(), LayoutError> {
    let headers = layout.headers_size();
    let address = layout.image_base.checked_add(headers).ok_or(LayoutError::HighImageBase)?;
    let mut cursor = Cursor { address, offset: FileOffset::START + headers };
    allocated(layout, options, facts.pages, &mut cursor)?;
    layout.sections.iter_mut().for_each(|out| out.load_address = out.address);
    let rest = |out: &OutputSection| (!out.is_alloc()).then_some(out.align);
    place_rest(layout, &mut cursor, rest, options.layout.sectionheader)
}

/// Gives all sections of an object their offsets. They have no addresses.
pub(super) fn object(layout: &mut Layout) -> Result<(), LayoutError> {
    let mut cursor =
        Cursor { address: Address::ZERO, offset: FileOffset::START + layout.format.size::<Ehdr>() };
    place_rest(layout, &mut cursor, |out| Some(out.align.min(MAX_FILE_ALIGN)), true)
}

/// The file of a raw image (`--oformat=binary`): the bytes of its sections, each as far from the first as it
/// is loaded from that. What has no bytes, and what is not in memory, is not there.
///
/// # Errors
/// If the sections lie too far apart.
pub(super) fn raw(layout: &mut Layout) -> Result<(), LayoutError> {
    let has_bytes = |s: &OutputSection| s.is_alloc() && s.file_size() > 0;
    let all = layout.sections.iter().filter(|s| has_bytes(s));
    let Some(start) = all.map(|s| s.load_address).min() else {
        layout.file_size = 0;
        return Ok(());
    };
    let mut order: Vec<usize> = (0..layout.sections.len()).collect();
    order.sort_by_key(|&i| layout.sections[i].load_address);
    let mut end = FileOffset::START;
    for i in order {
        let out = &mut layout.sections[i];
        if !has_bytes(out) {
            out.offset = FileOffset::START;
            continue;
        }
        out.offset = FileOffset(out.load_address - start);
        if out.offset.since(end) > MAX_PADDING {
            return Err(LayoutError::file_too_large(out));
        }
        end = out.offset + out.size;
    }
    (layout.image_base, layout.file_size) = (start, end - FileOffset::START);
    layout.is_out_of_order = true;
    Ok(())
}

/// Gives what is in memory, which has its addresses, other places in the file: in the order of addresses, so that loadable
/// segments, which come in this order, can show the same bytes in a page that they share. By the order of sections they
/// cannot where options give addresses that go down. A page has the rights of the last segment in it, so that gets those of the
/// others. `false`: somebody writes to what another segment would have in its page, and all stays.
///
/// # Errors
/// If the file becomes too large.
pub(super) fn by_address(
    layout: &mut Layout,
    options: &Options,
    (pages, shared): (PageSizes, u64),
) -> Result<bool, LayoutError> {
    let headers = layout.headers_size();
    let is_in_page = |before: &Segment, load: &Segment| {
        let end = before.address.saturating_add(before.mem_size);
        end.get().div_ceil(shared) > load.address.get() / shared
    };
    let mut loads: Vec<&mut Segment> = layout.segments.iter_mut().filter(|s| s.kind == PT_LOAD).collect();
    let loses =
        |pair: &[&mut Segment]| is_in_page(pair[0], pair[1]) && pair[0].flags & !pair[1].flags & PF_W != 0;
    if loads.windows(2).any(loses) || loads.iter().skip(1).any(|load| load.headers) {
        return Ok(false);
    }
    let mut cursor = FileOffset::START + headers;
    let mut distance = FileOffset::START.distance(layout.image_base);
    let mut apart = vec![true; layout.sections.len()];
    for i in 0..loads.len() {
        let is_shared = i > 0 && is_in_page(loads[i - 1], loads[i]);
        if is_shared {
            loads[i].flags |= loads[i - 1].flags;
        } else if !loads[i].headers {
            let page = loads[i].align.max(pages.kernel);
            distance = (cursor + cursor.distance(loads[i].address) % page).distance(loads[i].address);
        }
        for number in loads[i].sections.clone() {
            apart[number] = false;
            let out = &mut layout.sections[number];
            if out.is_nobits() || out.size == 0 {
                out.offset = cursor;
                continue;
            }
            set_offset(out, FileOffset::of_address(out.address, distance), cursor)?;
            cursor = out.offset + out.size;
        }
    }
    // What is empty may be in no segment.
    let is_apart = layout.sections.iter_mut().zip(apart).filter(|(_, apart)| *apart);
    is_apart.for_each(|(out, _)| out.offset = cursor);
    let rest = |out: &OutputSection| (!out.is_alloc()).then_some(out.align);
    let mut cursor = Cursor { address: Address::ZERO, offset: cursor };
    place_rest(layout, &mut cursor, rest, options.layout.sectionheader)?;
    layout.is_out_of_order = true;
    Ok(true)
}

/// Where a loadable segment starts.
struct Start {
    section: usize,
    align: u64,
    /// Something of it is in memory.
    has_memory: bool,
}

/// Sections in memory, in order.
struct Placer<'c, 'o> {
    options: &'o Options,
    format: Format,
    pages: PageSizes,
    cursor: &'c mut Cursor,
    /// Address less offset: one number throughout a segment.
    distance: u64,
    tls_align: u64,
    /// Where the thread-local template goes on, once it has begun.
    tls_address: Option<Address>,
}

fn allocated(
    layout: &mut Layout,
    options: &Options,
    pages: PageSizes,
    cursor: &mut Cursor,
) -> Result<(), LayoutError> {
    let loads = layout.segments.iter().filter(|s| s.kind == PT_LOAD && !s.sections.is_empty());
    let start = |load: &Segment| {
        let has_memory = segments::has_memory(load, &layout.sections);
        Start { section: load.sections.start, align: load.align, has_memory }
    };
    let starts: Vec<Start> = loads.filter(|s| !s.headers).map(start).collect();
    let tls_align = layout.sections.iter().filter(|s| s.is_tls()).map(|s| s.align).max().unwrap_or(1);
    let (format, distance) = (layout.format, FileOffset::START.distance(layout.image_base));
    let mut placer = Placer { options, format, pages, cursor, distance, tls_align, tls_address: None };
    let mut previous: Option<usize> = None;
    for i in 0..layout.sections.len() {
        let (placed, rest) = layout.sections.split_at_mut(i);
        if !rest[0].is_alloc() {
            break;
        }
        let explicit = rest[0].start;
        if is_tls_zeroes(&rest[0]) {
            placer.tls_zeroes(&mut rest[0], explicit)?;
            continue;
        }
        let before = previous.map(|p| &placed[p]);
        if let Some(start) = starts.iter().find(|start| start.section == i) {
            placer.start_segment(before.map_or(0, |b| b.flags), &rest[0], explicit, start)?;
        }
        match rest[0].pads_relro {
            true => placer.relro_padding(&mut rest[0])?,
            false => placer.section(&mut rest[0], before.is_some_and(|b| b.is_nobits()))?,
        }
        previous = Some(i);
    }
    Ok(())
}

impl Placer<'_, '_> {
    /// They take no space in the image: the next section has the same address.
    fn tls_zeroes(&mut self, out: &mut OutputSection, explicit: Option<Address>) -> Result<(), LayoutError> {
        let from = explicit.or(self.tls_address).unwrap_or(self.cursor.address);
        out.address =
            from.checked_aligned(self.align(out)).ok_or_else(|| LayoutError::beyond_addresses(out))?;
        self.tls_address = Some(self.checked_end(out)?);
        out.offset = self.cursor.offset;
        Ok(())
    }

    /// Where a section ends, if it fits.
    fn checked_end(&self, out: &OutputSection) -> Result<Address, LayoutError> {
        let end = out.address.checked_add(out.size).filter(|end| *end <= max_end(self.format));
        end.ok_or_else(|| LayoutError::beyond_addresses(out))
    }

    /// The thread pointer is aligned as the whole template is, so its start has to be too.
    fn align(&self, out: &OutputSection) -> u64 {
        if out.is_tls() && self.tls_address.is_none() { out.align.max(self.tls_align) } else { out.align }
    }

    /// Starts the segment that begins with `first`, which may have an address of its own.
    /// `before` are the flags of the section before it.
    fn start_segment(
        &mut self,
        before: u64,
        first: &OutputSection,
        explicit: Option<Address>,
        start: &Start,
    ) -> Result<(), LayoutError> {
        let align = start.align;
        if separate(self.options, before, first.flags) {
            self.cursor.offset = self.cursor.offset.aligned(self.pages.max);
        }
        if let Some(address) = explicit {
            self.cursor.address = address;
        } else if self.options.layout.magic == Magic::Paged {
            let base = self.cursor.address.checked_aligned(align);
            let address = base.and_then(|base| base.checked_add(self.cursor.offset.0 % align));
            // What has no memory needs no page, of which there may be none.
            let fits = |address: &Address| start.has_memory || *address <= max_end(self.format);
            let stays = (!start.has_memory).then_some(self.cursor.address);
            self.cursor.address =
                address.filter(fits).or(stays).ok_or_else(|| LayoutError::beyond_addresses(first))?;
        }
        // The kernel maps pages, of the file as of memory, also where segments are not aligned to them
        // (`-N`). Never before the contents that the file already has.
        let page = align.max(self.pages.kernel);
        self.cursor.offset += self.cursor.offset.distance(self.cursor.address) % page;
        self.distance = self.cursor.offset.distance(self.cursor.address);
        Ok(())
    }

    /// What fills the last page of what becomes read-only.
    fn relro_padding(&mut self, out: &mut OutputSection) -> Result<(), LayoutError> {
        (out.address, out.offset) = (self.cursor.address, self.cursor.offset);
        let end = out
            .address
            .checked_aligned(self.pages.common)
            .ok_or_else(|| LayoutError::beyond_addresses(out))?;
        out.size = end - out.address;
        self.cursor.address = self.checked_end(out)?;
        Ok(())
    }

    /// Places a section at the cursor; `after_zeroes`: after one without contents in the file.
    fn section(&mut self, out: &mut OutputSection, after_zeroes: bool) -> Result<(), LayoutError> {
        out.address = self
            .cursor
            .address
            .checked_aligned(self.align(out))
            .ok_or_else(|| LayoutError::beyond_addresses(out))?;
        let end = self.checked_end(out)?;
        if out.is_nobits() || out.size == 0 && after_zeroes {
            out.offset = self.cursor.offset;
        } else {
            out.offset = FileOffset::of_address(out.address, self.distance);
            let padding = out.offset.since(self.cursor.offset);
            let max = max_file(self.format);
            if padding > MAX_PADDING || out.offset > max || out.size > max.0 {
                return Err(LayoutError::file_too_large(out));
            }
            self.cursor.offset = out.offset + out.size;
        }
        self.cursor.address = end;
        if out.is_tls() {
            self.tls_address = Some(end);
        }
        Ok(())
    }
}

/// Whether the file is padded so that two segments share no page of it.
fn separate(options: &Options, before: u64, after: u64) -> bool {
    match options.layout.separate_code {
        SeparateCode::None => false,
        SeparateCode::Code => (before ^ after) & SHF_EXECINSTR != 0,
        SeparateCode::Loadable => true,
    }
}

/// Gives the sections outside memory, and the section headers, their offsets after the image of a script.
pub(super) fn behind(layout: &mut Layout, headers: bool) -> Result<(), LayoutError> {
    let mut cursor = Cursor { address: Address::ZERO, offset: layout.end_of_image };
    place_rest(layout, &mut cursor, |out| (!out.is_alloc()).then_some(out.align), headers)
}

/// Gives a section its offset, if the file then does not become too large. `before` is where what is before
/// it ends.
pub(super) fn set_offset(
    out: &mut OutputSection,
    offset: FileOffset,
    before: FileOffset,
) -> Result<(), LayoutError> {
    if offset.0 > MAX_FILE || out.size > MAX_FILE || offset.since(before) > MAX_PADDING {
        return Err(LayoutError::file_too_large(out));
    }
    out.offset = offset;
    Ok(())
}

/// Gives the sections outside memory their offsets anew, after their sizes changed.
pub fn unallocated(layout: &mut Layout) -> Result<(), LayoutError> {
    let Some(first) = layout.sections.iter().find(|s| !s.is_alloc()) else { return Ok(()) };
    let mut cursor = Cursor { address: Address::ZERO, offset: first.offset };
    place_rest(layout, &mut cursor, |out| (!out.is_alloc()).then_some(out.align), true)?;
    for segment in &mut layout.segments {
        if let Some(first) = layout.sections.get(segment.sections.start).filter(|out| !out.is_alloc())
            && !segment.sections.is_empty()
        {
            segment.offset = first.offset;
        }
    }
    Ok(())
}

/// Gives sections offsets one after another: those that have an alignment in the file by `align`, which are
/// in no memory.
fn place_rest(
    layout: &mut Layout,
    cursor: &mut Cursor,
    align: impl Fn(&OutputSection) -> Option<u64>,
    headers: bool,
) -> Result<(), LayoutError> {
    let max = max_file(layout.format);
    for out in &mut layout.sections {
        let Some(align) = align(out) else { continue };
        let offset = cursor.offset.checked_aligned(align);
        out.offset = offset.ok_or_else(|| LayoutError::file_too_large(out))?;
        if out.offset > max || out.offset - cursor.offset > MAX_PADDING || out.file_size() > max.0 {
            return Err(LayoutError::file_too_large(out));
        }
        cursor.offset = out.offset + out.file_size();
    }
    if !headers {
        (layout.section_headers, layout.file_size) = (None, cursor.offset - FileOffset::START);
        return Ok(());
    }
    let start = cursor.offset.aligned(layout.format.word());
    if start > max {
        return Err(LayoutError::FileTooLarge(None));
    }
    let end = start + (layout.sections.len() as u64 + 1) * layout.format.size::<Shdr>();
    (layout.section_headers, layout.file_size) = (Some(start), end - FileOffset::START);
    Ok(())
}

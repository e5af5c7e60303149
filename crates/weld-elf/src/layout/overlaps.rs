//! Checks that nothing in memory lies on anything else.
//!
//! Layout itself keeps things apart; `--section-start`, `-Ttext` and kin may not. Two segments may
//! share a page only if the page shows the same bytes of the file in both: the loader maps whole
//! pages, and what it maps later hides what it mapped before.

use super::error::{LayoutError, Overlap, PageUser, SectionName};
use super::segments::is_tls_zeroes;
use super::{Layout, OutputSection, Segment};
use crate::address::Address;
use crate::elf::PT_LOAD;

/// `page` is the smallest page that may be shared.
///
/// # Errors
/// Says what lies on what.
pub fn check(layout: &Layout, page: u64) -> Result<(), LayoutError> {
    check_sections(layout)?;
    let is_load = |s: &&Segment| s.kind == PT_LOAD && s.mem_size > 0;
    let loads: Vec<&Segment> = layout.segments.iter().filter(is_load).collect();
    for pair in loads.windows(2) {
        check_pages(layout, pair[0], pair[1], page)?;
    }
    Ok(())
}

/// The same for images that are not mapped by pages.
///
/// # Errors
/// Says what lies on what.
pub fn check_sections(layout: &Layout) -> Result<(), LayoutError> {
    let takes_memory = |s: &&OutputSection| s.is_alloc() && s.size > 0 && !is_tls_zeroes(s);
    let sections = || layout.sections.iter().filter(takes_memory);
    let first = sections().min_by_key(|s| s.address);
    if let Some(first) = first.filter(|s| s.address < layout.image_base && !layout.raw) {
        let (section, base) = (SectionName::of(first), layout.image_base);
        return Err(LayoutError::BelowImageBase { section, address: first.address, base });
    }
    check_ranges(sections().map(|s| (s.address, s)).collect(), false)
}

/// Checks that sections, each with where it begins, do not lie on one another. `is_loading`: that is where
/// they are loaded.
///
/// # Errors
/// Says what lies on what.
pub(super) fn check_ranges(
    mut all: Vec<(Address, &OutputSection)>,
    is_loading: bool,
) -> Result<(), LayoutError> {
    all.sort_by_key(|(start, _)| *start);
    let end = |(start, s): (Address, &OutputSection)| start.checked_add(s.size);
    if let Some((start, s)) = all.iter().find(|one| end(**one).is_none()) {
        return Err(LayoutError::EndsBeyondAddresses { section: SectionName::of(s), start: *start });
    }
    for pair in all.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let (first, second) = (end(a).unwrap_or(Address::MAX), end(b).unwrap_or(Address::MAX));
        if first > b.0 {
            let first = (SectionName::of(a.1), a.0..first);
            let second = (SectionName::of(b.1), b.0..second);
            return Err(LayoutError::Overlap(Box::new(Overlap { is_loading, first, second })));
        }
    }
    Ok(())
}

/// Whoever asks for smaller pages than the machine has does not let the kernel load the image.
fn check_pages(layout: &Layout, a: &Segment, b: &Segment, page: u64) -> Result<(), LayoutError> {
    let end = a.address + a.mem_size;
    let shared = end.get().div_ceil(page) > b.address.get() / page;
    let distance = |s: &Segment| s.offset.distance(s.address);
    if !shared || end <= b.address && distance(a) == distance(b) {
        return Ok(());
    }
    let user = |s: &Segment| match layout.sections[s.sections.clone()].first() {
        Some(first) if !s.headers => PageUser::Section(SectionName::of(first)),
        _ => PageUser::Headers,
    };
    Err(LayoutError::SharedPage { address: b.address, of: user(b), with: user(a) })
}

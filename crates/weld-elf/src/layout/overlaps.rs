//! Checks that nothing in memory lies on anything else.
//!
//! Layout itself keeps things apart; `--section-start`, `-Ttext` and kin may not. Two segments may
//! share a page only if the page shows the same bytes of the file in both: the loader maps whole
//! pages, and what it maps later hides what it mapped before.

use super::segments::is_tls_zeroes;
use super::{Layout, OutputSection, Segment};
use crate::elf::PT_LOAD;

/// `page` is the smallest page that may be shared.
///
/// # Errors
/// Says what lies on what.
pub fn check(layout: &Layout, page: u64) -> Result<(), String> {
    check_sections(layout)?;
    let is_load = |s: &&Segment| s.kind == PT_LOAD && s.mem_size > 0;
    let loads: Vec<&Segment> = layout.segments.iter().filter(is_load).collect();
    for pair in loads.windows(2) {
        check_pages(layout, (pair[0], pair[1]), page)?;
    }
    Ok(())
}

/// The same for images that are not mapped by pages.
///
/// # Errors
/// Says what lies on what.
pub fn check_sections(layout: &Layout) -> Result<(), String> {
    let takes_memory = |s: &&OutputSection| s.is_alloc() && s.size > 0 && !is_tls_zeroes(s);
    let sections = || layout.sections.iter().filter(takes_memory);
    let first = sections().min_by_key(|s| s.address);
    if let Some(first) = first.filter(|s| s.address < layout.image_base && !layout.raw) {
        let (address, base) = (first.address, layout.image_base);
        return Err(format!(
            "section {} at {address:#x} lies before the image base {base:#x}; set one with --image-base",
            String::from_utf8_lossy(&first.name)
        ));
    }
    check_ranges(sections().map(|s| (s.address, s)).collect(), "")
}

/// Checks that sections, each with where it begins, do not lie on one another. `what` says of what in
/// messages.
///
/// # Errors
/// Says what lies on what.
pub(super) fn check_ranges(mut all: Vec<(u64, &OutputSection)>, what: &str) -> Result<(), String> {
    all.sort_by_key(|(start, _)| *start);
    let name = |s: &OutputSection| String::from_utf8_lossy(&s.name).into_owned();
    let end = |(start, s): (u64, &OutputSection)| start.checked_add(s.size);
    if let Some((start, s)) = all.iter().find(|one| end(**one).is_none()) {
        return Err(format!("section {} at {start:#x} does not fit the address space", name(s)));
    }
    for pair in all.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let (first, second) = (end(a).unwrap_or(u64::MAX), end(b).unwrap_or(u64::MAX));
        if first > b.0 {
            let (a_name, b_name) = (name(a.1), name(b.1));
            return Err(format!(
                "{what}section {a_name} at [{:#x}, {first:#x}) overlaps {b_name} at [{:#x}, {second:#x})",
                a.0, b.0
            ));
        }
    }
    Ok(())
}

/// Whoever asks for smaller pages than the machine has does not let the kernel load the image.
fn check_pages(layout: &Layout, (a, b): (&Segment, &Segment), page: u64) -> Result<(), String> {
    let end = a.address + a.mem_size;
    let shared = end.div_ceil(page) > b.address / page;
    let distance = |s: &Segment| s.address.wrapping_sub(s.offset);
    if !shared || end <= b.address && distance(a) == distance(b) {
        return Ok(());
    }
    let label = |s: &Segment| match layout.sections[s.sections.clone()].first() {
        Some(first) if !s.headers => format!("section {}", String::from_utf8_lossy(&first.name)),
        _ => "the program headers".to_owned(),
    };
    let (a, b, place) = (label(a), label(b), b.address);
    Err(format!("{b} at {place:#x} shares a page with {a}, but needs other contents there"))
}

//! What an image cannot be, or should not: said as soon as it is laid out, before anything is written.

use weld_common::diag::{Cause, DiagSink};
use weld_common::text;

use super::symbol_table::has_long_name;
use crate::coff::machine::Machine;
use crate::layout::Layout;
use crate::options::Options;
use crate::resolve::Resolved;

/// Looks at an image that is to lie at `base`.
pub fn check(options: &Options, resolved: &Resolved, layout: &Layout, base: u64, sink: &DiagSink) {
    let size = layout.image_size;
    check_addresses(resolved, base, size, sink);
    if let Some(most) = options.loading.greatest_size.filter(|most| size > *most) {
        sink.warn(
            Cause::ImageTooLarge,
            format!("the image has {size:#x} bytes, and /base gives it {most:#x}"),
        );
    }
    if resolved.machine == Machine::Arm64 && options.loading.dynamic_base == Some(false) {
        sink.error(Cause::ConflictingOptions, "/dynamicbase:no is not compatible with arm64");
    }
    // DWARF sections have long names: who asks for DWARF and no PDB expects them.
    if !sink.has_errors() && options.warnings.long_names && (options.debug.pdb || !options.debug.dwarf) {
        warn_of_long_names(layout, sink);
    }
}

/// Addresses in the image, and what headers say of memory, have as many bits as the machine's addresses.
fn check_addresses(resolved: &Resolved, base: u64, size: u64, sink: &DiagSink) {
    let (greatest, bits) = if resolved.machine.is_64() { (u64::MAX, 64) } else { (u32::MAX.into(), 32) };
    if base.checked_add(size).is_none_or(|end| end > greatest) {
        sink.error(
            Cause::ImageTooLarge,
            format!("an image of {size:#x} bytes at {base:#x} does not fit into {bits} bits"),
        );
    }
    for (what, sizes) in [("stack", resolved.demands.stack), ("heap", resolved.demands.heap)] {
        let Some((reserve, commit)) = sizes else { continue };
        if reserve.max(commit.unwrap_or(0)) > greatest {
            sink.error(Cause::ImageTooLarge, format!("the size of the {what} does not fit into {bits} bits"));
        }
    }
}

fn warn_of_long_names(layout: &Layout, sink: &DiagSink) {
    for out in layout.outs.iter().filter(|out| has_long_name(out)) {
        let name = text::text(&out.name);
        sink.warn(
            Cause::LongSectionName,
            format!(
                "section name {name} is longer than 8 characters and will use a non-standard string table"
            ),
        );
    }
}

//! `--print-memory-usage`: how full the memory regions of a linker script are.

use std::fmt::Write;

use crate::layout::Layout;

/// A table with a line a region.
pub fn table(layout: &Layout) -> String {
    let mut text = String::from("Memory region         Used Size  Region Size  %age Used\n");
    let Some(script) = &layout.script else { return text };
    for (name, region) in script.regions() {
        let used = region.end - region.origin;
        let (used_text, size_text) = (size(used), size(region.length));
        let share = if region.length == 0 { 0.0 } else { used as f64 * 100.0 / region.length as f64 };
        let _ = writeln!(text, "{name:>16}: {used_text:>13}{size_text:>13}{share:>10.2}%");
    }
    text
}

/// In the largest unit that is exact.
fn size(bytes: u64) -> String {
    for (unit, name) in [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    format!("{bytes} B")
}

//! The bins of well-known names: where input sections are gathered by the name of their output section.
//!
//! Specification: gABI chapter 4 ("Special Sections"); output names as ld.lld and GNU ld assign them.

use crate::ids::PlacementId;

/// The bins there are in any case, by the name of their output section; in no meaningful order.
pub const BINS: &[&[u8]] = &[
    b".text",
    b".rodata",
    b".data",
    b".bss",
    b".data.rel.ro",
    b".bss.rel.ro",
    b".init_array",
    b".fini_array",
    b".preinit_array",
    b".tdata",
    b".tbss",
    b".eh_frame",
    b".gcc_except_table",
    b".init",
    b".fini",
    b".ctors",
    b".dtors",
    b".comment",
    b".debug_info",
    b".debug_abbrev",
    b".debug_line",
    b".debug_str",
    b".debug_line_str",
    b".debug_ranges",
    b".debug_rnglists",
    b".debug_loc",
    b".debug_loclists",
    b".debug_aranges",
    b".debug_str_offsets",
    b".debug_addr",
    b".debug_gnu_pubnames",
    b".debug_gnu_pubtypes",
    b".debug_names",
    b".ldata",
    b".lrodata",
    b".lbss",
    b".ltext",
    b".sdata",
    b".sbss",
    b".srodata",
    b".ARM.extab",
    b".ARM.exidx",
];

/// The bins of some well-known names.
pub mod bin {
    use super::BINS;
    use crate::ids::PlacementId;

    pub const BSS: PlacementId = index(b".bss");
    pub const BSS_REL_RO: PlacementId = index(b".bss.rel.ro");
    pub const TBSS: PlacementId = index(b".tbss");
    pub const LBSS: PlacementId = index(b".lbss");
    pub const INIT_ARRAY: PlacementId = index(b".init_array");
    pub const FINI_ARRAY: PlacementId = index(b".fini_array");
    pub const EH_FRAME: PlacementId = index(b".eh_frame");
    pub const COMMENT: PlacementId = index(b".comment");
    pub const RELRO: PlacementId = index(b".data.rel.ro");
    pub const EXCEPTION_TABLE: PlacementId = index(b".gcc_except_table");
    pub const ARM_EXCEPTION_TABLE: PlacementId = index(b".ARM.extab");

    /// Evaluated when this is compiled, which ends there if there is no such name.
    pub(super) const fn index(name: &[u8]) -> PlacementId {
        let mut i = 0;
        while !is_equal(BINS[i], name) {
            i += 1;
        }
        PlacementId(i as u32)
    }

    const fn is_equal(a: &[u8], b: &[u8]) -> bool {
        let mut i = 0;
        while i < a.len() && i < b.len() && a[i] == b[i] {
            i += 1;
        }
        a.len() == b.len() && i == a.len()
    }
}

/// Names whose output sections take in `NAME.anything`, longest first: those whose first letter is `letter`.
#[inline(always)]
pub fn prefixes(letter: u8) -> &'static [(&'static [u8], PlacementId)] {
    macro_rules! prefixes {
        ($($name:literal)*) => { &[$(($name, const { bin::index($name) })),*] };
    }
    match letter {
        b't' => prefixes![b".text" b".tdata" b".tbss"],
        b'r' => prefixes![b".rodata"],
        b'd' => prefixes![b".data.rel.ro" b".data" b".dtors"],
        b'b' => prefixes![b".bss.rel.ro" b".bss"],
        b'i' => prefixes![b".init_array"],
        b'f' => prefixes![b".fini_array"],
        b'g' => prefixes![b".gcc_except_table"],
        b'c' => prefixes![b".ctors"],
        b's' => prefixes![b".sdata" b".sbss" b".srodata"],
        b'A' => prefixes![b".ARM.extab" b".ARM.exidx"],
        b'l' => prefixes![b".ldata" b".lrodata" b".lbss" b".ltext"],
        _ => &[],
    }
}

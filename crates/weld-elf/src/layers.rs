//! The order of rooms: each imports only what stands before it in [`ROOMS`], so that a reader can begin
//! anywhere and look back only. A test holds the source to it.

/// From the bottom up.
const ROOMS: &[&str] = &[
    // What files are made of.
    "address",
    "ids",
    "symbol_flags",
    "elf",
    "crel",
    "compressed",
    "eh_frame",
    "sframe",
    // What is linked for.
    "arch",
    // What is asked for.
    "compat_mode",
    "script",
    "options",
    "args",
    "mode",
    // The phases, in the order in which a link goes through them.
    "symbol_names",
    "input",
    "resolve",
    "gateways",
    "sections",
    "symbols",
    "wording",
    "setup",
    "live",
    "icf",
    "job",
    "section_order",
    "got_plt_slots",
    "layout",
    "merge_parts",
    "synth",
    "emit",
    "report",
    "relocatable",
    "relink_state",
    "relink",
    "lto",
    "link",
];

#[test]
fn each_room_imports_what_stands_before_it() {
    weld_testkit::layers::check(env!("CARGO_MANIFEST_DIR"), ROOMS);
}

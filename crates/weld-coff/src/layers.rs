//! The order of rooms: each imports only what stands before it in [`ROOMS`], so that a reader can begin
//! anywhere and look back only. A test holds the source to it.

/// From the bottom up.
const ROOMS: &[&str] = &[
    // What files are made of.
    "ids",
    "coff",
    "demangle",
    // What is asked for.
    "toolchain",
    "options",
    "args",
    "pdb_path",
    "job",
    // What the phases share.
    "symbol_names",
    "address",
    "arch",
    "implib",
    // The phases, in the order in which a link goes through them.
    "input",
    "wording",
    "resolve",
    "sections",
    "symbols",
    "live",
    "icf",
    "layout",
    "synth",
    "debug",
    "emit",
    "report",
    "relink",
    // What is done with them.
    "librarian",
    "lto",
    "link",
];

#[test]
fn each_room_imports_what_stands_before_it() {
    weld_testkit::layers::check(env!("CARGO_MANIFEST_DIR"), ROOMS);
}

//! The order of rooms: each imports only what stands before it in [`ROOMS`], so that a reader can begin
//! anywhere and look back only. A test holds the source to it.

/// From the bottom up.
#[rustfmt::skip]
const ROOMS: &[&str] = &[
    // What the format is made of.
    "hash", "put", "paths", "stream", "codeview", "msf",
    // What a link tells, and what the linker adds.
    "input", "linker_module", "unique", "strings", "info", "injected",
    // What the streams hold.
    "types", "symbols", "gsi", "dbi",
    // The file.
    "pdb", "write", "edit", "lists", "resize", "patch", "compare",
];

#[test]
fn each_room_imports_what_stands_before_it() {
    weld_testkit::layers::check(env!("CARGO_MANIFEST_DIR"), ROOMS);
}

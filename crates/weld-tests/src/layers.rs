//! The order of rooms: each imports only what stands before it in [`ROOMS`], so that a reader can begin
//! anywhere and look back only. A test holds the source to it.

/// From the bottom up.
const ROOMS: &[&str] = &[
    // What needs nothing.
    "words",
    "machine",
    "places",
    "pool",
    "process",
    "digests",
    // Reading outputs back.
    "elf",
    "checks",
    "verify",
    // Tests, and who links.
    "flavour",
    "test_file",
    "known",
    "template",
    "objects",
    "linker",
    // Carrying them out.
    "exec",
    "native",
    "cli",
];

#[test]
fn each_room_imports_what_stands_before_it() {
    weld_testkit::layers::check(env!("CARGO_MANIFEST_DIR"), ROOMS);
}

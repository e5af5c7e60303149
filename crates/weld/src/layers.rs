//! The order of rooms: each imports only what stands before it in [`ROOMS`], so that a reader can begin
//! anywhere and look back only. A test holds the source to it.

/// From the bottom up.
const ROOMS: &[&str] = &[
    // Which linker to be.
    "flavour", // What an operating system has.
    "last_words",
    "signals",
    "windows",
    "spawn",
    "progress",
    "stay", // What links need of the program, and what is said.
    "host",
    "memory",
    "pages",
    "render", // What is not a link.
    "install",
    "lto_engine",
    "run",
    "relink",
    "help",
    "explain",
    "explore",
    "completions",
];

#[test]
fn each_room_imports_what_stands_before_it() {
    weld_testkit::layers::check(env!("CARGO_MANIFEST_DIR"), ROOMS);
}

//! The order of rooms: each imports only what stands before it in [`ROOMS`].

/// From the bottom up.
#[rustfmt::skip]
const ROOMS: &[&str] = &[
    // What files say.
    "ir", "bitstream", "bitcode", "gcc",
    // What targets are, and what code for them calls.
    "triple", "runtime_calls",
    // What compilers are asked, and what they answer.
    "options", "spelling", "rows", "request", "origin", "answer",
    // Asking them, and being asked.
    "protocol", "late", "engine", "engine_child", "told",
];

#[test]
fn each_room_imports_what_stands_before_it() {
    weld_testkit::layers::check(env!("CARGO_MANIFEST_DIR"), ROOMS);
}

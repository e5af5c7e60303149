//! The order of rooms: each imports only what stands before it in [`ROOMS`], so that a reader can begin
//! anywhere and look back only. A test holds the source to it.

/// From the bottom up.
const ROOMS: &[&str] = &[
    // How data are stored.
    "leb", "septets", "gzip", "json", "words", // What a file is made of.
    "names", "model", "spelling", "cover", "drafts", "graph", "unit", // What is made of that.
    "page", "binary", "compare", "growth", "table",
];

#[test]
fn each_room_imports_what_stands_before_it() {
    weld_testkit::layers::check(env!("CARGO_MANIFEST_DIR"), ROOMS);
}

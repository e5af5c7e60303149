//! The order of rooms: each imports only what stands before it in [`ROOMS`], so that a reader can begin
//! anywhere and look back only. A test holds the source to it.

/// From the bottom up.
const ROOMS: &[&str] = &[
    // What needs nothing.
    "ids",
    "text",
    "hash",
    "trace",
    "prefetch",
    "par",
    "zeroed",
    "mapped_file",
    "memory_limits",
    "hash_index",
    "growing",
    "demangle",
    "suggest",
    "glob",
    "runs",
    "thunks",
    "aarch64",
    // Messages, and the program around a link.
    "diag",
    "host",
    "jobserver",
    "sort",
    "items",
    "digest",
    // Files.
    "archive",
    "io",
    "args",
    "link_slots",
    "relink",
    "reproduce",
    "job",
    // Engines that every format has a use for.
    "string_table",
    "symbol_names",
    "resolve",
    "merge",
    "partition_refinement",
    "walk",
    "call_graph_sort",
    "reader",
    "source_lines",
];

#[test]
fn each_room_imports_what_stands_before_it() {
    weld_testkit::layers::check(env!("CARGO_MANIFEST_DIR"), ROOMS);
}

//! What speaks against relinking: in what a link was asked for, and in the image.

use std::path::{Path, PathBuf};

use weld_common::io::output;

use super::full_link_reason::Why;
use crate::coff::machine::Machine;
use crate::options::{Icf, Options};
use crate::synth::image::Image;

/// What speaks against relinking objects that change; empty if nothing does.
pub fn against_objects(image: &Image) -> &'static str {
    let options = image.options;
    let against = [
        (options.mingw.on, "objects are not relinked for MinGW"),
        (options.reports.map.is_some(), "/map tells the image's time"),
        (options.pdb.stripped.is_some(), "/pdbstripped makes a second PDB"),
        (options.debug.symtab, "the image has a symbol table"),
        (image.resolved.demands.release, "/release puts a checksum into the image"),
        (options.guard.functions, "/guard:cf looks at objects"),
        (options.layout.function_pad.is_some(), "/functionpadmin looks at objects"),
        (options.icf() != Icf::None, "/opt:icf folds what is the same"),
    ];
    against.iter().find(|(is_so, _)| *is_so).map_or("", |(_, why)| why)
}

/// What speaks against relinking objects whose sections have other sizes; empty if nothing does.
pub fn against_sizes(image: &Image) -> &'static str {
    let force = image.options.force;
    let against = [
        (image.resolved.machine == Machine::X86, "sizes are not relinked for 32-bit x86"),
        (!image.branches.is_empty(), "branches that do not reach go through thunks"),
        (image.rooms.is_none(), "there is no room"),
        (image.options.gc(), "/opt:ref looks at who refers to what"),
        (!image.resolved.wraps.is_empty(), "/wrap has names stand for others"),
        (force.unresolved || force.multiple, "/force has wrong programs linked"),
        (image.options.reports.lld_map.is_some(), "/lldmap tells sizes and places"),
    ];
    against.iter().find(|(is_so, _)| *is_so).map_or("", |(_, why)| why)
}

/// What speaks against relinking in the options.
pub fn against(options: &Options) -> Option<Why> {
    let reports = &options.reports;
    let is_stdout = |path: &PathBuf| path == Path::new("-");
    let mut given = [&reports.map, &reports.lld_map].into_iter().flatten().flatten();
    let is_replaced = |out: &PathBuf| output::is_replaced(out).unwrap_or(false);
    let against = [
        (options.out.is_none(), "without /out, the image has a name only when inputs have been read"),
        (!options.out.as_ref().is_none_or(is_replaced), "the output is not a file that can be replaced"),
        (options.reproduce.is_some(), "/reproduce wants all inputs"),
        (options.overlay.is_some(), "/vfsoverlay says that files are elsewhere"),
        (reports.verbose != Default::default(), "/verbose tells what a link does"),
        (reports.summary, "/summary tells what is linked"),
        (reports.print_search_paths, "/print-search-paths tells where libraries are looked for"),
        (reports.explore.is_some(), "/explore shows a whole link"),
        (reports.symbol_order.is_some(), "/print-symbol-order tells how functions are ordered"),
        (
            reports.time_trace.is_some() || reports.time_trace_beside_output,
            "/time-trace tells how long a link takes",
        ),
        (options.input_list.is_some(), "/linkreprofullpathrsp lists what is read"),
        (given.any(is_stdout), "a map goes to standard output"),
        (options.mingw.output_def.as_ref().is_some_and(is_stdout), "definitions go to standard output"),
    ];
    against.iter().find(|(is_so, _)| *is_so).map(|(_, why)| Why::Nature(why))
}

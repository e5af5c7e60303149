//! What is never relinked: links that decide by looking at everything, report on everything, or write
//! something else than an image.

use super::full_link_reason::Why;
use crate::input::load::Inputs;
use crate::job::Context;
use crate::live::fact;
use crate::options::*;
use crate::relink_state::collect::warned;
use crate::relink_state::outline;
use crate::resolve::Resolved;
use crate::synth::image::Image;

/// What there is to say of links with intermediate code.
pub const GATEWAYS: &str = "functions are entered from another world by gateways, which are all made anew";
pub const COMPILED: &str = "there is intermediate code, which is compiled as a whole";

/// What speaks against it in the options.
pub fn of_options(options: &Options) -> Option<Why> {
    let Options { sections, reports, order, relocs, output, .. } = options;
    let whole_file = matches!(options.notes.build_id, BuildId::Md5 | BuildId::Sha1 | BuildId::Uuid);
    let maps = reports.map_file.is_some() || reports.print_map || reports.cref || reports.memory_usage;
    let traces =
        reports.trace || !reports.trace_symbols.is_empty() || reports.verbose || reports.print_version;
    let reasons = reports.why_extract.is_some() || !reports.why_live.is_empty() || reports.dependencies;
    let explores = reports.explore.is_some();
    let lists = reports.archive_stats.is_some()
        || reports.print_gc_sections.is_some()
        || reports.print_icf_sections.is_some()
        || reports.default_script
        || order.print.is_some();
    let by_contents = sections.zero_to_bss || order.partition.is_asked();
    let rewrites = relocs.unmark || relocs.skip_jumps || relocs.call_padding.is_some();
    let packs = sections.compress_debug.is_some() || !sections.compress_sections.is_empty();
    let indexes = sections.gdb_index || sections.debug_names;
    let chance = !order.shuffle.is_empty();
    let starts = !options.layout.section_starts.is_empty();
    let texts = output.text.is_some() || output.raw || output.debug_file.is_some();
    let against = [
        (options.kind == OutputKind::Relocatable, "-r joins objects, which is not done in part"),
        (sections.icf != Icf::None, "--icf compares all sections"),
        (whole_file, "this style of --build-id reads the whole output; --build-id=fast does not"),
        (packs, "sections of the output are compressed as a whole"),
        (indexes, "--gdb-index and --debug-names are made of all debug information"),
        (rewrites, "options change finished instructions (-z rewrite-endbr, -z call-nop and the like)"),
        (relocs.emit_relocs, "--emit-relocs keeps relocations of all objects"),
        (maps, "maps and cross references are made of the whole link"),
        (traces, "--trace, --trace-symbol and --verbose tell of the whole link"),
        (explores, "--explore shows the whole link"),
        (reasons, "--why-extract, --why-live and --print-dependencies tell of the whole link"),
        (lists, "lists of what a link does are made of the whole link"),
        (reports.reproduce.is_some(), "--reproduce keeps all inputs"),
        (reports.noinhibit_exec, "--noinhibit-exec keeps an output that has errors"),
        (by_contents, "the order or kind of sections depends on their bytes"),
        (starts, "addresses of sections are given (-Ttext, --section-start), where no room to grow is left"),
        (chance, "--shuffle-sections has an order that depends on all sections"),
        (texts, "the output is no ELF image, or has its debug information in another file"),
        (!options.inputs.remaps.is_empty(), "--remap-inputs reads other files in place of inputs"),
    ];
    first_of(&against)
}

/// What speaks against it in the inputs.
pub fn of_inputs(inputs: &Inputs, resolved: &Resolved) -> Option<Why> {
    first_of(&[
        (outline::looks(inputs.machine).is_none(), "objects for this machine are not relinked"),
        (inputs.layout().is_some(), "a linker script with SECTIONS lays out the image"),
        (resolved.objects.iter().any(|object| object.code.is_some()), COMPILED),
        (inputs.has_assertions(), "a script checks what comes of the link (ASSERT)"),
        (inputs.has_versions(), "a script that is an input has VERSION"),
        (inputs.makes_objects, "objects are made of other files (-b binary, --just-symbols)"),
    ])
}

/// What speaks against it in the link.
pub fn of_link(context: &Context, image: &Image) -> Option<Why> {
    let (resolved, live) = (image.resolved, image.live);
    let warns = image.sections.objects.iter().zip(&resolved.objects).any(|(extra, object)| {
        extra.has_warnings && warned(object).any(|name| resolved.names.find(name).is_none())
    });
    // Thunks for branches are in the same list.
    let moves = !image.options.layout.errata.is_empty() && !image.thunks.is_empty();
    of_inputs(context.inputs, resolved).or_else(|| {
        first_of(&[
            (warns, "an object warns of a name that nobody has"),
            (moves, "instructions were moved that processors execute wrongly (--fix-cortex-a53-843419)"),
            (live.has(fact::TEXT_REL), "the loader relocates read-only sections (-z notext)"),
            (context.tagged.is_some(), "there are tagged variables"),
        ])
    })
}

fn first_of(against: &[(bool, &'static str)]) -> Option<Why> {
    against.iter().find(|(is_so, _)| *is_so).map(|(_, why)| Why::Nature(why))
}

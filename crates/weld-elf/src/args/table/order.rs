//! Options that put input sections in another order than that of the command line.

use weld_common::args::Value::{Optional, Required};
use weld_common::args::values::{number, number_up_to, pattern};
use weld_common::args::{Group, Spec, ValueError, choice, flag, take};

use super::super::state::State;
use crate::options::{Shuffle, Shuffled};

pub const GROUP: Group<State> = Group { title: "Order of sections", prefix: "", rows: ROWS };

const ROWS: &[Spec<State>] = &[
    take(
        &["symbol-ordering-file"],
        Required("FILE"),
        "Put the sections of the symbols that FILE lists, one a line, before all others.",
        |s, v| {
            s.o.order.symbol_file = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["call-graph-ordering-file"],
        Required("FILE"),
        "Put functions that call each other often beside one another: FILE has lines FROM TO COUNT.",
        |s, v| {
            s.o.order.call_graph_file = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["shuffle-sections"],
        Optional("GLOB=SEED"),
        "Put sections of matching names in an order by chance, which depends on SEED only; 0: another one each time, \
         -1: the order turned round. SEED alone, or nothing for another one each time: of all sections in memory but \
         arrays of functions.",
        |s, v| {
            let shuffled = shuffled(v.value.map(|_| v.text()).transpose()?)?;
            s.o.order.shuffle.push(shuffled);
            // ld.lld takes the value from the next argument, too.
            s.shuffle_at = v.value.is_none().then_some(s.position);
            Ok(())
        },
    ),
    flag(
        &["reverse-sections"],
        "Turn round the order of all sections in memory, and so that of functions that run before main.",
        |s| s.o.order.shuffle.push(Shuffled { names: None, how: Shuffle::Reverse }),
    ),
    take(
        &["section-ordering-file"],
        Required("FILE"),
        "Put sections in the order of FILE: output sections with patterns for input sections as in a linker script, which \
         come first (as GNU ld), or a name or pattern a line, which come last (as gold).",
        |s, v| {
            s.o.order.section_file = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["randomize-section-padding"],
        Required("SEED"),
        "Put padding by chance, which depends on SEED only, between sections and in front of each segment's.",
        |s, v| {
            s.o.order.padding = Some(number(v.text()?)?);
            Ok(())
        },
    ),
    take(
        &["print-symbol-order"],
        Required("FILE"),
        "Write the symbols that a call graph profile puts in order to FILE.",
        |s, v| {
            s.o.order.print = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["call-graph-profile-sort"],
        Required("HOW"),
        "Put functions in the order that call graph profiles in objects suggest: none, hfsort or cdsort (default), \
         which mean the same.",
        |s, v| {
            s.o.order.by_call_graph = choice(v, &[("none", false), ("hfsort", true), ("cdsort", true)])?;
            Ok(())
        },
    ),
    flag(&["no-call-graph-profile-sort"], "The same as --call-graph-profile-sort=none.", |s| {
        s.o.order.by_call_graph = false;
    }),
    take(
        &["bp-startup-sort"],
        Required("WHAT"),
        "Put functions that are called when the program starts first and near one another, by --irpgo-profile: function, \
         or none (default).",
        |s, v| {
            s.o.order.partition.startup = choice(v, &[("none", false), ("function", true)])?;
            Ok(())
        },
    ),
    take(
        &["irpgo-profile"],
        Required("FILE"),
        "The profile for --bp-startup-sort: indexed, with temporal traces.",
        |s, v| {
            s.o.order.partition.profile = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["bp-compression-sort"],
        Required("WHAT"),
        "Put sections with like bytes near one another, so that the file can be packed better: function, data, both or none \
         (default).",
        |s, v| {
            let known = [
                ("none", (false, false)),
                ("function", (true, false)),
                ("data", (false, true)),
                ("both", (true, true)),
            ];
            let partition = &mut s.o.order.partition;
            (partition.functions, partition.data) = choice(v, &known)?;
            Ok(())
        },
    ),
    flag(
        &["bp-compression-sort-startup-functions"],
        "With --bp-startup-sort, look at the bytes of these functions, too.",
        |s| s.o.order.partition.startup_by_contents = true,
    ),
    flag(&["no-bp-compression-sort-startup-functions"], "Do not (default).", |s| {
        s.o.order.partition.startup_by_contents = false;
    }),
    flag(&["verbose-bp-section-orderer"], "Say how many sections these options put in order.", |s| {
        s.o.order.partition.verbose = true;
    }),
];

/// The value of `--shuffle-sections` as ld.lld has it: GLOB=SEED.
pub fn shuffled_by_name(text: &str) -> Option<Shuffled> {
    shuffled(Some(text)).ok().filter(|shuffled| shuffled.names.is_some())
}

/// The value of `--shuffle-sections`.
fn shuffled(text: Option<&str>) -> Result<Shuffled, ValueError> {
    let Some(text) = text else { return Ok(Shuffled { names: None, how: Shuffle::Random }) };
    let (names, seed) = match text.split_once('=') {
        Some(("", _)) => return Err(ValueError::expected_not("GLOB=SEED", text)),
        Some((glob, seed)) => (Some(pattern(glob)?), seed),
        None => (None, text),
    };
    let how = match seed {
        "-1" => Shuffle::Reverse,
        _ => match number_up_to(seed, u32::MAX.into())? as u32 {
            // A number alone is mold's, where no number is special.
            0 if names.is_some() => Shuffle::Random,
            seed => Shuffle::Seed(seed),
        },
    };
    Ok(Shuffled { names, how })
}

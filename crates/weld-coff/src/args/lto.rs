//! Link-time optimisation: what both command lines say of it, as options of their own and in the words that
//! gcc and clang have for plugins.

use weld_common::args::Value::{Optional, Required};
use weld_common::args::{Context, Effect, Given, Spec, accepted, choose, refused, take};
use weld_lto::options::{Emit, Options};
use weld_lto::rows::{self, Holder};
use weld_lto::spelling::WrongValue;

use super::state::{State, switch};
use super::values::OptionError;

/// The rows of `lld-link`'s table.
pub const ROWS: &[Spec<State>] = &[
    rows::engine(),
    take(
        &["fat-lto-objects"],
        Optional("no"),
        "Compile the bitcode (.llvm.lto) of objects that have machine code, too. By default the machine code is linked.",
        |s, v| {
            s.o.lto.fat_objects = switch(v)?;
            Ok(())
        },
    ),
    rows::llvm_option(),
    rows::cache_directory(&["lldltocache"]),
    rows::cache_policy(&["lldltocachepolicy"]),
    rows::save_temps(&["lldsavetemps"]),
    take(
        &["lldemit"],
        Required("obj|asm|llvm"),
        "Make objects of bitcode and link them (default), or write assembly code or bitcode instead.",
        |s, v| {
            let kinds = [("obj", Emit::Objects), ("asm", Emit::Assembly), ("llvm", Emit::Bitcode)];
            s.o.lto.emit = choose(&v.text()?.to_ascii_lowercase(), &kinds)?;
            Ok(())
        },
    ),
    take(&["dwodir"], Required("DIR"), "Write .dwo files of compiled bitcode to DIR.", |s, v| {
        s.o.lto.dwo_directory = Some(v.os().into());
        Ok(())
    }),
    rows::object_path(),
    rows::context_profile(),
    rows::generate_profile(),
    rows::sample_profile(),
    take(
        &["lto-pgo-warn-mismatch"],
        Optional("no"),
        "Warn of functions that a profile knows by another shape (default).",
        |s, v| {
            s.o.lto.profile.warn_mismatch = switch(v)?;
            Ok(())
        },
    ),
    rows::index_only(),
    rows::emit_imports(),
    prefix_replace(),
    suffix_replace(),
    rows::distributor(),
    rows::distributor_arg(),
    rows::remote_compiler(),
    rows::remote_compiler_prepended_arg(),
    rows::remote_compiler_arg(),
    take(
        &["ltcg"],
        Optional("incremental|status|nostatus|off"),
        "Accepted without effect: bitcode is compiled in any case, and what Microsoft's compiler leaves (/GL) is an error. So are the words for profiles.",
        State::ltcg,
    ),
    accepted(&["ltcgout", "cgthreads"], Optional("VALUE"), "they are for Microsoft's compiler at link time"),
    refused(
        &["genprofile", "fastgenprofile", "useprofile", "spgo", "spdin", "spdembed"],
        Optional("VALUE"),
        "such profiles are for Microsoft's compiler at link time; compile with clang's -fprofile-generate or -fprofile-use",
    ),
    accepted(
        &["pgd", "spd", "pogosafemode"],
        Optional("VALUE"),
        "it only says more of options for profiles, which are errors",
    ),
    refused(
        &["dynamicdeopt"],
        Optional("VALUE"),
        "it needs objects that Microsoft's compiler makes besides, and a second link of them",
    ),
];

pub const fn prefix_replace<S: Holder + Context<Error = OptionError>>() -> Spec<S> {
    Spec {
        effect: Effect::Take(|s: &mut S, v| pair(s.lto().take_prefix_replace(v.text()?), v)),
        ..rows::prefix_replace()
    }
}

pub const fn suffix_replace<S: Holder + Context<Error = OptionError>>() -> Spec<S> {
    Spec {
        effect: Effect::Take(|s: &mut S, v| pair(s.lto().take_suffix_replace(v.text()?), v)),
        ..rows::suffix_replace()
    }
}

/// A pair of names, for which ld.lld has words that builds look for.
fn pair(taken: Result<(), WrongValue>, given: Given<'_>) -> Result<(), OptionError> {
    let text = given.text()?;
    taken.map_err(|_| OptionError::NamePair(text.to_owned()))
}

/// `/opt:`: whether the word is about bitcode.
pub fn optimise(options: &mut Options, word: &str) -> Result<bool, OptionError> {
    let Some((name, value)) = word.split_once('=') else {
        match word {
            "ltodebugpassmanager" => options.passes.debug = true,
            "noltodebugpassmanager" => options.passes.debug = false,
            _ => return Ok(false),
        }
        return Ok(true);
    };
    let (taken, what) = match name {
        "lldlto" => (options.take_level(value), "optimisation level"),
        "lldltocgo" => (options.take_codegen_level(value), "optimisation level"),
        "lldltojobs" => (options.take_jobs(value), "number of jobs"),
        "lldltopartitions" | "ltopartitions" => (options.take_partitions(value), "number of partitions"),
        _ => return Ok(false),
    };
    let (name, value) = (name.to_owned(), value.to_owned());
    taken.map_err(|_| OptionError::OptimisationWord { name, what, value })?;
    Ok(true)
}

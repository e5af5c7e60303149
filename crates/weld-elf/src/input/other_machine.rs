//! What a search finds may be for another machine: systems for several have libraries of one name in many
//! directories.
//!
//! Such a file is passed over, and the search goes on after it, as in GNU ld and mold. A shared object is for
//! the machine that its header names, an archive for those of its objects, and a linker script in a library's
//! place for the one that its `OUTPUT_FORMAT` names.

use std::fs::File;
use std::io::Read;

use weld_common::archive::{Archive, MemberData};
use weld_common::io::input::InputStore;

use super::archives::first_object;
use super::identify::Kind;
use super::search::Opened;
use crate::arch;
use crate::arch::facts::Facts;
use crate::elf::Target;
use crate::options::{InputArg, InputKind, Options};
use crate::script::lexer::{Lexer, Mode};

/// So many files are asked of which ABI they are, where they need not say it.
const SAYS_ABI: usize = 16;

/// The machine that searches are for: the one that options name, or else that of the first object or library
/// that is named by its path.
pub fn wanted(options: &Options, store: &InputStore) -> Option<&'static Facts> {
    let inputs = &options.inputs;
    let targets = || inputs.args.iter().filter_map(|arg| of_file(arg, store));
    let first = || targets().find_map(arch::of_target);
    let says_abi = || targets().take(SAYS_ABI).find(|target| target.settled() == *target);
    let machine = match inputs.machine {
        Some(machine) if arch::has_namesakes(machine) => {
            arch::namesake(machine, says_abi().and_then(arch::of_target).or_else(first))
        }
        Some(machine) => machine,
        None => {
            let searches = |arg: &InputArg| matches!(arg.kind, InputKind::Library(_));
            inputs.args.iter().any(searches).then(first)??
        }
    };
    let ordered = inputs.big_endian.and_then(|big| arch::in_order(machine, big));
    Some(ordered.unwrap_or(machine).facts())
}

/// What the start of a file says.
fn of_file(arg: &InputArg, store: &InputStore) -> Option<Target> {
    let InputKind::File(path) = &arg.kind else { return None };
    let mut start = [0; 64];
    let path = store.rooted(path);
    // Opening a pipe would wait for who writes it.
    std::fs::metadata(&path).ok().filter(|meta| meta.is_file())?;
    // Headers of files of 32 bits are shorter, but what follows is not.
    File::open(path).ok()?.read_exact(&mut start).ok()?;
    Target::of(&start)
}

/// What a file is for, if that is something else than `machine`.
pub fn of(file: &Opened, machine: &Facts) -> Option<String> {
    let object = match file.kind {
        Kind::Object | Kind::Shared => file.bytes,
        Kind::Archive => return of_archive(file.bytes, machine),
        Kind::Text => return format(file).filter(|format| format != machine.object_format),
        _ => return None,
    };
    Target::of(object).filter(|of| !of.is_for(machine.target)).map(|of| of.to_string())
}

/// What an archive is for. One with objects for several machines is for each of them, and one that offers
/// nothing is for all: C libraries have such, so that there is a `-lm`.
fn of_archive(bytes: &[u8], machine: &Facts) -> Option<String> {
    let other = Target::of(first_object(bytes)?).filter(|of| !of.is_for(machine.target))?;
    let archive = Archive::parse(bytes).ok()?;
    let is_for_machine = |data: MemberData| match data {
        MemberData::Inline(data) => Target::of(data).is_some_and(|of| of.is_for(machine.target)),
        _ => false,
    };
    let offers = archive.armap().is_none_or(|map| map.count() > 0);
    let suits = !offers || archive.members().map_while(Result::ok).any(|member| is_for_machine(member.data));
    (!suits).then(|| other.to_string())
}

/// The one format that a script names before it names any input.
fn format(file: &Opened) -> Option<String> {
    let mut lexer = Lexer::new(file.bytes, "");
    lexer.accept(Mode::File, "OUTPUT_FORMAT").ok().filter(|is| *is)?;
    lexer.expect(Mode::File, "(").ok()?;
    let name = lexer.next(Mode::File).ok()?;
    lexer.expect(Mode::File, ")").ok()?;
    lexer.utf8(&name).ok().filter(|name| name != "binary")
}

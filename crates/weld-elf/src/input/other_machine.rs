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
use crate::arch::facts::Facts;
use crate::arch::{self, Machine};
use crate::elf::Target;
use crate::options::{InputArg, InputKind, Options};
use crate::script::lexer::{Lexer, Mode};

/// The machine that searches are for: the one that options name, or else that of the first object or library
/// that is named by its path.
pub fn wanted(options: &Options, store: &InputStore) -> Option<&'static Facts> {
    let inputs = &options.inputs;
    let machine = inputs.machine.or_else(|| {
        let searches = |arg: &InputArg| matches!(arg.kind, InputKind::Library(_));
        inputs.args.iter().any(searches).then(|| inputs.args.iter().find_map(|arg| of_file(arg, store)))?
    })?;
    let ordered = inputs.big_endian.and_then(|big| arch::in_order(machine, big));
    Some(ordered.unwrap_or(machine).facts())
}

/// What the start of a file says.
fn of_file(arg: &InputArg, store: &InputStore) -> Option<Machine> {
    let InputKind::File(path) = &arg.kind else { return None };
    let mut start = [0; 20];
    let path = store.rooted(path);
    // Opening a pipe would wait for who writes it.
    std::fs::metadata(&path).ok().filter(|meta| meta.is_file())?;
    File::open(path).ok()?.read_exact(&mut start).ok()?;
    arch::of_file(&start)
}

/// What a file is for, if that is something else than `machine`.
pub fn of(file: &Opened, machine: &Facts) -> Option<String> {
    let object = match file.kind {
        Kind::Object | Kind::Shared => file.bytes,
        Kind::Archive => return of_archive(file.bytes, machine),
        Kind::Text => return format(file).filter(|format| format != machine.object_format),
        _ => return None,
    };
    Target::of(object).filter(|of| *of != machine.target).map(|of| of.to_string())
}

/// What an archive is for. One with objects for several machines is for each of them, and one that offers
/// nothing is for all: C libraries have such, so that there is a `-lm`.
fn of_archive(bytes: &[u8], machine: &Facts) -> Option<String> {
    let other = Target::of(first_object(bytes)?).filter(|of| *of != machine.target)?;
    let archive = Archive::parse(bytes).ok()?;
    let is_for_machine = |data: MemberData| matches!(data, MemberData::Inline(data) if Target::of(data) == Some(machine.target));
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

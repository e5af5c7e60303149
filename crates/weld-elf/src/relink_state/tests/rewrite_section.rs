//! Sections that are written again from one object and the rows have the bytes that the link gave them.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use weld_common::diag::DiagSink;
use weld_common::host::QuietHost;
use weld_common::io::input::InputStore;

use super::samples::Sample;
use super::{Dir, state};
use crate::arch::Machine;
use crate::args;
use crate::compat_mode::CompatMode;
use crate::options::Options;
use crate::relink_state::State;
use crate::relink_state::excerpt::{self, Common};
use crate::relink_state::file::StateFile;
use crate::relink_state::mentions::Globals;
use crate::relink_state::outline::Before;
use crate::relink_state::rewrite_section::{Alone, Known, Left, Missing, parse};
use crate::relink_state::rows::*;
use crate::sections::SectionKind;

/// A state and its output, both whole.
struct Whole<'w>(&'w State, &'w [u8]);

impl Left for Whole<'_> {
    fn pieces(&self, part: u32, tag: u32) -> Vec<PieceRow> {
        self.0.pieces_tagged(part, tag).copied().collect()
    }

    fn has(&self, offset: u64, bytes: &[u8]) -> bool {
        self.1.get(offset as usize..).is_some_and(|there| there.starts_with(bytes))
    }

    fn read(&self, offset: u64, size: usize) -> Option<Vec<u8>> {
        self.1.get(offset as usize..)?.get(..size).map(<[u8]>::to_vec)
    }
}

/// A state in its file, and the output.
struct Filed<'w>(&'w StateFile<'w>, &'w [u8]);

impl Left for Filed<'_> {
    fn pieces(&self, part: u32, tag: u32) -> Vec<PieceRow> {
        excerpt::pieces(self.0, part, tag).unwrap()
    }

    fn has(&self, offset: u64, bytes: &[u8]) -> bool {
        self.1.get(offset as usize..).is_some_and(|there| there.starts_with(bytes))
    }

    fn read(&self, offset: u64, size: usize) -> Option<Vec<u8>> {
        self.1.get(offset as usize..)?.get(..size).map(<[u8]>::to_vec)
    }
}

fn options(args: &[OsString]) -> Box<Options> {
    let sink = DiagSink::new();
    let args = args::expanded(args).unwrap();
    match args::parse(&args, CompatMode::of_program("weld"), &sink) {
        Ok(args::Command::Link(options)) => options,
        _ => panic!("{:?}", sink.finish()),
    }
}

/// What is known of a link, whatever object is asked for.
fn known_by<'k>(
    state: &'k State,
    (options, machine): (&'k Options, Machine),
    left: &'k dyn Left,
) -> Known<'k> {
    let (row, last_runs) = Default::default();
    Known { state, options, machine, left, row, last_runs, is_for_values: false }
}

/// Links, and writes all sections again that are copied. Returns how many those are.
fn check(args: &[OsString], output: &Path) -> usize {
    let state = state(args);
    let output = std::fs::read(output).unwrap();
    let options = options(args);
    let machine = crate::arch::of_file(&output).unwrap();
    let left = Whole(&state, &output);
    let known = known_by(&state, (&options, machine), &left);
    let bytes = state.write(super::build());
    let file = StateFile::open(&bytes, super::build()).unwrap();
    let common = Common::read(&file).unwrap();
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    let check = |row: u32| {
        let input = &state.inputs[row as usize];
        if input.kind != input_kind::OBJECT {
            return 0;
        }
        let data = open(&state, input, &store);
        let count = check_object(known, row, (data, &output), &store);
        let object = || parse(data, machine, &store).unwrap();
        let alone = Alone::new(known, row, object(), &store).unwrap();
        assert_eq!(alone.outline(Before::SAME, &state.outlines[row as usize]), state.outlines[row as usize]);
        // The same by the rows that the input asks for.
        let now = object();
        let now = Globals::of(&now);
        let part = excerpt::of(&file, &common, row, Some(&now)).unwrap().unwrap().state;
        let known = Known { state: &part, left: &Filed(&file, &output), ..known };
        assert_eq!(check_object(known, 0, (data, &output), &store), count);
        count
    };
    (0..state.inputs.len() as u32).map(check).sum()
}

/// The bytes of an input.
fn open<'s>(state: &State, input: &InputRow, store: &'s InputStore<'s>) -> &'s [u8] {
    let path = Path::new(std::str::from_utf8(state.text(input.path)).unwrap());
    let file = store.open(path).unwrap().unwrap();
    match state.text(input.member) {
        [] => file,
        name => member_of(file, name),
    }
}

fn check_object<'s>(
    known: Known,
    row: u32,
    (data, output): (&'s [u8], &[u8]),
    store: &'s InputStore<'s>,
) -> usize {
    let state = known.state;
    let input = &state.inputs[row as usize];
    let object = parse(data, known.machine, store).unwrap();
    let known = Known { row, last_runs: input.table_runs(), ..known };
    let alone = Alone::new(known, row, object, store).unwrap();
    // Of what lies in tables of the whole image, symbols are where they were, and sizes what they were.
    let sink = DiagSink::new();
    assert_eq!(alone.symbols(&sink), Ok(Vec::new()), "input {row}");
    let copied = |row: &&SectionRow| {
        let kind = SectionKind::of_number(row.kind.into());
        matches!(kind, SectionKind::Regular | SectionKind::Compressed | SectionKind::Reversed)
    };
    let rows: Vec<&SectionRow> = state.sections_of(input).iter().filter(copied).collect();
    for section in &rows {
        let sink = DiagSink::new();
        let mut bytes = vec![0xcc; section.size as usize];
        alone.emit(section.ordinal, &mut bytes, &sink).unwrap();
        assert!(sink.finish().is_empty());
        let out = &state.outputs[section.output as usize];
        let start = (out.offset + (section.address - out.address)) as usize;
        assert!(bytes == output[start..start + bytes.len()], "section {} of input {row}", section.ordinal);
    }
    rows.len()
}

fn member_of<'f>(archive: &'f [u8], name: &[u8]) -> &'f [u8] {
    let archive = weld_common::archive::Archive::parse(archive).unwrap();
    let member = archive.members().map(Result::unwrap).find(|member| member.name == name).unwrap();
    match member.data {
        weld_common::archive::MemberData::Inline(data) => data,
        _ => panic!(),
    }
}

#[test]
fn sections_of_a_small_program() {
    let dir = Dir::new("again");
    // Without merging, strings and constants are copied, too; a shared object keeps what it exports.
    for (more, count) in [
        (&[][..], 11),
        (&["-pie"], 11),
        (&["-O2"], 11),
        (&["-O0"], 18),
        (&["-pie", "-z", "pack-relative-relocs"], 11),
        (&["-shared", "-Bsymbolic"], 12),
    ] {
        let mut args = Sample::default().write(&dir);
        args.extend(more.iter().map(OsString::from));
        assert_eq!(check(&args, &dir.path().join("out")), count, "{more:?}");
    }
}

#[test]
fn another_object_is_not_taken_for_this_one() {
    let dir = Dir::new("again-other");
    let args = Sample::default().write(&dir);
    let state = state(&args);
    let output = std::fs::read(dir.path().join("out")).unwrap();
    let options = options(&args);
    let machine = crate::arch::of_file(&output).unwrap();
    let left = Whole(&state, &output);
    let known = known_by(&state, (&options, machine), &left);
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    let find =
        |name: &[u8]| state.inputs.iter().position(|row| state.text(row.path).ends_with(name)).unwrap();
    let b = std::fs::read(dir.path().join("b.o")).unwrap();
    let wrong = Alone::new(known, find(b"/a.o") as u32, parse(&b, machine, &store).unwrap(), &store).err();
    assert_eq!(wrong, Some(Missing::Object));
    // A string that the link has not seen is nowhere.
    let at = memchr::memmem::find(&b, b"only b").unwrap();
    let mut changed = b.clone();
    changed[at] = b'O';
    let wrong =
        Alone::new(known, find(b"/b.o") as u32, parse(&changed, machine, &store).unwrap(), &store).err();
    assert_eq!(wrong, Some(Missing::Piece));
    assert!(Alone::new(known, find(b"/b.o") as u32, parse(&b, machine, &store).unwrap(), &store).is_ok());
}

/// An object may not refer to what has no place in the output any more, however it came to that.
#[test]
fn what_is_not_there_has_no_address() {
    let dir = Dir::new("again-nowhere");
    let args = Sample::default().write(&dir);
    let whole = state(&args);
    let output = std::fs::read(dir.path().join("out")).unwrap();
    let options = options(&args);
    let machine = crate::arch::of_file(&output).unwrap();
    let host = QuietHost::new();
    let store = InputStore::new(&host);
    let find = |name: &[u8]| {
        whole.inputs.iter().position(|row| whole.text(row.path).ends_with(name)).unwrap() as u32
    };
    let (a, b) = (find(b"/a.o"), find(b"/b.o"));
    let data = std::fs::read(dir.path().join("a.o")).unwrap();
    let checked = |state: &State, row: u32| {
        let left = Whole(&whole, &output);
        let known = known_by(state, (&options, machine), &left);
        Alone::new(known, row, parse(&data, machine, &store).unwrap(), &store).unwrap().check_targets()
    };
    assert_eq!(checked(&whole, a), Ok(()));
    // A name of another object.
    let is_asked = |mention: &&MentionRow| {
        let name = &whole.names[mention.name as usize];
        mention.input == a && name.input == b && name.section != NONE
    };
    let name = whole.mentions.iter().find(is_asked).unwrap().name;
    let mut without = state(&args);
    without.names[name as usize].section = NONE;
    assert!(matches!(checked(&without, a), Err(Missing::Target(_))));
    // The same by rows, if its section is a hole, or it came later and nobody has given it an address.
    let bytes = whole.write(super::build());
    let file = StateFile::open(&bytes, super::build()).unwrap();
    let mut common = Common::read(&file).unwrap();
    let now = parse(&data, machine, &store).unwrap();
    let now = Globals::of(&now);
    let of = |common: &Common| checked(&excerpt::of(&file, common, a, Some(&now)).unwrap().unwrap().state, 0);
    let hole = whole.names[name as usize].section;
    common.set_holes(&file, [hole].into()).unwrap();
    assert_eq!(of(&common), Ok(()));
    common.has_all_values = true;
    assert!(matches!(of(&common), Err(Missing::Target(_))));
    common.values.insert(name, whole.names[name as usize].value + 0x10000);
    assert_eq!(of(&common), Ok(()));
    // A name of its own whose section is a hole.
    let own = whole.names.iter().find(|name| name.input == a && name.section != NONE).unwrap();
    assert!(excerpt::of(&file, &common, a, Some(&now)).unwrap().unwrap().lost.is_none());
    common.set_holes(&file, [own.section].into()).unwrap();
    assert!(excerpt::of(&file, &common, a, Some(&now)).unwrap().unwrap().lost.is_some());
}

/// Rows that are in order by keys are found, however evenly these are spread.
#[test]
fn rows_are_found_by_guesses() {
    let dir = Dir::new("guesses");
    let mut whole = state(&Sample::default().write(&dir));
    let keys: [fn(u32) -> u32; 4] =
        [|i| i * 0x0041_8937, |_| 7, |i| i, |i| if i < 500 { i } else { u32::MAX - 1000 + i }];
    for key in keys {
        let rows = (0..1000).map(|i| PieceRow { tag: key(i), offset: i });
        whole.pieces = rows.collect();
        whole.parts.truncate(1);
        let bytes = whole.write(super::build());
        let file = StateFile::open(&bytes, super::build()).unwrap();
        let tag = |row: &PieceRow| row.tag;
        for (start, end) in [(0, 1000), (10, 600), (400, 400), (0, 1)] {
            let mine = &whole.pieces[start..end];
            let wanted =
                mine.iter().flat_map(|row| [row.tag.saturating_sub(1), row.tag, row.tag.saturating_add(1)]);
            for wanted in wanted.chain([0, 1 << 31, u32::MAX]) {
                let found = file.spread_partition_point(start as u64..end as u64, tag, wanted).unwrap();
                let first = mine.partition_point(|row| row.tag < wanted);
                assert_eq!(found as usize, start + first, "{wanted}");
            }
        }
    }
}

const UNIT: &str = r#"
#include <stdexcept>
#include <string>
#include <vector>
#include <map>
static thread_local int counter;
static std::map<std::string, std::vector<int>> table;
template<class T> struct Base { virtual ~Base() {} virtual T get() { return T(); } };
struct Derived : Base<int> { int get() override { return ++counter; } };
extern "C" const char *UNIT_NAME(int n) {
    static const char *const names[] = {"zero", "one", "two", "shared by both units"};
    Derived d;
    if (n > 3) throw std::out_of_range("n is too large");
    table[names[n]].push_back(d.get());
    switch (n) { case 0: return "a"; case 1: return "b"; case 2: return names[3]; default: return names[n]; }
}
"#;

/// C++ objects of the compilers that are there: exceptions, templates, thread-local storage, debug
/// information.
#[test]
fn sections_of_compiled_programs() {
    let dir = Dir::new("again-cxx");
    let source = dir.write("unit.cc", UNIT.as_bytes());
    for (compiler, flags) in [("g++", "-O0"), ("g++", "-O2"), ("clang++-22", "-O1")] {
        let compile = |name: &str| {
            let object = dir.path().join(format!("{name}.o"));
            let defined = format!("-DUNIT_NAME={name}");
            let mut command = Command::new(compiler);
            command.args(["-c", "-g", "-fPIC", "-ffunction-sections", flags, &defined, "-o"]);
            command.arg(&object).arg(&source);
            command.status().is_ok_and(|status| status.success()).then_some(object)
        };
        let (Some(first), Some(second)) = (compile("first"), compile("second")) else { continue };
        let out = dir.path().join("out.so");
        let mut args: Vec<OsString> = vec!["-shared".into(), "-o".into(), out.clone().into()];
        args.extend([first, second].map(OsString::from));
        let count = check(&args, &out);
        assert!(count > 30, "{compiler} {flags}: {count}");
        args.push("--gc-sections".into());
        check(&args, &out);
        let again = state(&args);
        assert!(again == state(&args), "{compiler} {flags}");
        assert!(State::read(&again.write(super::build()), super::build()) == Ok(again));
    }
}

//! States of small links: written and read back, the same for any number of threads and for the same link
//! once more, with keys that do not depend on what else is linked, and enough to write sections again.

mod keep;
mod rewrite_section;
mod samples;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use weld_common::digest::UnitDigest;
use weld_common::host::QuietHost;
use weld_testkit::mutate::{Rng, damage};

use super::{State, Unreadable};
use crate::link;
use samples::Sample;

/// A directory that goes away with its test.
pub struct Dir(PathBuf);

impl Dir {
    /// `name` must be different for each test.
    pub fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("weld-state-{}-{name}", std::process::id()));
        _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The state of a link with these arguments.
pub fn state(args: &[OsString]) -> State {
    let (_, state) = link::link_with_state(args, &QuietHost::new()).unwrap_or_else(|e| panic!("{e}"));
    state.expect("the link has made a program")
}

fn build() -> UnitDigest {
    UnitDigest::of(b"this build")
}

#[test]
fn written_and_read_back() {
    let dir = Dir::new("round");
    let state = state(&Sample::default().write(&dir));
    let bytes = state.write(build());
    assert!(State::read(&bytes, build()).unwrap() == state);
    assert_eq!(State::read(&bytes, UnitDigest::of(b"another")), Err(Unreadable::OtherBuild));
    assert_eq!(State::read(b"something else", build()), Err(Unreadable::Foreign));
}

#[test]
fn what_is_damaged_is_not_read() {
    let dir = Dir::new("damage");
    let bytes = state(&Sample::default().write(&dir)).write(build());
    for len in (0..bytes.len()).step_by(7) {
        assert!(State::read(&bytes[..len], build()).is_err(), "{len} of {} bytes", bytes.len());
    }
    for bit in (0..bytes.len() * 8).step_by(11) {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(State::read(&changed, build()).is_err(), "bit {bit}");
    }
    for seed in 0..500 {
        let changed = damage(&bytes, seed);
        assert!(changed == bytes || State::read(&changed, build()).is_err(), "{seed}");
    }
}

/// Digests protect from accidents only; rows themselves must not lead out of their tables.
#[test]
fn rows_that_lie_are_not_followed() {
    let dir = Dir::new("lies");
    let good = state(&Sample::default().write(&dir));
    let mut refused = 0;
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let mut state = good.clone();
        spoil(&mut state, &mut rng);
        match State::read(&state.write(build()), build()) {
            Ok(read) => ask_everything(&read),
            Err(e) => {
                assert_eq!(e, Unreadable::Damaged);
                refused += 1;
            }
        }
    }
    assert!((1000..3000).contains(&refused), "{refused}");
}

/// Changes a number that others may go by.
fn spoil(state: &mut State, rng: &mut Rng) {
    fn one<'r, R>(rows: &'r mut [R], rng: &mut Rng) -> &'r mut R {
        let at = rng.below(rows.len());
        &mut rows[at]
    }
    let bad = [0, 1, 2, 7, 40, 1000, u32::MAX - 1, u32::MAX][rng.below(8)];
    match rng.below(24) {
        0 => one(&mut state.inputs, rng).file = bad,
        1 => one(&mut state.inputs, rng).path.start = bad,
        2 => one(&mut state.inputs, rng).member.size = bad,
        3 => one(&mut state.inputs, rng).first_mention = bad,
        4 => one(&mut state.inputs, rng).sections = bad,
        5 => one(&mut state.inputs, rng).symbols = bad,
        6 => one(&mut state.inputs, rng).kind = bad as u8,
        7 => one(&mut state.names, rng).input = bad,
        8 => one(&mut state.names, rng).section = bad,
        9 => one(&mut state.names, rng).slot = bad,
        10 => one(&mut state.names, rng).first_mention = bad,
        11 => one(&mut state.names, rng).hash = bad.into(),
        12 => one(&mut state.mentions, rng).name = bad,
        13 => one(&mut state.mentions, rng).input = bad,
        14 => one(&mut state.by_name, rng).mention = bad,
        15 => one(&mut state.sections, rng).other = bad,
        16 => one(&mut state.sections, rng).output = bad,
        17 => one(&mut state.sections, rng).align_log2 = bad as u8,
        18 => one(&mut state.parts, rng).output = bad,
        19 => one(&mut state.parts, rng).first_piece = bad,
        20 => one(&mut state.groups, rng).candidates = bad,
        21 => one(&mut state.candidates, rng).input = bad,
        22 => one(&mut state.slots, rng).name = bad,
        _ => state.image.plt_style = bad,
    }
}

/// Follows every row to where it leads.
fn ask_everything(state: &State) {
    state.sections.iter().for_each(|row| _ = state.section_key(row));
    state.mentions.iter().for_each(|row| _ = state.mention_key(row));
    (0..state.parts.len() as u32).for_each(|part| _ = state.pieces_of(part));
    state.groups.iter().for_each(|row| _ = state.group_key(row));
    state.candidates.iter().for_each(|row| _ = state.candidate_key(row));
    state.slots.iter().for_each(|row| _ = state.slot_key(row));
    state.thunks.iter().for_each(|row| _ = state.thunk_key(row));
    state.inputs.iter().for_each(|row| _ = (state.text(row.member), state.sections_of(row)));
    (0..state.names.len() as u32).for_each(|name| _ = state.mentions_of(name).count());
}

#[test]
fn threads_do_not_show() {
    let dir = Dir::new("threads");
    let written = Sample::default().write(&dir);
    let of = |threads: &str| {
        let mut args = written.clone();
        args.push(format!("--threads={threads}").into());
        state(&args).write(build())
    };
    let one = of("1");
    assert!(one == of("2") && one == of("8"));
}

#[test]
fn a_null_relink_has_the_same_state() {
    let dir = Dir::new("null");
    for more in [&[][..], &["-pie"], &["-shared", "-Bsymbolic"], &["-O2"], &["-O0"], &["--icf=all"]] {
        let mut args = Sample::default().write(&dir);
        args.extend(more.iter().map(OsString::from));
        let first = state(&args);
        assert!(first == state(&args), "{more:?}");
    }
}

#[test]
fn who_does_not_link_has_none() {
    let dir = Dir::new("none");
    let mut args = Sample::default().write(&dir);
    args.retain(|arg| arg != "--gc-sections");
    args.retain(|arg| arg.to_str().is_none_or(|arg| !arg.ends_with(".so")));
    args.push("-r".into());
    for args in [&args[..], &["--version".into()]] {
        assert!(link::link_with_state(args, &QuietHost::new()).unwrap().1.is_none(), "{args:?}");
    }
}

//! Which rows keep their keys when something else changes, and what is in them.

use std::collections::BTreeSet;

use super::samples::Sample;
use super::{Dir, state};
use crate::relink_state::State;
use crate::relink_state::collect::tag_of;
use crate::relink_state::keys::hash;
use crate::relink_state::rows::*;
use crate::symbols::symbol_flags;

/// The keys of all rows as text, those excepted that are of an input whose path ends with `but`.
fn keys(state: &State, but: &str) -> BTreeSet<String> {
    let others: Vec<&InputRow> = state
        .inputs
        .iter()
        .filter(|input| but.is_empty() || !state.text(input.path).ends_with(but.as_bytes()))
        .collect();
    let is_other = |input: u32| others.iter().any(|other| **other == state.inputs[input as usize]);
    let mut keys = BTreeSet::new();
    let mut add = |table: &str, key: String| assert!(keys.insert(format!("{table} {key}")), "{table} {key}");
    state.files.iter().for_each(|row| add("file", format!("{:x}", row.key)));
    others.iter().for_each(|row| add("input", format!("{:x}", row.key)));
    state.names.iter().for_each(|row| add("name", format!("{:x}", row.hash)));
    state.outputs.iter().for_each(|row| add("output", format!("{:x}", row.key)));
    state.parts.iter().for_each(|row| add("part", format!("{:x}", row.key)));
    for (number, part) in (0..).zip(&state.parts) {
        let pieces = state.pieces_of(number).iter();
        pieces.for_each(|row| add("piece", format!("{:x?}", state.piece_key(part, row))));
    }
    state.groups.iter().for_each(|row| add("group", format!("{:x}", state.group_key(row))));
    state.slots.iter().for_each(|row| add("slot", format!("{:x?}", state.slot_key(row))));
    let sections = state.sections.iter().filter(|row| is_other(row.input));
    sections.for_each(|row| add("section", format!("{:x?}", state.section_key(row))));
    let mentions = state.mentions.iter().filter(|row| is_other(row.input));
    mentions.for_each(|row| add("mention", format!("{:x?}", state.mention_key(row))));
    let candidates = state.candidates.iter().filter(|row| is_other(row.input));
    candidates.for_each(|row| add("candidate", format!("{:x?}", state.candidate_key(row))));
    keys
}

#[test]
fn one_more_object() {
    let dir = Dir::new("keep-more");
    let before = state(&Sample::default().write(&dir));
    let after = state(&Sample { more_at_end: true, ..Sample::default() }.write(&dir));
    let [before, after] = [before, after].map(|state| keys(&state, ""));
    assert_eq!(before.difference(&after).next(), None);
    assert!(after.len() > before.len());
}

#[test]
fn one_more_section_inside() {
    let dir = Dir::new("keep-inside");
    let before = state(&Sample::default().write(&dir));
    let after = state(&Sample { more_inside: true, ..Sample::default() }.write(&dir));
    assert_ne!(before.sections.len(), after.sections.len());
    let [before, after] = [before, after].map(|state| keys(&state, "/b.o"));
    assert_eq!(before.difference(&after).next(), None);
    // A name, its output section being there already, and a string.
    let new: Vec<&str> = after.difference(&before).map(|key| key.split(' ').next().unwrap()).collect();
    assert_eq!(new, ["name", "piece"]);
}

#[test]
fn members_in_another_order() {
    let dir = Dir::new("keep-order");
    let before = state(&Sample::default().write(&dir));
    let after = state(&Sample { reordered: true, ..Sample::default() }.write(&dir));
    assert_ne!(before.inputs, after.inputs);
    assert_eq!(keys(&before, ""), keys(&after, ""));
}

#[test]
fn rows_say_what_the_link_decided() {
    let dir = Dir::new("keep-rows");
    let state = state(&Sample::default().write(&dir));
    let input = |row: u32| String::from_utf8_lossy(state.text(state.inputs[row as usize].path)).into_owned();
    let members: Vec<&[u8]> =
        state.inputs.iter().map(|row| state.text(row.member)).filter(|name| !name.is_empty()).collect();
    assert_eq!(members, [&b"wanted.o"[..], b"too.o"]);
    let modified = std::fs::metadata(dir.path().join("a.o")).unwrap().modified().unwrap();
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    let a = state.files.iter().find(|row| state.text(row.path).ends_with(b"/a.o")).unwrap();
    assert_eq!(u128::from(a.modified), since.as_nanos());

    let name = |name: &str| state.find_name(name.as_bytes()).unwrap();
    assert!(input(name("callee").input).ends_with("/b.o"));
    // What is gone has no section, and no row.
    assert!(name("dead").section == NONE && name("dead").flags & symbol_flags::KIND == symbol_flags::DEFINED);
    let mentioned_by = |name: &str| {
        let row = state.names.iter().position(|row| row.hash == hash(name.as_bytes())).unwrap();
        state.mentions_of(row as u32).map(|row| input(row.input)).collect::<Vec<_>>()
    };
    assert!(matches!(&mentioned_by("callee")[..], [a, b] if a.ends_with("/a.o") && b.ends_with("/b.o")));
    assert!(
        matches!(&mentioned_by("wanted_too")[..], [a, b] if a.ends_with("/lib.a") && b.ends_with("/lib.a"))
    );

    let owner = |name: &str| {
        let group = state.groups.iter().find(|row| state.group_key(row) == hash(name.as_bytes())).unwrap();
        let owner = &state.candidates[group.first_candidate as usize];
        (group.candidates, input(owner.input))
    };
    assert!(matches!(owner("inline"), (2, owner) if owner.ends_with("/a.o")));
    assert!(matches!(owner("only_here"), (1, owner) if owner.ends_with("/b.o")));

    let slot = |name: &NameRow| state.slots[name.slot as usize];
    assert!(slot(name("imported")).plt != NONE && name("imported").dynamic != 0);
    assert!(slot(name("variable")).got != NONE && slot(name("missing")).got != NONE);
    let local = state.slots.iter().find(|row| row.name == NONE).unwrap();
    assert!(input(local.input).ends_with("/a.o") && local.got != NONE);

    // "both" of three objects is one piece.
    let both = tag_of(b"both\0", 1);
    assert_eq!(state.pieces.iter().filter(|row| row.tag == both).count(), 1);
    let common = name("common");
    assert!(input(common.input).ends_with("/b.o") && common.value % 16 == 0);
}

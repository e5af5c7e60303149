//! Every option of the ELF linker, one row each, a file for each heading of the help text.
//!
//! To add an option, add its row: the parser, `--help` and `docs/options.md` follow. The index over
//! all names is made by the compiler.

use weld_common::args::{Group, Index, Table, name_count};

use super::state::State;

mod architectures;
mod compatibility;
mod dynamic;
mod inputs;
mod keywords;
mod lto;
mod order;
mod output;
mod reports;
mod sections;
mod symbols;

pub(super) use keywords::KEYWORDS;
pub(super) use order::shuffled_by_name;

const GROUPS: &[Group<State>] = &[
    output::GROUP,
    inputs::GROUP,
    symbols::GROUP,
    sections::GROUP,
    order::GROUP,
    dynamic::GROUP,
    reports::GROUP,
    lto::GROUP,
    architectures::GROUP,
    compatibility::GROUP,
];

static INDEX: Index<{ name_count(GROUPS) }> = Index::new(GROUPS);

pub(super) static TABLE: Table<State> = Table::new(GROUPS, &INDEX);

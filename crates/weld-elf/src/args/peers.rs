//! The options of other linkers against the table: each of them is known, so it is carried out, needs no
//! action, or is refused with a reason. Their names are asked of the programs that are installed, and kept in
//! lists for others (mold's are those of 2.42).

use std::collections::BTreeSet;
use std::process::Command;

use weld_common::args::Effect;

use super::table;

/// A program and the list of its names: one a line, keywords of `-z` with that in front.
const PEERS: [(&str, &str); 4] = [
    ("ld.lld-22", include_str!("peers/lld.txt")),
    ("ld.bfd", include_str!("peers/bfd.txt")),
    ("ld.gold", include_str!("peers/gold.txt")),
    ("mold", include_str!("peers/mold.txt")),
];

/// The names in a help text, which stand at the start of lines, with commas between them.
fn names_in(help: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in help.lines() {
        // What follows is for other formats than ELF.
        if line.trim() == "i386pep:" {
            break;
        }
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if !(1..=6).contains(&indent) || !text.starts_with('-') {
            continue;
        }
        let head = text.split("  ").next().unwrap_or_default();
        for part in head.split(',').map(str::trim) {
            let is_name = |c: &char| c.is_ascii_alphanumeric() || "-_+".contains(*c);
            if let Some(keyword) = part.strip_prefix("-z ") {
                names.insert(format!("-z {}", keyword.chars().take_while(is_name).collect::<String>()));
            } else if let Some(name) = part.strip_prefix("--").or(part.strip_prefix('-')) {
                let name = name.strip_prefix('[').unwrap_or(name);
                names.insert(name.chars().take_while(is_name).collect());
            }
        }
    }
    // Names in parts: "-z x86-64-[baseline|v2]", "--[no-]".
    names.retain(|name| !name.is_empty() && !name.ends_with('-') && !name.ends_with("-z "));
    names
}

fn is_known(name: &str) -> bool {
    match name.strip_prefix("-z ") {
        Some(keyword) => table::KEYWORDS.row(keyword.as_bytes()).is_some(),
        None => table::TABLE.row(name.as_bytes()).is_some(),
    }
}

#[test]
fn every_option_of_another_linker_is_known() {
    for (program, list) in PEERS {
        let mut names: BTreeSet<String> = list.lines().map(str::to_owned).collect();
        assert!(names.len() > 150, "{program}: {}", names.len());
        if let Ok(output) = Command::new(program).arg("--help").output() {
            let asked = names_in(&String::from_utf8_lossy(&output.stdout));
            assert!(asked.len() > 100, "{program}: {}", asked.len());
            names.extend(asked);
        }
        let missing: Vec<&String> = names.iter().filter(|name| !is_known(name)).collect();
        assert!(missing.is_empty(), "{program}: {missing:?}");
    }
}

#[test]
fn what_is_refused_has_a_reason() {
    for row in table::TABLE.rows().chain(table::KEYWORDS.rows()) {
        if let Effect::Accepted(why) | Effect::Lost(why) | Effect::Refused(why) = row.effect {
            assert!(why.len() > 10, "{:?}", row.names);
        }
    }
}

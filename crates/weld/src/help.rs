//! `weld help [TOPIC]`: the pages of `docs/` in the terminal, or as manual pages.

use std::ffi::OsString;
use std::fmt::{self, Write};
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use weld_common::io::reason;

use crate::pages::terminal::Style;
use crate::pages::topics::{self, TOPICS, Topic};
use crate::pages::{self, man};
use crate::{render, signals};

/// Columns, where nobody says how many there are, and at most.
const WIDTH: usize = 80;
const MAX_WIDTH: usize = 110;

/// Why there is nothing to read.
#[derive(Debug)]
pub enum HelpError {
    Usage,
    /// No such page.
    Topic(String),
    Write(PathBuf, io::Error),
}

impl fmt::Display for HelpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HelpError::Usage => f.write_str("usage: weld help [TOPIC] | weld help --man DIR"),
            HelpError::Topic(name) => write!(f, "there is no page '{name}'; weld help lists the pages"),
            HelpError::Write(path, e) => write!(f, "cannot write {}: {}", path.display(), reason(e)),
        }
    }
}

impl std::error::Error for HelpError {}

/// What to print: the list of topics, a page, or the names of the manual pages that were written.
pub fn run(args: &[OsString]) -> Result<String, HelpError> {
    match args {
        [] => Ok(contents()),
        [option, dir] if option == "--man" => manual(Path::new(dir)),
        [name] if !name.to_string_lossy().starts_with('-') => {
            let name = name.to_string_lossy();
            let topic = topics::find(&name).ok_or_else(|| HelpError::Topic(name.to_string()))?;
            Ok(style().page(&pages::blocks(&topic.text())))
        }
        _ => Err(HelpError::Usage),
    }
}

fn contents() -> String {
    let mut out = String::from("weld help TOPIC shows a page:\n");
    for Topic { name, summary, .. } in TOPICS {
        _ = writeln!(out, "  {name:<17} {summary}");
    }
    out.push_str("weld help --man DIR writes them as manual pages to DIR/man1 and DIR/man7.\n");
    out
}

/// Lines as long as the terminal's, but none that nobody likes to read.
pub fn style() -> Style {
    let width =
        signals::terminal_width().map_or(WIDTH, |columns| columns.saturating_sub(1).clamp(40, MAX_WIDTH));
    Style { width, color: cfg!(unix) && io::stdout().is_terminal() && render::is_smart() }
}

/// Writes the manual pages: weld(1) for the page `use`, weld-TOPIC for the others.
fn manual(dir: &Path) -> Result<String, HelpError> {
    let mut names = String::new();
    for topic in TOPICS {
        let (name, section) = match topic.name {
            "use" => ("weld".to_owned(), 1),
            name if name.starts_with("options") => (format!("weld-{name}"), 1),
            name => (format!("weld-{name}"), 7),
        };
        let text = topic.text();
        let title =
            man::Title { name: &name, section, summary: topic.summary, version: env!("CARGO_PKG_VERSION") };
        let page = man::page(&title, &pages::blocks(&text));
        let dir = dir.join(format!("man{section}"));
        let path = dir.join(format!("{name}.{section}"));
        fs::create_dir_all(&dir)
            .and_then(|()| fs::write(&path, page))
            .map_err(|e| HelpError::Write(path, e))?;
        _ = writeln!(names, "man{section}/{name}.{section}");
    }
    Ok(names)
}

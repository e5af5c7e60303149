//! Which pages there are.

use std::borrow::Cow;

/// A page, by the name that it has in `docs/`.
pub struct Topic {
    pub name: &'static str,
    /// A line, without a full stop.
    pub summary: &'static str,
    source: Source,
}

enum Source {
    Text(&'static str),
    /// Rendered from a table of options.
    Made(fn() -> String),
}

impl Topic {
    const fn file(name: &'static str, summary: &'static str, text: &'static str) -> Topic {
        Topic { name, summary, source: Source::Text(text) }
    }

    const fn made(name: &'static str, summary: &'static str, make: fn() -> String) -> Topic {
        Topic { name, summary, source: Source::Made(make) }
    }

    /// The page's Markdown.
    pub fn text(&self) -> Cow<'static, str> {
        match self.source {
            Source::Text(text) => Cow::Borrowed(text),
            Source::Made(make) => Cow::Owned(make()),
        }
    }
}

/// A file in `pages/`, which is a link to the page.
macro_rules! page {
    ($name:literal, $summary:literal) => {
        Topic::file($name, $summary, include_str!(concat!("../../pages/", $name, ".md")))
    };
}

pub static TOPICS: &[Topic] = &[
    page!("use", "what weld is, how to install and to use it"),
    page!("build-systems", "how compilers and build systems call weld"),
    page!("many-links", "links that share a machine, and limits of memory"),
    page!("moving", "what changes for those who come from another linker"),
    Topic::made("options", "options of the ELF linker", weld_elf::args::options_page),
    Topic::made(
        "options-link",
        "options for Windows, as those of link.exe and lld-link",
        weld_coff::args::options_page,
    ),
    Topic::made(
        "options-mingw",
        "options for Windows, as those of MinGW's ld",
        weld_coff::args::gnu::options_page,
    ),
    page!("compatibility", "where weld differs from GNU ld, ld.lld, mold and link.exe"),
    page!("debugging-links", "when a link fails, or does not do what it should"),
    page!("error-format", "codes of messages, and messages as JSON for programs"),
    page!("sizes-and-symbols", "garbage collection, folding, symbol versions"),
    page!("exploring", "what a linked file is made of: weld explore and --explore"),
    page!("linker-scripts", "what weld makes of linker scripts"),
    page!("distributed-lto", "ThinLTO that is compiled on other machines"),
    page!("machines", "what each machine has, and what was run for it"),
    page!("hosts", "which systems weld itself runs on"),
];

pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

//! Which output sections there are, what goes into each, and in which order they lie.
//!
//! An output section has the name of its parts up to the first `$`. Parts of one name and different flags
//! make several output sections of that name. Well-known ones come first, in a fixed order, then others by
//! name; what may be discarded after loading comes last, for a loader cannot pass over holes, and resources
//! in front of it, for tools make them larger. `/merge` joins two, `/section` says what may be done with one.

use std::ops::Range;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::text;

use crate::coff::pe;
use crate::options::{Demands, Options};
use crate::sections::{READ_ONLY, Sections};

const CODE: u32 = pe::IMAGE_SCN_CNT_CODE.0;
const DATA: u32 = pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0;
const BSS: u32 = pe::IMAGE_SCN_CNT_UNINITIALIZED_DATA.0;
const R: u32 = pe::IMAGE_SCN_MEM_READ.0;
const W: u32 = pe::IMAGE_SCN_MEM_WRITE.0;
const X: u32 = pe::IMAGE_SCN_MEM_EXECUTE.0;
const DISCARDABLE: u32 = pe::IMAGE_SCN_MEM_DISCARDABLE.0;

const IMPORTS: &str = ".idata";

/// Output sections that come first, in this order.
const WELL_KNOWN: [(&[u8], u32); 14] = [
    (b".text", CODE | R | X),
    (b".bss", BSS | R | W),
    (b".rdata", DATA | R),
    (b".buildid", DATA | R),
    (b".cvinfo", DATA | R),
    (b".data", DATA | R | W),
    (b".pdata", DATA | R),
    (b".idata", DATA | R),
    (b".edata", DATA | R),
    (b".didat", DATA | R),
    (b".rsrc", DATA | R),
    (b".reloc", DATA | DISCARDABLE | R),
    (b".ctors", DATA | R | W),
    (b".dtors", DATA | R | W),
];

/// What is merged unless the command line says otherwise.
const MERGES: &[(&str, &str)] = &[
    (IMPORTS, ".rdata"),
    (".didat", ".rdata"),
    (".edata", ".rdata"),
    (".xdata", ".rdata"),
    (".00cfg", ".rdata"),
    (".bss", ".data"),
];

/// What is merged besides for MinGW.
const GNU_MERGES: &[(&str, &str)] = &[(".CRT", ".rdata"), (".ctors", ".rdata"), (".dtors", ".rdata")];

#[derive(Clone)]
pub struct Out {
    pub name: Vec<u8>,
    pub flags: u32,
    /// The ranks of its parts.
    pub ranks: Range<u32>,
    /// Holds the base relocations.
    pub is_relocs: bool,
}

#[derive(Clone)]
pub struct Program {
    pub outs: Vec<Out>,
    /// Of each part its place in the image; all ones if it has none.
    pub rank: Vec<u32>,
    pub ranks: u32,
}

/// An output section being put together.
struct Draft {
    name: Vec<u8>,
    flags: u32,
    parts: Vec<u32>,
    is_relocs: bool,
}

/// What the image is like.
#[derive(Clone, Copy)]
pub struct Style<'s> {
    pub mingw: bool,
    /// Among the slots of imports are some that the program itself fills.
    pub writes_imports: bool,
    /// `/sectionlayout`: names of output sections, in their order.
    pub order: &'s [Vec<u8>],
}

/// Puts the program together. `used` says which parts have sections in the image.
pub fn make(
    sections: &Sections,
    used: &[bool],
    demands: &Demands,
    style: Style<'_>,
    sink: &DiagSink,
) -> Program {
    let mingw = style.mingw;
    let mut drafts: Vec<Draft> = WELL_KNOWN
        .iter()
        .map(|(name, flags)| Draft {
            name: name.to_vec(),
            flags: *flags,
            parts: Vec::new(),
            is_relocs: *name == b".reloc",
        })
        .collect();
    let mut parts: Vec<u32> = (0..sections.parts.len() as u32).filter(|&part| used[part as usize]).collect();
    parts.sort_by(|a, b| sections.parts[*a as usize].cmp(&sections.parts[*b as usize]));
    for part in parts {
        let (name, flags) =
            output_of(&sections.parts[part as usize].name, sections.parts[part as usize].flags, mingw);
        match drafts.iter_mut().find(|draft| draft.name == name && draft.flags == flags && !draft.is_relocs) {
            Some(draft) => draft.parts.push(part),
            None => drafts.push(Draft { name: name.to_vec(), flags, parts: vec![part], is_relocs: false }),
        }
    }
    let mut merges = if mingw { [MERGES, GNU_MERGES].concat() } else { MERGES.to_vec() };
    if style.writes_imports {
        merges.retain(|(from, _)| *from != IMPORTS);
    }
    merge(&mut drafts, demands, &merges, sink);
    // Wherever they have been put.
    if style.writes_imports {
        let is_imports = |part: &u32| sections.parts[*part as usize].name.starts_with(IMPORTS.as_bytes());
        drafts
            .iter_mut()
            .filter(|draft| draft.parts.iter().any(is_imports))
            .for_each(|draft| draft.flags |= W);
    }
    // What has no bytes in the file lies after what has, whatever order they were merged in; unless it is
    // what others were merged into.
    let is_bss = |part: &u32| sections.parts[*part as usize].flags & BSS != 0;
    for draft in drafts.iter_mut().filter(|draft| draft.parts.first().is_some_and(|part| !is_bss(part))) {
        draft.parts.sort_by_key(is_bss);
    }
    drafts.retain(|draft| draft.is_relocs || !draft.parts.is_empty());
    for draft in &mut drafts {
        if let Some(flags) = demands.sections.get(&*text::text(&draft.name)) {
            draft.flags = draft.flags & !flags.clear | flags.set;
        }
    }
    drafts.sort_by_key(place);
    order_as_asked(&mut drafts, style.order, sink);
    finish(drafts, sections.parts.len())
}

/// The output section of a part.
fn output_of(name: &[u8], flags: u32, mingw: bool) -> (&[u8], u32) {
    let base = name.split(|&b| b == b'$').next().unwrap_or(name);
    // `.ctors.00100`, `.text.startup`
    let dot = base.iter().skip(1).position(|&b| b == b'.').filter(|_| mingw);
    let base = dot.map_or(base, |dot| &base[..dot + 1]);
    match base {
        // Tables of functions that start-up code calls: compilers do not agree on whether they are written
        // to.
        b".CRT" => (base, READ_ONLY),
        b".rsrc" | b".edata" => (base, READ_ONLY),
        b".ctors" | b".dtors" if mingw => (base, DATA | R | W),
        _ => (base, flags),
    }
}

fn merge(drafts: &mut [Draft], demands: &Demands, merges: &[(&str, &str)], sink: &DiagSink) {
    let given = demands.merges.iter().map(|(from, to)| (from.as_str(), to.as_str()));
    let is_given = |from: &str| demands.merges.iter().any(|(name, _)| name == from);
    let defaults = merges.iter().copied().filter(|(from, _)| !is_given(from));
    let displaced = merges
        .iter()
        .filter(|(from, to)| demands.merges.iter().any(|(name, other)| name == from && other != to));
    for lost in demands.lost_merges.iter().cloned().chain(displaced.map(|(from, to)| {
        let other = demands.merges.iter().find(|(name, _)| name == from).map_or("", |(_, to)| to);
        format!("{from}={to}: already merged into {other}")
    })) {
        sink.warn(Cause::OptionWithoutEffect, lost);
    }
    // What is merged into itself stays by itself.
    let mut all: Vec<(&str, &str)> = given.chain(defaults).filter(|(from, to)| from != to).collect();
    // What lies one after another in a section does not depend on who asks first.
    all.sort_unstable();
    if let Some(circle) = circle(&all) {
        let text = format!("/merge: cycle found for section '{}'", circle[0]);
        return sink.push(
            Diagnostic::error(Cause::ConflictingOptions, text)
                .note(format!("each goes into the next: {}", circle.join(", "))),
        );
    }
    for (from, first) in &all {
        // Where it ends up if that is merged into another in turn.
        let mut to = *first;
        while let Some((_, next)) = all.iter().find(|(name, _)| *name == to) {
            to = next;
        }
        let Some(from) = drafts.iter().position(|draft| draft.name == *text::bytes(from) && !draft.is_relocs)
        else {
            continue;
        };
        match drafts.iter().position(|draft| draft.name == *text::bytes(to) && !draft.is_relocs) {
            None => drafts[from].name = text::bytes(to).into_owned(),
            Some(to) if to == from => {}
            Some(to) => {
                let parts = std::mem::take(&mut drafts[from].parts);
                if !parts.is_empty() {
                    drafts[to].flags = with_contents(drafts[to].flags, drafts[from].flags);
                }
                drafts[to].parts.extend(parts);
            }
        }
    }
}

/// Sections that are merged into each other: the first is merged into the second, and the last is the first
/// again. What only leads there is none of them.
fn circle<'m>(all: &[(&'m str, &'m str)]) -> Option<Vec<&'m str>> {
    all.iter().find_map(|(start, _)| {
        let mut path = vec![*start];
        while path.len() <= all.len() {
            let (_, next) = all.iter().find(|(name, _)| name == path.last().unwrap_or(start))?;
            path.push(next);
            if next == start {
                return Some(path);
            }
        }
        None
    })
}

/// The flags of a section with what another one's flags say of its contents: code makes it one of code, and
/// data one that has bytes.
fn with_contents(flags: u32, other: u32) -> u32 {
    match (flags, other) {
        _ if (flags | other) & CODE != 0 => flags & !(DATA | BSS) | CODE,
        _ if flags & BSS != 0 && other & BSS == 0 => flags & !BSS | DATA,
        _ => flags,
    }
}

/// The group in which an output section lies. Base relocations are after all that a loader may have to
/// change.
fn place(draft: &Draft) -> u8 {
    match draft.flags & DISCARDABLE != 0 {
        _ if draft.is_relocs => 3,
        true if draft.name.starts_with(b".debug_") => 4,
        true => 2,
        false if draft.name == b".rsrc" => 1,
        false => 0,
    }
}

/// The names that the file of `/sectionlayout` lists, one a line.
pub fn read_layout(options: &Options, store: &InputStore, sink: &DiagSink) -> Vec<Vec<u8>> {
    let Some(path) = &options.layout.section_layout else { return Vec::new() };
    let shown = text::path(path);
    let bytes = match store.open(path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            sink.error(
                Cause::CannotOpenFile,
                format!("/sectionlayout: could not open '{shown}': No such file or directory"),
            );
            return Vec::new();
        }
        Err(e) => {
            sink.error(Cause::CannotReadFile, format!("/sectionlayout: {e}"));
            return Vec::new();
        }
    };
    let mut names: Vec<Vec<u8>> = Vec::new();
    for line in bytes.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii) {
        if names.iter().any(|name| name == line) {
            sink.warn(
                Cause::SectionOrder,
                format!("/sectionlayout: {shown}: section {} is listed again", text::text(line)),
            );
        } else if !line.is_empty() {
            names.push(line.to_vec());
        }
    }
    names
}

/// Puts listed output sections one after another, in the order of the list, where the first of them would lie
/// without it. Base relocations stay after all that is changed by them.
fn order_as_asked(drafts: &mut Vec<Draft>, order: &[Vec<u8>], sink: &DiagSink) {
    let wanted = |draft: &Draft| order.iter().position(|name| *name == draft.name);
    let relocs = order.iter().position(|name| name == b".reloc");
    let later = |place: usize| drafts.iter().any(|d| !d.is_relocs && wanted(d).is_some_and(|at| at > place));
    if relocs.is_some_and(later) {
        sink.warn(Cause::SectionOrder, "/sectionlayout: .reloc stays behind the sections that it is about");
    }
    let is_listed = |draft: &Draft| !draft.is_relocs && wanted(draft).is_some();
    let Some(first) = drafts.iter().position(is_listed) else { return };
    let (mut listed, mut others): (Vec<Draft>, Vec<Draft>) = drafts.drain(..).partition(is_listed);
    listed.sort_by_key(wanted);
    others.splice(first..first, listed);
    *drafts = others;
}

fn finish(drafts: Vec<Draft>, parts: usize) -> Program {
    let mut program = Program { outs: Vec::new(), rank: vec![u32::MAX; parts], ranks: 0 };
    for draft in drafts {
        let first = program.ranks;
        for part in draft.parts {
            program.rank[part as usize] = program.ranks;
            program.ranks += 1;
        }
        let Draft { name, flags, is_relocs, .. } = draft;
        program.outs.push(Out { name, flags, ranks: first..program.ranks, is_relocs });
    }
    program
}

//! First reading of a module: sizes, global symbols, names of files.
//!
//! Everything that the writer relies on is checked here: lengths, type indices, scopes, tables of files.

use std::fmt;

use weld_common::hash::Hasher;

use super::frames::{self, Frames};
use super::globals::Global;
use super::walk::{self, Found};
use crate::codeview::records::HEADER;
use crate::codeview::subsection::{self, Subsection, Subsections};
use crate::codeview::symbol::{self, Scope, Streams};
use crate::codeview::{Fault, Space, string_at, u16_at, u32_at};
use crate::input::Module;
use crate::strings::{Use, Uses};
use crate::types::{Lookup, Types};

/// Bytes of a unit's symbols, about.
const UNIT: u64 = 256 << 10;

/// No module may have more: offsets in its stream have 32 bits.
const MOST_BYTES: u64 = 1 << 31;

/// What is wrong with a module.
#[derive(Clone, Copy, Debug)]
pub struct ModuleFault {
    /// The section, by its number among those of the module, and the place in it of the subsection.
    section: u32,
    offset: u32,
    fault: Fault,
}

impl fmt::Display for ModuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ModuleFault { section, offset, fault } = self;
        write!(f, "what is at {offset:#x} of .debug$S number {section} {fault}")
    }
}

/// What is before one of a module's sections: a unit of writing begins with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cut {
    pub section: u32,
    /// Bytes of symbols.
    pub symbols: u32,
    /// Bytes of lines and so on.
    pub c13: u32,
    /// Global symbols.
    pub globals: u32,
}

/// What was found in a module.
#[derive(Default)]
pub struct Scanned<'a> {
    /// Why nothing of it is used.
    pub fault: Option<ModuleFault>,
    /// Where units begin, and at last where everything ends.
    pub cuts: Vec<Cut>,
    pub globals: Vec<Global>,
    /// A hash for each of those of which one among equals is kept.
    pub hashes: Vec<u64>,
    /// The hash of these, if a later link wants to know it.
    pub equals: u64,
    /// Names of files, and where they are in `/names`.
    pub names: Uses<'a>,
    /// For each entry of its table of files, which of `names` it has.
    pub files: Vec<u32>,
    /// The table of files, which lies after all else: the section that has it, and its bytes. A module with
    /// names has one, empty or not.
    pub file_table: Option<(u32, u32)>,
    /// References to types that the module does not have.
    pub unknown_types: u32,
    /// It has a list of symbols without any.
    pub has_empty_symbols: bool,
    /// How functions lay out their frames.
    pub frames: Vec<Frames>,
    /// Kinds of records and subsections that are left out, which a user should know of.
    pub left_out: Vec<(&'static str, u32)>,
}

impl Scanned<'_> {
    /// What all sections have.
    pub fn total(&self) -> Cut {
        self.cuts.last().copied().unwrap_or_default()
    }

    /// Bytes of lines and files.
    pub fn c13_len(&self) -> u32 {
        self.total().c13 + self.file_table.map_or(0, |(_, size)| size)
    }

    /// The offset in `/names` of what the module's own table has at `local`.
    pub fn name_offset(&self, local: u32) -> Option<u32> {
        let i = self.names.binary_search_by_key(&local, |(place, _)| place.local).ok()?;
        Some(self.names[i].0.offset)
    }
}

/// What a module has. `keeps`: it is one unit, so that what is in the file does not depend on where units are cut.
pub fn module<'a>(module: &Module<'a>, types: &Types<'_>, keeps: bool) -> Scanned<'a> {
    let lookup = match module.types {
        Some(object) => types.lookup(object as usize),
        None => Some(Lookup::default()),
    };
    let mut scan = Scan::new(module, lookup.unwrap_or_default());
    // What is wrong with its types has been said.
    let whole = lookup.is_some();
    match if whole { scan.sections(keeps) } else { Ok(()) } {
        Ok(()) if whole => {
            if keeps {
                scan.found.equals = hash_of(&scan.found.hashes);
            }
            scan.found
        }
        outcome => Scanned {
            fault: outcome.err().map(|fault| scan.fault(fault)),
            cuts: vec![Cut::default(); 2],
            ..Scanned::default()
        },
    }
}

fn hash_of(hashes: &[u64]) -> u64 {
    let mut hasher = Hasher::new(hashes.len() as u64);
    hashes.iter().for_each(|hash| hasher.word(*hash));
    hasher.finish()
}

struct Scan<'a, 't> {
    module: &'a [&'a [u8]],
    lookup: Lookup<'t>,
    found: Scanned<'a>,
    /// Where it is: a section and a subsection.
    section: usize,
    offset: usize,
    /// Bytes so far.
    symbols: u64,
    c13: u64,
    strings: Option<(usize, &'a [u8])>,
    files: Option<(usize, &'a [u8])>,
    /// Names that symbols use, by their places in the table of strings.
    used: Vec<u32>,
}

impl<'a, 't> Scan<'a, 't> {
    fn new(module: &Module<'a>, lookup: Lookup<'t>) -> Self {
        Scan {
            module: module.sections,
            lookup,
            found: Scanned::default(),
            section: 0,
            offset: 0,
            symbols: module.records.len() as u64,
            c13: 0,
            strings: None,
            files: None,
            used: Vec::new(),
        }
    }

    fn fault(&self, fault: Fault) -> ModuleFault {
        ModuleFault { section: self.section as u32, offset: self.offset as u32, fault }
    }

    fn sections(&mut self, keeps: bool) -> Result<(), Fault> {
        // Ready-made records belong to the first unit.
        self.found.cuts.push(Cut::default());
        let mut last = 0;
        for (i, &section) in self.module.iter().enumerate() {
            (self.section, self.offset) = (i, 0);
            if self.symbols + self.c13 - last > UNIT && !keeps {
                last = self.symbols + self.c13;
                self.cut(i)?;
            }
            for part in Subsections::new(section)? {
                let part = part?;
                self.offset = part.start - subsection::HEADER;
                self.subsection(section, &part)?;
            }
        }
        let table = self.files.map(|(section, files)| (section, files.len()));
        let table = table.or(self.strings.map(|(section, _)| (section, 0)));
        let size = |len: usize| (subsection::HEADER + len.next_multiple_of(4)) as u32;
        self.found.file_table = table.map(|(section, len)| (section as u32, size(len)));
        if self.symbols + self.c13 + self.found.c13_len() as u64 > MOST_BYTES {
            return Err(Fault::TooLong);
        }
        self.cut(self.module.len())?;
        self.resolve_names()
    }

    fn cut(&mut self, section: usize) -> Result<(), Fault> {
        if self.symbols + self.c13 > MOST_BYTES {
            return Err(Fault::TooLong);
        }
        let globals = self.found.globals.len() as u32;
        let cut =
            Cut { section: section as u32, symbols: self.symbols as u32, c13: self.c13 as u32, globals };
        self.found.cuts.push(cut);
        Ok(())
    }

    fn subsection(&mut self, section: &'a [u8], part: &Subsection<'a>) -> Result<(), Fault> {
        match part.kind {
            subsection::SYMBOLS => self.symbols(section, part)?,
            subsection::LINES => {
                // The header and that of one file.
                u32_at(part.contents, 8)?;
            }
            subsection::INLINEELINES => each_inlinee(part.contents, |at| {
                let number = inlinee_number(&self.lookup, u32_at(part.contents, at)?);
                self.found.unknown_types += u32::from(number.is_none());
                Ok(())
            })?,
            subsection::FRAMEDATA => {
                self.found.frames.push(Frames::read(self.section, part.start, part.contents)?);
                self.used.extend(frames::programs(part.contents));
            }
            subsection::STRINGTABLE => once(self.strings.replace((self.section, part.contents)))?,
            subsection::FILECHKSMS => once(self.files.replace((self.section, part.contents)))?,
            _ => {}
        }
        match placement(part.kind) {
            Placement::C13 => {
                self.c13 += (subsection::HEADER + part.contents.len().next_multiple_of(4)) as u64
            }
            Placement::Last | Placement::Elsewhere | Placement::Useless => {}
            Placement::LeftOut(what) => note_left_out(&mut self.found.left_out, what, part.kind),
        }
        Ok(())
    }

    fn symbols(&mut self, section: &'a [u8], part: &Subsection<'a>) -> Result<(), Fault> {
        self.found.has_empty_symbols |= part.contents.is_empty();
        let mut left_out = std::mem::take(&mut self.found.left_out);
        let note = |kind: u16| note_left_out(&mut left_out, "unknown symbol record", kind.into());
        let walked = walk::each_record(section, part, note, |found| self.symbol(&found));
        self.found.left_out = left_out;
        walked
    }

    #[inline]
    fn symbol(&mut self, found: &Found<'a>) -> Result<(), Fault> {
        let (record, body) = (found.record, found.record.body());
        if found.traits.scope == Scope::Opens && body.len() < 8 {
            return Err(Fault::Truncated);
        }
        symbol::each_ref(found.traits, body, |at, space| {
            let number = self.lookup.get(u32_at(body, at)?, space);
            self.found.unknown_types += u32::from(number.is_none());
            Ok(())
        })?;
        if let Some(at) = found.traits.string {
            self.used.push(u32_at(body, at.into())?);
        }
        if found.to_globals {
            self.global(found)?;
        }
        if found.to_module {
            self.symbols += record.padded() as u64;
        }
        Ok(())
    }

    fn global(&mut self, found: &Found<'a>) -> Result<(), Fault> {
        let body = found.record.body();
        let name_at = symbol::name_place(found.record.kind, body)?;
        let name = string_at(body, name_at)?;
        let mut global = Global::new(self.section, found.at, HEADER + name_at, name);
        match found.traits.streams {
            // Its stream begins with a signature.
            Streams::Procedure => global.refer_to(4 + self.symbols as u32, name.len()),
            Streams::GlobalUnlessNested => {
                global.take_one_of_equals(found.record.padded());
                let mut hasher = Hasher::new(found.record.kind.into());
                let index = u32_at(body, 0)?;
                hasher.word(number_of(&self.lookup, index, Space::Type).into());
                hasher.bytes(&body[4..name_at + name.len()]);
                self.found.hashes.push(hasher.finish());
            }
            _ => global.copy(found.record.padded()),
        }
        self.found.globals.push(global);
        Ok(())
    }

    /// Looks up all names that the module uses in its table of strings.
    fn resolve_names(&mut self) -> Result<(), Fault> {
        let strings = self.strings.map_or(&[][..], |(_, strings)| strings);
        let mut locals = Vec::new();
        if let Some((section, contents)) = self.files {
            self.section = section;
            each_file(contents, |at| {
                locals.push(u32_at(contents, at)?);
                Ok(())
            })?;
        }
        let mut all: Vec<u32> = locals.iter().chain(&self.used).copied().collect();
        all.sort_unstable();
        all.dedup();
        let mut files = locals.clone();
        files.sort_unstable();
        let with_name = |&local: &u32| {
            let file = files.binary_search(&local).is_ok();
            Ok((Use { local, offset: 0, file }, string_at(strings, local as usize)?))
        };
        self.found.names = all.iter().map(with_name).collect::<Result<_, Fault>>()?;
        let number = |local: &u32| all.binary_search(local).map_or(0, |i| i as u32);
        self.found.files = locals.iter().map(number).collect();
        Ok(())
    }
}

/// `before` is what there was of something that a module has once.
fn once<T>(before: Option<T>) -> Result<(), Fault> {
    if before.is_some() { Err(Fault::Repeated) } else { Ok(()) }
}

fn note_left_out(left_out: &mut Vec<(&'static str, u32)>, what: &'static str, kind: u32) {
    if !left_out.contains(&(what, kind)) && left_out.len() < 16 {
        left_out.push((what, kind));
    }
}

/// What becomes of a subsection.
pub enum Placement {
    /// It is copied after the module's symbols.
    C13,
    /// It is copied after all else: readers look for the table of files there.
    Last,
    /// Its contents are somewhere else in the PDB.
    Elsewhere,
    /// It is for linkers, and debuggers do not read it: addresses of COFF symbols, hashes of functions' types
    /// for control flow guard. The C runtime's objects have them.
    Useless,
    /// Debuggers would miss it: what it is, for a warning.
    LeftOut(&'static str),
}

pub fn placement(kind: u32) -> Placement {
    match kind {
        subsection::LINES | subsection::INLINEELINES => Placement::C13,
        subsection::FILECHKSMS => Placement::Last,
        subsection::SYMBOLS | subsection::STRINGTABLE | subsection::FRAMEDATA => Placement::Elsewhere,
        subsection::COFF_SYMBOL_RVA | subsection::XFG_HASH_TYPE | subsection::XFG_HASH_VIRTUAL => {
            Placement::Useless
        }
        subsection::CROSSSCOPEIMPORTS | subsection::CROSSSCOPEEXPORTS => {
            Placement::LeftOut("tables of link-time code generation, debug$S subsection")
        }
        subsection::IL_LINES..=subsection::MERGED_ASSEMBLYINPUT => {
            Placement::LeftOut("tables of managed code, debug$S subsection")
        }
        _ => Placement::LeftOut("unknown debug$S subsection"),
    }
}

/// Calls `f` with the place of each entry of a table of files.
pub fn each_file(contents: &[u8], mut f: impl FnMut(usize) -> Result<(), Fault>) -> Result<(), Fault> {
    let mut at = 0;
    while at + 6 <= contents.len() {
        let checksum = usize::from(u16_at(contents, at + 4)? & 0xff);
        if at + 6 + checksum > contents.len() {
            return Err(Fault::Truncated);
        }
        f(at)?;
        at = (at + 6 + checksum).next_multiple_of(4);
    }
    Ok(())
}

/// Calls `f` with the place of each id in a list of inlined functions' lines.
pub fn each_inlinee(contents: &[u8], mut f: impl FnMut(usize) -> Result<(), Fault>) -> Result<(), Fault> {
    // With the signature 1 an entry is followed by a count, and as many more files.
    let extra_files = match u32_at(contents, 0)? {
        0 => false,
        1 => true,
        _ => return Err(Fault::Signature),
    };
    let mut at = 4;
    while at + 12 <= contents.len() {
        f(at)?;
        at += 12;
        if extra_files {
            at += 4 + 4 * u32_at(contents, at)? as usize;
        }
    }
    if at > contents.len() { Err(Fault::Truncated) } else { Ok(()) }
}

/// What stands in for types that the module does not have: debuggers know it as a type that could not be
/// translated. Ids have none of the kind.
const UNKNOWN_TYPE: u32 = 7;

/// The number in the PDB of what the module calls `index`, known or not.
#[inline]
pub fn number_of(lookup: &Lookup<'_>, index: u32, space: Space) -> u32 {
    let unknown = if space == Space::Type { UNKNOWN_TYPE } else { 0 };
    lookup.get(index, space).unwrap_or(unknown)
}

/// The number of an inlined function. With the upper bit it means one of another module's, and stays as it
/// is.
pub fn inlinee_number(lookup: &Lookup<'_>, id: u32) -> Option<u32> {
    if id >> 31 != 0 { Some(id) } else { lookup.get(id, Space::Id) }
}

//! All sections of the link in one list: what each is for, what becomes of COMDAT sections, where each will
//! lie.
//!
//! Sections of an object lie one after the other in the list, objects in their order, and after them those
//! that the linker makes. Objects are looked at in parallel, each filling its own part.

use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicBool, Ordering};

use ::object::LittleEndian as LE;
use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::hash::{NameHasher, hash_bytes, join};
use weld_common::{par, trace};

use crate::coff::object::{self, Malformed, SectionHeader};
use crate::coff::pe;
use crate::ids::{FileId, ObjectId, SectionId};
use crate::input::object::{Comdat, Object};
use crate::options::Options;
use crate::resolve::Resolved;
use crate::resolve::comdat::{self, Fate};
use crate::wording::source::Sources;

/// Flags of data that is only read.
pub const READ_ONLY: u32 = pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0 | pe::IMAGE_SCN_MEM_READ.0;

/// What a section is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Lies in the image.
    Regular,
    /// Makes up the tree of resources.
    Resource,
    /// Information for debuggers that lies in the image as it is.
    Dwarf,
    /// Is for the PDB.
    CodeView,
    /// Is for the linker, or for nobody.
    Ignored,
    /// Another object's section is in its place.
    Discarded,
    /// Another section, which is the same, stands for it.
    Folded,
    /// The linker makes it; `number` says which.
    SyntheticSection,
}

/// A section. 32 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Index of the object; all ones for what the linker makes.
    pub object: ObjectId,
    /// From 1 in the object.
    pub number: u32,
    pub size: u32,
    /// What the header says, without what is for linkers.
    pub flags: u32,
    /// Sections of one name and with the same flags are a part of the image.
    pub part: u32,
    /// Sections that go with this one are a list.
    pub first_child: SectionId,
    pub next_sibling: SectionId,
    /// Logarithm of the alignment.
    pub align: u8,
    pub kind: Kind,
    /// Other objects may have it, too; then it may be left out if nothing refers to it.
    pub comdat: bool,
}

const _: () = assert!(size_of::<Section>() == 32);

impl Section {
    /// Whether it has no bytes in the file.
    pub fn is_bss(&self) -> bool {
        self.flags & pe::IMAGE_SCN_CNT_UNINITIALIZED_DATA.0 != 0
    }

    pub fn is_in_image(&self) -> bool {
        matches!(self.kind, Kind::Regular | Kind::Dwarf | Kind::SyntheticSection | Kind::Resource)
    }
}

/// Name and flags of sections that lie together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartialSection {
    /// The linker's own code lies after that of objects, whatever its name is.
    pub is_last: bool,
    pub name: Vec<u8>,
    pub flags: u32,
}

pub struct Sections {
    pub list: Vec<Section>,
    /// Where in the list each object's begin, and where the last one's end.
    pub first: Vec<u32>,
    pub parts: Vec<PartialSection>,
    /// Some object tells who calls whom.
    pub has_profile: bool,
    /// Ids of parts by hashes of name and flags.
    part_ids: HashMap<u64, u32, BuildHasherDefault<NameHasher>>,
}

/// What output sections keep of an input section's flags.
pub const KEPT_FLAGS: u32 = 0xfe00_0000
    | pe::IMAGE_SCN_CNT_CODE.0
    | pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0
    | pe::IMAGE_SCN_CNT_UNINITIALIZED_DATA.0;

/// Flags of code.
const CODE: u32 = pe::IMAGE_SCN_CNT_CODE.0 | pe::IMAGE_SCN_MEM_READ.0 | pe::IMAGE_SCN_MEM_EXECUTE.0;

impl Sections {
    /// Section `number` of an object.
    #[inline]
    pub fn id(&self, object: ObjectId, number: u32) -> SectionId {
        SectionId(self.first[object.index()] + number - 1)
    }

    #[inline]
    pub fn get(&self, id: SectionId) -> &Section {
        &self.list[id.index()]
    }

    /// The id of a part, made if missing.
    pub fn part(&mut self, name: &[u8], flags: u32, is_last: bool) -> u32 {
        let mut hash = join(hash_bytes(name), u64::from(flags) | u64::from(is_last) << 32);
        loop {
            match self.part_ids.get(&hash).map(|&id| (id, &self.parts[id as usize])) {
                Some((id, part)) if (&part.name[..], part.flags, part.is_last) == (name, flags, is_last) => {
                    return id;
                }
                // Another name has this hash.
                Some(_) => hash = hash.wrapping_add(1),
                None => break,
            }
        }
        let id = self.parts.len() as u32;
        self.parts.push(PartialSection { is_last, name: name.to_vec(), flags });
        self.part_ids.insert(hash, id);
        id
    }

    /// Adds a section that the linker makes.
    pub fn add_made(&mut self, number: u32, part: (&[u8], u32), size: u32, align: u8) -> SectionId {
        let (name, flags) = part;
        let part = self.part(name, flags, false);
        self.push_made(number, part, size, align)
    }

    /// Adds code of the linker's own.
    pub fn add_code(&mut self, number: u32, size: u32, align: u8) -> SectionId {
        let part = self.part(b".text", CODE, true);
        self.push_made(number, part, size, align)
    }

    /// Adds a section that the linker makes to a part.
    pub fn push_made(&mut self, number: u32, part: u32, size: u32, align: u8) -> SectionId {
        let id = SectionId(self.list.len() as u32);
        let flags = self.parts[part as usize].flags;
        let object = ObjectId::NONE;
        self.list.push(Section {
            number,
            size,
            flags,
            part,
            align,
            kind: Kind::SyntheticSection,
            ..EMPTY.in_object(object)
        });
        id
    }

    /// The header of a section of an object.
    pub fn header<'a>(&self, objects: &[Object<'a>], section: &Section) -> &'a SectionHeader {
        &objects[section.object.index()].coff.sections[section.number as usize - 1]
    }
}

const EMPTY: Section = Section {
    object: ObjectId(0),
    number: 0,
    size: 0,
    flags: 0,
    part: 0,
    first_child: SectionId::NONE,
    next_sibling: SectionId::NONE,
    align: 0,
    kind: Kind::Ignored,
    comdat: false,
};

impl Section {
    fn in_object(mut self, object: ObjectId) -> Section {
        self.object = object;
        self
    }
}

/// COMDAT sections that a leader's name is asked for ahead.
const LEADER_AHEAD: usize = 16;

/// What looking at a run of objects needs.
struct Parser<'p, 'a> {
    resolved: &'p Resolved<'a>,
    options: &'p Options,
    sink: &'p DiagSink,
    has_profile: AtomicBool,
}

/// Parts met by one task, in the order in which they were met.
#[derive(Default)]
struct LocalParts<'a> {
    list: Vec<(&'a [u8], u32)>,
    ids: HashMap<(&'a [u8], u32), u32, BuildHasherDefault<NameHasher>>,
    known: [Option<(Look, Known)>; KNOWN],
}

/// How many kinds of sections are remembered: objects have thousands of sections, and a dozen of kinds.
const KNOWN: usize = 16;

/// What a section's header says that decides on all of [`Known`]: its name, of which a group's may stand for
/// all that begin with it, and its flags.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    name: [u8; 8],
    is_group: bool,
    flags: u32,
}

impl Look {
    /// Where it is remembered.
    fn slot(&self) -> usize {
        let word = u64::from_le_bytes(self.name) ^ u64::from(self.flags) << 20 ^ u64::from(self.is_group);
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as usize
    }
}

/// What a section is by its name and flags alone.
#[derive(Clone, Copy)]
struct Known {
    kind: Kind,
    comdat: bool,
    align: u8,
    flags: u32,
    part: u32,
}

impl<'a> LocalParts<'a> {
    fn id(&mut self, name: &'a [u8], flags: u32) -> u32 {
        // Most objects have a few, of which the first ones are used most.
        let is_it = |part: &(&[u8], u32)| part.1 == flags && part.0 == name;
        if let Some(at) = self.list.iter().take(8).position(is_it) {
            return at as u32;
        }
        *self.ids.entry((name, flags)).or_insert_with(|| {
            self.list.push((name, flags));
            self.list.len() as u32 - 1
        })
    }
}

/// Looks at the sections of all objects.
pub fn parse<'a>(resolved: &Resolved<'a>, options: &Options, sink: &DiagSink, parallel: bool) -> Sections {
    let objects = &resolved.objects;
    let mut first = Vec::with_capacity(objects.len() + 1);
    let mut total = 0u32;
    first.push(0);
    for object in objects {
        total = match total.checked_add(object.coff.sections.len() as u32) {
            Some(total) if total < u32::MAX / 2 => total,
            _ => {
                sink.error(Cause::TooLarge, "too many sections");
                total
            }
        };
        first.push(total);
    }
    // The linker adds its own to these, which must not move them all.
    let spare = total as usize / 16 + 2 * resolved.imports.len() + 1024;
    let mut list = par::filled("room for sections", parallel, total as usize, spare, EMPTY);
    let mut tasks = Vec::new();
    let mut rest = &mut list[..];
    for (i, object) in objects.iter().enumerate() {
        let (own, behind) = rest.split_at_mut((first[i + 1] - first[i]) as usize);
        tasks.push((ObjectId(i as u32), object, own));
        rest = behind;
    }
    let parser = Parser { resolved, options, sink, has_profile: AtomicBool::new(false) };
    let region = trace::region("sections of objects");
    let one = |_, (id, object, own): (ObjectId, &Object<'a>, &mut [Section])| {
        let _task = region.task();
        let mut parts = LocalParts::default();
        parser.object(id, object, own, first[id.index()], &mut parts);
        parts.list
    };
    let local: Vec<Vec<(&'a [u8], u32)>> = par::map_owned(parallel, tasks, one);
    drop(region);
    let has_profile = parser.has_profile.into_inner();
    let mut sections = Sections { list, first, parts: Vec::new(), has_profile, part_ids: HashMap::default() };
    sections.number_parts(&local, parallel);
    sections
}

impl Sections {
    /// Turns the numbers that parts have in their objects into ids that all objects share.
    fn number_parts(&mut self, local: &[Vec<(&[u8], u32)>], parallel: bool) {
        let ids: Vec<Vec<u32>> = local
            .iter()
            .map(|parts| parts.iter().map(|(name, flags)| self.part(name, *flags, false)).collect())
            .collect();
        let renumber = |_, some: &mut [Section]| {
            for section in some {
                if let Some(id) = ids[section.object.index()].get(section.part as usize) {
                    section.part = *id;
                }
            }
        };
        par::in_pieces("number parts", parallel, (&mut self.list, 1 << 14), renumber, |()| ());
    }
}

/// Whether sections of this name are a table that the image has one of, so that all lie together whatever
/// their flags are: imports, which import libraries of GNU tools have writable, and functions for unwinding.
fn is_table(name: &[u8]) -> bool {
    name.starts_with(b".idata") || name == b".pdata" || name.starts_with(b".pdata$")
}

/// The flags of the part that a section belongs to, from its own.
pub fn part_flags(name: &[u8], flags: u32) -> u32 {
    if is_table(name) { READ_ONLY } else { flags & KEPT_FLAGS }
}

/// Sections of functions and variables in objects of GNU compilers, which have a group's name after a `$`:
/// the group.
#[inline]
pub fn group(start: &[u8]) -> Option<&[u8]> {
    match start {
        [b'.', b't', b'e', b'x', b't', b'$', ..] | [b'.', b'd', b'a', b't', b'a', b'$', ..] => {
            Some(&start[..5])
        }
        [b'.', b'r' | b'p' | b'x', b'd', b'a', b't', b'a', b'$', ..] => Some(&start[..6]),
        [b'.', b'e', ..] if start.starts_with(b".eh_frame$") => Some(&start[..9]),
        _ => None,
    }
}

/// What is wrong with a section.
enum SectionError {
    Malformed(Malformed),
    Alignment,
    /// It has relocations.
    NoContents,
}

impl fmt::Display for SectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SectionError::Malformed(e) => e.fmt(f),
            SectionError::Alignment => f.write_str("unknown alignment"),
            SectionError::NoContents => f.write_str("it has relocations, but no contents"),
        }
    }
}

impl From<Malformed> for SectionError {
    fn from(error: Malformed) -> Self {
        SectionError::Malformed(error)
    }
}

/// What ends the list of frames, a length of zero, lies after all of them: those of libraries, too, though
/// these may be named after the object that has it. The last object of GNU's start files is known by its
/// name, too.
const LAST_FRAMES: &[u8] = b".eh_frame.~";

/// The name of the part in which a section of a GNU compiler's object lies.
fn gnu_name<'a>(object: &Object<'a>, header: &'a SectionHeader, flags: u32) -> Result<&'a [u8], Malformed> {
    if flags & pe::IMAGE_SCN_LNK_COMDAT.0 != 0
        && let Some(group) = group(object.coff.section_name_and_more(header)?.start())
    {
        return Ok(group);
    }
    let name = object.coff.section_name(header)?;
    // The kinds of functions that compilers tell apart have one table all the same.
    if name.starts_with(b".pdata.") {
        return Ok(&name[..6]);
    }
    if name != b".eh_frame" {
        return Ok(name);
    }
    let file = object.name.path.rsplit('/').next().unwrap_or_default();
    let is_last = file.starts_with("crtend") || file.contains(".crtend");
    Ok(if is_last || object.coff.contents(header)?.starts_with(&[0; 4]) { LAST_FRAMES } else { name })
}

/// A section's name and number.
fn numbered(object: &Object, number: u32) -> String {
    let header = object.coff.section(number);
    let name = header.and_then(|header| object.coff.section_name(header).ok()).unwrap_or_default();
    format!("{} (sec {number})", weld_common::text::text(name))
}

impl<'a> Parser<'_, 'a> {
    fn object(
        &self,
        id: ObjectId,
        object: &Object<'a>,
        own: &mut [Section],
        first: u32,
        parts: &mut LocalParts<'a>,
    ) {
        // Of those that are gone nobody asks more, and they are many.
        self.find_gone(object, |comdat| own[comdat.section as usize - 1].kind = Kind::Discarded);
        for ((number, header), section) in (1..).zip(object.coff.sections).zip(own.iter_mut()) {
            (section.object, section.number) = (id, number);
            if section.kind == Kind::Discarded {
                section.comdat = true;
                continue;
            }
            if let Err(e) = self.section(object, header, section, parts) {
                let name = object.coff.section_name(header).unwrap_or_default();
                let name = weld_common::text::text(name);
                self.error(object.file, number, format!("{}: section {number} ({name}): {e}", object.name));
            }
        }
        let mut sources = Sources::default();
        for comdat in &object.comdats {
            if own[comdat.section as usize - 1].kind == Kind::Discarded
                && let Some(problem) =
                    comdat::clash(self.resolved, object, comdat, self.options, &mut sources)
            {
                self.sink.push(problem);
            }
        }
        // Children are linked from last to first, so that a list is in their order.
        for comdat in object.comdats.iter().rev().filter(|comdat| comdat.is_associative()) {
            let child = comdat.section as usize - 1;
            let Some(parent) = (comdat.parent as usize).checked_sub(1) else { continue };
            if own[child].kind != Kind::Discarded && parent < own.len() {
                own[child].next_sibling = own[parent].first_child;
                own[parent].first_child = SectionId(first + child as u32);
            }
        }
    }

    fn section(
        &self,
        object: &Object<'a>,
        header: &'a SectionHeader,
        section: &mut Section,
        parts: &mut LocalParts<'a>,
    ) -> Result<(), SectionError> {
        let look = self.look(object, header)?;
        let known = look.and_then(|look| parts.known[look.slot()].filter(|(other, _)| *other == look));
        let known = match (known, look) {
            (Some((_, known)), _) => known,
            (None, look) => {
                let known = self.known(object, header, parts)?;
                if let Some(look) = look {
                    parts.known[look.slot()] = Some((look, known));
                }
                known
            }
        };
        section.kind = known.kind;
        if section.kind == Kind::Ignored {
            return Ok(());
        }
        // Looked at here, so that later steps need not ask whether they lie within the file.
        object.coff.contents(header)?;
        let relocations = object.coff.relocations(header)?;
        section.size = header.size_of_raw_data.get(LE);
        section.comdat = known.comdat;
        if section.kind == Kind::CodeView {
            return Ok(());
        }
        (section.align, section.flags, section.part) = (known.align, known.flags, known.part);
        if (section.is_bss() || section.size == 0) && !relocations.is_empty() {
            return Err(SectionError::NoContents);
        }
        Ok(())
    }

    /// What is known of all sections that look like this one; `None` if its whole name is needed.
    fn look(&self, object: &Object<'a>, header: &'a SectionHeader) -> Result<Option<Look>, Malformed> {
        let flags = header.characteristics.get(LE).0;
        if header.name[0] != b'/' {
            return Ok(Some(Look { name: header.name, is_group: false, flags }));
        }
        if !self.options.mingw.on || flags & pe::IMAGE_SCN_LNK_COMDAT.0 == 0 {
            return Ok(None);
        }
        let name = object.coff.section_name_and_more(header)?;
        Ok(group(name.start()).map(|group| {
            let mut name = [0; 8];
            let len = group.len().min(8);
            name[..len].copy_from_slice(&group[..len]);
            Look { name, is_group: true, flags }
        }))
    }

    fn known(
        &self,
        object: &Object<'a>,
        header: &'a SectionHeader,
        parts: &mut LocalParts<'a>,
    ) -> Result<Known, SectionError> {
        let flags = header.characteristics.get(LE).0;
        let name = match self.options.mingw.on {
            true => gnu_name(object, header, flags)?,
            false => object.coff.section_name(header)?,
        };
        let kind = self.kind(name, flags);
        let comdat = flags & pe::IMAGE_SCN_LNK_COMDAT.0 != 0;
        let mut known = Known { kind, comdat, align: 0, flags: 0, part: 0 };
        if !matches!(kind, Kind::Ignored | Kind::CodeView) {
            known.align = object::alignment(flags).ok_or(SectionError::Alignment)?;
            known.flags = part_flags(name, flags);
            known.part = parts.id(name, known.flags);
        }
        Ok(known)
    }

    fn kind(&self, name: &[u8], flags: u32) -> Kind {
        if self.options.debug.pdb && matches!(name, b".debug$S" | b".debug$F") {
            return Kind::CodeView;
        }
        if name == b".llvm.call-graph-profile" {
            self.has_profile.store(true, Ordering::Relaxed);
            return Kind::Ignored;
        }
        if flags & pe::IMAGE_SCN_LNK_REMOVE.0 != 0 || name.starts_with(b".debug$") {
            return Kind::Ignored;
        }
        match name {
            b".drectve" | b".llvm_addrsig" | b".sxdata" | b".voltbl" => Kind::Ignored,
            b".gfids$y" | b".giats$y" | b".gljmp$y" | b".gehcont$y" => Kind::Ignored,
            b".rsrc" => Kind::Resource,
            _ if name.starts_with(b".rsrc$") => Kind::Resource,
            _ if name.starts_with(b".debug_") => match self.options.debug.dwarf {
                true => Kind::Dwarf,
                false => Kind::Ignored,
            },
            _ => Kind::Regular,
        }
    }

    /// Says of each COMDAT section whether it is not in the image. What goes with others does as they do.
    fn find_gone(&self, object: &Object<'a>, set_gone: impl FnMut(&Comdat)) {
        let mut gone: Vec<Option<bool>> = Vec::with_capacity(object.comdats.len());
        // Most go with nothing, or with a section in front of them.
        for (i, comdat) in object.comdats.iter().enumerate() {
            if let Some(later) = object.comdats.get(i + LEADER_AHEAD) {
                object.prefetch_leader(&self.resolved.names, later);
            }
            let known = match comdat::fate(self.resolved, object, comdat) {
                Fate::Kept => Some(false),
                Fate::Discarded => Some(true),
                Fate::Follows(parent) => {
                    let place = object.place_of(parent).filter(|at| !object.comdats[*at].lacks_leader());
                    place.and_then(|at| *gone.get(at)?)
                }
            };
            gone.push(known);
        }
        let mut path = Vec::new();
        for first in 0..gone.len() {
            let mut at = first;
            let answer = loop {
                if let Some(known) = gone[at] {
                    break known;
                }
                if path.len() > gone.len() {
                    self.wrong(object, &object.comdats[first], |number| {
                        format!("associative section {number} goes with itself")
                    });
                    break true;
                }
                path.push(at);
                match comdat::fate(self.resolved, object, &object.comdats[at]) {
                    Fate::Kept => break false,
                    Fate::Discarded => break true,
                    Fate::Follows(parent) => match object.place_of(parent) {
                        Some(next) if !object.comdats[next].lacks_leader() => at = next,
                        None if object.coff.section(parent).is_some() => break false,
                        _ => {
                            let other = numbered(object, parent);
                            self.wrong(object, &object.comdats[at], |number| {
                                let own = numbered(object, number);
                                format!("associative comdat {own} has invalid reference to section {other}")
                            });
                            break true;
                        }
                    },
                }
            };
            path.drain(..).for_each(|at| gone[at] = Some(answer));
        }
        let gone = object.comdats.iter().zip(&gone).filter(|(_, gone)| **gone == Some(true));
        gone.map(|(comdat, _)| comdat).for_each(set_gone);
    }

    /// Reports what is wrong about a COMDAT section, if anybody wants the section.
    #[cold]
    fn wrong(&self, object: &Object<'a>, comdat: &Comdat, text: impl Fn(u32) -> String) {
        let number = comdat.section;
        let Some(header) = object.coff.section(number) else { return };
        let name = object.coff.section_name(header).unwrap_or_default();
        if self.kind(name, header.characteristics.get(LE).0) != Kind::Ignored {
            self.error(object.file, number, format!("{}: {}", object.name, text(number)));
        }
    }

    #[cold]
    fn error(&self, file: FileId, number: u32, text: String) {
        self.sink.push(Diagnostic::error(Cause::MalformedObject, text).of(file, number));
    }
}

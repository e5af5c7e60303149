//! An object that takes part: its symbols, COMDAT sections and directives.
//!
//! Reading an object is one pass over its symbols. Global ones are hashed and announced; for each record of
//! the symbol table there are four bytes that will hold the id of the name. A section symbol with an
//! auxiliary record says how a COMDAT section is chosen, and the next symbol in the section is its leader:
//! the name by which sections of several objects are the same one.

use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU32, Ordering};

use object::LittleEndian as LE;
use weld_common::hash::NameHasher;
use weld_common::{text, zeroed};

use super::FileName;
use crate::coff::directives::{self, Directive};
use crate::coff::machine::Machine;
use crate::coff::object::{ABSOLUTE, DEBUG, Malformed, ObjectFile, SectionHeader, Symbol, UNDEFINED};
use crate::coff::pe;
use crate::ids::{FileId, SymbolId};
use crate::symbol_names::{Bins, Names, Rank, Record, SOFT, flag};

/// A section that other objects may have, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comdat {
    /// Number of the section, from 1.
    pub section: u32,
    /// `IMAGE_COMDAT_SELECT_*`; 0 if no symbol says.
    pub selection: u8,
    /// For associative sections: the section that this one goes with.
    pub parent: u32,
    /// The symbol whose name it is known by, or [`NO_LEADER`].
    pub leader: u32,
    pub leader_is_global: bool,
}

pub const NO_LEADER: u32 = u32::MAX;

/// Records that a symbol's name is asked for ahead.
const NAME_AHEAD: u32 = 12;

/// Stands for a record that belongs to the symbol in front of it.
const AUXILIARY: u32 = u32::MAX;

/// Stands for a section that is no COMDAT section.
const PLAIN: u32 = u32::MAX;

const ASSOCIATIVE: u8 = pe::IMAGE_COMDAT_SELECT_ASSOCIATIVE.0;
const ANY: u8 = pe::IMAGE_COMDAT_SELECT_ANY.0;
const LARGEST: u8 = pe::IMAGE_COMDAT_SELECT_LARGEST.0;

pub struct Object<'a> {
    pub file: FileId,
    pub name: FileName<'a>,
    pub coff: ObjectFile<'a>,
    /// Of each record of the symbol table the id of its name and one; 0 if it is not a global symbol,
    /// [`AUXILIARY`] if it is no symbol.
    globals: Vec<AtomicU32>,
    /// In the order of sections.
    pub comdats: Vec<Comdat>,
    /// Where in the list each section is, or [`PLAIN`]. Empty if there are none.
    places: Vec<u32>,
    pub directives: Vec<Directive<'a>>,
    /// The source file of the intermediate code that it stands for, whose machine code is still to be made;
    /// empty if that is not known.
    pub code: Option<&'a [u8]>,
    /// What all names are marked with that it mentions.
    marks: u32,
    is_dissolved: bool,
}

/// The tables of an object, and what decides how they are read.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub coff: ObjectFile<'a>,
    /// It may be of a GNU compiler, which says by names which sections go with others.
    pub is_gnu: bool,
    /// It is linked only if it is wanted.
    pub is_lazy: bool,
    /// It stands for intermediate code ([`super::ir`]), which was made of this source file.
    pub code: Option<&'a [u8]>,
    /// GCC has made it, which dissolves COMDAT sections: what it defines is what their leaders were, and may
    /// be in COMDAT sections of others, which lose.
    pub is_dissolved: bool,
}

impl<'a> Object<'a> {
    /// Takes in an object: finds its COMDAT sections and directives and announces its global symbols; of one
    /// that is lazy, what it defines.
    pub fn read(
        file: FileId,
        name: FileName<'a>,
        source: Source<'a>,
        bins: &mut Bins<'a>,
    ) -> Result<Object<'a>, ObjectError> {
        let coff = source.coff;
        let marks = if source.code.is_some() { 0 } else { flag::NATIVE };
        let (comdats, places) = comdats(&coff);
        let globals = zeroed::sparse(if source.is_lazy { 0 } else { coff.symbols.len() });
        let directives = Vec::new();
        let Source { code, is_dissolved, .. } = source;
        let mut object =
            Object { file, name, globals, comdats, places, directives, coff, code, marks, is_dissolved };
        object.read_symbols(source.is_lazy, bins)?;
        if source.is_gnu {
            follow_functions(&coff, &mut object.comdats);
        }
        object.read_directives()?;
        Ok(object)
    }

    /// It stands for intermediate code.
    pub fn is_code(&self) -> bool {
        self.code.is_some()
    }

    fn read_directives(&mut self) -> Result<(), ObjectError> {
        for text in self.directive_texts() {
            directives::parse(text.map_err(ObjectError::Directives)?, |directive| {
                self.directives.push(directive)
            });
        }
        Ok(())
    }

    /// What its sections of directives have.
    pub fn directive_texts(&self) -> impl Iterator<Item = Result<&'a [u8], Malformed>> + use<'a> {
        let coff = self.coff;
        let all = coff.sections.iter().filter(|header| &header.name == b".drectve");
        all.map(move |header| coff.contents(header))
    }

    /// The COMDAT section with this number.
    pub fn comdat(&self, section: u32) -> Option<&Comdat> {
        self.place_of(section).map(|at| &self.comdats[at])
    }

    /// Where in the list of COMDAT sections the one with this number is.
    #[inline]
    pub fn place_of(&self, section: u32) -> Option<usize> {
        let at = *self.places.get((section as usize).checked_sub(1)?)?;
        (at != PLAIN).then_some(at as usize)
    }

    /// The name of the leader of the COMDAT section with this number.
    pub fn leader_name(&self, section: u32) -> Option<&'a [u8]> {
        let leader = self.comdat(section)?.leader;
        let symbol = self.coff.symbols.get(Some(leader).filter(|&leader| leader != NO_LEADER)?)?;
        self.coff.symbol_name(&symbol).ok()
    }

    /// The name that symbol `index` stands for; `None` for one that only this object sees.
    #[inline]
    pub fn global(&self, index: u32) -> Option<SymbolId> {
        name_of(self.globals.get(index as usize)?.load(Ordering::Relaxed))
    }

    /// Whether record `index` is a symbol: others belong to the symbol in front of them, or are not there.
    #[inline]
    pub fn is_symbol(&self, index: u32) -> bool {
        self.globals.get(index as usize).is_some_and(|id| id.load(Ordering::Relaxed) != AUXILIARY)
    }

    /// Asks for what has been settled for the leader of a COMDAT section.
    #[inline]
    pub fn prefetch_leader(&self, names: &Names, comdat: &Comdat) {
        if comdat.leader_is_global
            && let Some(name) = self.global(comdat.leader)
        {
            names.prefetch(name);
        }
    }

    /// The names that its symbols stand for.
    pub fn globals(&self) -> impl Iterator<Item = SymbolId> {
        self.numbered_globals().map(|(_, id)| id)
    }

    /// The same, each with the symbol.
    pub fn numbered_globals(&self) -> impl Iterator<Item = (u32, SymbolId)> {
        let ids = (0..).zip(&self.globals).map(|(index, id)| (index, id.load(Ordering::Relaxed)));
        ids.filter_map(|(index, word)| Some((index, name_of(word)?)))
    }

    pub fn set_global(&self, index: u32, id: SymbolId) {
        self.globals[index as usize].store(id.0 + 1, Ordering::Relaxed);
    }

    /// Goes through the symbols: what they say of COMDAT sections, and what the global ones are to other
    /// files.
    fn read_symbols(&mut self, lazy: bool, bins: &mut Bins<'a>) -> Result<(), ObjectError> {
        let coff = self.coff;
        for (index, symbol) in coff.symbols.iter() {
            coff.prefetch_name(index.saturating_add(NAME_AHEAD));
            if symbol.section > coff.sections.len() as i32 {
                return Err(ObjectError::NoSection(symbol.section));
            }
            // Below "absolute" and "for debuggers" nothing is defined.
            if symbol.section < DEBUG {
                return Err(special_section(&coff, &symbol));
            }
            let place = match symbol.section {
                1.. => self.places.get(symbol.section as usize - 1).copied().unwrap_or(PLAIN),
                _ => PLAIN,
            };
            let comdat = self.comdats.get_mut(place as usize);
            let comdat = match comdat {
                Some(comdat) => {
                    comdat.learn(&coff, index, &symbol)?;
                    Some(*comdat)
                }
                None => None,
            };
            if symbol.aux > 0 {
                let behind = self.globals.iter().skip(index as usize + 1).take(symbol.aux.into());
                behind.for_each(|id| id.store(AUXILIARY, Ordering::Relaxed));
            }
            if symbol.is_global() {
                self.announce_symbol(index, &symbol, comdat, lazy, bins)?;
            }
        }
        Ok(())
    }

    /// Announces global symbol `index`; of an object that is linked only if it is wanted (`lazy`), if it is a
    /// definition.
    ///
    /// # Errors
    /// What is wrong with the symbol.
    pub fn announce(&self, index: u32, lazy: bool, bins: &mut Bins<'a>) -> Result<(), ObjectError> {
        match self.coff.symbols.get(index) {
            Some(symbol) => {
                let comdat = u32::try_from(symbol.section).ok().and_then(|section| self.comdat(section));
                self.announce_symbol(index, &symbol, comdat.copied(), lazy, bins)
            }
            None => Ok(()),
        }
    }

    #[inline]
    fn announce_symbol(
        &self,
        index: u32,
        symbol: &Symbol<'a>,
        comdat: Option<Comdat>,
        lazy: bool,
        bins: &mut Bins<'a>,
    ) -> Result<(), ObjectError> {
        let Some(bits) = bits(&self.coff, comdat, index, symbol)? else { return Ok(()) };
        let (index, bits) = match lazy {
            true if Rank::of(bits) == Rank::Undefined => return Ok(()),
            true => (u32::MAX, Rank::Provided as u32),
            false if self.is_dissolved => (index, (bits | self.marks) & !flag::PLAIN),
            false => (index, bits | self.marks),
        };
        let (name, hash) = self.coff.hashed_name(symbol)?;
        bins.push(Record::new(hash, name, self.file, index, bits));
        Ok(())
    }
}

/// The name that a word of `globals` stands for.
#[inline]
fn name_of(word: u32) -> Option<SymbolId> {
    let id = word.wrapping_sub(1);
    (id < AUXILIARY - 1).then_some(SymbolId(id))
}

/// What a global symbol, of a COMDAT section or not, is to other files. `None`: nothing.
fn bits(
    coff: &ObjectFile,
    comdat: Option<Comdat>,
    index: u32,
    symbol: &Symbol,
) -> Result<Option<u32>, ObjectError> {
    if symbol.is_weak_external() {
        return match coff.symbols.weak_external(index, symbol) {
            Some(_) => Ok(Some(Rank::Undefined as u32 | flag::WEAK)),
            None => Err(ObjectError::WeakExternal),
        };
    }
    let strong = Rank::Strong as u32;
    Ok(Some(match symbol.section {
        UNDEFINED if symbol.is_common() => Rank::Common as u32,
        UNDEFINED => Rank::Undefined as u32 | flag::REF,
        ABSOLUTE => SOFT as u32,
        1.. => match comdat {
            None => strong | flag::PLAIN,
            Some(comdat) if comdat.leader != index => strong | flag::MEMBER,
            Some(comdat) => match comdat.selection {
                ANY => strong | flag::COMDAT,
                LARGEST => strong | flag::COMDAT | flag::LARGEST | flag::CHOOSY,
                _ => strong | flag::COMDAT | flag::CHOOSY,
            },
        },
        DEBUG => return Ok(None),
        _ => return Err(special_section(coff, symbol)),
    }))
}

/// The COMDAT sections of an object in the order of sections, and where in this list each section is.
fn comdats(coff: &ObjectFile) -> (Vec<Comdat>, Vec<u32>) {
    let is_comdat =
        |header: &SectionHeader| header.characteristics.get(LE).0 & pe::IMAGE_SCN_LNK_COMDAT.0 != 0;
    let count = coff.sections.iter().filter(|header| is_comdat(header)).count();
    if count == 0 {
        return (Vec::new(), Vec::new());
    }
    let mut list = Vec::with_capacity(count);
    let mut places = Vec::with_capacity(coff.sections.len());
    for (number, header) in (1..).zip(coff.sections) {
        if !is_comdat(header) {
            places.push(PLAIN);
            continue;
        }
        places.push(list.len() as u32);
        let (leader, leader_is_global) = (NO_LEADER, false);
        list.push(Comdat { section: number, selection: 0, parent: 0, leader, leader_is_global });
    }
    (list, places)
}

#[cold]
fn special_section(coff: &ObjectFile, symbol: &Symbol) -> ObjectError {
    ObjectError::SpecialSection { name: shown(coff, symbol), section: symbol.section }
}

#[cold]
fn unknown_selection(coff: &ObjectFile, selection: u8, symbol: &Symbol) -> ObjectError {
    ObjectError::Selection { name: shown(coff, symbol), selection }
}

fn shown(coff: &ObjectFile, symbol: &Symbol) -> Box<str> {
    coff.symbol_name(symbol).map(text::text).unwrap_or_default().into()
}

/// Why an object cannot take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectError {
    File(Malformed),
    /// A section of directives is malformed.
    Directives(Malformed),
    /// A symbol is in a section with a number that none has.
    NoSection(i32),
    /// A symbol is in a section with a negative number that has no meaning.
    SpecialSection {
        name: Box<str>,
        section: i32,
    },
    /// A weak external without a symbol to fall back on.
    WeakExternal,
    /// A COMDAT section is to be chosen in a way that there is not.
    Selection {
        name: Box<str>,
        selection: u8,
    },
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectError::File(e) => e.fmt(f),
            ObjectError::Directives(e) => write!(f, ".drectve: {e}"),
            ObjectError::NoSection(section) => {
                write!(f, "a symbol is in section {section}, which does not exist")
            }
            ObjectError::SpecialSection { name, section } => {
                write!(f, "{name} should not refer to special section {section}")
            }
            ObjectError::WeakExternal => f.write_str("a weak external has no symbol to fall back on"),
            ObjectError::Selection { name, selection } => {
                write!(f, "unknown comdat type {selection} for {name}")
            }
        }
    }
}

impl std::error::Error for ObjectError {}

impl From<Malformed> for ObjectError {
    fn from(error: Malformed) -> Self {
        ObjectError::File(error)
    }
}

impl Comdat {
    /// Takes in a symbol of the section: the first one says how to choose, the next one is the leader.
    #[inline]
    fn learn(&mut self, coff: &ObjectFile, index: u32, symbol: &Symbol) -> Result<(), ObjectError> {
        if self.selection == 0 {
            if let Some(definition) = coff.symbols.section_definition(index, symbol) {
                if definition.selection == 0 {
                    return Err(unknown_selection(coff, 0, symbol));
                }
                self.selection = definition.selection;
                self.parent = definition.number;
            }
        } else if self.leader == NO_LEADER && self.selection != ASSOCIATIVE {
            self.leader = index;
            self.leader_is_global = symbol.is_global();
            if !(1..=LARGEST).contains(&self.selection) {
                return Err(unknown_selection(coff, self.selection, symbol));
            }
        }
        Ok(())
    }
}

/// What comes with a function in objects of GNU compilers: `.pdata$f` has no leader and goes with the section
/// that `f` leads.
const WITH_FUNCTIONS: [&[u8]; 3] = [b".pdata$", b".xdata$", b".eh_frame$"];

/// Has sections without a leader go with the functions that their names say.
fn follow_functions(coff: &ObjectFile, comdats: &mut [Comdat]) {
    let leaders: Vec<(u32, u32)> = comdats
        .iter()
        .filter(|comdat| comdat.leader != NO_LEADER)
        .map(|comdat| (comdat.section, comdat.leader))
        .collect();
    let leader = |at: usize| coff.symbols.get(leaders.get(at)?.1);
    let function = |at: usize| {
        let name = coff.symbol_name(&leader(at)?).ok()?;
        Some(plain_name(behind_weak(name), coff.machine))
    };
    // Compilers write such sections in the order of functions: the function of this one is most often the
    // last one in front of it, one of those after that of the section before, or the first one of all. Only
    // others are looked up.
    let mut by_name = None;
    let (mut in_front, mut next) = (0usize, 0);
    for comdat in comdats {
        if comdat.leader != NO_LEADER {
            in_front += 1;
        }
        if !comdat.lacks_leader() {
            continue;
        }
        let name = coff.section(comdat.section).and_then(|header| coff.section_name_and_more(header).ok());
        let name = name.and_then(|name| WITH_FUNCTIONS.iter().find_map(|kind| name.strip_prefix(kind)));
        let Some(name) = name else { continue };
        // Mangled names are long: no end of one is looked for before it is known to differ.
        let is_it = |at: &usize| {
            let of_leader = leader(*at).and_then(|symbol| coff.symbol_name_and_more(&symbol).ok());
            of_leader.is_some_and(|leader| {
                match coff.machine == Some(Machine::X86) || leader.start().starts_with(WEAK) {
                    true => function(*at) == name.whole(),
                    false => leader.is(&name),
                }
            })
        };
        let likely = [in_front.wrapping_sub(1), next, next + 1, 0];
        let found = likely.into_iter().find(is_it).or_else(|| {
            let name = name.whole()?;
            let by_name = by_name.get_or_insert_with(|| {
                let named = (0..leaders.len()).filter_map(|at| Some((function(at)?, at)));
                named.collect::<HashMap<&[u8], usize, BuildHasherDefault<NameHasher>>>()
            });
            by_name.get(name).copied()
        });
        if let Some(found) = found {
            next = found + 1;
            (comdat.selection, comdat.parent) = (ASSOCIATIVE, leaders[found].0);
        }
    }
}

/// What such names begin with.
const WEAK: &[u8] = b".weak.";

/// `f` in `.weak.f.default.main`, which is what a weak `f` stands for; other names as they are.
fn behind_weak(name: &[u8]) -> &[u8] {
    let weak = name.strip_prefix(WEAK);
    let end = weak.and_then(|weak| memchr::memmem::find(weak, b".default"));
    weak.zip(end).map_or(name, |(weak, end)| &weak[..end])
}

/// A function's name as names of sections have it: on x86 without what says how it is called.
fn plain_name(name: &[u8], machine: Option<Machine>) -> &[u8] {
    if machine != Some(Machine::X86) {
        return name;
    }
    let name = name.strip_prefix(b"_").unwrap_or(name);
    match name.iter().rposition(|&byte| byte == b'@') {
        Some(at) if at > 0 && name[at + 1..].iter().all(u8::is_ascii_digit) => &name[..at],
        _ => name,
    }
}

impl Comdat {
    /// Nothing leads to it, and it goes with nothing.
    pub fn lacks_leader(&self) -> bool {
        self.leader == NO_LEADER && self.selection != ASSOCIATIVE
    }

    pub fn is_associative(&self) -> bool {
        self.selection == ASSOCIATIVE
    }
}

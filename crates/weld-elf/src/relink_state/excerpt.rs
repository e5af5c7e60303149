//! A state as far as one input asks for it, read from the file of the whole.
//!
//! Rows are numbered anew, and refer to no others: names are those that the input mentions, sections its own
//! and one that stands for all of other inputs. So an excerpt is a state itself, checked as one, and as large
//! as the input. Pieces of merged sections are not in it; they are looked up one by one ([`pieces`]), when it
//! is known which.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::State;
use super::check;
use super::debug_lists::{self, Lists};
use super::differences::{self, Difference};
use super::extents::{self, Extent, Extents, OtherRuns, TableRuns};
use super::file::{StateFile, Unreadable};
use super::guests::{self, Guest, Yard};
use super::init_array::{InitArrays, Places};
use super::mentions::{self, Globals, Other, Renumbered, manner};
use super::new_names::{self, NewNames};
use super::rows::*;
use crate::address::Address;
use crate::elf::*;
use crate::input::object::SymbolPlace;
use crate::options::Options;
use crate::sections::SectionKind;
use crate::sections::free_sections::INIT_ARRAY;
use crate::sections::init_array::WORD;
use crate::sections::lost_groups::LostSections;
use crate::sections::spare_imports::Import;
use crate::sections::yards::Kind;
use crate::symbols::symbol_flags;

/// What an excerpt takes from a state once, whatever inputs it is of.
pub struct Common {
    image: ImageRow,
    outputs: Vec<OutputRow>,
    parts: Vec<PartRow>,
    thunks: Vec<ThunkRow>,
    text: Vec<u8>,
    /// Room for sections that no object had; none where branches take thunks.
    pub yards: Vec<Yard>,
    /// The sections that lie there.
    pub guests: Vec<Guest>,
    /// Sections of the tables that are gone, or lie elsewhere: their numbers, and rows.
    pub holes: BTreeSet<u32>,
    pub hole_rows: Vec<SectionRow>,
    /// Sections of debug information that lie elsewhere than the tables say, or have other room.
    pub extents: Extents,
    /// Lists in debug information that have come or gone.
    pub lists: Lists,
    /// The output has no debug information, whatever objects have.
    pub is_stripped: bool,
    /// How many sections the tables have.
    pub section_rows: u32,
    /// Words of `.init_array` that objects have, if not what the tables say.
    pub init_arrays: InitArrays,
    /// The same of runs in tables, and where they are in the image until now.
    pub runs: OtherRuns,
    pub last_runs: OtherRuns,
    /// Values that names have got since the tables were written, by row.
    pub values: HashMap<u32, u64>,
    /// Those that they are about to get, which is not yet so for the inputs that define them.
    pub next_values: HashMap<u32, u64>,
    /// These are all: what has no place now has none.
    pub has_all_values: bool,
    /// Objects that are no members of archives may be offered like these.
    pub has_lazy: bool,
    /// Functions of shared objects that have taken spare entries of the PLT, in their order.
    pub imports: Vec<KnownImport>,
    /// Names that have taken spare words of the GOT, in their order: rows, or [`NONE`].
    pub words: Vec<u32>,
    /// Names that one member of an archive offers, which is linked, and nobody else.
    pub offered: HashSet<u32>,
    /// And those that one has offered that has changed, and nobody does now.
    pub no_more_offered: HashSet<u32>,
    /// And those that one offers alone that is linked whoever asks for them.
    pub surely_linked: HashSet<u32>,
    /// It has been found out which members are linked, so it does not matter who asks for what they offer.
    pub is_resolved: bool,
    /// Names that have come and gone since the tables were written, which have `count` names.
    pub names: NewNames,
    pub count: u32,
}

/// A function of a shared object that nobody called when the tables were written: the row of its name, and what tables
/// have of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownImport {
    pub row: u32,
    pub import: Import,
}

/// What a name has of the GOT and the PLT: where in memory its word is, and the number of its entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotPlaces {
    pub word: Option<u64>,
    pub entry: Option<u32>,
}

impl Common {
    /// # Errors
    /// If the file is damaged.
    pub fn read(file: &StateFile) -> Result<Common, Unreadable> {
        let mut text = Vec::new();
        let mut outputs: Vec<OutputRow> = file.all()?;
        for output in &mut outputs {
            let range =
                u64::from(output.name.start)..u64::from(output.name.start) + u64::from(output.name.size);
            output.name.start = text.len() as u32;
            text.append(&mut file.rows::<u8>(range)?);
        }
        // Where branches go counts, and not to what.
        let thunk = |row: ThunkRow| ThunkRow { goal: goal_kind::ABSOLUTE, of: NONE, ..row };
        let thunks: Vec<ThunkRow> = file.all::<ThunkRow>()?.into_iter().map(thunk).collect();
        let mut yards = Vec::new();
        for row in file.all::<YardRow>()?.into_iter().filter(|_| thunks.is_empty()) {
            yards.push(Yard { row, host: file.row(row.section.into())? });
        }
        Ok(Common {
            image: file.row(0)?,
            outputs,
            parts: file.all()?,
            thunks,
            text,
            yards,
            guests: Vec::new(),
            holes: BTreeSet::new(),
            hole_rows: Vec::new(),
            extents: Extents::new(),
            lists: Lists::default(),
            is_stripped: false,
            section_rows: file.count::<SectionRow>() as u32,
            init_arrays: InitArrays::new(),
            runs: OtherRuns::new(),
            last_runs: OtherRuns::new(),
            values: HashMap::new(),
            next_values: HashMap::new(),
            has_all_values: false,
            has_lazy: false,
            imports: Vec::new(),
            words: Vec::new(),
            offered: HashSet::new(),
            no_more_offered: HashSet::new(),
            surely_linked: HashSet::new(),
            is_resolved: false,
            names: NewNames::default(),
            count: file.count::<NameRow>() as u32,
        })
    }

    /// Whether nothing but the objects that define functions and those that refer to them, and tables that are
    /// written with these, knows where they are.
    pub fn may_move(&self) -> bool {
        self.thunks.is_empty() && self.image.has_assigned == 0
    }

    /// Whether objects may define names that no input knew, or cease to.
    pub fn may_have_new_names(&self, options: &Options) -> bool {
        new_names::may_be(options, &self.image, self.has_lazy)
    }

    /// The name of this number.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn name(&self, file: &StateFile, number: u32) -> Result<NameRow, Unreadable> {
        match number.checked_sub(self.count) {
            Some(added) => {
                let added = self.names.added.get(added as usize).map(AddedName::row);
                added.map(|name| self.called(number, name)).ok_or(Unreadable::Damaged)
            }
            None => Ok(self.known(number, file.row(number.into())?)),
        }
    }

    /// A name of the tables as it is now.
    fn known(&self, number: u32, name: NameRow) -> NameRow {
        let name = self.names.owned(number, self.called(number, name));
        // Nothing referred to it.
        let is_revived = name.section == NONE && self.names.revived.contains(&number);
        if is_revived { NameRow { section: IN_GUEST, ..name } } else { name }
    }

    /// A name as it is if it has taken a spare entry of the PLT.
    fn called(&self, number: u32, name: NameRow) -> NameRow {
        match self.imports.iter().find(|known| known.row == number) {
            Some(known) if known.import.is_own => {
                NameRow { flags: name.flags | symbol_flags::NEEDS_PLT, ..name }
            }
            Some(_) => mentions::imported(name),
            None if self.words.contains(&number) => {
                NameRow { flags: name.flags | symbol_flags::NEEDS_GOT, ..name }
            }
            None => name,
        }
    }

    /// Has these rows be holes.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn set_holes(&mut self, file: &StateFile, holes: BTreeSet<u32>) -> Result<(), Unreadable> {
        self.hole_rows = holes.iter().map(|row| file.row((*row).into())).collect::<Result<_, _>>()?;
        // Those that were merged had no place of their own.
        self.hole_rows.retain(|row| row.kind == SectionKind::Regular as u8);
        self.holes = holes;
        Ok(())
    }

    /// The numbers in `.dynsym` that exported names have and others may get.
    pub fn export_rows(&self) -> Range<u32> {
        self.image.exports_first..self.image.exports_first.saturating_add(self.image.exports)
    }

    /// Where in `.dynstr` names are, and may be.
    pub fn dynamic_names(&self) -> Range<u32> {
        self.image.names_start..self.image.names_end
    }

    /// Whether there are shared objects among the inputs.
    pub fn has_shared(&self) -> bool {
        self.image.has_shared != 0
    }

    /// The number of the first entry of the PLT that is spare, or was.
    pub fn first_spare(&self) -> Option<u32> {
        self.image.jump_slots.checked_sub(self.image.spares)
    }

    /// How many entries of the PLT are spare, or were.
    pub fn spares(&self) -> u32 {
        self.image.spares
    }

    /// How many words of the GOT are spare, or were, and where they are.
    pub fn spare_words(&self) -> (u32, u64) {
        let ImageRow { got, got_words, spare_words, .. } = self.image;
        (spare_words, got.saturating_add(8 * u64::from(got_words - spare_words)))
    }

    /// What a name has of the GOT and the PLT that may be empty when it is gone, and is told the loader anew when it comes
    /// again, in a link that may have other such words. `None` if it has more than that, or is another module's.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn places_of(&self, file: &StateFile, name: &NameRow) -> Result<Option<SlotPlaces>, Unreadable> {
        let is_replaced = name.flags & symbol_flags::PREEMPTIBLE != 0;
        let has = match is_replaced {
            true => symbol_flags::NEEDS_GOT | symbol_flags::NEEDS_PLT | symbol_flags::NEEDS_DYNSYM,
            false => symbol_flags::NEEDS_GOT,
        };
        let is_here = name.flags & symbol_flags::KIND == symbol_flags::DEFINED;
        let has_others = name.flags & (symbol_flags::NEEDS & !has | symbol_flags::IFUNC) != 0;
        if has_others || is_replaced && !is_here {
            return Ok(None);
        }
        if name.slot == NONE {
            return Ok(Some(SlotPlaces::default()));
        }
        let slot: SlotRow = file.row(name.slot.into())?;
        let is_plain = slot.signed == 0 && [slot.got_tp, slot.tls_gd, slot.tls_desc] == [NONE; 3];
        let is_known = is_plain && self.image.spare_words > 0 && (is_replaced || slot.plt == NONE);
        let word = |word: u32| self.image.got.saturating_add(8 * u64::from(word));
        Ok(is_known.then(|| SlotPlaces {
            word: (slot.got != NONE).then(|| word(slot.got)),
            entry: (slot.plt != NONE).then_some(slot.plt),
        }))
    }

    /// What a name has that has taken a spare entry of the PLT, or a spare word of the GOT.
    fn spare_slot(&self, number: u32) -> Option<SlotRow> {
        let word = self.words.iter().position(|row| *row == number);
        let word = word.map(|word| self.image.got_words - self.image.spare_words + word as u32);
        let spare = (0..).zip(&self.imports).find(|(_, known)| known.row == number);
        let entry = spare.and_then(|(spare, _)| self.first_spare()?.checked_add(spare));
        (word.is_some() || entry.is_some()).then_some(SlotRow {
            name: NONE,
            input: NONE,
            symbol: NONE,
            got: word.unwrap_or(NONE),
            got_tp: NONE,
            tls_gd: NONE,
            tls_desc: NONE,
            plt: entry.unwrap_or(NONE),
            signed: 0,
            definition: 0,
        })
    }

    /// The name with this hash, and its number, if it is still there.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn find_name(&self, file: &StateFile, hash: u128) -> Result<Option<(u32, NameRow)>, Unreadable> {
        let found = match self.names.find(self.count, hash) {
            Some((number, name)) => Some((number, self.called(number, name.row()))),
            None => mentions::find_name(file, hash)?.map(|(number, name)| (number, self.known(number, name))),
        };
        Ok(found.filter(|(number, _)| !self.names.gone.contains(number)))
    }

    pub fn outputs(&self) -> &[OutputRow] {
        &self.outputs
    }

    /// The names and flags of output sections.
    pub fn named_outputs(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.outputs.iter().map(|out| {
            let start = out.name.start as usize;
            let name = self.text.get(start..start + out.name.size as usize);
            (name.unwrap_or_default(), out.flags)
        })
    }

    /// Whether what another object defines has no place, if all values are known: it was not in the output when the
    /// tables were written, and nobody has given it one; or it is where a section is gone.
    pub fn is_nowhere(&self, number: u32, value: Option<u64>, name: &NameRow) -> bool {
        let is_defined = name.flags & symbol_flags::KIND == symbol_flags::DEFINED;
        if !self.has_all_values || !is_defined {
            return false;
        }
        let is_in = |start: u64, size: u64| name.value.checked_sub(start).is_some_and(|at| at < size);
        let is_guest = || {
            let mut guests = self.guests.iter();
            guests.any(|guest| is_in(guest.address, guest.size.saturating_add(1)))
        };
        // Who has taken over a copy may have put it where the old one was.
        let is_taken_over = self.names.handed_over.contains_key(&number);
        let has_old = is_taken_over && !self.names.revived.contains(&number);
        name.section == IN_GUEST && value.is_none() && !has_old
            || self.hole_rows.iter().any(|row| is_in(row.address, row.size)) && !is_guest()
    }

    /// The output section in memory in which something lies.
    pub fn output_at(&self, address: u64) -> Option<u32> {
        let is_in = |out: &&OutputRow| {
            out.flags & SHF_ALLOC != 0
                && out.kind != SHT_NOBITS
                && address.checked_sub(out.address).is_some_and(|at| at < out.size)
        };
        self.outputs.iter().position(|out| is_in(&out)).map(|number| number as u32)
    }

    /// The part with which a section with this header is merged, which is one of `.rodata`.
    pub fn part_for(&self, shdr: &Shdr) -> Option<(u32, &PartRow)> {
        let strings = shdr.sh_flags() & SHF_STRINGS != 0;
        let is_it = |(_, row): &(u32, &PartRow)| {
            u64::from(row.entsize) == shdr.sh_entsize()
                && (row.strings != 0) == strings
                && u64::from(row.align) == shdr.sh_addralign().max(1)
                && self.kind_of_output(row.output) == Some(Kind::Constants)
        };
        let mut found = (0..).zip(&self.parts).filter(is_it);
        found.next().filter(|_| found.next().is_none())
    }

    /// Has the sections of input number `row` be where words of `.init_array` have moved; and of the size that they have.
    /// Returns the place of those that the tables do not have.
    pub fn put_init_arrays(&self, row: u32, sections: &mut [SectionRow]) -> Option<Extent> {
        let array = self.outputs.iter().position(|out| out.kind == SHT_INIT_ARRAY);
        let array = array.filter(|_| !self.init_arrays.is_empty())? as u32;
        let places = Places::of(&self.init_arrays);
        let words = self.init_arrays.get(&row);
        for section in sections.iter_mut().filter(|section| section.output == array) {
            section.address = places.moved(section.address, row);
            if let Some(words) = words.filter(|_| section.number == INIT_ARRAY) {
                section.size = words.now;
            }
        }
        let new = words.filter(|words| words.before == 0)?;
        Some(Extent { address: places.moved(new.start, row), size: new.now })
    }

    /// The row of words of `.init_array` that the tables do not have.
    fn row_of_words(&self, words: Extent, lost: &LostSections) -> Option<SectionRow> {
        let (number, ordinal) = *lost.free().iter().find(|(number, _)| *number == INIT_ARRAY)?;
        Some(SectionRow {
            input: 0,
            ordinal,
            number,
            address: words.address,
            size: words.size,
            output: self.outputs.iter().position(|out| out.kind == SHT_INIT_ARRAY)? as u32,
            other: NONE,
            kind: SectionKind::Regular as u8,
            align_log2: WORD.trailing_zeros() as u8,
        })
    }

    /// What may lie in holes of an output section.
    pub fn kind_of_output(&self, output: u32) -> Option<Kind> {
        let out = self.outputs.get(output as usize)?;
        let start = out.name.start as usize;
        let name = self.text.get(start..start + out.name.size as usize)?;
        Kind::ALL.into_iter().find(|kind| kind.output() == name)
    }

    /// The output section of this name.
    pub fn output(&self, name: &[u8]) -> Option<&OutputRow> {
        self.outputs.iter().find(|out| {
            let start = out.name.start as usize;
            self.text.get(start..start + out.name.size as usize) == Some(name)
        })
    }

    /// Where frames are.
    pub fn frames(&self) -> Address {
        Address::new(self.image.eh_frame)
    }
}

/// What one input asks for.
pub struct Excerpt {
    pub state: State,
    /// Where what it has in tables of the whole image is until now.
    pub last_runs: TableRuns,
    /// Which of all names its names are.
    pub names: Vec<u32>,
    /// Of each mention, which number it had when the tables were written; `NONE` if it was not there.
    pub before: Vec<u32>,
    /// The names (in all) that the input did not mention then.
    pub new: Vec<u32>,
    /// It defines a name that was in the output, in a section that is not there now.
    pub lost: Option<u32>,
}

/// The excerpt of input number `row`, which is number 0 there. `now`: its global symbols, if they may
/// be others than when the tables were written; if a link as a whole has to tell what these are, why.
///
/// # Errors
/// If the file is damaged.
pub fn of(
    file: &StateFile,
    common: &Common,
    row: u32,
    now: Option<&Globals>,
) -> Result<Result<Excerpt, Other>, Unreadable> {
    let mut input: InputRow = file.row(row.into())?;
    let last_runs = common.last_runs.get(&row).copied().unwrap_or(input.table_runs());
    input.set_table_runs(common.runs.get(&row).unwrap_or(&last_runs));
    let mentions = file.mentions_of(&input)?;
    let renumbered = match now {
        Some(now) => mentions::renumbered((file, common), (row, input.first_global), mentions, now)?,
        None => Ok(Renumbered::unchanged(mentions)),
    };
    let Renumbered { rows: mut mentions, before, new, lost } = match renumbered {
        Ok(renumbered) => renumbered,
        Err(other) => return Ok(Err(other)),
    };
    let symbols = mentions.len() as u32;
    input.first_global = now.map_or(input.first_global, Globals::first);
    input.symbols = input.first_global.saturating_add(symbols);
    let mut sections = file.sections_of(&input)?;
    extents::put_in(&common.extents, input.first_section, &mut sections);
    let new_words = common.put_init_arrays(row, &mut sections);
    // Those that are gone have no words.
    let gone =
        (input.first_section..).zip(&sections).find(|(_, row)| row.number == INIT_ARRAY && row.size == 0);
    let gone = gone.map(|(row, _)| row);
    let is_there =
        |row: u32| !common.holes.contains(&row) && !common.lists.gone.contains(&row) && Some(row) != gone;
    if let Some(now) = now {
        input.headers = now.object().shdrs.len() as u32;
        if !put_in_object((&mut sections, input.first_section), &lost, input.headers, is_there) {
            let outputs = common.named_outputs().map(|(name, _)| name);
            let what = differences::first(&sections, outputs, (now.object(), &lost));
            return Ok(Err(Other::Sections(what)));
        }
    }
    for section in &mut sections {
        section.input = if section.input == row { 0 } else { NONE };
        if section.kind != SectionKind::Merge as u8 {
            section.other = NONE;
        }
    }
    // A host is no larger for its object than without its yard.
    let own = input.first_section..input.first_section.saturating_add(input.sections);
    for yard in common.yards.iter().filter(|yard| own.contains(&yard.row.section)) {
        sections[(yard.row.section - own.start) as usize].size = yard.row.start;
    }
    let Some(guests) = guests::rows_of(common, row, now.map(Globals::object)) else {
        return Ok(Err(Other::Lost));
    };
    let mut places: Vec<(SectionRow, u32)> = sections.into_iter().zip(own.clone()).collect();
    places.retain(|(_, row)| is_there(*row));
    if let Some(words) = new_words {
        let found = common.row_of_words(words, &lost);
        let Some(row) = found.filter(|_| now.is_some()) else { return Ok(Err(Other::Lost)) };
        places.push((row, NONE));
    }
    let Some(lists) = common.rows_of_lists(row, &lost) else { return Ok(Err(Other::Lost)) };
    places.extend(lists.into_iter().map(|list| (list, NONE)));
    places.extend(guests.into_iter().map(|guest| (SectionRow { input: 0, ..guest }, NONE)));
    places.sort_by_key(|(section, _)| section.ordinal);
    let (mut sections, rows): (Vec<SectionRow>, Vec<u32>) = places.into_iter().unzip();
    if let Some(object) = now.map(Globals::object) {
        debug_lists::note_kinds(object, &mut sections);
        if let Some(name) = common.list_without_row((object, &lost), &sections) {
            let name = String::from_utf8_lossy(name).into_owned();
            return Ok(Err(Other::Sections(Some(Difference::New(name)))));
        }
    }
    let mut number_of = vec![0; own.len()];
    for (number, row) in (0..).zip(rows).filter(|(_, row)| own.contains(row)) {
        number_of[(row - own.start) as usize] = number;
    }
    // Names know sections by their rows, and what the object itself defines lies where it says.
    let defined = mentions.iter().filter(|mention| mention.manner & manner::DEFINES != 0);
    let defined: HashMap<u32, u32> = defined.map(|mention| (mention.name, mention.symbol)).collect();
    let place = |name: u32, section: u32| {
        let found = defined.get(&name).zip(now).and_then(|(symbol, now)| {
            let object = now.object();
            Some(object.place(*symbol, object.syms.get(*symbol as usize)?))
        });
        match found {
            Some(SymbolPlace::Section(ordinal)) => {
                let at = sections.binary_search_by_key(&ordinal, |row| row.ordinal);
                Place::In(at.ok().map(|at| at as u32))
            }
            _ if own.contains(&section) => Place::In(Some(number_of[(section - own.start) as usize])),
            _ => Place::Elsewhere,
        }
    };
    let Named { mut names, known, lost } =
        names(file, common, &mentions, (row, sections.len() as u32, &place))?;
    let number: HashMap<u32, u32> = known.iter().copied().zip(0..).collect();
    let symbols_before: Vec<u32> = names.iter().map(|name| name.symbol).collect();
    for (mention, was) in mentions.iter_mut().zip(&before) {
        mention.input = if mention.input == row { 0 } else { NONE };
        mention.name = number[&mention.name];
        let name = &mut names[mention.name as usize];
        if mention.manner & manner::DEFINES != 0
            && name.input == 0
            && [*was, NONE].contains(&symbols_before[mention.name as usize])
        {
            name.symbol = mention.symbol;
        }
    }
    let mut slots = Vec::new();
    for (name, renamed) in (0..).zip(&mut names) {
        let row = match (common.spare_slot(known[name as usize]), renamed.slot) {
            (Some(row), _) => row,
            (None, NONE) => continue,
            (None, slot) => file.row::<SlotRow>(slot.into())?,
        };
        slots.push(SlotRow { name, ..row });
        renamed.slot = slots.len() as u32 - 1;
    }
    slots.extend(local_slots(file, row)?);
    let elsewhere = SectionRow {
        input: 1,
        ordinal: 0,
        number: 0,
        address: 0,
        size: 0,
        output: NONE,
        other: NONE,
        kind: SectionKind::EhFrame as u8,
        align_log2: 0,
    };
    sections.push(elsewhere);
    let state = State {
        image: common.image,
        files: Vec::new(),
        inputs: vec![alone(&input, sections.len() as u32 - 1), others(symbols, sections.len() as u32 - 1)],
        names,
        mentions,
        by_name: Vec::new(),
        outputs: common.outputs.clone(),
        sections,
        parts: common.parts.iter().map(|part| PartRow { first_piece: 0, ..*part }).collect(),
        pieces: Vec::new(),
        groups: Vec::new(),
        candidates: Vec::new(),
        slots,
        thunks: common.thunks.clone(),
        yards: Vec::new(),
        outlines: vec![file.row(row.into())?, OutlineRow { shape: 0, contents: 0, needs: 0, lost: 0 }],
        text: common.text.clone(),
    };
    let excerpt =
        check::is_sound(&state).then_some(Excerpt { state, last_runs, names: known, before, new, lost });
    excerpt.map(Ok).ok_or(Unreadable::Damaged)
}

/// Gives sections the header indices that they have in an object of so many, of which some have lost; whether it
/// has all that are there.
fn put_in_object(
    (sections, first): (&mut [SectionRow], u32),
    lost: &LostSections,
    headers: u32,
    is_there: impl Fn(u32) -> bool,
) -> bool {
    let left = lost.left();
    (first..).zip(sections).filter(|(row, _)| is_there(*row)).all(|(_, section)| {
        section.ordinal = left.find(section.number).unwrap_or(NONE);
        section.ordinal < headers
    })
}

/// The input as the first of the excerpt.
fn alone(input: &InputRow, sections: u32) -> InputRow {
    let nothing = Text { start: 0, size: 0 };
    InputRow {
        path: nothing,
        member: nothing,
        file: NONE,
        first_mention: 0,
        first_section: 0,
        sections,
        ..*input
    }
}

/// An input that stands for all others, with one section.
fn others(first_mention: u32, first_section: u32) -> InputRow {
    InputRow {
        key: 0,
        path: Text { start: 0, size: 0 },
        member: Text { start: 0, size: 0 },
        file: NONE,
        size: 0,
        precedence: u32::MAX,
        kind: input_kind::OBJECT,
        headers: 1,
        symbols: 0,
        first_global: 0,
        first_mention,
        first_section,
        sections: 1,
        frames: NONE,
        frames_size: 0,
        locals: 0,
        globals: 0,
        strings: 0,
        locals_room: 0,
        globals_room: 0,
        strings_room: 0,
    }
}

/// Where a name lies that the object defines: in one of its sections, if that is there.
enum Place {
    In(Option<u32>),
    Elsewhere,
}

/// Names, and their numbers in the whole state; and one of them that has lost its place in the object.
struct Named {
    names: Vec<NameRow>,
    known: Vec<u32>,
    lost: Option<u32>,
}

/// The names that are mentioned.
fn names(
    file: &StateFile,
    common: &Common,
    mentions: &[MentionRow],
    (row, elsewhere, place): (u32, u32, &dyn Fn(u32, u32) -> Place),
) -> Result<Named, Unreadable> {
    let mut lost = None;
    let mut known: Vec<u32> = mentions.iter().map(|mention| mention.name).collect();
    known.sort_unstable();
    known.dedup();
    let mut names = Vec::with_capacity(known.len());
    for number in &known {
        let mut name = common.name(file, *number)?;
        let next = common.next_values.get(number).filter(|_| name.input != row);
        let value = next.or_else(|| common.values.get(number)).copied();
        name.value = value.unwrap_or(name.value);
        name.first_mention = 0;
        let is_mine = name.input == row;
        name.input = if is_mine { 0 } else { NONE };
        name.section = match name.section {
            NONE => NONE,
            // Nobody may be told an address at which it is not.
            _ if !is_mine && common.is_nowhere(*number, value, &name) => NONE,
            _ if !is_mine => elsewhere,
            section => match place(*number, section) {
                Place::In(found) => {
                    lost = lost.or(found.is_none().then_some(*number));
                    found.unwrap_or(NONE)
                }
                Place::Elsewhere => elsewhere,
            },
        };
        names.push((name, *number));
    }
    // Those that were added have the last numbers.
    names.sort_unstable_by_key(|(name, _)| name.hash);
    let (names, known) = names.into_iter().unzip();
    Ok(Named { names, known, lost })
}

/// The inputs that mentioned one of some names when the tables were written.
///
/// # Errors
/// If the file is damaged.
pub fn mentioned_by(file: &StateFile, names: &HashMap<u32, u64>) -> Result<BTreeSet<u32>, Unreadable> {
    let mut found = BTreeSet::new();
    each_mention(file, |row| {
        if names.contains_key(&row.name) {
            found.insert(row.input);
        }
    })?;
    Ok(found)
}

/// Reads all mentions, in order.
///
/// # Errors
/// If the file is damaged.
pub fn each_mention(file: &StateFile, mut see: impl FnMut(&MentionRow)) -> Result<(), Unreadable> {
    let count = file.count::<MentionRow>();
    for first in (0..count).step_by(MENTIONS) {
        let rows: Vec<MentionRow> = file.rows(first..count.min(first + MENTIONS as u64))?;
        rows.iter().for_each(&mut see);
    }
    Ok(())
}

/// Mentions that are read in one go.
const MENTIONS: usize = 1 << 16;

/// Slots of the input's local symbols.
fn local_slots(file: &StateFile, row: u32) -> Result<Vec<SlotRow>, Unreadable> {
    let count = file.count::<SlotRow>();
    let key = |slot: &SlotRow| (slot.name, slot.input);
    let mut slots = Vec::new();
    for number in file.partition_point(0..count, |slot| key(slot) < (NONE, row))?..count {
        let slot: SlotRow = file.row(number)?;
        if key(&slot) != (NONE, row) {
            break;
        }
        slots.push(SlotRow { input: 0, ..slot });
    }
    Ok(slots)
}

/// The pieces of a part that have a tag.
///
/// # Errors
/// If the file is damaged.
pub fn pieces(file: &StateFile, part: u32, tag: u32) -> Result<Vec<PieceRow>, Unreadable> {
    let first = u64::from(file.row::<PartRow>(part.into())?.first_piece);
    let end = match u64::from(part) + 1 {
        next if next < file.count::<PartRow>() => u64::from(file.row::<PartRow>(next)?.first_piece),
        _ => file.count::<PieceRow>(),
    };
    let mut found = Vec::new();
    for number in file.spread_partition_point(first..end, |piece: &PieceRow| piece.tag, tag)?..end {
        let piece: PieceRow = file.row(number)?;
        if piece.tag != tag {
            break;
        }
        found.push(piece);
    }
    Ok(found)
}

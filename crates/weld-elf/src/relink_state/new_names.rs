//! Names that an object defines and that no input knew, and those that it defines no more.
//!
//! A name that nobody mentions changes nothing of a link but the tables of symbols: what is exported of it is said by
//! itself ([`crate::symbols::exports`]), and a link that exports has room for that ([`crate::sections::export_rows`]). So an object may define another one, from which on others may mention it; and one that nobody
//! mentions may go. Rows are not written anew for that: a new name has the next number after those of the
//! tables, and keeps it until a full link ([`NewNames`]).
//!
//! What has a row already was mentioned by somebody: an object, a library, an archive that offers it, an option.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::excerpt::{Common, each_mention};
use super::file::{StateFile, Unreadable};
use super::guests::{self, may_have_guests};
use super::handed_over::Candidates;
use super::keys;
use super::mentions::{Globals, SPECIAL, find_name, manner, stays, visibility};
use super::outline::{counts_references, exports_by_itself, is_renamed, may_define_others};
use super::rows::*;
use crate::elf::*;
use crate::input::object::{Object, SymbolPlace};
use crate::options::Options;
use crate::sections::SectionKind;
use crate::sections::free_sections::is_grouped;
use crate::sections::lost_groups::{LostSections, Stay, each_definition};
use crate::symbol_names::{Rank, flag};
use crate::symbols::symbol_flags;

/// What has come and gone since the tables were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewNames {
    /// By number, after those of the tables.
    pub added: Vec<AddedName>,
    /// Numbers of names that are not defined any more.
    pub gone: BTreeSet<u32>,
    /// Those that, or whose groups, have changed hands ([`super::handed_over`], [`super::moved_names`]), by row.
    pub handed_over: BTreeMap<u32, HandedOver>,
    /// And of those whose sections were not in the output when the tables were written, because nothing referred to
    /// them, and are now.
    pub revived: BTreeSet<u32>,
    /// Names of the tables that nobody said to be hidden, and who defines them does now; and those that were, and nobody
    /// says so any more.
    pub hidden: BTreeSet<u32>,
    pub shown: BTreeSet<u32>,
}

impl NewNames {
    /// The added name with this hash, and its number, if the tables have `count` names.
    pub fn find(&self, count: u32, hash: u128) -> Option<(u32, &AddedName)> {
        (count..).zip(&self.added).find(|(_, name)| name.hash == hash)
    }

    /// What an object says of a name that said this, if all that is known has changed.
    pub fn said(&self, number: u32, manner: u8) -> u8 {
        match visibility(manner) {
            STV_DEFAULT if self.hidden.contains(&number) => manner | STV_HIDDEN << manner::VISIBILITY,
            STV_HIDDEN if self.shown.contains(&number) => manner & !(3 << manner::VISIBILITY),
            _ => manner,
        }
    }

    /// A name of the tables with the object that has it now. What was not in the output is not there either.
    pub fn owned(&self, number: u32, name: NameRow) -> NameRow {
        let hidden = if self.hidden.contains(&number) { symbol_flags::HIDDEN } else { 0 };
        let shown = if self.shown.contains(&number) { symbol_flags::HIDDEN } else { 0 };
        let name = NameRow { flags: name.flags & !shown | hidden, ..name };
        let Some(new) = self.handed_over.get(&number) else { return name };
        let section = if name.section == NONE { NONE } else { IN_GUEST };
        NameRow { input: new.input, symbol: NONE, section, ..name }
    }
}

impl AddedName {
    /// As the tables would have it.
    pub fn row(&self) -> NameRow {
        let is_function = self.manner >> manner::TYPE & 7 == STT_FUNC;
        let kind = if is_function { symbol_flags::FUNC } else { symbol_flags::OBJECT };
        let is_weak = self.manner & manner::BINDING == manner::WEAK;
        let hidden = if visibility(self.manner) == STV_HIDDEN { symbol_flags::HIDDEN } else { 0 };
        NameRow {
            hash: self.hash,
            value: self.value,
            flags: symbol_flags::DEFINED | kind | hidden | self.seen,
            mentioned: if is_weak { Rank::Weak } else { Rank::Strong } as u32,
            input: self.input,
            symbol: NONE,
            section: self.section,
            slot: NONE,
            dynamic: self.dynamic,
            first_mention: 0,
        }
    }
}

/// Where changed objects are looked at.
pub struct Looked<'l> {
    pub file: &'l StateFile<'l>,
    pub options: &'l Options,
    pub common: &'l Common,
    /// What has come and gone before.
    pub last: &'l NewNames,
    /// Inputs that mention names that they do not in the tables.
    pub mentions: &'l [(u32, u32)],
    /// Who sees a new name that is defined in a manner, in `sym` bits; `None` if it is not known.
    pub seen: &'l dyn Fn(&[u8], u8) -> Option<u32>,
}

/// An object that has changed.
pub(super) struct One<'o, 'a> {
    pub row: u32,
    pub object: &'o Object<'a>,
    pub globals: &'o Globals<'o, 'a>,
}

/// Of each name who of the changed objects says what of it.
pub(super) type Said = HashMap<u128, Vec<(u32, u8)>>;

/// The objects that define a name.
pub(super) fn definers(said: &Said, hash: u128) -> impl Iterator<Item = u32> {
    let said = said.get(&hash).map_or(&[][..], Vec::as_slice);
    said.iter().filter(|(_, manner)| manner & manner::DEFINES != 0).map(|(row, _)| *row)
}

/// Whether anything may come or go in a link, which has this image. `has_lazy`: objects may be offered like
/// members of archives.
pub fn may_be(options: &Options, image: &ImageRow, has_lazy: bool) -> bool {
    let has_room = image.exports != 0 || !exports_by_itself(options);
    let is_possible = may_define_others(options) && has_room;
    is_possible && !has_lazy && image.has_assigned == 0 && image.has_rooms != 0
}

impl Looked<'_> {
    /// What has come and gone with `objects`, by their rows, which are all that have changed, in a link in which
    /// something may ([`may_be`]); and which objects are to be looked at that have not changed, because groups of theirs
    /// change hands.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn find(&self, objects: &[(u32, Object)]) -> Result<(NewNames, BTreeSet<u32>), Unreadable> {
        let mut next = self.last.clone();
        let all: Vec<(u32, Globals)> =
            objects.iter().map(|(row, object)| (*row, Globals::of(object))).collect();
        let changed: HashSet<u32> = objects.iter().map(|(row, _)| *row).collect();
        // Who of them says what of a name.
        let mut said: Said = HashMap::new();
        for (row, globals) in &all {
            for (hash, manner) in globals.list() {
                said.entry(*hash).or_default().push((*row, *manner));
            }
        }
        let is_of_changed = |number: &u32| -> Result<bool, Unreadable> {
            let name = self.name(&next, *number)?;
            Ok(changed.contains(&name.input))
        };
        let mut gone = BTreeSet::new();
        for number in &self.last.gone {
            if !is_of_changed(number)? {
                gone.insert(*number);
            }
        }
        let (mut may_go, mut candidates) = (HashSet::new(), Candidates::default());
        let mut looked_at = Vec::with_capacity(all.len());
        for ((row, object), (_, globals)) in objects.iter().zip(&all) {
            if !is_renamed(object, self.options) {
                let one = One { row: *row, object, globals };
                self.look(&one, &said, &changed, (&mut next, &mut may_go, &mut candidates))?;
                looked_at.push(one);
            }
        }
        // What was gone before stays so: who mentions it in the tables does not any more.
        gone.extend(may_go.extract_if(|number| self.last.gone.contains(number)));
        let asked = self.keep_mentioned(&changed, &mut may_go)?;
        gone.extend(may_go);
        // Another object has them now.
        let is_taken = |(old, new): (&AddedName, &AddedName)| old.input != new.input;
        for (number, both) in (self.count()..).zip(self.last.added.iter().zip(&next.added)) {
            if is_taken(both) {
                gone.remove(&number);
            }
        }
        next.gone = gone;
        next.handed_over.retain(|number, _| !next.gone.contains(number));
        let moved = std::mem::take(&mut candidates.moved);
        let mut needed = self.move_names((&looked_at, &said, &changed), moved, &mut next)?;
        needed.extend(asked);
        needed.extend(self.hand_over((&looked_at, &said, &changed), candidates, &mut next)?);
        // Who has them now says it as the tables have it.
        let NewNames { hidden, shown, handed_over, gone, .. } = &mut next;
        for names in [hidden, shown] {
            names.retain(|number| !handed_over.contains_key(number) && !gone.contains(number));
        }
        Ok((next, needed))
    }

    pub(super) fn count(&self) -> u32 {
        self.file.count::<NameRow>() as u32
    }

    fn name(&self, names: &NewNames, number: u32) -> Result<NameRow, Unreadable> {
        match number.checked_sub(self.count()) {
            Some(added) => names.added.get(added as usize).map(AddedName::row).ok_or(Unreadable::Damaged),
            None => self.file.row(number.into()),
        }
    }

    /// Adds the names that an object defines and nobody knew, and those that it defines no more.
    fn look(
        &self,
        one: &One,
        said: &Said,
        changed: &HashSet<u32>,
        (next, may_go, candidates): (&mut NewNames, &mut HashSet<u32>, &mut Candidates),
    ) -> Result<(), Unreadable> {
        let input: InputRow = self.file.row(one.row.into())?;
        let mentions = self.file.mentions_of(&input)?;
        let mut known = HashMap::with_capacity(mentions.len());
        for mention in &mentions {
            let name = self.last.owned(mention.name, self.file.row(mention.name.into())?);
            known.insert(name.hash, (name, *mention));
            let is_mine = mention.manner & manner::DEFINES != 0 && name.input == one.row;
            if is_mine && self.may_be_otherwise(&name, mention, said.get(&name.hash)) {
                match visibility(mention.manner) {
                    STV_DEFAULT => _ = next.hidden.insert(mention.name),
                    _ if self.is_shown(mention.name, said.get(&name.hash), changed)? => {
                        next.shown.insert(mention.name);
                    }
                    _ => {}
                }
            } else if is_mine && !self.mentions.iter().any(|known| known.1 == mention.name) {
                next.hidden.remove(&mention.name);
                next.shown.remove(&mention.name);
            }
            if is_mine && !definers(said, name.hash).any(|row| row == one.row) {
                candidates.add(mention.name, name.hash);
            }
            let is_offered = !self.common.is_resolved && !self.common.no_more_offered.contains(&mention.name);
            if is_mine && !said.contains_key(&name.hash) && self.is_nothing_special(&name, is_offered)? {
                may_go.insert(mention.name);
            }
        }
        for new in self.last.handed_over.values().filter(|new| new.input == one.row) {
            let name: NameRow = self.file.row(new.name.into())?;
            if !said.contains_key(&new.hash) && self.is_nothing_special(&name, !self.common.is_resolved)? {
                may_go.insert(new.name);
            }
            if !definers(said, new.hash).any(|row| row == one.row) {
                candidates.add(new.name, new.hash);
            }
        }
        for (number, name) in (self.count()..).zip(&next.added) {
            if name.input == one.row && !said.contains_key(&name.hash) {
                may_go.insert(number);
            }
        }
        self.add_groups(one, &known, candidates)?;
        self.look_for_new((one, &input), (said, changed), &known, (next, candidates))
    }

    /// The same for names that the tables do not have of an object.
    fn look_for_new(
        &self,
        (one, input): (&One, &InputRow),
        (said, changed): (&Said, &HashSet<u32>),
        known: &HashMap<u128, (NameRow, MentionRow)>,
        (next, candidates): (&mut NewNames, &mut Candidates),
    ) -> Result<(), Unreadable> {
        let sections = self.file.sections_of(input)?;
        let (lost, guests) = self.guests(one, said, (known, next))?;
        let numbers = lost.numbers();
        let is_open =
            may_have_guests(self.options) && !counts_references(self.options, self.common.named_outputs());
        let in_no_group = |(number, _): &&(u32, u32)| is_open && !is_grouped(*number);
        let free: HashSet<u32> = lost.free().iter().filter(in_no_group).map(|(_, index)| *index).collect();
        let is_in_free = |symbol: u32| {
            let place = one.object.syms.get(symbol as usize).map(|sym| one.object.place(symbol, sym));
            matches!(place, Some(SymbolPlace::Section(section)) if free.contains(&section))
        };
        for (symbol, (hash, manner)) in (one.globals.first()..).zip(one.globals.list()) {
            if manner & manner::DEFINES == 0 {
                continue;
            }
            if is_in_free(symbol) {
                candidates.moved.add(one.row, *hash);
            }
            if known.contains_key(hash) {
                continue;
            }
            let mut is_guest = guests.contains(&symbol);
            if !is_guest && is_in_free(symbol) {
                // What it lies in is its object's alone.
                let is_free = match next.find(self.count(), *hash) {
                    Some((number, name)) => {
                        let is_gone = self.last.gone.contains(&number);
                        let is_left = || is_left(name, *manner, changed, said);
                        if name.input != one.row && !is_gone && is_left() {
                            candidates.moved.take(number);
                        }
                        name.input == one.row || is_gone || is_left()
                    }
                    None => self.is_unknown(*hash)?,
                };
                if !is_free || self.seen(one, symbol, *manner).is_none() || definers(said, *hash).count() != 1
                {
                    continue;
                }
                is_guest = true;
            }
            let seen_by = self.seen(one, symbol, *manner);
            let guest = AddedName {
                hash: *hash,
                input: one.row,
                section: IN_GUEST,
                manner: *manner,
                value: 0,
                seen: seen_by.unwrap_or(0),
                dynamic: 0,
            };
            if let Some((at, name)) = next.added.iter_mut().enumerate().find(|(_, name)| name.hash == *hash) {
                if is_guest {
                    // It is there as before, or nobody had it any more.
                    if (name.input, name.section) != (one.row, IN_GUEST) {
                        *name = AddedName { dynamic: name.dynamic, ..guest };
                    }
                    continue;
                }
                let section = place(one.object, symbol, (&sections, &numbers)).map(|(section, _)| section);
                let is_there = section.map(|section| input.first_section.saturating_add(section));
                let number = self.count() + at as u32;
                let is_free = name.input != one.row && self.last.gone.contains(&number);
                if let (Some(section), 1, Some(seen)) = (is_there, definers(said, *hash).count(), seen_by)
                    && is_free
                {
                    // Nobody had it any more.
                    *name = AddedName { section, seen, dynamic: name.dynamic, value: name.value, ..guest };
                }
                if name.input == one.row && is_there != Some(name.section) {
                    // As no object has it, so that a full link follows.
                    name.manner = manner::ODD;
                }
                continue;
            }
            if is_guest {
                next.added.push(guest);
                continue;
            }
            if !self.is_unknown(*hash)? {
                continue;
            }
            let definitions = definers(said, *hash).count();
            let Some((section, value)) = place(one.object, symbol, (&sections, &numbers)) else { continue };
            if let (1, Some(seen)) = (definitions, seen_by) {
                let section = input.first_section.saturating_add(section);
                next.added.push(AddedName { section, value, seen, ..guest });
            }
        }
        Ok(())
    }

    /// Which sections of an object have lost with their groups or are guests, and the symbols that these define:
    /// nobody knew a name of theirs, and the object is the first of those that define them.
    fn guests(
        &self,
        one: &One,
        said: &Said,
        (known, next): (&HashMap<u128, (NameRow, MentionRow)>, &NewNames),
    ) -> Result<(LostSections, HashSet<u32>), Unreadable> {
        let (object, globals) = (one.object, one.globals.list());
        if object.groups.is_empty() {
            return Ok((LostSections::by_globals(object, &[]), HashSet::new()));
        }
        let mut stays = stays((self.file, self.common), one.row, globals, known)?;
        let is_open = !self.common.yards.is_empty()
            && may_have_guests(self.options)
            && !counts_references(self.options, self.common.named_outputs());
        // Symbols of each group, if it may be a guest.
        let mut groups: Vec<Option<Vec<u32>>> = vec![is_open.then(Vec::new); object.groups.len()];
        let mut defined = Vec::new();
        each_definition(object, |group, symbol| defined.push((group, symbol)));
        for (number, symbol) in defined {
            let at = (symbol - object.first_global) as usize;
            let Some((hash, manner)) = globals.get(at) else { continue };
            let is_mine = |name: &AddedName| name.input == one.row && name.section == IN_GUEST;
            let may = stays[at] != Stay::Elsewhere
                && !known.contains_key(hash)
                && self.seen(one, symbol, *manner).is_some()
                && definers(said, *hash).all(|row| row >= one.row)
                && match next.find(self.count(), *hash) {
                    Some((number, name)) => is_mine(name) || self.last.gone.contains(&number),
                    None => self.is_unknown(*hash)?,
                };
            match (&mut groups[number], may) {
                (Some(symbols), true) => symbols.push(symbol),
                (group, _) => *group = None,
            }
        }
        let mut guests = HashSet::new();
        for (group, symbols) in object.groups.iter().zip(groups) {
            let Some(symbols) = symbols.filter(|symbols| !symbols.is_empty()) else { continue };
            // Others may know the group by a name that it does not define.
            let is_known = find_name(self.file, keys::hash(object.group_name(group)))?.is_some();
            if !is_known && guests::members(object, group).is_some() {
                guests.extend(symbols);
            }
        }
        for (stay, symbol) in stays.iter_mut().zip(object.first_global..) {
            *stay = match guests.contains(&symbol) {
                true => Stay::Guest,
                false if *stay == Stay::Guest => Stay::Here,
                false => *stay,
            };
        }
        Ok((LostSections::by_globals(object, &stays), guests))
    }

    /// Whether who defines a name says that it is hidden, and did not do so, or the other way round, in a link that exports no
    /// names by itself: nothing is otherwise but the object's own symbols.
    fn may_be_otherwise(&self, name: &NameRow, mention: &MentionRow, said: Option<&Vec<(u32, u8)>>) -> bool {
        let other = mention.manner ^ STV_HIDDEN << manner::VISIBILITY;
        let is_said = said.into_iter().flatten().any(|one| *one == (mention.input, other));
        is_said
            && [STV_DEFAULT, STV_HIDDEN].contains(&visibility(mention.manner))
            && (mention.is_beaten, name.dynamic) == (0, 0)
            && !self.last.handed_over.contains_key(&mention.name)
            && !exports_by_itself(self.options)
            && name.flags & (symbol_flags::KIND | SPECIAL) == symbol_flags::DEFINED
            && name.mentioned & ASKED == 0
    }

    /// Whether nobody says of a name of the tables that it is hidden: who did so has changed.
    fn is_shown(
        &self,
        number: u32,
        said: Option<&Vec<(u32, u8)>>,
        changed: &HashSet<u32>,
    ) -> Result<bool, Unreadable> {
        if said.into_iter().flatten().any(|(_, manner)| visibility(*manner) != STV_DEFAULT)
            || self.mentions.iter().any(|known| known.1 == number)
        {
            return Ok(false);
        }
        let mut is_shown = true;
        each_mention(self.file, |row| {
            let is_hidden = row.name == number && visibility(row.manner) != STV_DEFAULT;
            is_shown &= !is_hidden || changed.contains(&row.input);
        })?;
        Ok(is_shown)
    }

    /// Whether nobody asks for a name but objects; `is_offered`: archives may offer it. If it is exported, it is in one of
    /// the rows for that. A word of the GOT it may have, and an entry of the PLT by which a library calls it.
    fn is_nothing_special(&self, name: &NameRow, is_offered: bool) -> Result<bool, Unreadable> {
        let asked = if is_offered { ASKED | flag::OFFERED } else { ASKED };
        let is_plain = name.flags & symbol_flags::KIND == symbol_flags::DEFINED
            && name.flags & symbol_flags::IFUNC == 0
            && (name.flags & symbol_flags::EXPORTED != 0) == (name.dynamic != 0)
            && (name.dynamic == 0 || self.common.export_rows().contains(&name.dynamic))
            && name.mentioned & asked == 0;
        Ok(is_plain && self.common.places_of(self.file, name)?.is_some())
    }

    /// Whether nobody knew a name, or nobody but archives that offer it, and it has been found out which members are linked.
    fn is_unknown(&self, hash: u128) -> Result<bool, Unreadable> {
        // The first bits are a rank.
        const SAID: u32 = !7 & !flag::OFFERED;
        Ok(find_name(self.file, hash)?.is_none_or(|(_, name)| {
            self.common.is_resolved
                && name.flags & symbol_flags::KIND == symbol_flags::UNDEFINED
                && (name.mentioned & SAID, name.input, name.slot, name.dynamic) == (0, NONE, NONE, 0)
        }))
    }

    /// Who sees the name of a symbol, if it may be a new one.
    fn seen(&self, one: &One, symbol: u32, manner: u8) -> Option<u32> {
        let name = one.object.symbol_name(symbol);
        let is_usual = is_plain(manner) && !name.starts_with(b"__");
        is_usual.then(|| (self.seen)(name, manner))?
    }

    /// Leaves those that an object mentions which has not changed. Who mentioned one when the tables were written may not
    /// do so any more, so few of these are to be looked at: returns them.
    fn keep_mentioned(
        &self,
        changed: &HashSet<u32>,
        may_go: &mut HashSet<u32>,
    ) -> Result<BTreeSet<u32>, Unreadable> {
        if may_go.is_empty() {
            return Ok(BTreeSet::new());
        }
        let mut asked: HashMap<u32, BTreeSet<u32>> = HashMap::new();
        // What others had once they do not define any more: if they mention it, that is known by itself.
        let mut moved = HashSet::new();
        for number in may_go.iter().filter(|number| self.last.handed_over.contains_key(*number)) {
            let was: NameRow = self.file.row((*number).into())?;
            if was.section != NONE && self.was_in_no_group(&was)? {
                moved.insert(*number);
            }
        }
        each_mention(self.file, |row| {
            let is_left = row.manner & manner::DEFINES != 0 && moved.contains(&row.name);
            if !changed.contains(&row.input) && !is_left && may_go.contains(&row.name) {
                asked.entry(row.name).or_default().insert(row.input);
            }
        })?;
        for (_, name) in self.mentions.iter().filter(|(input, _)| !changed.contains(input)) {
            if may_go.remove(name) {
                asked.remove(name);
            }
        }
        asked.keys().for_each(|name| _ = may_go.remove(name));
        asked.retain(|_, inputs| inputs.len() <= LOOKED_AT);
        Ok(asked.into_values().flatten().collect())
    }
}

/// Somebody else than an object asks for a name, or it is special.
const ASKED: u32 = flag::REF_SHARED
    | flag::REF_SHARED_WEAK
    | flag::REF_SHARED_PLAIN
    | flag::DEF_SHARED
    | flag::HAS_VERSION
    | flag::ROOT
    | flag::KEEP
    | flag::IS_VERSION;

/// So many objects are looked at for the sake of a name.
const LOOKED_AT: usize = 16;

/// Whether an object that has changed does not define an added name any more, and another one does, as it did.
fn is_left(name: &AddedName, manner: u8, changed: &HashSet<u32>, said: &Said) -> bool {
    manner == name.manner
        && manner & manner::BINDING == manner::GLOBAL
        && changed.contains(&name.input)
        && !definers(said, name.hash).any(|row| row == name.input)
}

/// Whether a definition is of a function or a variable that all objects may see.
fn is_plain(said: u8) -> bool {
    let kind = said >> manner::TYPE & 7;
    let binding = said & manner::BINDING;
    matches!(binding, manner::GLOBAL | manner::WEAK)
        && matches!(kind, STT_FUNC | STT_OBJECT)
        && matches!(visibility(said), STV_DEFAULT | STV_HIDDEN)
}

/// Where a symbol of an object is: the number of its section among those that are kept, and its address. `numbers`
/// are those of the object's sections.
fn place(object: &Object, symbol: u32, (sections, numbers): (&[SectionRow], &[u32])) -> Option<(u32, u64)> {
    let sym = object.syms.get(symbol as usize)?;
    let SymbolPlace::Section(ordinal) = object.place(symbol, sym) else { return None };
    let known = numbers.get(ordinal as usize).copied().unwrap_or(ordinal);
    let number = sections.iter().position(|row| row.number == known)?;
    let row = &sections[number];
    let is_copied = row.kind == SectionKind::Regular as u8;
    is_copied.then(|| (number as u32, row.address.wrapping_add(sym.st_value())))
}

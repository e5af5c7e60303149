//! COMDAT groups that change hands: of all objects that have a group the first one's copy stays, so one more in front of
//! that takes its place, and if that is gone, the next one's does.
//!
//! The objects with the old copy and with the new one are looked at as if both had changed. The one has lost with its
//! group then, and its sections leave holes; those of the other are guests ([`super::guests`]), or, where it had them
//! when the tables were written, free sections ([`super::free_sections`]). Who else has a copy goes on to lose. What the
//! definitions say of their names must be the same, so that nothing else of a link changes but values.
//!
//! Who defines a name is known of objects that have not changed by their mentions. A group is handed over as a whole: both
//! copies have the same signature, and all that the old one defines the new one does, too.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::excerpt::each_mention;
use super::file::Unreadable;
use super::guests::{self, may_have_guests};
use super::mentions::{SPECIAL, defined_as, find_name, is_pointer_hash, manner};
use super::moved_names::Moved;
use super::new_names::{Looked, NewNames, One, Said, definers};
use super::outline::counts_references;
use super::rows::*;
use crate::resolve::comdat::is_pointer;
use crate::sections::free_sections::{FREE, is_grouped};
use crate::sections::lost_groups::each_definition;
use crate::symbol_names::flag;
use crate::symbols::symbol_flags;

/// Names that other objects may have the copies of than before: rows of the tables, with hashes.
#[derive(Default)]
pub(super) struct Candidates {
    names: BTreeMap<u32, u128>,
    /// And those that their objects have in a group and had in none, or the other way round, with these; and such of which
    /// their objects had copies that stayed in groups though another one's counts, and do not any more: copies of others
    /// that stay, or do not, are not known.
    others: BTreeMap<u32, (u128, u32)>,
    /// And those that no group has.
    pub moved: Moved,
}

impl Candidates {
    pub fn add(&mut self, number: u32, hash: u128) {
        if is_pointer_hash(hash) {
            // They are the last object's.
            return;
        }
        self.names.insert(number, hash);
    }
}

/// The groups of an object, by their signatures: the number of each, and the names that it defines.
struct Groups<'a>(HashMap<&'a [u8], (usize, Vec<u128>)>);

impl<'a> Groups<'a> {
    fn of(one: &One<'_, 'a>) -> Self {
        let object = one.object;
        let mut found: HashMap<&[u8], (usize, Vec<u128>)> = HashMap::new();
        for (number, group) in object.groups.iter().enumerate() {
            found.entry(object.group_name(group)).or_insert((number, Vec::new()));
        }
        each_definition(object, |group, symbol| {
            let hash = one.globals.list()[(symbol - object.first_global) as usize].0;
            if let Some((number, names)) = found.get_mut(object.group_name(&object.groups[group]))
                && *number == group
            {
                names.push(hash);
            }
        });
        Groups(found)
    }

    /// The signature of the group that defines a name.
    fn signature(&self, hash: u128) -> Option<&'a [u8]> {
        self.0.iter().find(|(_, (_, names))| names.contains(&hash)).map(|(signature, _)| *signature)
    }
}

impl Looked<'_> {
    /// Adds names that groups of an object define and an object behind it has. `known` is what it mentioned.
    pub(super) fn add_groups(
        &self,
        one: &One,
        known: &HashMap<u128, (NameRow, MentionRow)>,
        candidates: &mut Candidates,
    ) -> Result<(), Unreadable> {
        let (mut defined, mut in_groups) = (Vec::new(), HashSet::new());
        each_definition(one.object, |_, symbol| defined.push(symbol));
        in_groups.extend(
            defined.iter().map(|symbol| one.globals.list()[(symbol - one.globals.first()) as usize].0),
        );
        for (hash, (_, mention)) in known.iter().filter(|(_, (_, mention))| mention.is_beaten != 0) {
            if !in_groups.contains(hash) {
                candidates.others.insert(mention.name, (*hash, one.row));
            }
        }
        let input: InputRow = self.file.row(one.row.into())?;
        let own = input.first_section..input.first_section.saturating_add(input.sections);
        for (hash, said) in one.globals.list().iter().filter(|(_, said)| said & manner::DEFINES != 0) {
            let Some((name, mention)) = known.get(hash).filter(|(name, _)| name.input == one.row) else {
                continue;
            };
            if own.contains(&name.section) && mention.manner == *said {
                let section: SectionRow = self.file.row(name.section.into())?;
                // Of others it is seen in the shape.
                let is_free = section.number & FREE != 0;
                if is_free && is_grouped(section.number) != in_groups.contains(hash) {
                    candidates.others.insert(mention.name, (*hash, one.row));
                }
            }
        }
        for symbol in defined.into_iter().filter(|symbol| !is_pointer(one.object.symbol_name(*symbol))) {
            let (hash, _) = one.globals.list()[(symbol - one.globals.first()) as usize];
            let (number, name) = match known.get(&hash) {
                Some((name, mention)) => (mention.name, *name),
                None => match find_name(self.file, hash)? {
                    Some((number, name)) => (number, self.last.owned(number, name)),
                    None => continue,
                },
            };
            if name.input != NONE && name.input > one.row && name.section != NONE {
                candidates.add(number, hash);
            }
        }
        Ok(())
    }

    /// Notes in `next` which of the candidates change hands; if objects have to be looked at for that which have not
    /// changed, returns these.
    pub(super) fn hand_over(
        &self,
        (objects, said, changed): (&[One], &Said, &HashSet<u32>),
        candidates: Candidates,
        next: &mut NewNames,
    ) -> Result<BTreeSet<u32>, Unreadable> {
        self.check_groups(objects, next)?;
        self.refuse_others((said, changed), &candidates.others, next)?;
        let wanted = self.usual(candidates.names, next)?;
        let mut needed = BTreeSet::new();
        let is_open =
            may_have_guests(self.options) && !counts_references(self.options, self.common.named_outputs());
        if wanted.is_empty() || !is_open {
            return Ok(needed);
        }
        let others = self.first_others(&wanted, (said, changed))?;
        let mut new_owner: BTreeMap<u32, u32> = BTreeMap::new();
        for (number, (hash, name)) in &wanted {
            let mine = definers(said, *hash).min();
            let Some(first) = mine.into_iter().chain(others.get(number).copied()).min() else { continue };
            if first == name.input {
                continue;
            }
            needed.extend([first, name.input].into_iter().filter(|row| !changed.contains(row)));
            new_owner.insert(*number, first);
        }
        if !needed.is_empty() {
            return Ok(needed);
        }
        let of_row: HashMap<u32, &One> = objects.iter().map(|one| (one.row, one)).collect();
        let number_of: HashMap<u128, u32> =
            wanted.iter().map(|(number, (hash, _))| (*hash, *number)).collect();
        let mut groups: HashMap<u32, Groups> = HashMap::new();
        for (number, new) in &new_owner {
            for row in [*new, wanted[number].1.input] {
                if let Some(one) = of_row.get(&row) {
                    groups.entry(row).or_insert_with(|| Groups::of(one));
                }
            }
        }
        // Groups change hands as a whole.
        let mut tried: BTreeSet<(u32, &[u8])> = BTreeSet::new();
        for (number, new) in &new_owner {
            tried.extend(
                groups.get(new).and_then(|of| of.signature(wanted[number].0)).map(|name| (*new, name)),
            );
        }
        for (new, signature) in tried {
            let (one, (group, names)) = (of_row[&new], &groups[&new].0[signature]);
            let is_in_front = |other: &&One| {
                let mut all = other.object.groups.iter();
                other.row < new && all.any(|group| other.object.group_name(group) == signature)
            };
            let members = guests::members(one.object, &one.object.groups[*group]);
            if members.is_none_or(|all| all.is_empty()) || objects.iter().any(|one| is_in_front(&one)) {
                continue;
            }
            let rows: Option<Vec<u32>> = names.iter().map(|hash| number_of.get(hash).copied()).collect();
            let Some(rows) = rows else { continue };
            let are_all = rows.iter().all(|number| new_owner.get(number) == Some(&new));
            let leaves = |number: &u32| {
                let (hash, name) = &wanted[number];
                let of_old = groups.get(&name.input).map(|of| of.0.get(signature));
                match (of_old, definers(said, *hash).any(|row| row == name.input)) {
                    (Some(Some((_, old))), true) => {
                        old.contains(hash) && old.iter().all(|hash| names.contains(hash))
                    }
                    (Some(None), false) => true,
                    _ => false,
                }
            };
            if !are_all || !rows.iter().all(leaves) {
                continue;
            }
            let mut said = Vec::new();
            for number in &rows {
                let (hash, name) = &wanted[number];
                said.extend(self.says_the_same(one, (*number, *hash), name)?);
            }
            if said.len() < rows.len() {
                continue;
            }
            for (name, manner) in rows.into_iter().zip(said) {
                let was: NameRow = self.file.row(name.into())?;
                if was.input == new {
                    next.handed_over.remove(&name);
                } else {
                    let row = HandedOver { name, hash: was.hash, input: new, manner };
                    next.handed_over.insert(name, row);
                }
            }
        }
        Ok(needed)
    }

    /// Those of the candidates that are defined as most names are, with what is known of them.
    fn usual(
        &self,
        names: BTreeMap<u32, u128>,
        next: &NewNames,
    ) -> Result<BTreeMap<u32, (u128, NameRow)>, Unreadable> {
        let mut wanted = BTreeMap::new();
        for (number, hash) in names {
            let name = self.last.owned(number, self.file.row(number.into())?);
            let is_there =
                name.section != NONE && !next.gone.contains(&number) && !self.last.gone.contains(&number);
            if is_there && self.is_usual(number, &name, self.common.is_resolved)? {
                wanted.insert(number, (hash, name));
            }
        }
        Ok(wanted)
    }

    /// Whether a name is defined as most are; `may_be_offered`: archives may offer it.
    ///
    /// # Errors
    /// If the file is damaged.
    pub(super) fn is_usual(
        &self,
        number: u32,
        name: &NameRow,
        may_be_offered: bool,
    ) -> Result<bool, Unreadable> {
        const NOT_ASKED: u32 = flag::HAS_VERSION | flag::IS_VERSION;
        let asked = if may_be_offered { NOT_ASKED } else { NOT_ASKED | flag::OFFERED };
        let is_plain = name.flags & symbol_flags::KIND == symbol_flags::DEFINED
            && name.flags & SPECIAL == 0
            && name.mentioned & asked == 0
            && !self.common.imports.iter().any(|known| known.row == number)
            && name.input != NONE;
        Ok(is_plain && (name.slot == NONE || self.common.places_of(self.file, name)?.is_some()))
    }

    /// Of each name that its owner has no more the first object that has not changed and defines it, or may since then.
    fn first_others(
        &self,
        wanted: &BTreeMap<u32, (u128, NameRow)>,
        (said, changed): (&Said, &HashSet<u32>),
    ) -> Result<HashMap<u32, u32>, Unreadable> {
        let lacks_owner = |(hash, name): &(u128, NameRow)| {
            changed.contains(&name.input) && !definers(said, *hash).any(|row| row == name.input)
        };
        let mut others: HashMap<u32, u32> = HashMap::new();
        if wanted.values().any(lacks_owner) {
            let mut note = |name: u32, input: u32| {
                if !changed.contains(&input) && wanted.get(&name).is_some_and(lacks_owner) {
                    others.entry(name).and_modify(|first| *first = input.min(*first)).or_insert(input);
                }
            };
            each_mention(self.file, |row| {
                if row.manner & manner::DEFINES != 0 {
                    note(row.name, row.input);
                }
            })?;
            self.mentions.iter().for_each(|(input, name)| note(*name, *input));
        }
        Ok(others)
    }

    /// Has a full link follow if names are in groups that were not, or the other way round, or copies of them are gone that
    /// stayed, and others define them, too, but for who has the one that counts.
    fn refuse_others(
        &self,
        (said, changed): (&Said, &HashSet<u32>),
        others: &BTreeMap<u32, (u128, u32)>,
        next: &mut NewNames,
    ) -> Result<(), Unreadable> {
        if others.is_empty() {
            return Ok(());
        }
        let mut refused: HashSet<u32> = HashSet::new();
        let mut owners: HashMap<u32, u32> = HashMap::new();
        for number in others.keys() {
            owners.insert(*number, self.last.owned(*number, self.file.row((*number).into())?).input);
        }
        let is_another = |number: &u32, row: u32| {
            others.get(number).is_some_and(|(_, own)| row != *own && owners.get(number) != Some(&row))
        };
        let is_changed = |(number, (hash, _)): (&u32, &(u128, u32))| {
            definers(said, *hash).any(|row| is_another(number, row)).then_some(*number)
        };
        refused.extend(others.iter().filter_map(is_changed));
        each_mention(self.file, |row| {
            let defines = row.manner & manner::DEFINES != 0 && !changed.contains(&row.input);
            if defines && is_another(&row.name, row.input) {
                refused.insert(row.name);
            }
        })?;
        let since =
            self.mentions.iter().filter(|(input, name)| !changed.contains(input) && is_another(name, *input));
        refused.extend(since.map(|(_, name)| *name));
        for name in refused {
            let (hash, input) = others[&name];
            next.handed_over.insert(name, HandedOver { name, hash, input, manner: manner::ODD });
        }
        Ok(())
    }

    /// Has a full link follow if an object has what it was handed over in no group any more.
    fn check_groups(&self, objects: &[One], next: &mut NewNames) -> Result<(), Unreadable> {
        for one in objects {
            let mine = |new: &HandedOver| new.input == one.row;
            if !next.handed_over.values().any(mine) {
                continue;
            }
            let of_groups = Groups::of(one);
            for new in next.handed_over.values_mut().filter(|new| mine(new)) {
                let had_group = !self.was_in_no_group(&self.file.row(new.name.into())?)?;
                if had_group && of_groups.signature(new.hash).is_none() {
                    new.manner = manner::ODD;
                }
            }
        }
        Ok(())
    }

    /// How an object defines a name, if that is what the tables have of it, and it has lost it with its group if it had
    /// it.
    pub(super) fn says_the_same(
        &self,
        one: &One,
        (number, hash): (u32, u128),
        name: &NameRow,
    ) -> Result<Option<u8>, Unreadable> {
        let says = one.globals.list().iter().find(|(of, _)| *of == hash).map(|(_, said)| *said);
        let said = defined_as((self.file, self.common), (number, name))?;
        if says.is_none_or(|said| said == manner::ODD) || says != said {
            return Ok(None);
        }
        let input: InputRow = self.file.row(one.row.into())?;
        let mentions = self.file.mentions_of(&input)?;
        let has_lost = mentions.iter().all(|mention| mention.name != number || mention.is_beaten == 0);
        Ok(says.filter(|_| has_lost))
    }
}

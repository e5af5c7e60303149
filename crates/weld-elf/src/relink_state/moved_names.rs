//! Names that move from one object to another, without a group: instances of generic functions, of which rustc gives
//! each to one codegen unit of a crate, and to another one if the crate has others.
//!
//! The object that had the name and the one that has it are looked at as if both had changed, and so is whoever else may
//! define it; then it must be that one alone that does, as it was defined before, in a section that is free
//! ([`super::free_sections`]). The old section leaves a hole, the new one is a guest, or lies where it was when the tables
//! were written. Values are all that others see of it. The memo has such names with those of groups
//! ([`super::handed_over`]); a name that came later has another object there ([`NewNames::added`]).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::excerpt::each_mention;
use super::file::Unreadable;
use super::mentions::{find_name, manner};
use super::new_names::{Looked, NewNames, One, Said, definers};
use super::rows::*;
use crate::sections::free_sections::{FREE, is_grouped};

/// Names that changed objects define in free sections of no group.
#[derive(Default)]
pub(super) struct Moved {
    /// By their hashes, with the rows of these objects.
    defined: Vec<(u128, u32)>,
    /// Added ones that another object has now.
    added: BTreeSet<u32>,
}

impl Moved {
    pub fn add(&mut self, row: u32, hash: u128) {
        self.defined.push((hash, row));
    }

    /// Notes that an added name is another object's now.
    pub fn take(&mut self, number: u32) {
        self.added.insert(number);
    }
}

impl Looked<'_> {
    /// Notes in `next` which names have moved; if objects have to be looked at for that which have not changed, returns
    /// these.
    pub(super) fn move_names(
        &self,
        (objects, said, changed): (&[One], &Said, &HashSet<u32>),
        moved: Moved,
        next: &mut NewNames,
    ) -> Result<BTreeSet<u32>, Unreadable> {
        // By number.
        let mut wanted: BTreeMap<u32, HandedOver> = BTreeMap::new();
        let mut needed = BTreeSet::new();
        for (hash, row) in moved.defined {
            let Some((number, was)) = find_name(self.file, hash)? else { continue };
            let name = self.last.owned(number, was);
            let is_gone = self.last.gone.contains(&number);
            if name.input == row && !is_gone
                || !self.is_usual(number, &name, self.common.is_resolved)?
                || definers(said, hash).count() != 1
                || !self.was_in_no_group(&was)?
            {
                continue;
            }
            let Some(one) = objects.iter().find(|one| one.row == row) else { continue };
            let said = self.says_the_same(one, (number, hash), &name)?;
            if let Some(manner) = said.filter(|said| said & manner::BINDING == manner::GLOBAL) {
                wanted.insert(number, HandedOver { name: number, hash, input: row, manner });
                needed.insert(name.input);
            }
        }
        // Who else defines them, or may since then.
        if !wanted.is_empty() {
            each_mention(self.file, |row| {
                if row.manner & manner::DEFINES != 0 && wanted.contains_key(&row.name) {
                    needed.insert(row.input);
                }
            })?;
        }
        let is_of_these = |name: &u32| wanted.contains_key(name) || moved.added.contains(name);
        needed.extend(self.mentions.iter().filter(|(_, name)| is_of_these(name)).map(|(input, _)| *input));
        needed.retain(|row| !changed.contains(row));
        if needed.is_empty() {
            for (number, new) in wanted {
                let was: NameRow = self.file.row(number.into())?;
                next.gone.remove(&number);
                if was.input == new.input {
                    next.handed_over.remove(&number);
                } else {
                    next.handed_over.insert(number, new);
                }
            }
        }
        Ok(needed)
    }

    /// Whether what defined a name when the tables were written was in no group, as far as it was in the output.
    pub(super) fn was_in_no_group(&self, name: &NameRow) -> Result<bool, Unreadable> {
        if name.section == NONE {
            return Ok(true);
        }
        let section: SectionRow = self.file.row(name.section.into())?;
        Ok(section.number & FREE != 0 && !is_grouped(section.number))
    }
}

//! Slots of the GOT that the last full link did not give out: names that are defined here, and whose slots changed objects
//! ask for as nobody did, take spare words ([`crate::got_plt_slots::Slots::add_spare_words`]). So rustc's code calls
//! functions of other crates, and of other codegen units; and so a library finds its own variables and tables of virtual
//! functions if others may replace them.
//!
//! A word is taken until a full link is made, or the name is gone. The word of a name that had it when the tables were
//! written is empty when that is gone ([`of_gone`]), and for no other. Where the loader adds to words, it is told of them all
//! anew ([`super::told`]): to add to them, or to put there what it finds by name.

use std::collections::BTreeMap;
use std::fs::File;

use super::{LastLink, Patch, Places, View, changed_object, facts, new_places, parsed};
use crate::arch;
use crate::arch::class::Class;
use crate::elf::*;
use crate::input::object::Object;
use crate::job::Job;
use crate::options::OutputKind;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::{Changed, Why};
use crate::relink_state::Unreadable;
use crate::relink_state::excerpt::{Common, SlotPlaces};
use crate::relink_state::keys;
use crate::relink_state::rewrite_section::{Missing, Told};
use crate::relink_state::rows::{NONE, NameRow};
use crate::sections::decode_relocs;
use crate::symbols::symbol_flags;

/// The last link's words and those that changed objects ask for anew; `None` if there are none of these, or too many.
///
/// # Errors
/// If something cannot be read.
pub fn find(job: &Job, changes: &Changes, last: &LastLink) -> Result<Option<Vec<u32>>, Why> {
    let (left, mut common) = last.view(job)?;
    let (count, _) = common.spare_words();
    if count == 0 {
        return Ok(None);
    }
    // Why it cannot be done is said by who looks at it next.
    let Ok(places) = new_places(job, changes, last) else { return Ok(None) };
    let Places { names, live, .. } = places;
    common.names = names;
    let (mut words, mut is_new) = (last.words.to_vec(), false);
    for changed in &changes.objects {
        let data = changed_object::bytes(job, changes, changed)?;
        let Some(object) = parsed::with_its_names(job, data) else { continue };
        let Some(machine) = arch::of_file(data) else { continue };
        let facts = machine.facts();
        for (index, shdr) in object.shdrs.iter().enumerate() {
            // What is not in the output asks for nothing.
            let is_dead = live.get(&changed.row).is_some_and(|live| !live.contains(&shdr.sh_info()));
            if is_dead || !is_of_code(&object, shdr) {
                continue;
            }
            for reloc in decode_relocs(&object, index).unwrap_or_default().iter() {
                let is_global = (object.first_global..object.syms.len() as u32).contains(&reloc.sym());
                let class = facts.class(reloc.kind());
                if !is_global || !matches!(class, Class::Got | Class::GotRelax) {
                    continue;
                }
                let hash = keys::hash(object.symbol_name(reloc.sym()));
                let Some((row, name)) = common.find_name(left.tables, hash)? else { continue };
                // Code may do without those that are nobody else's.
                let is_asked = class == Class::Got || name.flags & symbol_flags::PREEMPTIBLE != 0;
                if words.contains(&row) || !is_asked || !may_have_word(&name) {
                    continue;
                }
                match words.iter().position(|word| *word == NONE) {
                    Some(free) => words[free] = row,
                    None if words.len() < count as usize => words.push(row),
                    None => return Ok(None),
                }
                is_new = true;
            }
        }
    }
    Ok(is_new.then_some(words))
}

/// Whether a section has relocations of code.
fn is_of_code(object: &Object, shdr: &Shdr) -> bool {
    let target = object.shdrs.get(shdr.sh_info() as usize);
    let is_code = target.is_some_and(|target| target.sh_flags() & SHF_EXECINSTR != 0);
    is_code && matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL)
}

/// Whether a name is defined here, in the output, and has no slot. Others may replace it if they see it.
fn may_have_word(name: &NameRow) -> bool {
    const SAID: u32 = symbol_flags::KIND
        | symbol_flags::IFUNC
        | symbol_flags::TLS
        | symbol_flags::IN_DISCARDED
        | symbol_flags::NEEDS & !symbol_flags::NEEDS_DYNSYM;
    let is_seen = name.flags & symbol_flags::PREEMPTIBLE == 0 || name.dynamic != 0;
    name.flags & SAID == symbol_flags::DEFINED && is_seen && name.slot == NONE && name.section != NONE
}

/// What names of the tables that are gone, or were, have of the GOT and the PLT, with their rows.
///
/// # Errors
/// If the tables are damaged.
pub fn places_of_gone(
    left: &View,
    common: &Common,
    last: &LastLink,
) -> Result<Vec<(u32, SlotPlaces)>, Unreadable> {
    let mut found = Vec::new();
    for row in last.memo.names.gone.union(&last.names.gone).filter(|row| **row < common.count) {
        let name = common.name(left.tables, *row)?;
        found.extend(common.places_of(left.tables, &name)?.map(|places| (*row, places)));
    }
    Ok(found)
}

/// The words of names that are gone, or were: where they are, and of those of them that have values again what the loader
/// is told.
///
/// # Errors
/// If a name is nowhere.
pub fn of_gone(
    job: &Job,
    last: &LastLink,
    values: &BTreeMap<u32, u64>,
    patch: &mut Patch,
) -> Result<(Vec<u64>, Told), Why> {
    let mut words = Words::new(job, last, values)?;
    let mut places = Vec::new();
    for (row, place) in places_of_gone(&words.left, &words.common, last)? {
        if let Some(place) = place.word {
            places.push(place);
            words.put(place, (!last.names.gone.contains(&row)).then_some(row), patch)?;
        }
    }
    Ok((places, words.told))
}

/// The words of `last` without those of names that are gone.
pub fn left(last: &LastLink) -> Vec<u32> {
    let is_there = |row: &u32| !last.names.gone.contains(row);
    last.words.iter().map(|row| if is_there(row) { *row } else { NONE }).collect()
}

/// Has the words have the addresses of their names, which are those of the tables if `values` have none; returns what the
/// loader is told of them.
///
/// # Errors
/// If a name is nowhere.
pub fn write(
    job: &Job,
    last: &LastLink,
    values: &BTreeMap<u32, u64>,
    patch: &mut Patch,
) -> Result<Told, Why> {
    let rows = std::mem::take(&mut patch.words);
    if rows.is_empty() {
        return Ok(Told::default());
    }
    let mut words = Words::new(job, last, values)?;
    let (_, first) = words.common.spare_words();
    for (at, row) in (0..).step_by(8).zip(&rows) {
        words.put(first + at, (*row != NONE).then_some(*row), patch)?;
    }
    patch.words = rows;
    Ok(words.told)
}

/// Words of the GOT that are written.
struct Words<'w, 'j> {
    job: &'w Job<'j>,
    image: &'w File,
    values: &'w BTreeMap<u32, u64>,
    left: View<'w>,
    common: Common,
    form: Format,
    /// The type of relocations that put what is found by name into a word.
    by_name: u32,
    told: Told,
}

impl<'w, 'j> Words<'w, 'j> {
    fn new(job: &'w Job<'j>, last: &LastLink<'w>, values: &'w BTreeMap<u32, u64>) -> Result<Self, Why> {
        let (left, mut common) = last.view(job)?;
        common.has_all_values = true;
        let (facts, told) = (facts(&left)?, Told::default());
        let (form, by_name) = (facts.target.format, facts.dynamic.glob_dat);
        Ok(Words { job, image: last.image, values, left, common, form, by_name, told })
    }

    /// Has the word at `place` have the address of a name, or nothing.
    fn put(&mut self, place: u64, row: Option<u32>, patch: &mut Patch) -> Result<(), Why> {
        let name =
            row.map(|row| Ok::<_, Why>((row, self.common.name(self.left.tables, row)?))).transpose()?;
        let value = name.as_ref().map(|(row, name)| self.value(*row, name)).transpose()?;
        if self.job.options.kind == OutputKind::Exec {
            let out = self.common.output(b".got").ok_or(Why::Image)?;
            let mut bytes = vec![0; 8];
            self.form.put(&mut bytes, value.unwrap_or(0));
            let at = out.offset.wrapping_add(place.wrapping_sub(out.address));
            patch.compare(self.image, &(at, bytes)).map_err(|_| Why::Image)?;
        } else if let Some(((_, name), value)) = name.zip(value) {
            match name.flags & symbol_flags::PREEMPTIBLE {
                0 => self.told.relative.push((place, value)),
                _ => self.told.symbolic.push(Rela::make(place, name.dynamic, self.by_name, 0)),
            }
        }
        Ok(())
    }

    fn value(&self, row: u32, name: &NameRow) -> Result<u64, Why> {
        let known = self.values.get(&row).copied();
        if name.section == NONE || self.common.is_nowhere(row, known, name) {
            let missing = Missing::Target(NONE);
            return Err(Why::Object(self.job.options.output.path.clone(), Changed::Unknown(missing)));
        }
        Ok(known.unwrap_or(name.value))
    }
}

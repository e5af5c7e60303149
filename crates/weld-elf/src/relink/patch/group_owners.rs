//! Whether the groups of a changed object that are taken to have lost do so in a full link, too.
//!
//! Of all COMDAT groups with one signature the first object's stays, and of others those that define what no group that stays
//! does (`relink/stood_for.rs`). Those that an object had when the tables were
//! written are known to have lost; another one has if objects in front of it have all that it defines in groups
//! that stay, with the same signature or, if it is plain and that is one of these names, with any. (What else keeps a copy,
//! who refers to it by a local symbol, refers to nothing here.) Objects that have such groups are read for that.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{others, parsed};
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::Why;
use crate::relink_state::State;
use crate::relink_state::excerpt::Common;
use crate::relink_state::file::StateFile;
use crate::relink_state::rewrite_section::Alone;
use crate::relink_state::rows::{InputRow, NONE, input_kind};
use crate::resolve::comdat::is_pointer;
use crate::sections::lost_groups::{each_definition, is_plain};

/// Where they are looked up.
pub struct Looked<'l, 'j, 'f> {
    pub job: &'l Job<'j>,
    pub changes: &'l Changes,
    pub file: &'l StateFile<'f>,
    pub common: &'l Common,
}

/// The names that objects which have been read define in groups, with the signatures of these, by their rows.
#[derive(Default)]
pub struct Owners<'j>(HashMap<u32, HashMap<&'j [u8], &'j [u8]>>);

impl<'j> Owners<'j> {
    /// Whether objects in front of input number `row` have all the groups that it has lost. `state` is its
    /// excerpt, `names` are the numbers of its names.
    ///
    /// # Errors
    /// If objects or the tables cannot be read.
    pub fn have(
        &mut self,
        looked: &Looked<'_, 'j, '_>,
        row: u32,
        (alone, state, names): (&Alone, &State, &[u32]),
    ) -> Result<bool, Why> {
        let first = state.inputs[0].first_global;
        // It lies in no file of the last full link.
        let is_spare = looked.file.row::<InputRow>(row.into())?.file == NONE;
        for (group, symbols) in alone.lost_groups() {
            let signature = alone.object().group_name(group);
            // Who else has a group with this signature has one that defines the name, as compilers do it.
            let may_be_called_otherwise = is_plain(alone.object(), group)
                && symbols.iter().any(|symbol| alone.name(*symbol) == signature);
            for symbol in symbols {
                let mention = symbol.checked_sub(first).and_then(|at| state.mentions.get(at as usize));
                let Some(mention) = mention else { return Ok(false) };
                let number = names[mention.name as usize];
                if looked.common.names.gone.contains(&number) {
                    return Ok(false);
                }
                let name = looked.common.name(looked.file, number)?;
                // Its own place is elsewhere, perhaps in front of who has another copy.
                if is_spare && !is_pointer(signature) {
                    return Ok(false);
                }
                // Of pointers to personality routines the last object's stay.
                let is_other = match is_pointer(signature) {
                    true => name.input > row || is_spare && name.input < row,
                    false => name.input < row,
                };
                if !is_other || name.section == NONE {
                    return Ok(false);
                }
                let of_owner = self.of(looked, name.input)?.get(alone.name(symbol)).copied();
                if of_owner.is_none_or(|of_owner| of_owner != signature && !may_be_called_otherwise) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// What an object defines in groups, and which these are.
    fn of(&mut self, looked: &Looked<'_, 'j, '_>, row: u32) -> Result<&HashMap<&'j [u8], &'j [u8]>, Why> {
        Ok(match self.0.entry(row) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(of_groups(looked, row)?),
        })
    }
}

fn of_groups<'j>(looked: &Looked<'_, 'j, '_>, row: u32) -> Result<HashMap<&'j [u8], &'j [u8]>, Why> {
    let input: InputRow = looked.file.row(row.into())?;
    let mut found = HashMap::new();
    if input.kind != input_kind::OBJECT {
        return Ok(found);
    }
    let data = others::bytes(looked.job, looked.changes, (row, &input))?;
    let Some(object) = parsed::object(looked.job, data) else { return Ok(found) };
    each_definition(&object, |group, symbol| {
        found.insert(object.symbol_name(symbol), object.group_name(&object.groups[group]));
    });
    Ok(found)
}

//! Names that archives offer, and that changed objects mention for the first time, or no more.
//!
//! Who asks first for such a name says which member is read, if there are several that offer it. If one alone does,
//! and it is linked, then nothing changes by one more that asks for it: all others have the same of it. Archives are
//! looked through for that, and only if an object is not relinked otherwise. And what a member offered that defines it no
//! more is nobody's if no other one offers it.
//!
//! Who asks no more for a name that one member alone offers changes nothing if that is linked in any case: an object on
//! the command line asks for something else that it alone offers. Tables do not say what that object asks for now, so it
//! is looked at.

use std::collections::{BTreeSet, HashMap, HashSet};

use weld_common::archive::{Archive, MemberData};

use super::{LastLink, View, changed_object, others};
use crate::arch;
use crate::elf::{SHN_UNDEF, STV_HIDDEN};
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::Why;
use crate::relink::memo::Is;
use crate::relink_state::excerpt::each_mention;
use crate::relink_state::keys;
use crate::relink_state::mentions::{Globals, asks, manner, visibility};
use crate::relink_state::outline::is_renamed;
use crate::relink_state::rewrite_section;
use crate::relink_state::rows::{InputRow, MentionRow, NONE, NameRow, input_kind};
use crate::symbol_names::flag;
use crate::symbols::symbol_flags;

/// What is known of names that archives offer: rows.
#[derive(Clone, Debug, Default)]
pub struct Offered {
    /// One member offers them, which is linked, and nobody else.
    pub once: HashSet<u32>,
    /// Linked members that have changed offered them, and nobody does now.
    pub no_more: HashSet<u32>,
    /// A member offers them that is linked whoever asks for them, and nobody else.
    pub sure: HashSet<u32>,
}

impl Offered {
    pub fn is_empty(&self) -> bool {
        self.once.is_empty() && self.no_more.is_empty() && self.sure.is_empty()
    }
}

/// Those of the names that changed objects mention, or have ceased to define.
///
/// # Errors
/// If something cannot be read.
pub fn find(job: &Job, changes: &Changes, last: &LastLink) -> Result<Offered, Why> {
    const MORE: u32 = flag::DEF_SHARED | flag::HAS_VERSION | flag::IS_VERSION;
    let (left, common) = last.view(job)?;
    // By hashes: rows, and how many offer them.
    let (mut asked, mut gone) = (HashMap::new(), HashMap::new());
    // Those that are asked for no more, with the members that offer them.
    let (mut ceased, mut offered_by) = (HashMap::new(), HashMap::new());
    if common.has_lazy {
        return Ok(Offered::default());
    }
    let is_offered = |name: &NameRow| {
        let is_defined = name.flags & symbol_flags::KIND == symbol_flags::DEFINED && name.input != NONE;
        is_defined && name.mentioned & (flag::OFFERED | MORE) == flag::OFFERED
    };
    let is_member = |row: u32| -> Result<Option<InputRow>, Why> {
        let input: InputRow = left.tables.row(row.into())?;
        Ok(Some(input).filter(|input| input.kind == input_kind::OBJECT && input.member.size != 0))
    };
    for changed in &changes.objects {
        let data = changed_object::bytes(job, changes, changed)?;
        let machine = arch::of_file(data);
        let object = machine.and_then(|machine| rewrite_section::parse(data, machine, job.store).ok());
        let Some(object) = object.filter(|object| !is_renamed(object, job.options)) else { continue };
        let globals = Globals::of(&object);
        for (hash, said) in globals.list() {
            if said & manner::DEFINES != 0 || visibility(*said) > STV_HIDDEN {
                continue;
            }
            let Some((row, name)) = common.find_name(&left.tables, *hash)? else { continue };
            if row < common.count && is_offered(&name) && is_member(name.input)?.is_some() {
                asked.insert(*hash, (row, 0));
            }
        }
        let defined: HashSet<u128> = globals.list().iter().map(|(hash, _)| *hash).collect();
        for mention in mentions_of(&left, changed.row)? {
            let name: NameRow = left.tables.row(mention.name.into())?;
            let is_ceased = mention.manner & manner::DEFINES == 0
                && name.input != changed.row
                && is_offered(&name)
                && !defined.contains(&name.hash);
            if is_ceased && is_member(name.input)?.is_some() {
                ceased.insert(name.hash, (mention.name, 0));
                offered_by.insert(mention.name, name.input);
            }
        }
        if is_member(changed.row)?.is_none() {
            continue;
        }
        for mention in mentions_of(&left, changed.row)? {
            let name: NameRow = left.tables.row(mention.name.into())?;
            if name.input == changed.row && is_offered(&name) && !defined.contains(&name.hash) {
                gone.insert(name.hash, (mention.name, 0));
            }
        }
    }
    let mut members: HashSet<u32> = offered_by.values().copied().collect();
    let mut reasons = HashMap::new();
    if !members.is_empty() {
        for (hash, member) in reasons_for(job, changes, (&left, &members), is_offered)? {
            reasons.insert(hash, (member, 0));
        }
    }
    if asked.is_empty() && gone.is_empty() && reasons.is_empty() {
        return Ok(Offered::default());
    }
    for file in &changes.files {
        if matches!(file.is, Is::Object(..)) {
            continue;
        }
        let bytes = job.store.open(&file.path).map_err(|e| Why::System(e.to_string()))?;
        let Some(bytes) = bytes.filter(|bytes| Archive::is_archive(bytes)) else { continue };
        let Ok(archive) = Archive::parse(bytes) else { return Ok(Offered::default()) };
        let Some(symbols) = archive.symbols() else {
            // What members without an index offer is not looked at; rlibs may have none that offer anything.
            if archive.members().all(|member| member.is_ok_and(|member| offers_nothing(job, &member.data))) {
                continue;
            }
            return Ok(Offered::default());
        };
        for (name, _) in symbols {
            let hash = keys::hash(name);
            for list in [&mut asked, &mut gone, &mut ceased, &mut reasons] {
                if let Some((_, count)) = list.get_mut(&hash) {
                    *count += 1;
                }
            }
        }
    }
    let with = |list: HashMap<u128, (u32, u32)>, wanted: u32| {
        list.into_values().filter(|(_, count)| *count == wanted).map(|(row, _)| row).collect()
    };
    let are_sure: HashSet<u32> = with(reasons, 1);
    members.retain(|member| are_sure.contains(member));
    let mut sure = with(ceased, 1);
    sure.retain(|row| offered_by.get(row).is_some_and(|member| members.contains(member)));
    Ok(Offered { once: with(asked, 1), no_more: with(gone, 0), sure })
}

/// What an input mentions in the tables.
fn mentions_of(left: &View, row: u32) -> Result<Vec<MentionRow>, Why> {
    let input: InputRow = left.tables.row(row.into())?;
    let count = input.symbols.saturating_sub(input.first_global);
    let first = u64::from(input.first_mention);
    Ok(left.tables.rows(first..first + u64::from(count))?)
}

/// So many objects are looked at for the sake of a member.
const LOOKED_AT: usize = 8;

/// Names that objects on the command line ask for, with the members that define them.
fn reasons_for(
    job: &Job,
    changes: &Changes,
    (left, members): (&View, &HashSet<u32>),
    is_offered: impl Fn(&NameRow) -> bool,
) -> Result<HashMap<u128, u32>, Why> {
    // By rows: the member, and the hash.
    let mut defined: HashMap<u32, (u32, u128)> = HashMap::new();
    for member in members {
        for mention in mentions_of(left, *member)? {
            let name: NameRow = left.tables.row(mention.name.into())?;
            if mention.manner & manner::DEFINES != 0 && name.input == *member && is_offered(&name) {
                defined.insert(mention.name, (*member, name.hash));
            }
        }
    }
    let inputs: Vec<InputRow> = left.tables.all()?;
    let is_alone = |row: u32| {
        let input = inputs.get(row as usize);
        input.is_some_and(|input| input.kind == input_kind::OBJECT && input.member.size == 0)
    };
    let mut asking: HashMap<u32, BTreeSet<u32>> = HashMap::new();
    each_mention(&left.tables, |row| {
        if asks(row.manner)
            && let Some((member, _)) = defined.get(&row.name)
            && is_alone(row.input)
        {
            let of_member = asking.entry(*member).or_default();
            if of_member.len() < LOOKED_AT {
                of_member.insert(row.input);
            }
        }
    })?;
    let by_hash: HashMap<u128, u32> = defined.into_values().map(|(member, hash)| (hash, member)).collect();
    let mut found = HashMap::new();
    let mut objects: Vec<u32> = asking.into_values().flatten().collect();
    objects.sort_unstable();
    objects.dedup();
    for row in objects {
        let data = others::bytes(job, changes, (row, &inputs[row as usize]))?;
        let machine = arch::of_file(data);
        let object = machine.and_then(|machine| rewrite_section::parse(data, machine, job.store).ok());
        let Some(object) = object.filter(|object| !is_renamed(object, job.options)) else { continue };
        for (hash, said) in Globals::of(&object).list() {
            if asks(*said)
                && let Some(member) = by_hash.get(hash)
            {
                found.insert(*hash, *member);
            }
        }
    }
    Ok(found)
}

/// Whether a member defines nothing: it is neither an object nor intermediate code, or has no definitions.
fn offers_nothing<'j>(job: &Job<'j>, data: &MemberData<'j>) -> bool {
    let MemberData::Inline(bytes) = data else { return false };
    if !bytes.starts_with(b"\x7fELF") {
        return !bytes.starts_with(b"BC") && !bytes.starts_with(b"!<");
    }
    let machine = arch::of_file(bytes);
    let object = machine.and_then(|machine| rewrite_section::parse(bytes, machine, job.store).ok());
    object.is_some_and(|object| {
        let globals = object.syms.iter().skip(object.first_global as usize);
        object.groups.is_empty() && globals.into_iter().all(|symbol| symbol.st_shndx() == SHN_UNDEF)
    })
}

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

use super::{LastLink, View, changed_object, others, parsed};
use crate::elf::{SHN_UNDEF, STV_HIDDEN};
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::Why;
use crate::relink::memo::Is;
use crate::relink_state::excerpt::{Common, each_mention};
use crate::relink_state::keys;
use crate::relink_state::mentions::{Globals, asks, manner, visibility};
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

/// Names by their hashes, each with a row, and how many offer it.
type Counted = HashMap<u128, (u32, u32)>;

/// Names of changed objects that somebody offers.
#[derive(Default)]
struct Wanted {
    /// They are asked for.
    asked: Counted,
    /// Changed members have defined them.
    gone: Counted,
    /// They are asked for no more.
    ceased: Counted,
    /// The members that define what is asked for no more.
    offered_by: HashMap<u32, u32>,
}

/// Whether a member of an archive defines a name, and no library.
fn is_offered(name: &NameRow) -> bool {
    const MORE: u32 = flag::DEF_SHARED | flag::HAS_VERSION | flag::IS_VERSION;
    let is_defined = name.flags & symbol_flags::KIND == symbol_flags::DEFINED && name.input != NONE;
    is_defined && name.mentioned & (flag::OFFERED | MORE) == flag::OFFERED
}

fn is_member(left: &View, row: u32) -> Result<bool, Why> {
    let input: InputRow = left.tables.row(row.into())?;
    Ok(input.kind == input_kind::OBJECT && input.member.size != 0)
}

/// Those of the names that changed objects mention, or have ceased to define.
///
/// # Errors
/// If something cannot be read.
pub fn find(job: &Job, changes: &Changes, last: &LastLink) -> Result<Offered, Why> {
    let (left, common) = last.view(job)?;
    if common.has_lazy || common.is_resolved {
        return Ok(Offered::default());
    }
    let mut wanted = Wanted::default();
    for changed in &changes.objects {
        let data = changed_object::bytes(job, changes, changed)?;
        let Some(object) = parsed::with_its_names(job, data) else { continue };
        wanted.add((&left, &common), changed.row, &Globals::of(&object))?;
    }
    let Wanted { mut asked, mut gone, mut ceased, offered_by } = wanted;
    let mut members: HashSet<u32> = offered_by.values().copied().collect();
    let mut reasons = Counted::new();
    if !members.is_empty() {
        let of_members = reasons_for(job, changes, (&left, &members))?;
        reasons.extend(of_members.into_iter().map(|(hash, member)| (hash, (member, 0))));
    }
    if asked.is_empty() && gone.is_empty() && reasons.is_empty() {
        return Ok(Offered::default());
    }
    if !count_offers(job, changes, [&mut asked, &mut gone, &mut ceased, &mut reasons])? {
        return Ok(Offered::default());
    }
    let with = |list: Counted, wanted: u32| {
        list.into_values().filter(|(_, count)| *count == wanted).map(|(row, _)| row).collect()
    };
    let are_sure: HashSet<u32> = with(reasons, 1);
    members.retain(|member| are_sure.contains(member));
    let mut sure = with(ceased, 1);
    sure.retain(|row| offered_by.get(row).is_some_and(|member| members.contains(member)));
    Ok(Offered { once: with(asked, 1), no_more: with(gone, 0), sure })
}

impl Wanted {
    /// Adds those of a changed object.
    fn add(&mut self, (left, common): (&View, &Common), row: u32, globals: &Globals) -> Result<(), Why> {
        for (hash, said) in globals.list() {
            if said & manner::DEFINES != 0 || visibility(*said) > STV_HIDDEN {
                continue;
            }
            let Some((name_row, name)) = common.find_name(left.tables, *hash)? else { continue };
            if name_row < common.count && is_offered(&name) && is_member(left, name.input)? {
                self.asked.insert(*hash, (name_row, 0));
            }
        }
        let mentioned: HashSet<u128> = globals.list().iter().map(|(hash, _)| *hash).collect();
        let is_of_member = is_member(left, row)?;
        for mention in mentions_of(left, row)? {
            let name: NameRow = left.tables.row(mention.name.into())?;
            if !is_offered(&name) || mentioned.contains(&name.hash) {
                continue;
            }
            if name.input == row {
                if is_of_member {
                    self.gone.insert(name.hash, (mention.name, 0));
                }
            } else if mention.manner & manner::DEFINES == 0 && is_member(left, name.input)? {
                self.ceased.insert(name.hash, (mention.name, 0));
                self.offered_by.insert(mention.name, name.input);
            }
        }
        Ok(())
    }
}

/// Counts in archives who offers names. `false`: one of them does not say.
fn count_offers(job: &Job, changes: &Changes, mut lists: [&mut Counted; 4]) -> Result<bool, Why> {
    for file in changes.files.iter() {
        if matches!(file.is, Is::Object(..) | Is::Gone(..) | Is::Lent(_)) {
            continue;
        }
        let bytes = job.store.open_once(&file.path).map_err(|e| Why::System(e.to_string()))?;
        let Some(bytes) = bytes.filter(|bytes| Archive::is_archive(bytes)) else { continue };
        let Ok(archive) = Archive::parse(bytes) else { return Ok(false) };
        let Some(symbols) = archive.symbols() else {
            // What members without an index offer is not looked at; rlibs may have none that offer anything.
            if archive.members().all(|member| member.is_ok_and(|member| offers_nothing(job, &member.data))) {
                continue;
            }
            return Ok(false);
        };
        for (name, _) in symbols {
            let hash = keys::hash(name);
            for list in &mut lists {
                if let Some((_, count)) = list.get_mut(&hash) {
                    *count += 1;
                }
            }
        }
    }
    Ok(true)
}

/// What an input mentions in the tables.
fn mentions_of(left: &View, row: u32) -> Result<Vec<MentionRow>, Why> {
    let input: InputRow = left.tables.row(row.into())?;
    Ok(left.tables.mentions_of(&input)?)
}

/// So many objects are looked at for the sake of a member.
const LOOKED_AT: usize = 8;

/// Names that objects on the command line ask for, with the members that define them.
fn reasons_for(
    job: &Job,
    changes: &Changes,
    (left, members): (&View, &HashSet<u32>),
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
    each_mention(left.tables, |row| {
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
        let Some(object) = parsed::with_its_names(job, data) else { continue };
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
    parsed::object(job, bytes).is_some_and(|object| {
        let globals = object.syms.iter().skip(object.first_global as usize);
        object.groups.is_empty() && globals.into_iter().all(|symbol| symbol.st_shndx() == SHN_UNDEF)
    })
}

//! Names that archives offer, and that changed objects mention for the first time.
//!
//! Who asks first for such a name says which member is read, if there are several that offer it. If one alone does,
//! and it is linked, then nothing changes by one more that asks for it: all others have the same of it. Archives are
//! looked through for that, and only if an object is not relinked otherwise. And what a member offered that defines it no
//! more is nobody's if no other one offers it.

use std::collections::{HashMap, HashSet};

use weld_common::archive::{Archive, MemberData};

use super::{LastLink, changed_object};
use crate::arch;
use crate::elf::{SHN_UNDEF, STV_HIDDEN};
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::Why;
use crate::relink::memo::Is;
use crate::relink_state::keys;
use crate::relink_state::mentions::{Globals, manner, visibility};
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
}

impl Offered {
    pub fn is_empty(&self) -> bool {
        self.once.is_empty() && self.no_more.is_empty()
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
        let Some(input) = is_member(changed.row)? else { continue };
        let defined: HashSet<u128> = globals.list().iter().map(|(hash, _)| *hash).collect();
        let count = input.symbols.saturating_sub(input.first_global);
        let first = u64::from(input.first_mention);
        for mention in left.tables.rows::<MentionRow>(first..first + u64::from(count))? {
            let name: NameRow = left.tables.row(mention.name.into())?;
            if name.input == changed.row && is_offered(&name) && !defined.contains(&name.hash) {
                gone.insert(name.hash, (mention.name, 0));
            }
        }
    }
    if asked.is_empty() && gone.is_empty() {
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
            for list in [&mut asked, &mut gone] {
                if let Some((_, count)) = list.get_mut(&hash) {
                    *count += 1;
                }
            }
        }
    }
    let with = |list: HashMap<u128, (u32, u32)>, wanted: u32| {
        list.into_values().filter(|(_, count)| *count == wanted).map(|(row, _)| row).collect()
    };
    Ok(Offered { once: with(asked, 1), no_more: with(gone, 0) })
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

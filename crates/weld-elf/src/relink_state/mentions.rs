//! Names that an object mentions and did not, or does not any more, and those that have other numbers in it.
//!
//! Numbers of symbols are nothing to anybody else: relocations and rows of the object are read with them, and
//! the outline with those that the symbols had when the tables were written ([`Renumbered::before`]). One mention
//! more changes nothing of a link if the name is one that is defined in it, or that others use in the same way;
//! what relocations then ask of it is seen in the object's needs. One mention less changes nothing if the
//! definition is there in any case. What the object itself defines is as it was, in the same order, and so is
//! how it mentions the names that it goes on to mention ([`manner_of`]).
//!
//! What members of archives offer is wanted by who mentions it first, and members want more. So such a name may
//! be mentioned anew only if an object that is linked in any case mentions it as well, and then for good: nobody
//! may cease to; or if no other member offers it ([`Common::offered`]). Who ceases to mention it must know that the
//! member is linked for another reason ([`Common::surely_linked`]).

use std::collections::HashMap;

use weld_common::digest::UnitDigest;

use super::differences::Difference;
use super::excerpt::Common;
use super::file::{StateFile, Unreadable};
use super::keys;
use super::outline::short;
use super::rows::*;
use crate::elf::*;
use crate::input::object::Object;
use crate::resolve::comdat::POINTERS;
use crate::sections::lost_groups::{LostSections, Stay};
use crate::symbol_names::flag;
use crate::symbols::symbol_flags;

/// How an object mentions a name, in the bits of a byte: binding, visibility, type, and whether it defines it.
pub mod manner {
    /// What is not understood here: then the symbol counts as it stands ([`super::super::outline`]).
    pub const ODD: u8 = 0;
    pub const GLOBAL: u8 = 1;
    pub const WEAK: u8 = 2;
    pub const UNIQUE: u8 = 3;
    pub const BINDING: u8 = 3;
    /// Two bits for the visibility, and three for the type.
    pub const VISIBILITY: u8 = 2;
    pub const TYPE: u8 = 4;
    pub const DEFINES: u8 = 1 << 7;
}

/// How an object mentions the name of a global symbol.
pub fn manner_of(symbol: &Sym) -> u8 {
    let binding = match symbol.binding() {
        STB_GLOBAL => manner::GLOBAL,
        STB_WEAK => manner::WEAK,
        STB_GNU_UNIQUE => manner::UNIQUE,
        _ => return manner::ODD,
    };
    let kind = match symbol.kind() {
        kind @ ..=STT_TLS => kind,
        STT_GNU_IFUNC => 7,
        _ => return manner::ODD,
    };
    let defines = symbol.st_shndx() != SHN_UNDEF;
    match symbol.st_other() {
        visibility @ 0..4 => {
            let said = binding | visibility << manner::VISIBILITY | kind << manner::TYPE;
            said | if defines { manner::DEFINES } else { 0 }
        }
        // What processors say there, definitions have in the digest of the table.
        other if defines => {
            binding | (other & 3) << manner::VISIBILITY | manner::DEFINES | kind << manner::TYPE
        }
        _ => manner::ODD,
    }
}

fn defines(said: u8) -> bool {
    said & manner::DEFINES != 0
}

/// Whether an object that mentions a name so asks for it, and no more, and is wrong without it.
pub fn asks(said: u8) -> bool {
    is_plain(said) && said & manner::BINDING == manner::GLOBAL
}

/// Whether an object that mentions a name so does no more than to ask for it, as most do.
fn is_plain(said: u8) -> bool {
    let binding = said & manner::BINDING;
    matches!(binding, manner::GLOBAL | manner::WEAK) && said & !manner::BINDING == 0
}

/// The visibility that an object says a name has.
pub fn visibility(said: u8) -> u8 {
    said >> manner::VISIBILITY & 3
}

/// The same, but for that the name is said to be hidden, as rustc says it of what other objects of its crate define.
fn is_plain_or_hidden(said: u8) -> bool {
    let is_hidden = visibility(said) == STV_HIDDEN;
    is_plain(if is_hidden { said & !(3 << manner::VISIBILITY) } else { said })
}

/// The global symbols of an object.
pub struct Globals<'o, 'a> {
    object: &'o Object<'a>,
    /// In order: the hash of each name, and how it is mentioned.
    list: Vec<(u128, u8)>,
}

impl<'o, 'a> Globals<'o, 'a> {
    pub fn of(object: &'o Object<'a>) -> Self {
        let globals = (0..).zip(object.syms).skip(object.first_global as usize);
        let said = |(index, symbol)| (super::keys::hash(object.symbol_name(index)), manner_of(symbol));
        Globals { object, list: globals.map(said).collect() }
    }

    /// In order: the hash of each name, and how it is mentioned.
    pub fn list(&self) -> &[(u128, u8)] {
        &self.list
    }

    /// A digest of what it asks of others, and offers them.
    pub fn asks(&self) -> u128 {
        asks_of(self.list.clone())
    }

    /// The number of the first.
    pub fn first(&self) -> u32 {
        self.object.first_global
    }

    pub fn object(&self) -> &'o Object<'a> {
        self.object
    }
}

fn asks_of(mut list: Vec<(u128, u8)>) -> u128 {
    list.sort_unstable();
    let bytes: Vec<u8> =
        list.iter().flat_map(|(hash, said)| (hash ^ u128::from(*said)).to_le_bytes()).collect();
    short(UnitDigest::of(&bytes))
}

/// The same of what an input mentioned when the tables were written.
///
/// # Errors
/// If the file is damaged.
pub fn asked_by(file: &StateFile, row: u32) -> Result<u128, Unreadable> {
    let input: InputRow = file.row(row.into())?;
    let rows = file.mentions_of(&input)?;
    let said = |row: &MentionRow| Ok((file.row::<NameRow>(row.name.into())?.hash, row.manner));
    Ok(asks_of(rows.iter().map(said).collect::<Result<_, Unreadable>>()?))
}

/// The mentions of an input as its object now has them.
#[derive(Debug, Default)]
pub struct Renumbered {
    pub rows: Vec<MentionRow>,
    /// Of each, which number it had when the tables were written; `NONE` if the object did not mention the name.
    pub before: Vec<u32>,
    /// The rows of the names that it did not mention.
    pub new: Vec<u32>,
    /// The sections of its groups that another object has.
    pub lost: LostSections,
}

/// Why a link as a whole has to tell what the names of an object are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Other {
    /// The symbol of this number.
    Symbol(u32),
    /// The object does not define one any more that it has defined for the first time, or took over, since.
    Lost,
    /// It has one twice.
    Twice,
    /// It has less sections than before, among them this one.
    Sections(Option<Difference>),
    /// It defines what the symbol of this number is called in another order than before.
    Order(u32),
    /// It does not mention one any more, or define it, of which others may mind that: which has this row.
    Gone(u32),
}

impl Renumbered {
    /// The mentions that are those of `rows`, in which nothing has changed.
    pub fn unchanged(rows: Vec<MentionRow>) -> Renumbered {
        let before = rows.iter().map(|row| row.symbol).collect();
        Renumbered { rows, before, ..Renumbered::default() }
    }
}

/// The mentions of input number `own`, which were `rows`, the first of symbol `first`, if its global symbols are
/// `now`.
///
/// # Errors
/// If the file is damaged.
pub fn renumbered(
    (file, common): (&StateFile, &Common),
    (own, first): (u32, u32),
    rows: Vec<MentionRow>,
    now: &Globals,
) -> Result<Result<Renumbered, Other>, Unreadable> {
    // A name that it has added is there as it was, or nobody mentions it any more.
    let is_lost = |(number, name): (u32, &AddedName)| {
        let is_here = |(hash, said): &(u128, u8)| *hash == name.hash && *said == name.manner;
        name.input == own && !common.names.gone.contains(&number) && !now.list.iter().any(is_here)
    };
    let is_lost_here = |new: &HandedOver| new.input == own && !now.list.contains(&(new.hash, new.manner));
    if (common.count..).zip(&common.names.added).any(is_lost)
        || common.names.handed_over.values().any(is_lost_here)
    {
        return Ok(Err(Other::Lost));
    }
    // Local symbols are the object's own.
    let has_same_numbers = first == now.first();
    let Globals { object, list: now } = now;
    let first = object.first_global;
    let mut before: HashMap<u128, (NameRow, MentionRow)> = HashMap::with_capacity(rows.len());
    let mut is_same = has_same_numbers && rows.len() == now.len();
    for (number, row) in rows.iter().enumerate() {
        let name = common.names.owned(row.name, file.row(row.name.into())?);
        is_same = is_same && now.get(number) == Some(&(name.hash, row.manner));
        let is_other =
            common.names.gone.contains(&row.name) || common.names.said(row.name, row.manner) != row.manner;
        is_same = is_same && !is_other && !is_taken(common, own, row);
        before.insert(name.hash, (name, *row));
    }
    let lost = lost_sections((file, common), own, (object, now), &before)?;
    if is_same {
        return Ok(Ok(Renumbered { lost, ..Renumbered::unchanged(rows) }));
    }
    // A name that is there twice is too odd.
    if before.len() != rows.len() {
        return Ok(Err(Other::Twice));
    }
    let mut found = Renumbered { lost, ..Renumbered::default() };
    let (mut last_defined, mut offered) = (0, Vec::new());
    for (symbol, (hash, said)) in (first..).zip(now) {
        let (mut is_in_order, is_lost) = (false, found.lost.defines(object, symbol));
        let (name, was, is_beaten) = match before.remove(hash) {
            // Two have it, none of which has lost.
            Some((_, row)) if !is_lost && row.manner == *said && is_taken(common, own, &row) => {
                return Ok(Err(Other::Symbol(symbol)));
            }
            Some((name, row)) if says_it((own, common), (&name, &row), *said) => {
                let is_usual = name.flags & symbol_flags::KIND == symbol_flags::DEFINED;
                // Exported names have rows for good, but slots are in the order of definitions.
                let has_row = common.export_rows().contains(&name.dynamic) && name.slot == NONE;
                let has_number = name.dynamic != 0 && !has_row;
                is_in_order = !is_lost && defines(*said) && (!is_usual || has_number);
                (row.name, row.symbol, row.is_beaten)
            }
            Some((name, row)) if has_moved((own, common), (&name, &row), *said) => {
                found.new.push(row.name);
                (row.name, NONE, 0)
            }
            Some((name, row))
                if is_elsewhere(&name, own)
                    && hides_or_shows(&row, *said)
                    && !common.names.gone.contains(&row.name)
                    && is_hidden_by_owner((file, common), (row.name, &name))? =>
            {
                // Who defines it may not cease to say so, then.
                found.new.push(row.name);
                (row.name, row.symbol, row.is_beaten)
            }
            Some(_) => return Ok(Err(Other::Symbol(symbol))),
            None => {
                let mut known = common.find_name(file, *hash)?;
                if let (Some((number, name)), true) = (&known, is_lost) {
                    // Another object says the same of it, and has the copy that stays.
                    let is_same = says_as_much((file, common), (*number, name), *said)?;
                    known = known.filter(|(_, name)| is_same && name.section != NONE);
                } else {
                    known = known.filter(|(number, name)| {
                        let has_come =
                            *number >= common.count || common.names.handed_over.contains_key(number);
                        let is_mine = has_come && name.input == own && defines(*said);
                        is_mine || is_there_for(name, *said)
                    });
                }
                let Some((number, name)) = known.filter(|(number, _)| !found.new.contains(number)) else {
                    return Ok(Err(Other::Symbol(symbol)));
                };
                // Who has a copy asks for no member.
                let is_offered = name.mentioned & flag::OFFERED != 0 && !common.is_resolved;
                if is_offered && !is_lost && !common.offered.contains(&number) {
                    offered.push((number, symbol));
                }
                found.new.push(number);
                (number, NONE, 0)
            }
        };
        // Common symbols have their places in the order of the object, and so has what the loader sees.
        if is_in_order {
            if was < last_defined {
                return Ok(Err(Other::Order(symbol)));
            }
            last_defined = was;
        }
        found.rows.push(MentionRow { input: own, symbol, name, manner: *said, is_beaten });
        found.before.push(was);
    }
    for (name, row) in before.values() {
        let is_gone = defines(row.manner) && common.names.gone.contains(&row.name);
        let is_other = || defines(row.manner) && is_elsewhere(name, own);
        let is_hidden_anyway = || is_hidden_by_owner((file, common), (row.name, name));
        let may_go = |said| may_go(name, said, common.is_resolved);
        let goes = is_gone
            || may_go(row.manner)
            || common.surely_linked.contains(&row.name) && is_plain(row.manner)
            || !common.yards.is_empty() && is_always_mentioned(name) && is_plain(row.manner)
            || visibility(row.manner) == STV_HIDDEN
                && may_go(row.manner & !(3 << manner::VISIBILITY))
                && is_hidden_anyway()?
            || is_other() && says_as_much((file, common), (row.name, name), row.manner)?;
        if !goes {
            return Ok(Err(Other::Gone(row.name)));
        }
    }
    Ok(match first_unwanted(file, own, common.has_lazy, &offered)? {
        Some(symbol) => Err(Other::Symbol(symbol)),
        None => Ok(found),
    })
}

/// Whether an object says of a name that it is hidden, and did not do so, or the other way round, and nothing else.
fn hides_or_shows(row: &MentionRow, said: u8) -> bool {
    let is_known = row.manner != manner::ODD && said != manner::ODD;
    is_known
        && row.manner ^ said == STV_HIDDEN << manner::VISIBILITY
        && visibility(row.manner | said) == STV_HIDDEN
}

/// Whether somebody says that a name is hidden that is defined.
fn is_hidden(name: &NameRow) -> bool {
    const HIDDEN: u32 = symbol_flags::DEFINED | symbol_flags::HIDDEN;
    name.flags & (symbol_flags::KIND | symbol_flags::HIDDEN) == HIDDEN
}

/// Whether who defines a name says that it is hidden: then it does not matter whether others do.
fn is_hidden_by_owner(
    (file, common): (&StateFile, &Common),
    (number, name): (u32, &NameRow),
) -> Result<bool, Unreadable> {
    let said = defined_as((file, common), (number, name))?;
    Ok(said.is_some_and(|said| visibility(said) == STV_HIDDEN))
}

/// Whether an object mentions a name as it did, or as it is known that it does now.
fn says_it((own, common): (u32, &Common), (name, row): (&NameRow, &MentionRow), said: u8) -> bool {
    let known = match common.names.said(row.name, row.manner) {
        // Others may say that it is hidden, or not.
        known if visibility(known) == STV_HIDDEN && name.input != own => row.manner,
        known => known,
    };
    known == said && !common.names.gone.contains(&row.name)
}

/// Whether another object has a name now that this one defined when the tables were written.
fn is_taken(common: &Common, own: u32, row: &MentionRow) -> bool {
    let is_others = || common.names.handed_over.get(&row.name).is_some_and(|new| new.input != own);
    defines(row.manner) && row.is_beaten == 0 && is_others()
}

/// Whether an object mentions a name, which it defined, because another one has it now; or defines what it mentioned.
fn has_moved((own, common): (u32, &Common), (name, row): (&NameRow, &MentionRow), said: u8) -> bool {
    let Some(new) = common.names.handed_over.get(&row.name) else {
        return false;
    };
    match defines(said) {
        true => !defines(row.manner) && (new.input, new.manner) == (own, said),
        false => defines(row.manner) && new.input != own && is_there_for(name, said),
    }
}

/// Whether the definition that counts is one of another object than input number `own`.
pub fn is_elsewhere(name: &NameRow, own: u32) -> bool {
    name.input != own && name.flags & symbol_flags::KIND == symbol_flags::DEFINED
}

/// The sections of the object that is input number `own` that have lost with their groups, or are guests. `now` are its
/// global symbols, `before` what it mentioned.
///
/// # Errors
/// If the file is damaged.
pub fn lost_sections(
    (file, common): (&StateFile, &Common),
    own: u32,
    (object, now): (&Object, &[(u128, u8)]),
    before: &HashMap<u128, (NameRow, MentionRow)>,
) -> Result<LostSections, Unreadable> {
    // Without groups, names say nothing.
    let stays = if object.groups.is_empty() { Vec::new() } else { stays((file, common), own, now, before)? };
    Ok(LostSections::by_globals(object, &stays))
}

/// The same, with what it mentioned when the tables were written.
///
/// # Errors
/// If the file is damaged.
pub fn lost_of(
    (file, common): (&StateFile, &Common),
    own: u32,
    object: &Object,
) -> Result<LostSections, Unreadable> {
    let mut known = HashMap::new();
    if object.groups.is_empty() {
        return Ok(LostSections::by_globals(object, &[]));
    }
    let input: InputRow = file.row(own.into())?;
    for mention in file.mentions_of(&input)? {
        let name = common.names.owned(mention.name, file.row(mention.name.into())?);
        known.insert(name.hash, (name, mention));
    }
    lost_sections((file, common), own, (object, Globals::of(object).list()), &known)
}

/// What becomes of the definition of each global symbol.
///
/// # Errors
/// If the file is damaged.
pub fn stays(
    (file, common): (&StateFile, &Common),
    own: u32,
    now: &[(u128, u8)],
    before: &HashMap<u128, (NameRow, MentionRow)>,
) -> Result<Vec<Stay>, Unreadable> {
    let mut stays = vec![Stay::Here; now.len()];
    for (stay, (hash, said)) in stays.iter_mut().zip(now) {
        let known = match before.get(hash) {
            _ if !defines(*said) => None,
            Some((_, row)) if row.is_beaten != 0 => None,
            Some((name, _)) => Some(*name),
            None => common.find_name(file, *hash)?.map(|(_, name)| name),
        };
        *stay = match known {
            Some(name) if is_elsewhere(&name, own) => Stay::Elsewhere,
            Some(name) if name.section == IN_GUEST => Stay::Guest,
            _ => Stay::Here,
        };
    }
    Ok(stays)
}

/// Whether a name that has this hash is that of a pointer to a personality routine.
pub(super) fn is_pointer_hash(hash: u128) -> bool {
    POINTERS.iter().any(|name| keys::hash(name) == hash)
}

/// Whether the definition that counts of a name, which no archive offers, says as much of it as another one that
/// is said to be of this manner: then it does not matter whether that is there.
fn says_as_much(
    (file, common): (&StateFile, &Common),
    (number, name): (u32, &NameRow),
    said: u8,
) -> Result<bool, Unreadable> {
    // Who has a pointer to a personality routine has a copy, so it asks for no member of an archive.
    let is_offered =
        name.mentioned & flag::OFFERED != 0 && !is_pointer_hash(name.hash) && !common.is_resolved;
    let is_odd = name.mentioned & (flag::HAS_VERSION | flag::WARNS) != 0;
    if name.flags & SPECIAL != 0 || is_offered || is_odd {
        return Ok(false);
    }
    // Nothing is said of a name that is hidden anyway.
    const VISIBLE: u8 = !(3 << manner::VISIBILITY);
    let is_same = match defined_as((file, common), (number, name))? {
        Some(is) if is_hidden(name) && visibility(said) == STV_DEFAULT => is & VISIBLE == said,
        is => is == Some(said),
    };
    Ok(is_same && (said != manner::ODD || number >= common.count))
}

/// What the definition that counts says of a name.
pub(super) fn defined_as(
    (file, common): (&StateFile, &Common),
    (number, name): (u32, &NameRow),
) -> Result<Option<u8>, Unreadable> {
    if let Some(added) = number.checked_sub(common.count) {
        return Ok(common.names.added.get(added as usize).map(|name| name.manner));
    }
    // Who else has it now says the same.
    let was = if common.names.handed_over.contains_key(&number) { file.row(number.into())? } else { *name };
    let name = &was;
    if name.input == NONE {
        return Ok(None);
    }
    let input: InputRow = file.row(name.input.into())?;
    let Some(at) = name.symbol.checked_sub(input.first_global) else { return Ok(None) };
    if input.kind != input_kind::OBJECT || name.symbol >= input.symbols {
        return Ok(None);
    }
    let row: MentionRow = file.row(u64::from(input.first_mention) + u64::from(at))?;
    Ok((row.name == number).then(|| common.names.said(number, row.manner)))
}

/// What is not known by its address alone.
pub(super) const SPECIAL: u32 = symbol_flags::TLS
    | symbol_flags::IFUNC
    | symbol_flags::MERGED
    | symbol_flags::IN_DISCARDED
    | symbol_flags::PASSED_OVER
    | symbol_flags::ASSIGNED;

/// Whether one more object may mention a name so, and nothing changes.
fn is_there_for(name: &NameRow, said: u8) -> bool {
    const USED: u32 = symbol_flags::USED | symbol_flags::USED_STRONG | symbol_flags::STRONG_REF;
    let is_shared = name.flags & symbol_flags::KIND == symbol_flags::SHARED;
    // The loader knows what an IFUNC of another module is.
    let special = if is_shared { SPECIAL & !symbol_flags::IFUNC } else { SPECIAL };
    // Nothing is said of a name that is hidden anyway.
    let is_usual = is_plain(said) || is_hidden(name) && is_plain_or_hidden(said);
    let is_plain = is_usual && name.flags & special == 0 && name.mentioned & flag::HAS_VERSION == 0;
    is_plain
        && match name.flags & symbol_flags::KIND {
            symbol_flags::DEFINED => name.section != NONE && name.mentioned & flag::WARNS == 0,
            symbol_flags::SHARED if said == manner::WEAK => name.flags & symbol_flags::USED != 0,
            symbol_flags::SHARED => name.flags & USED == USED,
            // The linker's own, which it has made because others ask for it.
            symbol_flags::INTERNAL => name.mentioned & flag::REF_STRONG != 0 || is_always_mentioned(name),
            _ => false,
        }
}

/// Whether a name is one that a shared object defines and nothing in the link asks for, so that it may be imported.
/// `is_resolved`: archives that offer it have been asked.
pub fn may_be_imported(name: &NameRow, is_resolved: bool) -> bool {
    const OTHERWISE: u32 = flag::HAS_VERSION | flag::ROOT | flag::KEEP | flag::IS_VERSION;
    const USED: u32 = symbol_flags::USED
        | symbol_flags::USED_STRONG
        | symbol_flags::STRONG_REF
        | symbol_flags::EXPORTED
        | symbol_flags::NEEDS;
    name.flags & symbol_flags::KIND == symbol_flags::SHARED
        && name.flags & (SPECIAL & !symbol_flags::IFUNC | USED) == 0
        && name.mentioned & OTHERWISE == 0
        && (is_resolved || name.mentioned & flag::OFFERED == 0)
        && (name.dynamic, name.slot) == (0, NONE)
}

/// What a name has become that was so, and is called.
pub fn imported(name: NameRow) -> NameRow {
    const CALLED: u32 = symbol_flags::USED
        | symbol_flags::USED_STRONG
        | symbol_flags::STRONG_REF
        | symbol_flags::PREEMPTIBLE
        | symbol_flags::NEEDS_PLT;
    NameRow { flags: name.flags | CALLED, ..name }
}

/// Whether a name is one that a shared object defines and that has a slot or an entry of the PLT, or a copy, or whose
/// address the loader is asked for: this stays, whoever goes on to ask for it ([`crate::sections::spare_imports`]).
pub fn stays_imported(name: &NameRow) -> bool {
    const SLOTS: u32 = symbol_flags::NEEDS_PLT
        | symbol_flags::NEEDS_GOT
        | symbol_flags::NEEDS_DYNSYM
        | symbol_flags::NEEDS_COPY
        | symbol_flags::NEEDS_CANONICAL_PLT;
    // What is copied has its other names with it, which nobody may have asked for.
    let is_alias = name.flags & (symbol_flags::NEEDS_COPY | symbol_flags::USED) == symbol_flags::NEEDS_COPY;
    name.flags & symbol_flags::KIND == symbol_flags::SHARED
        && name.flags & SLOTS != 0
        && !is_alias
        && name.flags & (SPECIAL & !symbol_flags::IFUNC | symbol_flags::NEEDS & !SLOTS) == 0
}

/// What the object that has yards mentions, whoever else does: assemblers do so that make a slot of the GOT.
pub const ALWAYS_MENTIONED: &[u8] = b"_GLOBAL_OFFSET_TABLE_";

/// Whether a name is that, and the linker's own.
fn is_always_mentioned(name: &NameRow) -> bool {
    let is_own = name.flags & symbol_flags::KIND == symbol_flags::INTERNAL;
    is_own && name.hash == keys::hash(ALWAYS_MENTIONED)
}

/// Whether nothing changes if an object does not mention a name any more that it has mentioned so. `is_resolved`: archives
/// that offer it have been asked.
fn may_go(name: &NameRow, said: u8, is_resolved: bool) -> bool {
    let asked = if is_resolved { flag::HAS_VERSION } else { flag::OFFERED | flag::HAS_VERSION };
    let is_here = name.flags & symbol_flags::KIND == symbol_flags::DEFINED || stays_imported(name);
    is_plain(said) && is_here && name.mentioned & asked == 0
}

/// The name of the tables with this hash, and its number.
///
/// # Errors
/// If the file is damaged.
pub fn find_name(file: &StateFile, hash: u128) -> Result<Option<(u32, NameRow)>, Unreadable> {
    let count = file.count::<NameRow>();
    let start_of = |hash: u128| (hash >> 96) as u32;
    let first =
        file.spread_partition_point(0..count, |name: &NameRow| start_of(name.hash), start_of(hash))?;
    for number in first..count {
        let name: NameRow = file.row(number)?;
        if name.hash >= hash {
            return Ok((name.hash == hash).then_some((number as u32, name)));
        }
    }
    Ok(None)
}

/// Of names that archives offer, with the symbols that mention them, the symbol of the first that no object asks
/// for that is linked in any case.
fn first_unwanted(
    file: &StateFile,
    own: u32,
    lazy: bool,
    offered: &[(u32, u32)],
) -> Result<Option<u32>, Unreadable> {
    let mut left: HashMap<u32, u32> = offered.iter().copied().collect();
    let first = offered.first().map(|(_, symbol)| *symbol);
    if lazy || offered.is_empty() {
        return Ok(first);
    }
    let inputs: Vec<InputRow> = file.all()?;
    super::excerpt::each_mention(file, |row| {
        let asks = asks(row.manner) && row.input != own;
        let is_alone = |input: &InputRow| input.kind == input_kind::OBJECT && input.member.size == 0;
        if asks && left.contains_key(&row.name) && inputs.get(row.input as usize).is_some_and(is_alone) {
            left.remove(&row.name);
        }
    })?;
    Ok(left.into_values().min())
}

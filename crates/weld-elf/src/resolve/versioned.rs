//! Names that spell a version: `foo@V` and `foo@@V`.
//!
//! `foo@@V` defines the default version and is known as `foo` (see [`Object::intern`]); `foo@V` is a name of
//! its own. What is left to do when all files are read is the rare part, and costs nothing unless an
//! object spells a version:
//!
//! - A reference `foo@V` is met by an object's `foo@@V`, or by what a shared object defines as `foo` with
//!   version V, default or not. If that is what plain `foo` stands for as well, both names become one, so
//!   that they share a GOT slot, a PLT entry and a copy.
//! - An assembler that is told `.symver foo, foo@@V` leaves both names. They are one definition, and it
//!   is the spelled one that counts.
//! - For `.symver foo, foo@V`, GNU ld drops `foo` unless a version script gives it a version of its own,
//!   and any `foo` that a script gives the version V; see [`Shadowed`].
//! - `foo@V1` and `foo@@V2` of one object may both leave a plain `foo` claim, by `.symver foo, foo@V1` and
//!   `.symver foo2, foo@@V2`: `foo` is `foo@@V2` then, and what the object calls `foo` is its `foo@V1`.
//! - `foo@@V` answers to `foo@V` as well, so an object that defines both defines one name twice.
//! - `foo@` and `foo@@` have no version: they are `foo`, which is exported whatever a version script says.
//!
//! A shared object that defines versions may have `foo` and `foo@@V`, too; see [`prefer_defaults`].
//!
//! Archive members are not read for a version: their index says nothing that could be relied on.
//!
//! Specification: LSB "Symbol Versioning"; GNU as manual, `.symver`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::Ordering;

use super::Resolved;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::symbol_names::symver::{Spelled, split};
use crate::symbol_names::{Names, Rank, Rival, flag, pack};
use weld_common::par;

/// A name that stands beside a spelled one of the same version, and may have to go.
#[derive(Clone, Copy, Debug)]
pub struct Shadowed<'a> {
    /// The name without a version.
    pub id: SymbolId,
    /// The spelled one.
    pub by: SymbolId,
    pub version: &'a [u8],
    /// The object that spells the version has both names for one place.
    pub is_same: bool,
}

/// Whether two symbols of one object are names of one place.
pub fn are_one(object: &Object, a: u32, b: u32) -> bool {
    let (x, y) = (&object.syms[a as usize], &object.syms[b as usize]);
    let places = (object.place(a, x), object.place(b, y));
    places.0 == places.1 && places.0 != SymbolPlace::Common && x.st_value() == y.st_value()
}

/// Whether the object that defines `name` spells a version there.
pub fn is_spelled(resolved: &Resolved, name: &[u8]) -> bool {
    let Some(id) = resolved.names.find(name) else { return false };
    let entry = resolved.names.get(id);
    if !matches!(entry.rank(), Rank::Strong | Rank::Weak | Rank::Common) {
        return false;
    }
    let index = resolved.index_of_file[entry.file().index()];
    let object = resolved.objects.get(index as usize);
    object.is_some_and(|o| split(o.symbol_name(entry.sym())).is_some())
}

/// A name and a version.
type Wanted<'a> = (&'a [u8], &'a [u8]);

/// What is wanted, by the name as it is spelled.
type Requests<'a> = BTreeMap<SymbolId, Wanted<'a>>;

/// Binds what is spelled with a version. Call when all files are read.
pub fn settle(resolved: &mut Resolved) {
    if !resolved.objects.iter().any(|o| o.spells_versions) {
        return;
    }
    give_way_to_defaults(resolved);
    let Found { mut requests, defaults, old } = definitions(resolved);
    let mut redirect: HashMap<SymbolId, SymbolId> = HashMap::new();
    requests.retain(|id, wanted| match defaults.get(wanted) {
        Some(&target) => redirect.insert(*id, target).is_some(),
        None => true,
    });
    let spelled: HashSet<SymbolId> = defaults.values().copied().collect();
    resolved.shadowed.retain(|shadowed| !spelled.contains(&shadowed.id));
    unite_with_defaults(resolved, &defaults, old, &mut redirect);
    bind_to_shared(resolved, &requests, &mut redirect);
    apply(resolved, &redirect);
}

/// Settles the claims to `foo` of an object's `foo`, which `.symver` made a `foo@V1` of, and its `foo@@V2`;
/// of its `foo@`, which becomes a name of its own again, and its `foo@@V2`, too.
fn give_way_to_defaults(resolved: &mut Resolved) {
    let Resolved { objects, names, index_of_file, duplicates, unversioned, .. } = resolved;
    let mut claims = Claims { names, unversioned, old_names: HashMap::new() };
    duplicates.retain(|rival| {
        let object = objects.get(index_of_file[rival.file.index()] as usize);
        !object.is_some_and(|object| object.spells_versions && claims.settle(object, rival.id, rival.sym))
    });
    // Where one of the two is weak, nobody has called them duplicates.
    for object in objects.iter().filter(|object| object.spells_versions) {
        for i in object.first_global..object.syms.len() as u32 {
            let is_default = |s: Spelled| s.default || s.version.is_empty();
            let is_weak = |i: u32| object.syms[i as usize].binding() == STB_WEAK;
            if split(object.symbol_name(i)).is_some_and(is_default)
                && object.place(i, &object.syms[i as usize]) != SymbolPlace::Undefined
            {
                let entry = claims.names.get(object.global(i));
                if entry.file() == object.file && entry.sym() != i && (is_weak(i) || is_weak(entry.sym())) {
                    claims.settle(object, object.global(i), i);
                }
            }
        }
    }
}

/// What several symbols of one object claim to be.
struct Claims<'r, 'a> {
    names: &'r mut Names<'a>,
    unversioned: &'r mut Vec<(SymbolId, SymbolId)>,
    old_names: HashMap<FileId, OldNames<'a>>,
}

impl<'a> Claims<'_, 'a> {
    /// Settles the claims to name `id` of its definition so far and of symbol `other`. Whether that could be
    /// done.
    fn settle(&mut self, object: &Object<'a>, id: SymbolId, other: u32) -> bool {
        let entry = self.names.get(id);
        if !matches!(entry.rank(), Rank::Strong | Rank::Weak) || entry.file() != object.file {
            return false;
        }
        let is_default = |sym| split(object.symbol_name(sym)).map(|spelled| spelled.default);
        let (plain, default) = match (is_default(entry.sym()), is_default(other)) {
            (None | Some(false), Some(true)) => (entry.sym(), other),
            (Some(true), None | Some(false)) => (other, entry.sym()),
            _ => return false,
        };
        let definition = |sym: u32| {
            let is_weak = object.syms[sym as usize].binding() == STB_WEAK;
            pack(if is_weak { Rank::Weak } else { Rank::Strong }, object.file, sym)
        };
        let slot = &object.globals[(plain - object.first_global) as usize];
        if is_default(plain).is_some() {
            self.names.get_mut(id).best = definition(default);
            let bare = self.names.insert(object.symbol_name(plain));
            let entry = self.names.get_mut(bare);
            entry.best = definition(plain);
            entry.flags |= flag::HAS_VERSION;
            slot.store(bare.0, Ordering::Relaxed);
            self.unversioned.push((bare, id));
            return true;
        }
        let old = self.old_names.entry(object.file).or_insert_with(|| find_old_names(object));
        let symbols = old.get(object.symbol_name(plain)).map_or(&[][..], |list| list);
        let Some(old) = symbols.iter().find(|old| are_one(object, plain, **old)) else { return false };
        self.names.get_mut(id).best = definition(default);
        slot.store(object.global(*old).0, Ordering::Relaxed);
        true
    }
}

/// The symbols `foo@V` of an object, by `foo`.
type OldNames<'a> = HashMap<&'a [u8], Vec<u32>>;

fn find_old_names<'a>(object: &Object<'a>) -> OldNames<'a> {
    let mut found = OldNames::new();
    for i in object.first_global..object.syms.len() as u32 {
        if let Some(spelled) = split(object.symbol_name(i)).filter(|s| !s.default && !s.version.is_empty()) {
            found.entry(spelled.name).or_default().push(i);
        }
    }
    found
}

/// What objects spell.
#[derive(Default)]
struct Found<'a> {
    requests: Requests<'a>,
    /// The default versions that are defined.
    defaults: HashMap<Wanted<'a>, SymbolId>,
    /// The other ones.
    old: Vec<(Wanted<'a>, Rival)>,
}

/// `foo@@V` answers to `foo@V`, too. Where both are defined the default one stays.
fn unite_with_defaults<'a>(
    resolved: &mut Resolved<'a>,
    defaults: &HashMap<Wanted<'a>, SymbolId>,
    old: Vec<(Wanted<'a>, Rival)>,
    redirect: &mut HashMap<SymbolId, SymbolId>,
) {
    let duplicates = resolved.duplicates.len();
    for (wanted, rival) in old {
        let Some(&target) = defaults.get(&wanted) else { continue };
        let both = [target, rival.id].map(|id| resolved.names.get(id).rank() == Rank::Strong);
        if both == [true; 2] {
            resolved.duplicates.push(Rival { id: target, ..rival });
        }
        redirect.insert(rival.id, target);
    }
    for id in redirect.keys() {
        resolved.names.get_mut(*id).best = u64::MAX;
    }
    if resolved.duplicates.len() > duplicates {
        resolved.duplicates.sort_unstable_by_key(|rival| (rival.file, rival.sym));
    }
}

/// Finds references that are not met yet, and what objects define; puts spelled definitions in place of
/// their plain twins.
fn definitions<'a>(resolved: &mut Resolved<'a>) -> Found<'a> {
    let mut found = Found::default();
    let names = &mut resolved.names;
    for object in resolved.objects.iter().filter(|o| o.spells_versions) {
        for i in object.first_global..object.syms.len() as u32 {
            let Some(spelled) = split(object.symbol_name(i)) else { continue };
            let id = object.global(i);
            let entry = names.get(id);
            if object.place(i, &object.syms[i as usize]) == SymbolPlace::Undefined {
                if entry.rank() == Rank::Undefined && !spelled.version.is_empty() {
                    found.requests.insert(id, (spelled.name, spelled.version));
                }
                continue;
            }
            let is_plain = spelled.default || spelled.version.is_empty();
            if !is_plain {
                found.old.push(((spelled.name, spelled.version), Rival { id, file: object.file, sym: i }));
            }
            let twin = if is_plain { Some(id) } else { names.find(spelled.name) };
            let Some(twin) = twin else { continue };
            let winner = *names.get(twin);
            // What an archive's index offers may be no symbol of the member.
            let is_defined = matches!(winner.rank(), Rank::Strong | Rank::Weak | Rank::Common);
            let same_file = is_defined && winner.file() == object.file;
            let same = same_file && are_one(object, winner.sym(), i);
            if is_plain && same {
                names.get_mut(twin).best = pack(winner.rank(), object.file, i);
                found.defaults.insert((spelled.name, spelled.version), id);
            } else if !is_plain {
                let shadowed = Shadowed { id: twin, by: id, version: spelled.version, is_same: same };
                resolved.shadowed.push(shadowed);
            }
        }
    }
    found
}

/// Looks requests up among the versions of shared objects, the first object that has one first.
fn bind_to_shared<'a>(
    resolved: &mut Resolved<'a>,
    requests: &Requests<'a>,
    redirect: &mut HashMap<SymbolId, SymbolId>,
) {
    let wanted: HashMap<_, _> = requests.iter().map(|(id, want)| (*want, *id)).collect();
    let bases: HashSet<_> = requests.values().map(|w| w.0).collect();
    if wanted.is_empty() {
        return;
    }
    for dso in &resolved.shared {
        for (i, symbol) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
            let i = i as u32;
            if symbol.st_shndx() == SHN_UNDEF || !bases.contains(dso.symbol_name(i)) {
                continue;
            }
            let Some(version) = dso.version_name(i) else { continue };
            let Some(&id) = wanted.get(&(dso.symbol_name(i), version)) else { continue };
            if resolved.names.get(id).rank() != Rank::Undefined || redirect.contains_key(&id) {
                continue;
            }
            let own = dso.global(i);
            let here = pack(Rank::Provided, dso.file, i);
            if own.is_some() && resolved.names.get(own).best == here {
                redirect.insert(id, own);
                continue;
            }
            let entry = resolved.names.get_mut(id);
            entry.best = here;
            entry.flags |= flag::DEF_SHARED;
            dso.globals[(i - dso.first_global) as usize].store(id.0, Ordering::Relaxed);
        }
    }
}

impl Resolved<'_> {
    /// Has objects refer to other names in place of those that are given, when names are frozen.
    pub fn redirect(&self, renamed: &HashMap<SymbolId, SymbolId>, parallel: bool) {
        par::each(parallel, self.objects.len(), |i| {
            for slot in &self.objects[i].globals {
                if let Some(new) = renamed.get(&SymbolId(slot.load(Ordering::Relaxed))) {
                    slot.store(new.0, Ordering::Relaxed);
                }
            }
        });
    }
}

/// Of what a shared object has under one name without a version and under a default one, the latter is meant.
pub fn prefer_defaults(resolved: &mut Resolved) {
    let Resolved { shared, names, .. } = resolved;
    for dso in shared.iter().filter(|dso| dso.defines_without_version.load(Ordering::Relaxed)) {
        for (i, symbol) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
            let i = i as u32;
            let id = dso.global(i);
            if id.is_none() || symbol.st_shndx() == SHN_UNDEF || dso.version_name(i).is_none() {
                continue;
            }
            let entry = names.get_mut(id);
            let here = entry.rank() == Rank::Provided && entry.file() == dso.file;
            if here && dso.version_name(entry.sym()).is_none() {
                entry.best = pack(Rank::Provided, dso.file, i);
            }
        }
    }
}

/// Makes objects refer to the new ids.
fn apply(resolved: &mut Resolved, redirect: &HashMap<SymbolId, SymbolId>) {
    if redirect.is_empty() {
        return;
    }
    for object in resolved.objects.iter().filter(|o| o.spells_versions) {
        for slot in &object.globals {
            if let Some(new) = redirect.get(&SymbolId(slot.load(Ordering::Relaxed))) {
                slot.store(new.0, Ordering::Relaxed);
            }
        }
    }
    for (old, new) in redirect {
        let flags = std::mem::take(&mut resolved.names.get_mut(*old).flags);
        resolved.names.get_mut(*new).flags |= flags;
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use weld_common::host::QuietHost;
    use weld_testkit::ar::{Archive, ArchiveKind};
    use weld_testkit::obj::{Obj, Section, Symbol};

    /// An archive's index says that a member defines a name of which it has but an old version.
    #[test]
    fn what_an_index_offers_and_the_member_has_not() {
        let dir = std::env::temp_dir().join(format!("weld-offered-version-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let object = |name: &str, other: &str| {
            let mut obj = Obj::new();
            let text = obj.section(Section::text(".text").bytes(&[0xc3; 8]));
            obj.symbol(Symbol::global(name).function().at(text, 0).size(8));
            obj.symbol(Symbol::undefined(other));
            obj.build()
        };
        let member = object("helper@V1", "more");
        let archive = Archive::new(ArchiveKind::Gnu).member("m.o", &member, &["helper"]);
        std::fs::write(dir.join("lib.a"), archive.build()).unwrap();
        std::fs::write(dir.join("main.o"), object("_start", "helper")).unwrap();
        std::fs::write(dir.join("versions"), "V1 { *; };").unwrap();
        let script = format!("--version-script={}", dir.join("versions").display());
        let mut args: Vec<OsString> = ["-shared", &script, "-o"].map(OsString::from).into();
        args.extend(["out", "main.o", "lib.a"].map(|name| dir.join(name).into()));
        // Whatever it says, it says something.
        _ = crate::link::link(&args, &QuietHost::new());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}

//! What becomes of names: which are new, which lie elsewhere, which nobody defines any more.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use weld_common::hash::hash_bytes;

use super::full_link_reason::Why;
use super::keys;
use super::memo::ImageNotes;
use super::names::{NOBODY, Name, Names};
use super::resize::{Before, Others, Touched};
use crate::coff::object::Symbol;

/// A name that lies elsewhere.
pub struct Moved {
    pub hash: u64,
    pub before: u32,
    pub now: u32,
    /// The output sections.
    pub out_before: u32,
    pub out: u32,
}

/// A name that nobody knew.
pub struct New {
    pub name: Vec<u8>,
    pub rva: u32,
    pub out: u32,
    pub is_function: bool,
}

/// A name that nobody defines any more.
pub struct Lost {
    pub hash: u64,
    /// The object that defined it.
    pub path: PathBuf,
    pub before: u32,
    pub out: u32,
}

#[derive(Default)]
pub struct Moves {
    /// By their numbers.
    pub moved: BTreeMap<u32, Moved>,
    pub new: Vec<New>,
    pub lost: Vec<Lost>,
    /// Names lie in another order than before.
    pub is_reordered: bool,
    /// Of names that were known and are defined by changed objects: hash, output section, place, and whether they are
    /// functions.
    pub kinds: Vec<(u64, u32, u32, bool)>,
    /// Names of libraries that objects mention for the first time, or no more: their numbers, and the places of the
    /// objects.
    pub asked: Vec<(u32, u32, PathBuf)>,
}

/// Where a changed object defines a name.
struct Own {
    rva: u32,
    out: u32,
    /// The object's number, and what the section is to it.
    section: (u32, u32),
}

/// Names that the linker looks for itself.
const SPECIAL: [&[u8]; 12] = [
    b"main",
    b"wmain",
    b"WinMain",
    b"wWinMain",
    b"DllMain",
    b"_tls_used",
    b"_load_config_used",
    b"_fltused",
    b"__tls_used",
    b"__load_config_used",
    b"__CxxFrameHandler3",
    b"__CxxFrameHandler4",
];

/// As the list of publics has it.
fn is_function(symbol: &Symbol) -> bool {
    symbol.typ >> 4 & 3 == 2
}

fn is_special(name: &[u8]) -> bool {
    let starts = [&b"__imp_"[..], b"__guard_", b"__enclave", b"__dyn_tls"];
    SPECIAL.contains(&name)
        || name.ends_with(b"CRTStartup")
        || starts.iter().any(|start| name.starts_with(start))
}

/// Finds all of it, and brings `names` up to date; changed objects are told which names they mention.
///
/// # Errors
/// If something refers to what is gone, or a definition means more than that.
pub fn find(
    touched: &mut BTreeMap<usize, Touched>,
    names: &mut Names,
    notes: &ImageNotes,
    (others, before): (&Others, &Before),
) -> Result<Moves, Why> {
    let mut moves = Moves::default();
    let mut own = definitions(touched, names, notes, &mut moves)?;
    stand_ins(touched, names, notes, &mut own)?;
    let lost = places(touched, names, (&own, &mut moves))?;
    for (number, one) in &own {
        names.list[*number as usize].define(one.rva, one.out, one.section);
    }
    lost.iter().for_each(|number| names.list[*number as usize].lose());
    for object in touched.values_mut().filter(|object| object.is_changed) {
        mentions(object, names, &mut moves)?;
    }
    if !lost.is_empty() {
        for (file, block) in others.blocks(before)? {
            let names = touched.get(file).map_or(&block.names, |object| &object.block.names);
            if let Some(at) = lost.iter().position(|number| names.binary_search(number).is_ok()) {
                let other = before.memo.files[*file].path.display().to_string();
                return Err(Why::Wanted(moves.lost[at].path.clone(), other));
            }
        }
    }
    Ok(moves)
}

/// Where changed objects define names, by the names' numbers.
fn definitions(
    touched: &BTreeMap<usize, Touched>,
    names: &mut Names,
    notes: &ImageNotes,
    moves: &mut Moves,
) -> Result<HashMap<u32, Own>, Why> {
    let mut own = HashMap::new();
    let orders = orders(touched);
    for object in touched.values().filter(|object| object.is_changed) {
        let comdats = keys::comdats(&object.coff).ok_or_else(|| Why::Object(object.path.clone()))?;
        for (index, symbol) in object.coff.symbols.iter().filter(|(_, symbol)| symbol.is_global()) {
            let Some(row) = object.row(symbol.section).filter(|row| row.is_in_image()) else { continue };
            let out = notes.outs.get(row.out as usize).ok_or(Why::State("has too few sections"))?;
            let rva = (out.rva + row.offset).wrapping_add(symbol.value);
            let hash = object.hash(&symbol)?;
            let defines = || Why::Defines(object.path.clone(), object.name(&symbol));
            let comdat = comdats.get(row.number as usize - 1).copied().unwrap_or_default();
            let is_member = comdat.selection != 0 && comdat.leader != Some(index);
            let known = names.number(hash).filter(|number| !names.list[*number as usize].is_gone());
            let number = match known {
                Some(number) => {
                    let name = &names.list[number as usize];
                    let is_own = name.owner == object.block.order;
                    let is_winner = object.winners.contains(&row.number) && !is_member;
                    let is_free = is_own || is_winner && orders.contains_key(&name.owner);
                    if name.rva().is_none() || name.is_alias() || !is_free {
                        return Err(defines());
                    }
                    // Others may have a section of the name: whether they may follows from the kinds of both.
                    if name.key != row.key && !is_winner {
                        return Err(Why::Section(object.path.clone(), object.name(&symbol)));
                    }
                    moves.kinds.push((hash, row.out, rva, is_function(&symbol)));
                    number
                }
                None => {
                    let name = object.coff.symbol_name(&symbol).unwrap_or_default().to_vec();
                    if is_special(&name) || is_overload(&name, notes) {
                        return Err(defines());
                    }
                    if is_member {
                        return Err(Why::Beside(object.path.clone(), object.name(&symbol)));
                    }
                    let is_function = is_function(&symbol);
                    moves.new.push(New { name, rva, out: row.out, is_function });
                    names.number(hash).unwrap_or_else(|| names.add(hash))
                }
            };
            let section = (object.block.order, row.key);
            if own.insert(number, Own { rva, out: row.out, section }).is_some() {
                return Err(defines());
            }
        }
    }
    Ok(own)
}

/// Adds where names lie now that changed objects do not define, but that stand for what these have: weak externals and
/// alternate names. Of what is not found nothing may have moved ([`check_aliases`]).
fn stand_ins(
    touched: &BTreeMap<usize, Touched>,
    names: &Names,
    notes: &ImageNotes,
    own: &mut HashMap<u32, Own>,
) -> Result<(), Why> {
    let orders = orders(touched);
    let mut found = Vec::new();
    for (number, name) in (0..).zip(&names.list).filter(|(_, name)| name.is_alias()) {
        let object = orders.get(&name.owner).and_then(|file| touched.get(file));
        let Some((object, out)) = object.zip(name.place().and_then(|(_, out)| out)) else { continue };
        let place = match name.key {
            NOBODY => object.fallback(name.hash, notes)?,
            key => own.get(&key).map(|one| (one.rva, one.out, one.section.0)),
        };
        // Whether it is a function is said by the part of the image.
        if let Some((rva, now, owner)) = place.filter(|(_, now, _)| *now == out) {
            found.push((number, Own { rva, out: now, section: (owner, name.key) }));
        }
    }
    own.extend(found);
    Ok(())
}

/// The files of changed objects, by the objects' numbers.
fn orders(touched: &BTreeMap<usize, Touched>) -> HashMap<u32, usize> {
    let changed = touched.iter().filter(|(_, object)| object.is_changed);
    changed.map(|(file, object)| (object.block.order, *file)).collect()
}

/// Whether a name may be the one that the command line means by its plain name.
fn is_overload(name: &[u8], notes: &ImageNotes) -> bool {
    let plain = plain_name(name);
    plain.is_some_and(|plain| SPECIAL.contains(&plain) || notes.overloads.contains(&hash_bytes(plain)))
}

/// The plain name of a function of C++ in no class and no namespace.
pub fn plain_name(name: &[u8]) -> Option<&[u8]> {
    let rest = name.strip_prefix(b"?")?;
    let end = rest.windows(3).position(|three| three == b"@@Y")?;
    Some(&rest[..end])
}

/// Finds what has moved and what is lost; the numbers of the latter. A name belongs to the object that defined it, whatever
/// else lies at its address.
fn places(
    touched: &BTreeMap<usize, Touched>,
    names: &Names,
    (own, moves): (&HashMap<u32, Own>, &mut Moves),
) -> Result<Vec<u32>, Why> {
    let orders = orders(touched);
    let (mut lost, mut pairs, mut aliases) = (Vec::new(), Vec::new(), Vec::new());
    for (number, name) in (0..).zip(&names.list) {
        let Some(rva) = name.rva() else { continue };
        let one = own.get(&number);
        let file = orders.get(&name.owner);
        let Some(object) = file.and_then(|file| touched.get(file)) else { continue };
        let path = || object.path.clone();
        let out_before = name.place().and_then(|(_, out)| out);
        pairs.extend(one.map(|now| (rva, now.rva)));
        match one {
            Some(one) if one.rva == rva && Some(one.out) == out_before => {}
            Some(one) => {
                let Some(out_before) = out_before.filter(|_| !name.is_pinned()) else {
                    let text = touched.values().find_map(|object| object.text_of(name.hash));
                    return Err(Why::Pinned(path(), text.unwrap_or_default()));
                };
                let moved = Moved { hash: name.hash, before: rva, now: one.rva, out_before, out: one.out };
                moves.moved.insert(number, moved);
            }
            None if name.is_alias() => aliases.push((rva, name, object)),
            None => {
                let is_special = SPECIAL.iter().any(|special| hash_bytes(special) == name.hash);
                if name.is_pinned() || name.is_wanted() || name.is_foreign() || is_special {
                    return Err(Why::Wanted(path(), "a library, or the command line,".to_owned()));
                }
                let out = out_before.ok_or_else(|| Why::Definitions(path()))?;
                moves.lost.push(Lost { hash: name.hash, path: path(), before: rva, out });
                lost.push(number);
            }
        }
    }
    check_aliases(&aliases, names, own)?;
    // Where names of other objects are with these, their order counts, too.
    let ends: HashSet<u32> = moves.moved.values().flat_map(|one| [one.before, one.now]).collect();
    if !ends.is_empty() {
        let all = (0..).zip(&names.list).filter(|(number, _)| !own.contains_key(number));
        pairs.extend(
            all.filter_map(|(_, name)| name.rva()).filter(|rva| ends.contains(rva)).map(|rva| (rva, rva)),
        );
    }
    pairs.sort_unstable();
    moves.is_reordered = !pairs.array_windows().all(|[a, b]| (a.0 == b.0) == (a.1 == b.1) && a.1 <= b.1);
    Ok(lost)
}

/// What names stand for by other names has stayed: all that was at their places, for it is not known which of these it is.
fn check_aliases(
    aliases: &[(u32, &Name, &Touched)],
    names: &Names,
    own: &HashMap<u32, Own>,
) -> Result<(), Why> {
    if aliases.is_empty() {
        return Ok(());
    }
    let mut stays: HashMap<u32, bool> = aliases.iter().map(|(rva, ..)| (*rva, false)).collect();
    let mut left = HashSet::new();
    for (number, name) in (0..).zip(&names.list).filter(|(_, name)| !name.is_alias()) {
        let Some(rva) = name.rva().filter(|rva| stays.contains_key(rva)) else { continue };
        match own.get(&number) {
            Some(one) if one.rva == rva && name.owner == one.section.0 => _ = stays.insert(rva, true),
            _ => _ = left.insert(rva),
        }
    }
    let gone = aliases.iter().find(|(rva, ..)| left.contains(rva) || !stays[rva]);
    gone.map_or(Ok(()), |(_, name, object)| {
        Err(Why::Parted(
            object.path.clone(),
            object.text_of(name.hash).unwrap_or_else(|| "a name".to_owned()),
        ))
    })
}

/// Tells a changed object which names it mentions.
fn mentions(object: &mut Touched, names: &Names, moves: &mut Moves) -> Result<(), Why> {
    let path = || object.path.clone();
    if !object.block.names.iter().all(|number| (*number as usize) < names.list.len()) {
        return Err(Why::State("has too few names"));
    }
    let mut mentioned = Vec::new();
    for (_, symbol) in object.coff.symbols.iter().filter(|(_, symbol)| symbol.is_global()) {
        let number = names.number(object.hash(&symbol)?);
        let number = number.ok_or_else(|| Why::NewName(path(), object.name(&symbol)))?;
        mentioned.push(number);
        let name = &names.list[number as usize];
        let was_known = object.block.names.binary_search(&number).is_ok();
        if was_known && name.is_gone() {
            return Err(Why::Wanted(path(), object.path.display().to_string()));
        }
        if name.place().is_none() && !was_known {
            return Err(Why::NewName(path(), object.name(&symbol)));
        }
    }
    mentioned.sort_unstable();
    mentioned.dedup();
    let foreign = |numbers: &[u32]| -> HashSet<u32> {
        numbers.iter().copied().filter(|number| names.list[*number as usize].is_foreign()).collect()
    };
    // What is there already may be mentioned by one more, or one less.
    let (was, is) = (foreign(&object.block.names), foreign(&mentioned));
    if let Some(new) = is.difference(&was).find(|number| names.list[**number as usize].place().is_none()) {
        let name = object.text_of(names.list[*new as usize].hash);
        return Err(Why::NewName(path(), name.unwrap_or_default()));
    }
    let others = was.symmetric_difference(&is).copied();
    others.for_each(|name| moves.asked.push((name, object.block.order, path())));
    object.block.names = mentioned;
    Ok(())
}

impl Touched<'_> {
    /// Where the symbol of its own is that the object has stand for a name, and in which output section; and the object's
    /// number.
    fn fallback(&self, hash: u64, notes: &ImageNotes) -> Result<Option<(u32, u32, u32)>, Why> {
        let mut found = None;
        for (index, symbol) in self.coff.symbols.iter() {
            let Some((of, _)) = self.coff.symbols.weak_external(index, &symbol) else { continue };
            if self.hash(&symbol)? != hash {
                continue;
            }
            let target = self.coff.symbols.get(of).filter(|target| !target.is_global());
            let row = target.and_then(|target| self.row(target.section)).filter(|row| row.is_in_image());
            let Some((target, row)) = target.zip(row) else { return Ok(None) };
            let out = notes.outs.get(row.out as usize).ok_or(Why::State("has too few sections"))?;
            let rva = (out.rva + row.offset).wrapping_add(target.value);
            // Two that differ are an error, of which the link tells.
            if found.replace((rva, row.out, self.block.order)).is_some() {
                return Ok(None);
            }
        }
        Ok(found)
    }

    /// The name with this hash, if the object mentions it.
    pub fn text_of(&self, hash: u64) -> Option<String> {
        let is_it = |symbol: &Symbol| self.hash(symbol).is_ok_and(|own| own == hash);
        let mut symbols = self.coff.symbols.iter();
        let found = symbols.find(|(_, symbol)| symbol.is_global() && is_it(symbol));
        found.map(|(_, symbol)| self.name(&symbol))
    }
}

//! What becomes of names: which are new, which lie elsewhere, which nobody defines any more.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

use super::full_link_reason::Why;
use super::memo::ImageNotes;
use super::names::Names;
use super::outline::Row;
use super::resize::{Before, Others, Touched, is_in, rooms_of};
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
    let own = definitions(touched, names, notes, &mut moves)?;
    let lost = places(touched, names, notes, (&own, &mut moves))?;
    for (number, one) in &own {
        names.list[*number as usize].define(one.rva, one.out);
    }
    for (number, one) in moves.moved.iter().filter(|(number, _)| !own.contains_key(number)) {
        names.list[*number as usize].value = one.now;
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
    for object in touched.values().filter(|object| object.is_changed) {
        let mut rooms: Vec<Range<u32>> = rooms_of(&object.old, notes).collect();
        rooms.sort_unstable_by_key(|room| room.start);
        for (_, symbol) in object.coff.symbols.iter().filter(|(_, symbol)| symbol.is_global()) {
            let Some(row) = object.row(symbol.section).filter(|row| row.is_in_image()) else { continue };
            let out = notes.outs.get(row.out as usize).ok_or(Why::State("has too few sections"))?;
            let rva = (out.rva + row.offset).wrapping_add(symbol.value);
            let hash = object.hash(&symbol)?;
            let defines = || Why::Defines(object.path.clone(), object.name(&symbol));
            let known = names.number(hash).filter(|number| !names.list[*number as usize].is_gone());
            let number = match known {
                Some(number) => {
                    let name = &names.list[number as usize];
                    let before = name.rva().ok_or_else(defines)?;
                    // A name of one section may not come to lie in another one that was there: the order would be another.
                    let was =
                        |old: &&Row| rooms_of(std::slice::from_ref(*old), notes).any(|r| r.contains(&before));
                    let old = object.old.iter().find(was);
                    let is_elsewhere = old.is_some_and(|old| old.key != row.key);
                    if is_elsewhere && object.old.iter().any(|old| old.key == row.key) {
                        return Err(Why::Definitions(object.path.clone()));
                    }
                    // Where it ends counts, too.
                    let is_own =
                        is_in(&rooms, before) || before > 0 && is_in(&rooms, before - 1) || before == rva;
                    if !is_own && !object.winners.contains(&row.number) {
                        return Err(defines());
                    }
                    moves.kinds.push((hash, row.out, rva, is_function(&symbol)));
                    number
                }
                None => {
                    let name = object.coff.symbol_name(&symbol).unwrap_or_default().to_vec();
                    if is_special(&name) {
                        return Err(defines());
                    }
                    let is_function = is_function(&symbol);
                    moves.new.push(New { name, rva, out: row.out, is_function });
                    names.number(hash).unwrap_or_else(|| names.add(hash))
                }
            };
            if own.insert(number, Own { rva, out: row.out }).is_some() {
                return Err(defines());
            }
        }
    }
    Ok(own)
}

/// Finds what has moved and what is lost; the numbers of the latter.
fn places(
    touched: &BTreeMap<usize, Touched>,
    names: &Names,
    notes: &ImageNotes,
    (own, moves): (&HashMap<u32, Own>, &mut Moves),
) -> Result<Vec<u32>, Why> {
    let mut rooms: Vec<(Range<u32>, usize)> = Vec::new();
    for (file, object) in touched.iter().filter(|(_, object)| object.is_changed) {
        rooms.extend(rooms_of(&object.old, notes).filter(|room| !room.is_empty()).map(|room| (room, *file)));
    }
    rooms.sort_unstable_by_key(|(room, _)| room.start);
    let owner = |rva: u32| {
        let after = rooms.partition_point(|(room, _)| room.start <= rva);
        let (room, file) = rooms.get(after.checked_sub(1)?)?;
        (rva < room.end).then_some(*file)
    };
    // Other names may stand for the same.
    let place = |number: &u32| names.list[*number as usize].rva();
    let now_at: HashMap<u32, &Own> =
        own.iter().filter_map(|(number, one)| Some((place(number)?, one))).collect();
    let (mut lost, mut pairs) = (Vec::new(), Vec::new());
    for (number, name) in (0..).zip(&names.list) {
        let Some(rva) = name.rva() else { continue };
        let one = own.get(&number);
        let file = owner(rva);
        if one.is_none() && file.is_none() {
            continue;
        }
        let object = file.and_then(|file| touched.get(&file)).or_else(|| touched.values().next());
        let Some(object) = object else { continue };
        let out_before = name.place().and_then(|(_, out)| out);
        let now = one.or_else(|| now_at.get(&rva).copied());
        pairs.extend(now.map(|now| (rva, now.rva)));
        match now {
            Some(one) if one.rva == rva && Some(one.out) == out_before => {}
            Some(one) => {
                let Some(out_before) = out_before.filter(|_| !name.is_pinned()) else {
                    return Err(Why::Pinned(
                        object.path.clone(),
                        object.text_of(name.hash).unwrap_or_default(),
                    ));
                };
                let moved = Moved { hash: name.hash, before: rva, now: one.rva, out_before, out: one.out };
                moves.moved.insert(number, moved);
            }
            None => {
                let path = object.path.clone();
                if name.is_pinned() || name.is_wanted() {
                    return Err(Why::Wanted(path, "a library, or the command line,".to_owned()));
                }
                let is_own = object.block.names.binary_search(&number).is_ok();
                let Some(out) = out_before.filter(|_| is_own) else { return Err(Why::Definitions(path)) };
                moves.lost.push(Lost { hash: name.hash, path, before: rva, out });
                lost.push(number);
            }
        }
    }
    pairs.sort_unstable();
    moves.is_reordered = !pairs.array_windows().all(|[a, b]| (a.0 == b.0) == (a.1 == b.1) && a.1 <= b.1);
    Ok(lost)
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
        let is_known = object.block.names.binary_search(&number).is_ok() && !name.is_gone();
        if name.place().is_none() && !is_known {
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
    /// The name with this hash, if the object mentions it.
    pub fn text_of(&self, hash: u64) -> Option<String> {
        let is_it = |symbol: &Symbol| self.hash(symbol).is_ok_and(|own| own == hash);
        let mut symbols = self.coff.symbols.iter();
        let found = symbols.find(|(_, symbol)| symbol.is_global() && is_it(symbol));
        found.map(|(_, symbol)| self.name(&symbol))
    }
}

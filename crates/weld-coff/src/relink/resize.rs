//! Objects of which sections have other sizes, in the rooms that they had.
//!
//! The sections of such an object are copied and relocated again, as a full link does it, with the rest of their rooms
//! filled. What it defines may lie elsewhere then. So all other objects that mention a name that has moved, which the
//! state knows of each, are relocated again, too, for nothing says where in the image a reference was. What libraries
//! and the linker itself refer to must not move; exports and the entry point may. Then come what is made of all objects:
//! the table of functions, and base relocations, from which the old entries of these objects are taken, and to which
//! the new ones are added.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::LittleEndian as LE;
use weld_common::io::input::InputStore;
use weld_common::relink::leaves::{self, Write};
use weld_common::text;
use weld_pdb::patch::ChangedPiece;
use weld_pdb::resize::{MovedPublic, ResizedModule};
use weld_pdb::{Contribution, Fixup};

use super::block::Block;
use super::changes::{ChangedObject, read_block, read_part};
use super::digests;
use super::full_link_reason::Why;
use super::memo::{ImageNotes, Memo};
use super::names::{Name, Names};
use super::outline::{self, DEBUG, Is, Row};
use crate::address::Rva;
use crate::arch::{Fault, OutputSections, Place, Rules, Target, facts, with_rules};
use crate::coff::machine::Machine;
use crate::coff::object::{ABSOLUTE, ObjectFile, Symbol};
use crate::layout::rooms;
use crate::synth::base_relocs::{self, Place as Base};

/// What comes of objects with other sizes.
#[derive(Default)]
pub struct Resized<'s> {
    /// What is written into the image.
    pub writes: Vec<Write>,
    pub pieces: Vec<ChangedPiece>,
    pub modules: Vec<ResizedModule<'s>>,
    pub publics: Vec<MovedPublic>,
    /// What is known of these objects now, by the number of their files.
    pub blocks: HashMap<usize, Block>,
    pub names: Vec<u8>,
    /// How many sections of changed objects have other bytes.
    pub sections: usize,
    /// How many objects were relocated for the names that they mention.
    pub followers: usize,
}

/// What there was.
pub struct Before<'b> {
    pub memo: &'b Memo,
    pub tables: &'b File,
    pub image: (&'b File, &'b Path),
    pub machine: Machine,
    /// A loader may put it elsewhere.
    pub is_relocatable: bool,
}

/// An object whose sections are written again.
struct Touched<'s> {
    path: PathBuf,
    coff: ObjectFile<'s>,
    /// Its sections as they were, and as they are.
    old: Vec<Row>,
    rows: Vec<Row>,
    block: Block,
    is_changed: bool,
}

/// # Errors
/// Why it cannot be done.
pub fn of_objects<'s>(
    changed: &[&ChangedObject<'s>],
    before: &Before,
    store: &'s InputStore<'s>,
) -> Result<Resized<'s>, Why> {
    with_rules!(before.machine, of_objects_by(changed, before, store))
}

fn of_objects_by<'s, R: Rules>(
    changed: &[&ChangedObject<'s>],
    before: &Before,
    store: &'s InputStore<'s>,
) -> Result<Resized<'s>, Why> {
    let memo = before.memo;
    let mut made = Resized::default();
    let mut touched = BTreeMap::new();
    for one in changed {
        let coff = outline::object(one.bytes).ok_or_else(|| Why::Object(one.path.clone()))?;
        let (path, block) = (one.path.clone(), one.block.clone());
        let (old, rows) = (block.rows.clone(), one.rows.clone());
        let object = Touched { path, coff, old, rows, block, is_changed: true };
        touched.insert(one.number, object);
    }
    let mut wanted = Vec::new();
    for object in touched.values() {
        for (_, symbol) in object.coff.symbols.iter().filter(|(_, symbol)| symbol.is_global()) {
            wanted.push(object.hash(&symbol)?);
        }
    }
    let bytes = read_part(before.tables, &memo.image.names);
    let bytes = bytes.filter(|bytes| digests::of_bytes(bytes) == memo.image.names_digest);
    let names = bytes.and_then(|bytes| Names::read(&bytes, &wanted));
    let mut names = names.ok_or(Why::State("has no names"))?;
    let (moved, asked) = moved_names(&mut touched, &names, &memo.image)?;
    check_asked(asked, &touched, before)?;
    moved.iter().for_each(|(number, one)| names.list[*number as usize].value = one.now);
    if !moved.is_empty() {
        let numbers: Vec<u32> = moved.keys().copied().collect();
        for (number, object) in followers(&touched, &numbers, before, store)? {
            made.followers += 1;
            touched.insert(number, object);
        }
    }
    let mut writer =
        Writer { before, names: &names, made: &mut made, functions: Vec::new(), bases: Vec::new() };
    for object in touched.values() {
        writer.object::<R>(object, &moved)?;
    }
    let any = touched.values().next().map_or(PathBuf::new(), |object| object.path.clone());
    writer.functions(&touched, &any)?;
    writer.base_relocs(&touched, &any)?;
    writer.headers(&moved, &any)?;
    for one in moved.values() {
        let out = memo.image.outs.get(one.out as usize).ok_or(Why::State("has too few sections"))?;
        let (before, now) = (one.before.wrapping_sub(out.rva), one.now.wrapping_sub(out.rva));
        made.publics.push(MovedPublic { hash: one.hash, section: one.out as u16 + 1, before, now });
    }
    for (number, object) in touched.into_iter().filter(|(_, object)| object.is_changed) {
        made.blocks.insert(number, Block { rows: object.rows, ..object.block });
    }
    made.names = names.bytes();
    made.writes.sort_unstable_by_key(|(at, _)| *at);
    Ok(made)
}

/// A name that lies elsewhere in its section's room.
struct Moved {
    hash: u64,
    out: u32,
    before: u32,
    now: u32,
}

impl Touched<'_> {
    fn hash(&self, symbol: &Symbol) -> Result<u64, Why> {
        Ok(self.coff.hashed_name(symbol).map_err(|_| Why::Object(self.path.clone()))?.1)
    }

    fn name(&self, symbol: &Symbol) -> String {
        text::text(self.coff.symbol_name(symbol).unwrap_or_default()).into_owned()
    }

    /// The row of a section, by its number in the object.
    fn row(&self, section: i32) -> Option<&Row> {
        let at = self.rows.binary_search_by_key(&u32::try_from(section).ok()?, |row| row.number).ok()?;
        Some(&self.rows[at])
    }

    /// Where rooms of its sections are in the image.
    fn rooms<'t>(&'t self, notes: &'t ImageNotes) -> impl Iterator<Item = Range<u32>> + use<'t> {
        let rows = self.rows.iter().filter(|row| row.is_in_image() && row.is != Is::Sorted);
        rows.filter_map(|row| {
            let start = notes.outs.get(row.out as usize)?.rva + row.offset;
            Some(start..start + row.room())
        })
    }
}

/// The names that changed objects define and that have moved, by their numbers, and names of libraries that they mention
/// for the first time, or no more. The objects are told which names they mention.
fn moved_names(
    touched: &mut BTreeMap<usize, Touched>,
    names: &Names,
    notes: &ImageNotes,
) -> Result<(BTreeMap<u32, Moved>, Asked), Why> {
    let (mut moved, mut asked) = (BTreeMap::new(), Asked::new());
    for object in touched.values_mut() {
        let path = || object.path.clone();
        let mut mentioned = Vec::new();
        // Of each name that it defines, where that is now.
        let mut own = HashMap::new();
        for (_, symbol) in object.coff.symbols.iter().filter(|(_, symbol)| symbol.is_global()) {
            let number = names.number(object.hash(&symbol)?);
            let number = number.ok_or_else(|| Why::NewName(path(), object.name(&symbol)))?;
            mentioned.push(number);
            let name = &names.list[number as usize];
            if name.place().is_none() && object.block.names.binary_search(&number).is_err() {
                return Err(Why::NewName(path(), object.name(&symbol)));
            }
            let row = object.row(symbol.section).filter(|row| row.is_in_image());
            if let (Some(row), Some(rva)) = (row, name.rva()) {
                let out = notes.outs.get(row.out as usize).ok_or(Why::State("has too few sections"))?;
                let start = out.rva + row.offset;
                // Otherwise another object's counts.
                if (start..=start + row.room()).contains(&rva) {
                    if name.is_pinned() && start + symbol.value != rva {
                        return Err(Why::Pinned(path(), object.name(&symbol)));
                    }
                    own.insert(number, start + symbol.value);
                }
            }
        }
        mentioned.sort_unstable();
        mentioned.dedup();
        let foreign = |numbers: &[u32]| -> HashSet<u32> {
            numbers.iter().copied().filter(|number| names.list[*number as usize].is_foreign()).collect()
        };
        let known = object.block.names.iter().all(|number| (*number as usize) < names.list.len());
        if !known {
            return Err(Why::State("has too few names"));
        }
        // What is there already may be mentioned by one more, or one less.
        let (was, is) = (foreign(&object.block.names), foreign(&mentioned));
        if let Some(new) = is.difference(&was).find(|number| names.list[**number as usize].place().is_none())
        {
            let is_it = |symbol: &Symbol| {
                object.hash(symbol).is_ok_and(|hash| hash == names.list[*new as usize].hash)
            };
            let mut symbols = object.coff.symbols.iter();
            let name = symbols.find(|(_, symbol)| symbol.is_global() && is_it(symbol));
            let name = name.map_or(String::new(), |(_, symbol)| object.name(&symbol));
            return Err(Why::NewName(path(), name));
        }
        let others = was.symmetric_difference(&is).copied();
        others.for_each(|name| asked.push((name, object.block.order, path())));
        let mut rooms: Vec<Range<u32>> = object.rooms(notes).collect();
        rooms.sort_unstable_by_key(|room| room.start);
        let is_inside = |rva: u32| {
            let after = rooms.partition_point(|room| room.start <= rva);
            after > 0 && rva < rooms[after - 1].end
        };
        // Other names may stand for the same.
        let now_at: HashMap<u32, u32> = own
            .iter()
            .filter_map(|(number, now)| Some((names.list[*number as usize].rva()?, *now)))
            .collect();
        let mut places = Vec::new();
        for (number, name) in (0..).zip(&names.list) {
            let Some(rva) = name.rva().filter(|rva| own.contains_key(&number) || is_inside(*rva)) else {
                continue;
            };
            let now = own.get(&number).or_else(|| now_at.get(&rva)).copied();
            let now = now.ok_or_else(|| Why::Order(path()))?;
            places.push((rva, now));
            if now == rva {
                continue;
            }
            let Some((_, Some(out))) = name.place().filter(|_| !name.is_pinned()) else {
                return Err(Why::Pinned(path(), "a name".to_owned()));
            };
            moved.insert(number, Moved { hash: name.hash, out, before: rva, now });
        }
        // Lists by address stay in order.
        places.sort_unstable();
        let is_in_order = places.array_windows().all(|[a, b]| (a.0 == b.0) == (a.1 == b.1) && a.1 <= b.1);
        if !is_in_order {
            return Err(Why::Order(path()));
        }
        object.block.names = mentioned;
    }
    Ok((moved, asked))
}

/// Names of libraries that objects mention for the first time, or no more: their numbers, and the places of the objects.
type Asked = Vec<(u32, u32, PathBuf)>;

/// Each of these names is mentioned by an object in front that has not changed, so that it is asked for as it was: who
/// asks first says which member of which library is read, and when.
fn check_asked(mut asked: Asked, touched: &BTreeMap<usize, Touched>, before: &Before) -> Result<(), Why> {
    for (number, file) in before.memo.files.iter().enumerate() {
        if asked.is_empty() {
            return Ok(());
        }
        let Some(known) = file.object.as_ref().filter(|_| !touched.contains_key(&number)) else { continue };
        let block = read_block(before.tables, known).ok_or(Why::State("has no rows of an object"))?;
        let is_asked = |name: &u32| block.is_plain && block.names.binary_search(name).is_ok();
        asked.retain(|(name, order, _)| *order < block.order || !is_asked(name));
    }
    asked.into_iter().next().map_or(Ok(()), |(.., path)| Err(Why::Libraries(path)))
}

/// Other objects that mention one of these names, which are in order.
fn followers<'s>(
    touched: &BTreeMap<usize, Touched>,
    numbers: &[u32],
    before: &Before,
    store: &'s InputStore<'s>,
) -> Result<Vec<(usize, Touched<'s>)>, Why> {
    let mut found = Vec::new();
    for (number, file) in before.memo.files.iter().enumerate() {
        let Some(known) = file.object.as_ref().filter(|_| !touched.contains_key(&number)) else { continue };
        let block = read_block(before.tables, known).ok_or(Why::State("has no rows of an object"))?;
        let mentions = |number: &u32| block.names.binary_search(number).is_ok();
        if !block.is_plain || !numbers.iter().any(mentions) {
            continue;
        }
        let path = file.path.clone();
        let bytes = store.open(&path).ok().flatten().ok_or_else(|| Why::Input(path.clone()))?;
        let coff = outline::object(bytes).ok_or_else(|| Why::Object(path.clone()))?;
        let (old, rows) = (block.rows.clone(), block.rows.clone());
        found.push((number, Touched { path, coff, old, rows, block, is_changed: false }));
    }
    Ok(found)
}

struct Writer<'w, 's> {
    before: &'w Before<'w>,
    names: &'w Names,
    made: &'w mut Resized<'s>,
    /// Entries of the table of functions.
    functions: Vec<u8>,
    /// Places that need base relocations.
    bases: Vec<Base>,
}

/// What a symbol is.
#[derive(Clone, Copy)]
enum Stands {
    At(Place, Option<u32>),
    Undefined,
}

impl OutputSections for ImageNotes {
    fn count(&self) -> usize {
        self.outs.len()
    }

    /// Parts are told by their output sections.
    fn holding(&self, part: Option<u32>, _: Rva) -> Option<(usize, Rva)> {
        let out = part? as usize;
        Some((out, Rva::new(self.outs.get(out)?.rva)))
    }
}

impl<'s> Writer<'_, 's> {
    fn notes(&self) -> &ImageNotes {
        &self.before.memo.image
    }

    fn altered(&self) -> Why {
        Why::Output(self.before.image.1.to_owned())
    }

    /// What symbol `index` of an object stands for.
    fn stands(&self, object: &Touched, index: u32) -> Result<Stands, Why> {
        let odd = || Why::Object(object.path.clone());
        let symbol = object.coff.symbols.get(index).ok_or_else(odd)?;
        if symbol.is_global() {
            let name = match object.is_changed {
                true => {
                    self.names.number(object.hash(&symbol)?).map(|number| self.names.list[number as usize])
                }
                false => self.of_follower(object, &symbol)?,
            };
            let Some((place, out)) = name.ok_or_else(odd)?.place() else { return Ok(Stands::Undefined) };
            return Ok(Stands::At(place, out));
        }
        if symbol.section == ABSOLUTE {
            return Ok(Stands::At(Place::Absolute(symbol.value.into()), None));
        }
        if symbol.section <= 0 {
            return Ok(Stands::Undefined);
        }
        let Some(row) = object.row(symbol.section).filter(|row| row.is_in_image()) else {
            return Ok(Stands::At(Place::Gone, None));
        };
        let out = self.notes().outs.get(row.out as usize).ok_or_else(|| self.altered())?;
        let rva = Rva::new(out.rva + row.offset).wrapping_add(symbol.value);
        Ok(Stands::At(Place::At(rva), Some(row.out)))
    }

    /// A name that an object mentions that has not changed: one of a list.
    fn of_follower(&self, object: &Touched, symbol: &Symbol) -> Result<Option<Name>, Why> {
        let hash = object.hash(symbol)?;
        let names = object.block.names.iter().filter_map(|number| self.names.list.get(*number as usize));
        Ok(names.copied().find(|name| name.hash == hash))
    }

    /// Writes an object's sections again.
    fn object<R: Rules>(&mut self, object: &Touched<'s>, moved: &BTreeMap<u32, Moved>) -> Result<(), Why> {
        let odd = || Why::Object(object.path.clone());
        let mut known: HashMap<u32, Stands> = HashMap::new();
        let mut debug = Vec::new();
        let mut module = 0;
        for (row, old) in object.rows.iter().zip(&object.old) {
            let header = object.coff.section(row.number).ok_or_else(odd)?;
            let contents = object.coff.contents(header).map_err(|_| odd())?;
            if row.out == DEBUG {
                module = row.offset as usize;
                if object.is_changed {
                    debug.push((contents, self.fixups::<R>(object, row, contents.len(), &mut known)?));
                } else {
                    self.check_debug(object, row, moved)?;
                }
            }
            if !row.is_in_image() {
                continue;
            }
            let out = *self.notes().outs.get(row.out as usize).ok_or_else(|| self.altered())?;
            let rva = Rva::new(out.rva + row.offset);
            let mut new = contents.to_vec();
            if row.is != Is::Empty {
                self.relocate::<R>(object, row, (rva, &mut new), &mut known)?;
            }
            // What is empty may lie where another section does, which is the same.
            if object.is_changed && row.size > 0 {
                let section = row.out as u16 + 1;
                let crc = Contribution::crc_of(contents);
                let (offset, size) = (row.offset, row.size);
                let characteristics = header.characteristics.get(LE).0;
                let now = Contribution { section, offset, size, characteristics, crc, module: 0 };
                self.made.pieces.push(ChangedPiece { now, size_before: old.size });
            }
            match row.is {
                Is::Empty => {}
                Is::Sorted => self.functions.append(&mut new),
                Is::Copied => {
                    new.resize(row.room() as usize, out.filler);
                    let before = self.made.writes.len();
                    self.put(out.offset + u64::from(row.offset), &new)?;
                    let is_other = object.is_changed && self.made.writes.len() > before;
                    self.made.sections += usize::from(is_other);
                }
            }
        }
        if !debug.is_empty() {
            let types = object.coff.sections.iter().find(|header| header.name == *b".debug$T");
            let types =
                types.map_or(Ok(&[][..]), |header| object.coff.contents(header)).map_err(|_| odd())?;
            let known = object.block.module.clone();
            self.made.modules.push(ResizedModule { number: module, types, sections: debug, known });
        }
        Ok(())
    }

    fn relocate<R: Rules>(
        &mut self,
        object: &Touched,
        row: &Row,
        (start, bytes): (Rva, &mut [u8]),
        known: &mut HashMap<u32, Stands>,
    ) -> Result<(), Why> {
        let fail = |what: &str| Err(Why::Reference(object.path.clone(), what.to_owned()));
        let header = object.coff.section(row.number).ok_or_else(|| Why::Object(object.path.clone()))?;
        let relocations = object.coff.relocations(header).map_err(|_| Why::Object(object.path.clone()))?;
        let has_bases = !self.notes().relocs.is_empty();
        let wants_bases = self.before.is_relocatable;
        for relocation in relocations {
            let (typ, index) = (relocation.typ.get(LE).0, relocation.symbol_table_index.get(LE));
            let offset = relocation.virtual_address.get(LE);
            let Some(size) = R::size(typ) else { return fail("there is an unknown relocation") };
            let stands = self.known(object, index, known)?;
            let Some(place) = bytes.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..size)) else {
                return fail("there is a relocation outside of its section");
            };
            let Stands::At(to, part) = stands else { return fail("there is an undefined symbol") };
            if to == Place::Gone {
                return fail("code refers to what is not in the image");
            }
            let part = part.filter(|_| R::counts_in_section(typ));
            let target = Target { place: to, part, base: self.notes().base, sections: self.notes() };
            if let Err(fault) = R::apply(typ, place, start.wrapping_add(offset), &target) {
                return fail(&format!("a reference: {fault}"));
            }
            if let (Some(kind), Place::At(_), true) = (R::base_relocation(typ), to, wants_bases) {
                if !has_bases {
                    return fail("an address needs a base relocation, of which there are none");
                }
                self.bases.push(Base { rva: start.wrapping_add(offset), kind });
            }
        }
        Ok(())
    }

    fn known(&self, object: &Touched, index: u32, known: &mut HashMap<u32, Stands>) -> Result<Stands, Why> {
        if let Some(stands) = known.get(&index) {
            return Ok(*stands);
        }
        let stands = self.stands(object, index)?;
        known.insert(index, stands);
        Ok(stands)
    }

    /// The fixups of a section that goes to the PDB, as a full link tells them.
    fn fixups<R: Rules>(
        &self,
        object: &Touched,
        row: &Row,
        len: usize,
        known: &mut HashMap<u32, Stands>,
    ) -> Result<Vec<Fixup>, Why> {
        let fail = |what: &str| Why::Reference(object.path.clone(), what.to_owned());
        let header = object.coff.section(row.number).ok_or_else(|| fail("a section is gone"))?;
        let relocations = object.coff.relocations(header).map_err(|_| Why::Object(object.path.clone()))?;
        let mut fixups = Vec::with_capacity(relocations.len());
        for relocation in relocations {
            let (typ, index) = (relocation.typ.get(LE).0, relocation.symbol_table_index.get(LE));
            let offset = relocation.virtual_address.get(LE);
            let size = match R::size(typ) {
                Some(size @ 1..=8) if offset as usize + size <= len => size,
                Some(9..) => continue,
                _ => return Err(fail("there is a wrong relocation in debug information")),
            };
            let mut bytes = [0; 8];
            if let Stands::At(place, part) = self.known(object, index, known)?
                && place != Place::Gone
            {
                let target = Target { place, part, base: self.notes().base, sections: self.notes() };
                match R::apply(typ, &mut bytes[..size], Rva::ZERO, &target) {
                    Ok(()) => {}
                    Err(Fault::AbsoluteInSection) => bytes = [0; 8],
                    Err(fault) => return Err(fail(&format!("debug information: {fault}"))),
                }
            }
            fixups.push(Fixup { offset, size: size as u8, value: u64::from_le_bytes(bytes) });
        }
        fixups.sort_by_key(|fixup| fixup.offset);
        Ok(fixups)
    }

    /// What debuggers are told of an object that has not changed says nothing of what has moved.
    fn check_debug(&self, object: &Touched, row: &Row, moved: &BTreeMap<u32, Moved>) -> Result<(), Why> {
        let odd = || Why::Object(object.path.clone());
        let header = object.coff.section(row.number).ok_or_else(odd)?;
        let hashes: HashSet<u64> = moved.values().map(|one| one.hash).collect();
        for relocation in object.coff.relocations(header).map_err(|_| odd())? {
            let symbol = object.coff.symbols.get(relocation.symbol_table_index.get(LE)).ok_or_else(odd)?;
            if symbol.is_global() && hashes.contains(&object.hash(&symbol)?) {
                return Err(Why::Pinned(object.path.clone(), object.name(&symbol)));
            }
        }
        Ok(())
    }

    /// Writes what differs of `new` from what the image has.
    fn put(&mut self, at: u64, new: &[u8]) -> Result<(), Why> {
        let old = self.read(&(at..at + new.len() as u64))?;
        leaves::add_differences(at, &old, new, &mut self.made.writes);
        Ok(())
    }

    fn read(&self, range: &Range<u64>) -> Result<Vec<u8>, Why> {
        read_part(self.before.image.0, range).ok_or_else(|| self.altered())
    }

    fn word(&self, at: u64) -> Result<u32, Why> {
        let bytes = self.read(&(at..at + 4))?;
        bytes.first_chunk().map(|word| u32::from_le_bytes(*word)).ok_or_else(|| self.altered())
    }

    /// Where in the file an entry of the list of directories is.
    fn directory_at(&self, number: u64) -> u64 {
        // Behind the signature and the file header.
        let optional = self.optional_at();
        let list = if self.before.machine == Machine::X86 { 96 } else { 112 };
        optional + list + 8 * number
    }

    /// Where the optional header is.
    fn optional_at(&self) -> u64 {
        // The time is 4 bytes into the file header, which has 20.
        self.notes().time_at + 16
    }

    /// The table of functions, sorted by address.
    fn functions(&mut self, touched: &BTreeMap<usize, Touched>, path: &Path) -> Result<(), Why> {
        const EXCEPTIONS: u64 = 3;
        let entry = facts(self.before.machine).function;
        let range = self.notes().functions.clone();
        if entry == 0 || range.is_empty() {
            let none = self.functions.is_empty();
            return if none { Ok(()) } else { Err(Why::Table(path.to_owned(), "the table of functions")) };
        }
        let size_at = self.directory_at(EXCEPTIONS) + 4;
        let size = self.word(size_at)? as usize;
        let table = self.read(&range)?;
        let old = table.get(..size).ok_or_else(|| self.altered())?;
        let rooms = self.rooms(touched);
        let start = |entry: &[u8]| entry.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let kept = old.chunks_exact(entry).filter(|entry| !is_in(&rooms, start(entry)));
        let mut all: Vec<&[u8]> = kept.chain(self.functions.chunks_exact(entry)).collect();
        if !self.functions.len().is_multiple_of(entry) {
            return Err(Why::Table(path.to_owned(), "the table of functions"));
        }
        all.sort_unstable_by(|a, b| start(a).cmp(&start(b)).then_with(|| a.cmp(b)));
        let mut new = all.concat();
        let now = new.len() as u32;
        if new.len() > table.len() {
            return Err(Why::Table(path.to_owned(), "the table of functions"));
        }
        new.resize(table.len(), 0);
        self.put(range.start, &new)?;
        self.put(size_at, &now.to_le_bytes())
    }

    /// Rooms of all objects that are written again, in order.
    fn rooms(&self, touched: &BTreeMap<usize, Touched>) -> Vec<Range<u32>> {
        let mut rooms: Vec<Range<u32>> = touched
            .values()
            .flat_map(|object| object.rooms(self.notes()))
            .filter(|room| !room.is_empty())
            .collect();
        rooms.sort_unstable_by_key(|room| room.start);
        rooms
    }

    fn base_relocs(&mut self, touched: &BTreeMap<usize, Touched>, path: &Path) -> Result<(), Why> {
        let range = self.notes().relocs.clone();
        if range.is_empty() {
            return Ok(());
        }
        let table = self.read(&range)?;
        let rooms = self.rooms(touched);
        let mut places = base_relocs::places(&table);
        places.retain(|place| !is_in(&rooms, place.rva.get()));
        places.append(&mut self.bases);
        places.sort_unstable();
        let mut new = base_relocs::table(&places, false);
        if new.is_empty() || rooms::of_relocs(new.len()) != table.len() {
            return Err(Why::Table(path.to_owned(), "base relocations"));
        }
        base_relocs::pad(&mut new, table.len());
        self.put(range.start, &new)
    }

    /// The entry point and exports that have moved.
    fn headers(&mut self, moved: &BTreeMap<u32, Moved>, path: &Path) -> Result<(), Why> {
        const ENTRY: u64 = 16;
        const EXPORTS: u64 = 0;
        // In the table of exports: how many addresses there are, and where.
        const COUNT: u64 = 20;
        const ADDRESSES: u64 = 28;
        if moved.is_empty() {
            return Ok(());
        }
        let now: HashMap<u32, u32> = moved.values().map(|one| (one.before, one.now)).collect();
        let entry_at = self.optional_at() + ENTRY;
        if let Some(now) = now.get(&self.word(entry_at)?) {
            self.put(entry_at, &now.to_le_bytes())?;
        }
        let table = self.word(self.directory_at(EXPORTS))?;
        if table == 0 {
            return Ok(());
        }
        let no_table = || Why::Table(path.to_owned(), "the table of exports");
        let table = self.offset(table).ok_or_else(no_table)?;
        let count = u64::from(self.word(table + COUNT)?);
        let addresses = self.offset(self.word(table + ADDRESSES)?).ok_or_else(no_table)?;
        if count > 0x1_0000 {
            return Err(no_table());
        }
        let mut bytes = self.read(&(addresses..addresses + 4 * count))?;
        for address in bytes.as_chunks_mut::<4>().0 {
            if let Some(now) = now.get(&u32::from_le_bytes(*address)) {
                *address = now.to_le_bytes();
            }
        }
        self.put(addresses, &bytes)
    }

    /// Where an address is in the file.
    fn offset(&self, rva: u32) -> Option<u64> {
        let outs = &self.notes().outs;
        let out = outs[..outs.partition_point(|out| out.rva <= rva)].last()?;
        Some(out.offset + u64::from(rva - out.rva))
    }
}

/// Whether a place is in one of these ranges, which are in order.
fn is_in(ranges: &[Range<u32>], place: u32) -> bool {
    let after = ranges.partition_point(|range| range.start <= place);
    after > 0 && place < ranges[after - 1].end
}

//! Objects of which sections have other sizes, have come or are gone.
//!
//! The sections of such an object are copied and relocated again, as a full link does it, with the rest of their rooms
//! filled: in the rooms that they had, or in yards ([`super::shapes`]). What it defines may lie elsewhere then
//! ([`super::moves`]). So all other objects that mention a name that has moved, which the
//! state knows of each, are relocated again, too, for nothing says where in the image a reference was. What libraries
//! and the linker itself refer to must not move; exports and the entry point may. Then come what is made of all objects
//! ([`super::tables`]), from which the old entries of these objects are taken, and to which the new ones are added.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::LittleEndian as LE;
use weld_common::io::input::InputStore;
use weld_common::relink::leaves::{self, Write};
use weld_common::text;
use weld_pdb::patch::ChangedPiece;
use weld_pdb::resize::{ChangedPublic, ModulePieces, ResizedModule};
use weld_pdb::{Contribution, Fixup, Public};

use super::block::Block;
use super::changes::{ChangedObject, read_block, read_part};
use super::contests;
use super::digests;
use super::full_link_reason::Why;
use super::memo::{ImageNotes, Memo};
use super::moves::{self, Moves};
use super::names::{Name, Names};
use super::outline::{self, DEBUG, Is, Outline, Row};
use super::shapes::{self, Facts, Shaped};
use crate::address::Rva;
use crate::arch::{Fault, OutputSections, Place, Rules, Target, facts, with_rules};
use crate::coff::machine::Machine;
use crate::coff::object::{ABSOLUTE, ObjectFile, Symbol};
use crate::debug;
use crate::synth::base_relocs::Place as Base;

/// What comes of objects with other sections.
#[derive(Default)]
pub struct Resized<'s> {
    /// What is written into the image.
    pub writes: Vec<Write>,
    pub pieces: Vec<ChangedPiece>,
    pub modules: Vec<ResizedModule<'s>>,
    /// The pieces of modules that have others than before.
    pub reshaped: Vec<ModulePieces>,
    pub publics: Vec<ChangedPublic>,
    /// What is known of these objects now, by the number of their files.
    pub blocks: HashMap<usize, Block>,
    pub outlines: HashMap<usize, Outline>,
    pub names: Vec<u8>,
    /// How yards are used.
    pub yards: Vec<shapes::YardNotes>,
    /// A full link would put something elsewhere.
    pub is_edited: bool,
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
    pub has_pdb: bool,
}

/// An object whose sections are written again.
pub struct Touched<'s> {
    pub path: PathBuf,
    pub coff: ObjectFile<'s>,
    /// Its sections as they were, and as they are.
    pub old: Vec<Row>,
    pub rows: Vec<Row>,
    pub block: Block,
    pub is_changed: bool,
    /// COMDAT sections that lead no more, or for the first time.
    pub losers: HashSet<u32>,
    pub winners: HashSet<u32>,
    pub has_other_types: bool,
}

/// What is known of all objects, by the numbers of their files, read if it is needed.
#[derive(Default)]
pub struct Others(OnceCell<Vec<(usize, Block)>>);

impl Others {
    pub fn blocks(&self, before: &Before) -> Result<&[(usize, Block)], Why> {
        if self.0.get().is_none() {
            let mut all = Vec::new();
            for (number, file) in before.memo.files.iter().enumerate() {
                let Some(known) = &file.object else { continue };
                let block = read_block(before.tables, known).ok_or(Why::State("has no rows of an object"))?;
                all.push((number, block));
            }
            _ = self.0.set(all);
        }
        Ok(self.0.get().map_or(&[], Vec::as_slice))
    }

    /// An object that has not changed.
    pub fn load<'s>(
        &self,
        number: usize,
        block: &Block,
        before: &Before,
        store: &'s InputStore<'s>,
    ) -> Result<Touched<'s>, Why> {
        let path = before.memo.files[number].path.clone();
        let bytes = store.open(&path).ok().flatten().ok_or_else(|| Why::Input(path.clone()))?;
        let coff = outline::object(bytes).ok_or_else(|| Why::Object(path.clone()))?;
        let (old, rows) = (block.rows.clone(), block.rows.clone());
        let (losers, winners) = Default::default();
        Ok(Touched {
            path,
            coff,
            old,
            rows,
            block: block.clone(),
            is_changed: false,
            losers,
            winners,
            has_other_types: false,
        })
    }
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
        let (old, (losers, winners)) = (block.rows.clone(), Default::default());
        let object = Touched {
            path,
            coff,
            old,
            rows: Vec::new(),
            block,
            is_changed: true,
            has_other_types: false,
            losers,
            winners,
        };
        touched.insert(one.number, object);
    }
    let mut wanted = Vec::new();
    for object in touched.values() {
        wanted.extend(object.global_hashes()?);
    }
    let bytes = read_part(before.tables, &memo.image.names);
    let bytes = bytes.filter(|bytes| digests::of_bytes(bytes) == memo.image.names_digest);
    let names = bytes.and_then(|bytes| Names::read(&bytes, &wanted));
    let mut names = names.ok_or(Why::State("has no names"))?;
    let others = Others::default();
    contests::settle(&mut touched, &mut names, &others, (before, store))?;
    made.yards = give_places(&mut touched, &mut made.outlines, before)?;
    check_parts(&touched, &made.yards, (&others, before))?;
    made.is_edited = touched.values().any(Touched::has_other_places);
    let moves = moves::find(&mut touched, &mut names, &memo.image, (&others, before))?;
    made.is_edited |= moves.is_reordered;
    check_asked(moves.asked.clone(), &touched, (&others, before))?;
    if !moves.moved.is_empty() {
        let numbers: Vec<u32> = moves.moved.keys().copied().collect();
        for (number, block) in others.blocks(before)? {
            let mentions = |name: &u32| block.names.binary_search(name).is_ok();
            if block.is_plain && !touched.contains_key(number) && numbers.iter().any(mentions) {
                made.followers += 1;
                touched.insert(*number, others.load(*number, block, before, store)?);
            }
        }
    }
    let mut writer =
        Writer { before, names: &names, made: &mut made, functions: Vec::new(), bases: Vec::new() };
    for object in touched.values() {
        writer.object::<R>(object, &moves)?;
    }
    writer.fill_holes(&touched)?;
    let any = touched.values().next().map_or(PathBuf::new(), |object| object.path.clone());
    writer.functions(&touched, &any)?;
    writer.base_relocs(&touched, &any)?;
    writer.headers(&moves, &any)?;
    made.publics = publics(&moves, &memo.image)?;
    for (number, object) in touched.into_iter().filter(|(_, object)| object.is_changed) {
        made.blocks.insert(number, Block { rows: object.rows, ..object.block });
    }
    made.names = names.bytes();
    made.writes.sort_unstable_by_key(|(at, _)| *at);
    Ok(made)
}

/// Gives the sections of changed objects their places; how yards are used then.
fn give_places(
    touched: &mut BTreeMap<usize, Touched>,
    outlines: &mut HashMap<usize, Outline>,
    before: &Before,
) -> Result<Vec<shapes::YardNotes>, Why> {
    let mut notes = before.memo.image.clone();
    let has_functions = facts(before.machine).function > 0;
    let changed: Vec<usize> =
        touched.iter().filter(|(_, one)| one.is_changed).map(|(file, _)| *file).collect();
    let shaped: Vec<Shaped> = changed
        .iter()
        .map(|file| {
            let Touched { path, coff, old, block, losers, winners, .. } = &touched[file];
            let (losers, winners) = (losers.clone(), winners.clone());
            Shaped { path, coff, old, order: block.order, losers, winners }
        })
        .collect();
    let rows = shapes::of(&shaped, &mut notes, Facts { has_functions, pdb: before.has_pdb })?;
    drop(shaped);
    for (file, rows) in changed.iter().zip(rows) {
        let Some(object) = touched.get_mut(file) else { continue };
        let odd = || Why::Object(object.path.clone());
        let frame = outline::frame(&object.coff, before.has_pdb, &rows).ok_or_else(odd)?;
        if frame.definitions != object.block.frame.definitions {
            return Err(Why::Definitions(object.path.clone()));
        }
        if frame.rest != object.block.frame.rest {
            return Err(odd());
        }
        // Those that are gone stay in the PDB.
        object.has_other_types = frame.types != object.block.frame.types;
        object.block.frame = frame;
        let outline = outline::of(&object.coff, (before.machine, before.has_pdb), &rows);
        outlines.insert(*file, outline.ok_or_else(odd)?);
        object.rows = rows;
    }
    Ok(notes.yards)
}

/// Each part of the image that has a yard has a section of some object: without any it would not be there, and tables and
/// headers that tell of it would be others.
fn check_parts(
    touched: &BTreeMap<usize, Touched>,
    yards: &[shapes::YardNotes],
    (others, before): (&Others, &Before),
) -> Result<(), Why> {
    for yard in yards {
        let has_any = |rows: &[Row]| rows.iter().any(|row| row.is_in_image() && yard.is_part_of(row));
        let had = |object: &&Touched| has_any(&object.old);
        let Some(object) =
            touched.values().find(had).filter(|_| !touched.values().any(|one| has_any(&one.rows)))
        else {
            continue;
        };
        let mut rest = others.blocks(before)?.iter().filter(|(file, _)| !touched.contains_key(file));
        if !rest.any(|(_, block)| has_any(&block.rows)) {
            return Err(Why::Last(object.path.clone(), text::text(&yard.told.name).into_owned()));
        }
    }
    Ok(())
}

/// What becomes of public symbols.
fn publics(moves: &Moves, notes: &ImageNotes) -> Result<Vec<ChangedPublic>, Why> {
    let place = |out: u32, rva: u32| -> Result<(u16, u32), Why> {
        let notes = notes.outs.get(out as usize).ok_or(Why::State("has too few sections"))?;
        Ok((out as u16 + 1, rva.wrapping_sub(notes.rva)))
    };
    let mut all = Vec::new();
    for one in moves.moved.values() {
        let (from, to) = (place(one.out_before, one.before)?, place(one.out, one.now)?);
        all.push(ChangedPublic::Moved { hash: one.hash, from, to });
    }
    for (hash, out, rva, is_function) in &moves.kinds {
        let flags = if *is_function { Public::FUNCTION } else { 0 };
        all.push(ChangedPublic::Kind { hash: *hash, flags, at: place(*out, *rva)? });
    }
    for one in &moves.lost {
        all.push(ChangedPublic::Gone { hash: one.hash, from: place(one.out, one.before)? });
    }
    for one in moves.new.iter().filter(|one| debug::is_public(&one.name)) {
        let flags = if one.is_function { Public::FUNCTION } else { 0 };
        all.push(ChangedPublic::New { name: one.name.clone(), flags, at: place(one.out, one.rva)? });
    }
    Ok(all)
}

/// Where rooms of these sections are in the image.
pub fn rooms_of<'t>(rows: &'t [Row], notes: &'t ImageNotes) -> impl Iterator<Item = Range<u32>> + use<'t> {
    let rows = rows.iter().filter(|row| row.is_in_image() && row.is != Is::Sorted);
    rows.filter_map(|row| {
        let start = notes.outs.get(row.out as usize)?.rva + row.offset;
        Some(start..start + row.room())
    })
}

/// Whether a place is in one of these ranges, which are in order.
pub fn is_in(ranges: &[Range<u32>], place: u32) -> bool {
    let after = ranges.partition_point(|range| range.start <= place);
    after > 0 && place < ranges[after - 1].end
}

impl Touched<'_> {
    pub fn hash(&self, symbol: &Symbol) -> Result<u64, Why> {
        Ok(self.coff.hashed_name(symbol).map_err(|_| Why::Object(self.path.clone()))?.1)
    }

    /// Hashes of all names that others see.
    pub fn global_hashes(&self) -> Result<Vec<u64>, Why> {
        let globals = self.coff.symbols.iter().filter(|(_, symbol)| symbol.is_global());
        globals.map(|(_, symbol)| self.hash(&symbol)).collect()
    }

    pub fn name(&self, symbol: &Symbol) -> String {
        text::text(self.coff.symbol_name(symbol).unwrap_or_default()).into_owned()
    }

    /// The row of a section, by its number in the object.
    pub fn row(&self, section: i32) -> Option<&Row> {
        outline::row_of(&self.rows, u32::try_from(section).ok()?)
    }

    /// Whether a full link would put something elsewhere.
    fn has_other_places(&self) -> bool {
        let places = |rows: &[Row]| {
            let own = rows.iter().filter(|row| row.is_in_image());
            let mut all: Vec<_> = own.map(|row| (row.key, row.out, row.offset, row.room())).collect();
            all.sort_unstable();
            all
        };
        self.has_other_types || places(&self.old) != places(&self.rows)
    }

    /// Whether sections have come, gone or moved.
    fn is_reshaped(&self) -> bool {
        let places = |rows: &[Row]| {
            let own = rows.iter().filter(|row| row.is_in_image());
            // What has no size may lie where another section does.
            let mut all: Vec<_> = own.map(|row| (row.key, row.out, row.offset, row.size > 0)).collect();
            all.sort_unstable();
            all
        };
        places(&self.old) != places(&self.rows)
    }
}

/// Each of these names is mentioned by an object in front that has not changed, so that it is asked for as it was: who
/// asks first says which member of which library is read, and when. One that can do without the name (a weak external)
/// counts, too, for then nobody asks: objects are read before any library is asked.
fn check_asked(
    mut asked: Vec<(u32, u32, PathBuf)>,
    touched: &BTreeMap<usize, Touched>,
    (others, before): (&Others, &Before),
) -> Result<(), Why> {
    if asked.is_empty() {
        return Ok(());
    }
    for (_, block) in others.blocks(before)?.iter().filter(|(number, _)| !touched.contains_key(number)) {
        let is_asked = |name: &u32| block.is_plain && block.names.binary_search(name).is_ok();
        asked.retain(|(name, order, _)| *order < block.order || !is_asked(name));
    }
    asked.into_iter().next().map_or(Ok(()), |(.., path)| Err(Why::Libraries(path)))
}

pub struct Writer<'w, 's> {
    pub before: &'w Before<'w>,
    names: &'w Names,
    made: &'w mut Resized<'s>,
    /// Entries of the table of functions.
    pub functions: Vec<u8>,
    /// Places that need base relocations.
    pub bases: Vec<Base>,
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
    pub fn notes(&self) -> &ImageNotes {
        &self.before.memo.image
    }

    /// A name as it is now.
    pub fn name(&self, number: u32) -> Option<&Name> {
        self.names.list.get(number as usize)
    }

    pub fn altered(&self) -> Why {
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
    fn object<R: Rules>(&mut self, object: &Touched<'s>, moves: &Moves) -> Result<(), Why> {
        let odd = || Why::Object(object.path.clone());
        let mut known: HashMap<u32, Stands> = HashMap::new();
        let mut debug = Vec::new();
        let is_reshaped = object.is_changed && object.is_reshaped();
        let old: HashMap<u32, &Row> = object.old.iter().map(|row| (row.key, row)).collect();
        let mut pieces = Vec::new();
        for row in &object.rows {
            let header = object.coff.section(row.number).ok_or_else(odd)?;
            let contents = object.coff.contents(header).map_err(|_| odd())?;
            if row.out == DEBUG {
                if object.is_changed {
                    debug.push((contents, self.fixups::<R>(object, row, contents.len(), &mut known)?));
                } else {
                    self.check_debug(object, row, moves)?;
                }
            }
            if !row.is_in_image() {
                continue;
            }
            let section = row.out as u16 + 1;
            let (crc, offset, size) = (Contribution::crc_of(contents), row.offset, row.size);
            let characteristics = header.characteristics.get(LE).0;
            let module = object.block.order as u16;
            let now = Contribution { section, offset, size, characteristics, crc, module };
            // What is empty may lie where another section does, which is the same.
            if object.is_changed && is_reshaped {
                pieces.push(now);
            } else if object.is_changed && row.size > 0 {
                let size_before = old.get(&row.key).map_or(0, |row| row.size);
                self.made.pieces.push(ChangedPiece { now, size_before });
            }
            self.section::<R>(object, row, contents, &mut known)?;
        }
        if is_reshaped {
            self.made.reshaped.push(ModulePieces { module: object.block.order as u16, list: pieces });
        }
        if object.is_changed && debug.is_empty() && object.old.iter().any(|row| row.out == DEBUG) {
            return Err(odd());
        }
        if !debug.is_empty() {
            let types = object.coff.sections.iter().find(|header| header.name == *b".debug$T");
            let types =
                types.map_or(Ok(&[][..]), |header| object.coff.contents(header)).map_err(|_| odd())?;
            let (known, number) = (object.block.module.clone(), object.block.order as usize);
            let has_other_types = object.has_other_types;
            self.made.modules.push(ResizedModule { number, types, has_other_types, sections: debug, known });
        }
        Ok(())
    }

    /// Writes a section of the image.
    fn section<R: Rules>(
        &mut self,
        object: &Touched<'s>,
        row: &Row,
        contents: &[u8],
        known: &mut HashMap<u32, Stands>,
    ) -> Result<(), Why> {
        let out = *self.notes().outs.get(row.out as usize).ok_or_else(|| self.altered())?;
        let rva = Rva::new(out.rva + row.offset);
        let mut new = contents.to_vec();
        if row.is != Is::Empty {
            self.relocate::<R>(object, row, (rva, &mut new), known)?;
        }
        match row.is {
            Is::Empty | Is::Read => {}
            Is::Sorted => {
                self.check_functions(object, row)?;
                self.functions.append(&mut new);
            }
            Is::Copied => {
                new.resize(row.room() as usize, out.filler);
                let before = self.made.writes.len();
                self.put(out.offset + u64::from(row.offset), &new)?;
                let is_other = object.is_changed && self.made.writes.len() > before;
                self.made.sections += usize::from(is_other);
            }
        }
        Ok(())
    }

    /// The entries of a table of functions are about functions of the same object, by which they are found again.
    fn check_functions(&self, object: &Touched, row: &Row) -> Result<(), Why> {
        let foreign = || Why::Unwinding(object.path.clone());
        let own = |index: u32| {
            let symbol = object.coff.symbols.get(index)?;
            if symbol.is_global() {
                let number = self.names.number(object.hash(&symbol).ok()?);
                let owner = match number {
                    Some(number) => self.name(number)?.owner,
                    None => self.of_follower(object, &symbol).ok()??.owner,
                };
                (owner == object.block.order).then_some(())?;
            }
            let row = object.row(symbol.section).filter(|row| row.is_in_image())?;
            Some((row.is != Is::Sorted && symbol.value < row.size).then_some(()))?
        };
        let begins = outline::functions(&object.coff, row.number, facts(self.before.machine).function);
        begins.ok_or_else(foreign)?.into_iter().try_for_each(|index| own(index).ok_or_else(foreign))
    }

    /// Fills what sections have left.
    fn fill_holes(&mut self, touched: &BTreeMap<usize, Touched>) -> Result<(), Why> {
        let copied = |rows: &[Row]| -> Vec<(u32, u32, u32)> {
            let own = rows.iter().filter(|row| row.is_in_image() && row.is == Is::Copied && row.size > 0);
            own.map(|row| (row.out, row.offset, row.offset + row.room())).collect()
        };
        let mut new: Vec<_> = touched.values().flat_map(|object| copied(&object.rows)).collect();
        new.sort_unstable();
        let old: Vec<_> = touched.values().flat_map(|object| copied(&object.old)).collect();
        for (number, start, end) in old {
            let out = *self.notes().outs.get(number as usize).ok_or_else(|| self.altered())?;
            let mut at = start;
            let first = new.partition_point(|(out, _, end)| (*out, *end) <= (number, start));
            let taken = new[first..].iter().take_while(|(out, from, _)| (*out, *from) < (number, end));
            let taken: Vec<(u32, u32)> = taken.map(|(_, from, to)| (*from, *to)).collect();
            for (from, to) in taken.into_iter().chain([(end, end)]) {
                if at < from {
                    let filler = vec![out.filler; (from - at) as usize];
                    self.put(out.offset + u64::from(at), &filler)?;
                }
                at = at.max(to);
            }
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
    fn check_debug(&self, object: &Touched, row: &Row, moves: &Moves) -> Result<(), Why> {
        let odd = || Why::Object(object.path.clone());
        let header = object.coff.section(row.number).ok_or_else(odd)?;
        let hashes: HashSet<u64> = moves.moved.values().map(|one| one.hash).collect();
        for relocation in object.coff.relocations(header).map_err(|_| odd())? {
            let symbol = object.coff.symbols.get(relocation.symbol_table_index.get(LE)).ok_or_else(odd)?;
            if symbol.is_global() && hashes.contains(&object.hash(&symbol)?) {
                return Err(Why::Pinned(object.path.clone(), object.name(&symbol)));
            }
        }
        Ok(())
    }

    /// Writes what differs of `new` from what the image has.
    pub fn put(&mut self, at: u64, new: &[u8]) -> Result<(), Why> {
        let old = self.read(&(at..at + new.len() as u64))?;
        leaves::add_differences(at, &old, new, &mut self.made.writes);
        Ok(())
    }

    pub fn read(&self, range: &Range<u64>) -> Result<Vec<u8>, Why> {
        read_part(self.before.image.0, range).ok_or_else(|| self.altered())
    }

    pub fn word(&self, at: u64) -> Result<u32, Why> {
        let bytes = self.read(&(at..at + 4))?;
        bytes.first_chunk().map(|word| u32::from_le_bytes(*word)).ok_or_else(|| self.altered())
    }

    /// Where in the file an entry of the list of directories is.
    pub fn directory_at(&self, number: u64) -> u64 {
        // Behind the signature and the file header.
        let optional = self.optional_at();
        let list = if self.before.machine == Machine::X86 { 96 } else { 112 };
        optional + list + 8 * number
    }

    /// Where the optional header is.
    pub fn optional_at(&self) -> u64 {
        // The time is 4 bytes into the file header, which has 20.
        self.notes().time_at + 16
    }

    /// Where an address is in the file.
    pub fn offset(&self, rva: u32) -> Option<u64> {
        let outs = &self.notes().outs;
        let out = outs[..outs.partition_point(|out| out.rva <= rva)].last()?;
        Some(out.offset + u64::from(rva - out.rva))
    }
}

//! What a full link keeps for the next one, and what it does for that on its way.
//!
//! Right before the output takes its place it gets another name, by which it is the first image; so an output
//! that is unlinked or replaced is still there. The second one is made by the first relink that wants it.
//! When all is in place the rows are written, and last the memo, with what the link had to warn of.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use weld_common::archive::Archive;
use weld_common::diag::{Cause, Diagnostic};
use weld_common::digest::UnitDigest;
use weld_common::io::input::{InputFile, InputStore};
use weld_common::io::output::OutputFile;
use weld_common::io::reason;
use weld_common::io::stamp::Stamp;
use weld_common::io::units::Leaves;
use weld_common::relink::warnings::KeptWarning;
use weld_common::relink::witness::Witness;
use weld_common::{par, text};

use super::Session;
use super::changes::digest_of;
use super::command::{self, Request};
use super::directory::{IMAGES, Place, TABLES};
use super::eligibility;
use super::full_link_reason::Why;
use super::libraries::{KnownArchive, Looks, of_other};
use super::memo::{Is, KnownFile, Memo};
use super::units::{SIZES, is_unit, spare_files};
use crate::arch;
use crate::eh_frame::entries_in;
use crate::elf::{Rela, SHF_ALLOC, SHF_TLS, Sym};
use crate::ids::{FileId, SectionId, SymbolId};
use crate::input::archives::ArchiveInput;
use crate::input::load::Inputs;
use crate::input::object::Object;
use crate::job::{Context, Job};
use crate::relink_state::collect::{Link, Tables};
use crate::relink_state::debug_lists::Lists;
use crate::relink_state::excerpt::each_mention;
use crate::relink_state::extents::{Extents, OtherRuns};
use crate::relink_state::file::StateFile;
use crate::relink_state::guests::Guest;
use crate::relink_state::init_array::InitArrays;
use crate::relink_state::mentions::stays_imported;
use crate::relink_state::new_names::NewNames;
use crate::relink_state::outline::{exports_by_itself, may_define_others};
use crate::relink_state::rows::{InputRow, NONE, NameRow, OutputRow, SectionRow, input_kind};
use crate::relink_state::{State, keys};
use crate::report::dependencies;
use crate::resolve::Resolved;
use crate::sections::export_rows::{LastRows, Room};
use crate::sections::free_sections::INIT_ARRAY;
use crate::sections::init_array;
use crate::sections::lost_groups::LostSections;
use crate::sections::rooms::{self, Growth, LastPieces, LastRuns, Rooms};
use crate::sections::spare_imports::{Import, LastCall};
use crate::sections::yards::{self, LastGuest};
use crate::sections::{LastOutput, LastSlots, SectionKind, Sections};
use crate::symbol_names::flag;
use crate::symbols::symbol_flags;
use crate::synth::gnu_hash;
use crate::synth::image::Image;

/// An object or archive that nobody has written to for so long is not likely to be the next to change: it is, or its
/// members are, not hashed, and looked at if it does.
const RESTED: Duration = Duration::from_secs(3600);

/// So many objects are taken to be those that are edited next, and so many more get some of the room that these get; and
/// so many members of archives: those of archives that have all of theirs among them, and so many more.
const RECENT: usize = 16;
const LIKELY: usize = 16;
const RECENT_MEMBERS: usize = 16;
/// From how many bytes on objects have more room than others, and still more.
const LARGE: usize = 256 << 10;
const VERY_LARGE: usize = 1 << 20;
pub const LIKELY_MEMBERS: usize = 128;

/// Bytes compared at a time.
const COMPARED: usize = 1 << 20;

impl Session {
    /// The directory, if anything is to be kept there.
    fn keeper(&self) -> Option<&Place> {
        let place = self.place.as_ref().ok()?;
        (self.never.get().is_none() && self.request.is_ok()).then_some(place)
    }

    /// Whether the next link is to know of this one.
    pub fn keeps(&self) -> bool {
        self.keeper().is_some()
    }

    /// Has sections get room to grow, if this link or a later one may relink: that of the last link if it is
    /// compared with that.
    pub fn give_rooms<'a>(
        &self,
        job: &Job,
        inputs: &Inputs,
        resolved: &Resolved<'a>,
        (sections, parallel): (&mut Sections<'a>, bool),
    ) {
        if self.never.get().is_some() || eligibility::of_inputs(inputs, resolved).is_some() {
            return;
        }
        let objects = &resolved.objects;
        let relinked = self.is_relinked.get().map(|()| self.last_state(job));
        let new = |sections: &mut Sections<'a>| {
            let mut likely = recent(job, (inputs, objects));
            let seldom = likely.split_off(likely.len().min(RECENT));
            let small = small_units(inputs, objects);
            likely.into_iter().for_each(|file| grows(file, Growth::Much, &small, sections));
            seldom.into_iter().for_each(|file| grows(file, Growth::Some, &small, sections));
            other_units(objects, sections);
            large_objects(inputs, objects, sections);
            recent_members(job, (inputs, objects), &small, sections);
            if job.options.sections.gc_sections {
                libraries_of_units(objects).for_each(|file| sections.let_grow(file, Growth::Some));
            }
            self.units.lock().unwrap().give_rooms(sections);
            rooms::give(sections, objects, &Rooms::New, parallel);
            if exports_by_itself(job.options) && may_define_others(job.options) {
                sections.export_room = Room::New;
            }
            let has_yards = |object: &&Object| self.yard_object.get() == Some(&object.file);
            if let Some(object) = objects.iter().find(has_yards) {
                yards::make(sections, object, job.options.sections.gc_sections);
                let others = objects.iter().take_while(|other| other.file != object.file);
                if !init_array::are_any(sections, others) {
                    init_array::leave_out(sections, object);
                }
            }
        };
        let state = match relinked {
            Some(Ok(state)) => state,
            None => return new(sections),
            Some(Err(why)) => {
                // Relinks read little of it.
                self.log(&format!("full link: the state cannot be read to verify: {why}"));
                _ = self.is_unknown.set(());
                return new(sections);
            }
        };
        let yard_object = objects.iter().find(|object| self.yard_object.get() == Some(&object.file));
        if let Some(object) = yard_object.filter(|object| !has_init_array(&state, object.file)) {
            init_array::leave_out(sections, object);
        }
        yards::take_in(sections, objects, &self.last_guests(&state));
        let image = self.held_image();
        sections.last_relocs = last_relocs(&state, &image);
        sections.last_imports = self.last_imports();
        sections.export_room = last_exports(&state, &image);
        sections.last_calls = last_calls(&state);
        sections.last_slots = last_slots(&state, resolved);
        sections.last_slot_places = self.last_slot_places(&state, resolved);
        sections.last_words = self.last_words(&state, resolved);
        let places = self.last_places(&state);
        let (extents, lists) = (self.last_extents(), self.last_lists());
        sections.last_outputs = last_outputs(&state, &places);
        let mut known = HashMap::with_capacity(state.sections.len());
        for (number, row) in (0..).zip(&state.sections) {
            if let Some(input) = state.inputs.get(row.input as usize)
                && !places.holes.contains(&number)
                && !lists.gone.contains(&number)
                // They have no room.
                && row.number != INIT_ARRAY
            {
                let size = extents.get(&number).map_or(row.size, |extent| extent.size);
                let size = places.larger.get(&number).copied().unwrap_or(size);
                // What is first in its output section is so however others are aligned that are gone.
                let out = state.outputs.get(row.output as usize).filter(|_| !places.holes.is_empty());
                let out = out.filter(|out| out.address == row.address && out.flags & SHF_ALLOC != 0);
                let align = out.map_or(1, |out| out.align).max(1 << row.align_log2);
                known.insert((FileId(input.precedence), row.number), (size, align));
            }
        }
        let rows = state.sections.len() as u32;
        for (row, list) in (rows..).zip(&lists.added).filter(|(row, _)| !lists.gone.contains(row)) {
            if let Some((input, extent)) = state.inputs.get(list.input as usize).zip(extents.get(&row)) {
                known.insert((FileId(input.precedence), list.number), (extent.size, 1));
            }
        }
        sections.last_pieces = self.last_pieces(&state, &image);
        sections.last_cuts = self.last_cuts();
        sections.last_runs = Some(last_runs(&state, &self.last_table_runs()));
        let of_section = |file: FileId, number: u32| known.get(&(file, number)).copied();
        rooms::give(sections, objects, &Rooms::Known(&of_section), parallel);
        if job.options.sections.gc_sections {
            // Whatever refers to it now.
            sections.last_kept =
                last_kept(sections, objects, |file, number| known.contains_key(&(file, number)));
        }
    }

    /// The output, which has been relinked. If it cannot be read, it is empty, and a full link is made as one of its own:
    /// there will be a difference.
    fn held_image(&self) -> Vec<u8> {
        let held = self.held.lock().unwrap();
        let held = held.as_ref().zip(self.place.as_ref().ok());
        held.and_then(|(held, place)| std::fs::read(held.image(place)).ok()).unwrap_or_default()
    }

    /// Where merged pieces are in an image.
    fn last_pieces(&self, state: &State, image: &[u8]) -> Vec<LastPieces> {
        let held = self.held.lock().unwrap();
        let mut parts: Vec<LastPieces> = Vec::with_capacity(state.parts.len());
        for (number, part) in (0..).zip(&state.parts) {
            let start = state
                .outputs
                .get(part.output as usize)
                .map_or(0, |out| out.offset.wrapping_add(part.address.wrapping_sub(out.address)));
            let bytes = start.checked_add(part.size).and_then(|end| image.get(start as usize..end as usize));
            let mut last = LastPieces {
                by_tag: HashMap::new(),
                bytes: bytes.unwrap_or_default().to_vec(),
                name: state
                    .outputs
                    .get(part.output as usize)
                    .map_or(&[][..], |out| state.text(out.name))
                    .to_vec(),
                entsize: part.entsize,
                strings: part.strings != 0,
                align: u64::from(part.align.max(1)),
            };
            for piece in state.pieces_of(number) {
                last.by_tag.entry(piece.tag).or_default().push(piece.offset);
            }
            parts.push(last);
        }
        for piece in held.iter().flat_map(|held| &held.next.pieces) {
            if let Some(part) = parts.get_mut(piece.part as usize) {
                part.by_tag.entry(piece.tag).or_default().push(piece.offset);
            }
        }
        parts
    }

    /// Which sections of the tables are not in the output any more, which has been relinked, and what lies in front of
    /// them.
    fn last_places(&self, state: &State) -> LastPlaces {
        let held = self.held.lock().unwrap();
        let Some(held) = held.as_ref() else { return LastPlaces::default() };
        let holes = held.next.holes.clone();
        let (mut larger, mut heads) = (HashMap::new(), HashMap::new());
        if !holes.is_empty() {
            let order = in_memory(state);
            // Of each output section: empty sections of others may lie between those of one.
            let mut before: HashMap<u32, u32> = HashMap::new();
            for number in order {
                let row = &state.sections[number as usize];
                let is_hole = holes.contains(&number);
                // Where nothing was, nothing is in the way.
                if is_hole && row.size == 0 {
                    continue;
                }
                if !is_hole {
                    let out = state.outputs.get(row.output as usize);
                    if let (Some(head), Some(out)) =
                        (heads.get_mut(&row.output).filter(|_| !before.contains_key(&row.output)), out)
                    {
                        *head = row.address.wrapping_sub(out.address);
                    }
                    before.insert(row.output, number);
                } else if let Some(before) = before.get(&row.output) {
                    let first = state.sections[*before as usize].address;
                    larger.insert(*before, (row.address + row.size).wrapping_sub(first));
                } else {
                    heads.insert(row.output, 0);
                }
            }
        }
        LastPlaces { holes, larger, heads }
    }

    /// Sections of debug information that have other room in the output, which has been relinked, than the tables say.
    fn last_extents(&self) -> Extents {
        let held = self.held.lock().unwrap();
        held.as_ref().map(|held| held.next.extents.clone()).unwrap_or_default()
    }

    /// Lists in debug information that are in the output, which has been relinked, and not in the tables, or the other way round.
    fn last_lists(&self) -> Lists {
        let held = self.held.lock().unwrap();
        held.as_ref().map(|held| held.next.lists.clone()).unwrap_or_default()
    }

    /// Where the parts of the output, which has been relinked, start that hashes are made of.
    fn last_cuts(&self) -> Option<Vec<u64>> {
        let held = self.held.lock().unwrap();
        let leaves = &held.as_ref()?.next.leaves;
        let mut starts: Vec<u64> = leaves.iter().flatten().map(|leaf| leaf.offset).collect();
        starts.sort_unstable();
        Some(starts)
    }

    /// The same of runs in tables.
    fn last_table_runs(&self) -> OtherRuns {
        let held = self.held.lock().unwrap();
        held.as_ref().map(|held| held.next.runs.clone()).unwrap_or_default()
    }

    /// Which sections lie in yards of the output, which has been relinked, or where others are gone.
    fn last_guests(&self, state: &State) -> Vec<LastGuest> {
        let held = self.held.lock().unwrap();
        let Some(held) = held.as_ref().filter(|held| !held.next.guests.is_empty()) else { return Vec::new() };
        let mut order = in_memory(state);
        order.retain(|number| {
            let has_bytes = state.sections[*number as usize].kind == SectionKind::Regular as u8;
            has_bytes && !held.next.holes.contains(number)
        });
        let file = |row: u32| Some(FileId(state.inputs.get(row as usize)?.precedence));
        let found = |guest: &Guest| {
            let at = order.partition_point(|row| state.sections[*row as usize].address <= guest.address);
            let host = &state.sections[*order.get(at.checked_sub(1)?)? as usize];
            Some(LastGuest {
                file: file(guest.input)?,
                group: guest.group.clone(),
                number: guest.number,
                host: (file(host.input)?, host.number),
                offset: guest.address - host.address,
            })
        };
        // Those that are merged have no place of their own.
        held.next.guests.iter().filter(|guest| guest.size > 0).filter_map(found).collect()
    }

    /// What has taken spare entries of the PLT of the output, which has been relinked.
    fn last_imports(&self) -> Vec<Import> {
        let held = self.held.lock().unwrap();
        held.iter().flat_map(|held| &held.next.imports).map(|known| known.import.clone()).collect()
    }

    /// What has taken spare words of the GOT of the output, which has been relinked.
    fn last_words(&self, state: &State, resolved: &Resolved) -> Vec<SymbolId> {
        let held = self.held.lock().unwrap();
        let Some(next) = held.as_ref().map(|held| &held.next).filter(|next| !next.words.is_empty()) else {
            return Vec::new();
        };
        let hash = |row: u32| match (row as usize).checked_sub(state.names.len()) {
            Some(added) => next.names.added.get(added).map(|name| name.hash),
            None => Some(state.names[row as usize].hash),
        };
        let wanted = next.words.iter().map(|row| if *row == NONE { None } else { hash(*row) });
        let wanted: Vec<Option<u128>> = wanted.collect();
        let mut found = vec![SymbolId::NONE; wanted.len()];
        for (id, entry) in resolved.names.iter() {
            let hash = keys::hash(entry.name);
            if let Some(word) = wanted.iter().position(|wanted| *wanted == Some(hash)) {
                found[word] = id;
            }
        }
        found
    }

    /// Where what has slots was defined when the tables were written, and what is gone since that had some.
    fn last_slot_places(&self, state: &State, resolved: &Resolved) -> LastSlots {
        let place = |name: &NameRow| {
            let input = state.inputs.get(name.input as usize)?;
            // Of what nothing defines that is linked, it may be who would.
            let is_defined = name.flags & symbol_flags::KIND != symbol_flags::UNDEFINED;
            (is_defined && name.slot != NONE).then_some((FileId(input.precedence), name.symbol))
        };
        let known: HashMap<u128, (FileId, u32)> =
            state.names.iter().filter_map(|name| Some((name.hash, place(name)?))).collect();
        let held = self.held.lock().unwrap();
        let gone = held.iter().flat_map(|held| &held.next.names.gone);
        let gone = gone.filter_map(|row| {
            let name = state.names.get(*row as usize)?;
            let slot = state.slots.get(name.slot as usize)?;
            let word = if slot.got != NONE { symbol_flags::NEEDS_GOT } else { 0 };
            let called = symbol_flags::NEEDS_PLT | symbol_flags::PREEMPTIBLE;
            Some((place(name)?, word | if slot.plt != NONE { called } else { 0 }))
        });
        let gone = gone.collect();
        let names = resolved.names.iter();
        let of_symbol = names.filter_map(|(id, entry)| Some((id, *known.get(&keys::hash(entry.name))?)));
        LastSlots { of_symbol: of_symbol.collect(), gone }
    }

    /// The tables of the last link, and which weld wrote them if they are to be read.
    fn last_tables(&self) -> Result<(Vec<u8>, UnitDigest), String> {
        let place = self.place.as_ref().map_err(Why::to_string)?;
        let build = command::build().map_err(|e| reason(&e))?;
        let bytes = std::fs::read(place.path(TABLES)).map_err(|e| reason(&e))?;
        Ok((bytes, UnitDigest::from_bytes(build)))
    }

    /// The state of the last link.
    fn last_state(&self, job: &Job) -> Result<State, String> {
        let (bytes, build) = self.last_tables()?;
        let state = job.step("state of the last link", || State::read(&bytes, build));
        state.map_err(|why| why.to_string())
    }

    /// Whose copies of which names, by their hashes, stayed in the last link though another one counts, if this link is
    /// compared with that: they stay until a full link, whoever ceases to refer to them. If the tables cannot be read, that is
    /// said by who reads them next.
    pub fn last_copies(&self) -> HashSet<(FileId, u128)> {
        let mut found = HashSet::new();
        let Some((bytes, build)) = self.is_relinked.get().and_then(|()| self.last_tables().ok()) else {
            return found;
        };
        let Ok(file) = StateFile::open(&bytes, build) else { return found };
        let mut beaten = Vec::new();
        _ = each_mention(&file, |row| beaten.extend((row.is_beaten != 0).then_some((row.input, row.name))));
        for (input, name) in beaten {
            let rows = file.row::<InputRow>(input.into()).ok().zip(file.row::<NameRow>(name.into()).ok());
            found.extend(rows.map(|(input, name)| (FileId(input.precedence), name.hash)));
        }
        found
    }

    fn give_up(&self, why: Why) {
        if self.never.set(why).is_ok()
            && let Some(why) = self.never.get()
        {
            self.log(&format!("nothing is kept for the next link: {why}"));
        }
    }

    /// Finds out whether there is something in the link that is not relinked.
    pub fn look_at(&self, image: &Image, context: &Context) {
        if self.keeper().is_some()
            && let Some(why) = eligibility::of_link(context, image)
        {
            self.give_up(why);
        }
    }

    /// If a relink is to be verified, and was one: whether `file`, which a full link has made, is the same, and
    /// what was relinked is the output now. If not, `file` is to take the output's place.
    pub fn is_verified(&self, job: &Job, file: &OutputFile, image: &Image) -> bool {
        let held = self.held.lock().unwrap().take();
        let (Some(held), Ok(place)) = (held, &self.place) else { return false };
        if self.is_unknown.get().is_some() {
            return false;
        }
        let Some(at) = first_difference(&held.image(place), file) else {
            let done = self.put(job, place, held);
            return done.inspect_err(|why| self.log(&format!("full link: {why}"))).is_ok();
        };
        let sections = &image.layout.sections;
        let around = sections
            .iter()
            .find(|out| !out.is_nobits() && (out.offset.0..out.offset.0 + out.size).contains(&at));
        let name = around.map_or("the headers".into(), |out| text::text(&out.name));
        let message = format!(
            "what was relinked differs from what a full link makes at {at:#x} of the file ({name}); it was replaced"
        );
        self.log(&message);
        job.sink.push(
            Diagnostic::warning(Cause::Incremental, message).note("this is a bug in weld; please report it"),
        );
        self.give_up(Why::First);
        false
    }

    /// Gives the output, which is complete but for its place, the name of an image.
    pub fn name_image(&self, file: &OutputFile) {
        let Some(place) = self.keeper() else { return };
        let path = place.new_path(IMAGES[0]);
        _ = std::fs::remove_file(&path);
        if let Err(error) = file.link_to(&path) {
            self.give_up(Why::system("give the output the name", &path, &error));
        }
    }

    /// A full link begins, whose caller need not wait for what is kept. Figures are of all that it does.
    pub fn begin_full_link(&self, job: &Job) {
        if self.keeps() && !self.verifies() && !job.trace.is_enabled() {
            self.stay.ask(job.host, job.options.output.detach);
        }
    }

    /// The output has taken its place: the image has its name, and whoever waits is let go.
    pub fn output_is_there<'j>(&self, job: &Job<'j>, parallel: bool) -> Option<Witness<'j>> {
        let place = self.keeper()?;
        let _last = place.of_last_link();
        let adopted = place.forget_state().and_then(|()| place.remove(IMAGES[1]));
        let adopted = adopted.and_then(|()| place.adopt(IMAGES[0]));
        match adopted.and_then(|()| Stamp::at(&place.path(IMAGES[0]))) {
            Ok(image) => {
                _ = self.image.set(image);
                let inputs = (job.store, self.begun);
                Some(self.stay.let_go(place, (job.host, job.sink), inputs, parallel))
            }
            Err(error) => {
                self.give_up(Why::system("write to", &place.path(""), &error));
                None
            }
        }
    }

    /// The output is there: keeps all but the memo.
    pub fn keep(
        &self,
        job: &Job,
        link: &Link,
        (leaves, id): (Leaves, Option<Range<u64>>),
        witness: &Witness,
    ) {
        if link.files.iter().any(|file| file.stamp.is_none()) {
            self.give_up(Why::Nature("an input is a pipe or a device"));
        }
        let (Some(place), Ok(request)) = (self.keeper(), &self.request) else { return };
        let state = job.step("state of the link", || link.state(Tables::OfRelinks));
        let parallel = link.context.parallel;
        let kept = job.step("keep the state", || self.keep_in(place, &state, parallel));
        match kept {
            Ok((build, tables)) => {
                let mut units = self.units.lock().unwrap().units(&state);
                let mut files = self.files(&state, link, (job.store, request));
                units.add_members(&files, link, &state);
                files.extend(spare_files(&units));
                let memo = Memo {
                    build: build.bytes(),
                    boot: command::boot().unwrap_or_default(),
                    request: request.clone(),
                    tables,
                    current: 0,
                    images: Default::default(),
                    id: id.unwrap_or(0..0),
                    files: Arc::new(files),
                    missing: missing(job),
                    warnings: Vec::new(),
                    dependencies: dependency_text(job, link.context),
                    leaves,
                    last: Vec::new(),
                    values: Vec::new(),
                    mentions: Vec::new(),
                    pieces: Vec::new(),
                    names: NewNames::default(),
                    guests: Vec::new(),
                    holes: BTreeSet::new(),
                    extents: Extents::new(),
                    init_arrays: InitArrays::new(),
                    lists: Lists::default(),
                    runs: OtherRuns::new(),
                    imports: Vec::new(),
                    words: Vec::new(),
                    units,
                    has_other_members: false,
                    asks: BTreeMap::new(),
                };
                // What has been looked at since the output was complete must be what it was made of.
                match witness.changed(parallel) {
                    Some(path) => self.give_up(Why::Changing(path)),
                    None => *self.memo.lock().unwrap() = Some(memo),
                }
            }
            Err(error) => self.give_up(Why::system("write to", &place.path(""), &error)),
        }
    }

    /// Writes the tables.
    fn keep_in(&self, place: &Place, state: &State, parallel: bool) -> io::Result<(UnitDigest, [u8; 20])> {
        let build = UnitDigest::from_bytes(command::build()?);
        let written = state.written(build, parallel);
        place.write(TABLES, std::iter::once(&written.head).chain(&written.tables).map(Vec::as_slice))?;
        Ok((build, written.digest.bytes()))
    }

    /// The link has come to its end, with these messages: leaves the memo.
    pub fn finish(&self, messages: &[Diagnostic]) {
        let (Ok(place), Some(mut memo)) = (&self.place, self.memo.lock().unwrap().take()) else { return };
        memo.warnings = KeptWarning::of(messages);
        if !memo.boot.is_empty() && !self.remember(place, memo) {
            self.log("nothing is kept for the next link: the state cannot be written");
        }
    }

    /// The files of the link, as the rows have them.
    fn files<'s>(
        &self,
        state: &State,
        link: &Link,
        (store, request): (&'s InputStore<'s>, &Request),
    ) -> Vec<KnownFile> {
        let mut known: HashMap<&[u8], &InputFile> = HashMap::new();
        let mut changed: Vec<&Path> = Vec::new();
        for file in &link.files {
            let first = known.entry(file.path.as_os_str().as_encoded_bytes()).or_insert(file);
            if first.stamp != file.stamp {
                changed.push(&file.path);
            }
        }
        let objects = objects(state);
        let linked = linked_members(state, link);
        let parallel = link.context.parallel;
        let at_all = asks_for_commons(link);
        let found = par::runs("digests of inputs", parallel, state.files.len(), 8, |run| {
            let file = |number: usize| {
                let row = &state.files[number];
                let path = PathBuf::from(text::os_str(state.text(row.given)));
                let file = known.get(state.text(row.given));
                let stamp = file.and_then(|file| file.stamp);
                let stamp = stamp.filter(|s| s.is_older_than(self.begun) && !changed.contains(&&*path));
                let limit = self.begun.checked_sub(RESTED).unwrap_or(SystemTime::UNIX_EPOCH);
                let is_likely = stamp.is_none_or(|stamp| !stamp.is_modified_before(limit));
                let archive = || {
                    let file = file.filter(|file| Archive::is_archive(file.bytes))?;
                    // A link that could not relink has opened it before.
                    let mut same = link.files.iter().filter(|other| other.path == file.path);
                    let holds = |file: &&InputFile| {
                        let range = file.bytes.as_ptr_range();
                        linked[number].iter().all(|(_, bytes)| range.contains(&bytes.as_ptr()))
                    };
                    let named = link.context.inputs.archives.iter();
                    let mut read =
                        named.filter(|archive| text::to_path(&archive.path) == file.path).peekable();
                    let indexed = read.peek()?.offsets.len() as u32;
                    let at_all = at_all || read.any(|archive| !archive.lazy);
                    KnownArchive::new(
                        same.find(holds)?.bytes,
                        &linked[number],
                        Looks { hashes: is_likely, at_all, indexed, parallel },
                    )
                };
                let is = match objects[number] {
                    Some(input) => {
                        let mut renamed = request.random.iter().chain(&request.units);
                        let is_renamed = renamed.any(|name| name == state.text(row.given));
                        let bytes = file.filter(|_| is_renamed || is_likely).map(|file| file.bytes);
                        Is::Object(input, bytes.map_or(0, digest_of))
                    }
                    None => archive().map_or_else(
                        || Is::Other(file.map_or(0, |file| of_other(file.bytes, store))),
                        Is::Archive,
                    ),
                };
                KnownFile { path, stamp, is }
            };
            run.map(file).collect::<Vec<_>>()
        });
        found.into_iter().flatten().collect()
    }
}

/// When files were written to, by where their bytes begin.
fn times(job: &Job) -> HashMap<usize, SystemTime> {
    let modified = |file: &InputFile| Some((file.bytes.as_ptr().addr(), file.modified?));
    job.store.files().iter().filter_map(modified).collect()
}

/// The objects that were written to last, in order.
fn recent(job: &Job, (inputs, objects): (&Inputs, &[Object])) -> Vec<FileId> {
    let of_file = times(job);
    // Members of archives begin elsewhere.
    let of = |object: &Object| {
        let read = inputs.bytes(object.file).ok().filter(|_| object.name.member.is_none())?;
        Some((*of_file.get(&read.as_ptr().addr())?, object.file))
    };
    let mut all: Vec<(SystemTime, FileId)> = objects.iter().filter_map(of).collect();
    all.sort_unstable_by_key(|(modified, file)| (Reverse(*modified), file.index()));
    all.into_iter().take(RECENT + LIKELY).map(|(_, file)| file).collect()
}

/// Small codegen units: what is edited are functions, and instances of others lie in small units of their own.
fn small_units(inputs: &Inputs, objects: &[Object]) -> HashSet<FileId> {
    let is_one = |object: &&Object| match object.name.member {
        Some(name) => is_unit(&text::text(name)),
        None => is_unit(&object.name.path),
    };
    let units = objects.iter().filter(is_one).map(|object| object.file);
    units.filter(|file| inputs.bytes(*file).is_ok_and(|bytes| bytes.len() < SIZES[0])).collect()
}

/// Has an object have room to grow, less of it if it is one of the `small` ones.
fn grows(file: FileId, growth: Growth, small: &HashSet<FileId>, sections: &mut Sections) {
    let growth = match (growth, small.contains(&file)) {
        (growth, false) => growth,
        (Growth::Much, true) => Growth::Some,
        (_, true) => Growth::Little,
    };
    sections.let_grow(file, growth);
}

/// Has large objects have more room than small ones: an edit of one that has much of a library in it brings more of that.
fn large_objects(inputs: &Inputs, objects: &[Object], sections: &mut Sections) {
    for object in objects {
        let size = inputs.bytes(object.file).map_or(0, <[u8]>::len);
        let growth = match size {
            VERY_LARGE.. => Growth::Some,
            LARGE.. => Growth::Little,
            _ => continue,
        };
        sections.let_grow(object.file, growth);
    }
}

/// Has further codegen units on the command line have little room: an edit of one changes which instances others have.
fn other_units(objects: &[Object], sections: &mut Sections) {
    let is_one = |object: &&Object| object.name.member.is_none() && is_unit(&object.name.path);
    let files: Vec<FileId> = objects.iter().filter(is_one).map(|object| object.file).collect();
    let is_usual = |file: &FileId| sections.growth(*file) == Growth::Usual;
    let others: Vec<FileId> = files.into_iter().filter(is_usual).take(LIKELY_MEMBERS).collect();
    others.into_iter().for_each(|file| sections.let_grow(file, Growth::Little));
}

/// The largest members of archives that are codegen units: those of Rust's standard library, a unit for each of its crates.
/// Most of them is not in the output, and what others use of them for the first time brings frames and names.
fn libraries_of_units(objects: &[Object]) -> impl Iterator<Item = FileId> {
    const MANY_SECTIONS: usize = 64;
    const LARGEST: usize = 12;
    let is_unit = |object: &&Object| object.name.member.is_some_and(|name| is_unit(&text::text(name)));
    let is_large = |object: &&Object| object.shdrs.len() >= MANY_SECTIONS;
    let large = objects.iter().filter(is_large).filter(is_unit);
    let mut large: Vec<_> = large.map(|object| (Reverse(object.shdrs.len()), object.file.0)).collect();
    large.sort_unstable();
    large.into_iter().take(LARGEST).map(|(_, file)| FileId(file))
}

/// The numbers of archives that were written to within the last hour before the last input, the last ones first. The
/// clock has no part in it: the same inputs make the same file.
pub fn recent_archives(job: &Job, inputs: &Inputs) -> Vec<usize> {
    let of_file = times(job);
    let newest = of_file.values().max().copied().unwrap_or(SystemTime::UNIX_EPOCH);
    let limit = newest.checked_sub(RESTED).unwrap_or(SystemTime::UNIX_EPOCH);
    let of = |(number, archive): (usize, &ArchiveInput)| {
        let modified = of_file.get(&archive.archive.bytes().as_ptr().addr())?;
        (*modified >= limit).then_some((Reverse(*modified), number))
    };
    let mut found: Vec<_> = inputs.archives.iter().enumerate().filter_map(of).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, number)| number).collect()
}

/// Adds members of archives that were written to last ([`recent_archives`]): nobody knows which of an archive
/// have changed.
fn recent_members(
    job: &Job,
    (inputs, objects): (&Inputs, &[Object]),
    small: &HashSet<FileId>,
    sections: &mut Sections,
) {
    let archives = recent_archives(job, inputs);
    let mut members: Vec<Vec<FileId>> = vec![Vec::new(); archives.len()];
    let mut place = vec![usize::MAX; inputs.archives.len()];
    archives.iter().enumerate().for_each(|(at, number)| place[*number] = at);
    for object in objects.iter().filter(|object| object.name.member.is_some()) {
        let after = inputs.archives.partition_point(|archive| archive.first_file <= object.file);
        if let Some(members) = after.checked_sub(1).and_then(|number| members.get_mut(place[number])) {
            members.push(object.file);
        }
    }
    let mut count = 0;
    for files in members {
        let (all, are_few) = (count + files.len(), count + files.len() <= RECENT_MEMBERS);
        let left = LIKELY_MEMBERS.saturating_sub(count);
        let growth = if are_few { Growth::Much } else { Growth::Some };
        files.into_iter().take(left).for_each(|file| grows(file, growth, small, sections));
        count = all;
    }
}

/// What has slots or entries of the PLT in the output and is defined by shared objects.
fn last_calls(state: &State) -> Vec<LastCall> {
    let of_shared = state.names.iter().filter(|name| stays_imported(name));
    let call = |name: &NameRow| {
        let file = FileId(state.inputs.get(name.input as usize)?.precedence);
        Some(LastCall { file, symbol: name.symbol, flags: name.flags })
    };
    of_shared.filter_map(call).collect()
}

/// What is otherwise than in the tables.
#[derive(Default)]
struct LastPlaces {
    holes: BTreeSet<u32>,
    /// Sections that are larger, because those behind them are gone.
    larger: HashMap<u32, u64>,
    /// How much room output sections begin with, because what was there is gone.
    heads: HashMap<u32, u64>,
}

/// The output sections in their order, with what is as large as the room that they begin with.
fn last_outputs(state: &State, places: &LastPlaces) -> Vec<LastOutput> {
    let last = |(number, out): (u32, &OutputRow)| LastOutput {
        name: state.text(out.name).to_vec(),
        head: places.heads.get(&number).copied().unwrap_or(0),
        align: out.align,
    };
    (0..).zip(&state.outputs).map(last).collect()
}

/// The rows of sections in memory whose bytes lie there, be they zeroes, in the order of their addresses.
fn in_memory(state: &State) -> Vec<u32> {
    let is_there = |row: &SectionRow| {
        let out = state.outputs.get(row.output as usize);
        let flags = out.map_or(0, |out| out.flags);
        let is_zeroed = row.kind == SectionKind::NoBits as u8 && flags & SHF_TLS == 0;
        (row.kind == SectionKind::Regular as u8 || is_zeroed) && flags & SHF_ALLOC != 0
    };
    let mut order: Vec<u32> =
        (0..).zip(&state.sections).filter(|(_, row)| is_there(row)).map(|(number, _)| number).collect();
    // Of those without bytes that begin where another one does, that one is behind them.
    order.sort_by_key(|number| state.sections[*number as usize].address);
    order
}

/// Whether an input has words of `.init_array` in the tables.
fn has_init_array(state: &State, file: FileId) -> bool {
    let mut inputs = state.inputs.iter().filter(|input| input.precedence == file.0);
    inputs.any(|input| state.sections_of(input).iter().any(|row| row.number == INIT_ARRAY))
}

/// The sections that were in the output.
fn last_kept(
    sections: &Sections,
    objects: &[Object],
    is_known: impl Fn(FileId, u32) -> bool,
) -> Vec<SectionId> {
    let mut kept: Vec<SectionId> = sections.guests.iter().map(|guest| guest.section).collect();
    for object in objects {
        let kind = |index| sections.get(SectionId(object.section_base + index)).kind();
        let before = |index| sections.kind_before(SectionId(object.section_base + index));
        let numbers = LostSections::by_kind(object, before).numbers();
        for index in 0..object.shdrs.len() as u32 {
            let number = numbers.get(index as usize).copied().unwrap_or(index);
            let is_copied = sections.get(SectionId(object.section_base + index)).in_image()
                && kind(index) != SectionKind::EhFrame;
            if is_copied && is_known(object.file, number) {
                kept.push(SectionId(object.section_base + index));
            }
        }
    }
    kept
}

/// What is defined in the output and has slots of the GOT there, or entries of the PLT because others may replace it.
fn last_slots(state: &State, resolved: &Resolved) -> Vec<(SymbolId, u32)> {
    let needs = |name: &NameRow| {
        let is_here = name.flags & symbol_flags::KIND == symbol_flags::DEFINED;
        let slot = state.slots.get(name.slot as usize).filter(|_| is_here)?;
        let is_called =
            name.flags & (symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC) == symbol_flags::PREEMPTIBLE;
        let got = if slot.got != NONE { symbol_flags::NEEDS_GOT } else { 0 };
        let plt = if is_called && slot.plt != NONE { symbol_flags::NEEDS_PLT } else { 0 };
        let needs = name.flags & (got | plt);
        (needs != 0).then_some((name.hash, needs))
    };
    let known: HashMap<u128, u32> = state.names.iter().filter_map(needs).collect();
    if known.is_empty() {
        return Vec::new();
    }
    let needs = |name: &[u8]| known.get(&keys::hash(name)).copied();
    resolved.names.iter().filter_map(|(id, entry)| Some((id, needs(entry.name)?))).collect()
}

/// How many relative relocations `.rela.dyn` of an image has, and how many others, with spare ones.
fn last_relocs(state: &State, image: &[u8]) -> Option<(u64, u64)> {
    let table = state.outputs.iter().find(|out| state.text(out.name) == b".rela.dyn")?;
    let relative = arch::of_file(image)?.facts().dynamic.relative;
    let start = usize::try_from(table.offset).ok()?;
    let (entries, _) = image.get(start..)?.get(..usize::try_from(table.size).ok()?)?.as_chunks();
    let first = entries.iter().take_while(|entry| Rela(**entry).kind() == relative).count();
    Some((first as u64, (entries.len() - first) as u64))
}

/// The rows of exported names in an image, if more may be.
fn last_exports(state: &State, image: &[u8]) -> Room {
    match state.image.exports {
        0 => Room::None,
        _ => export_rows(state, image).map_or(Room::New, Room::Last),
    }
}

/// The rows of exported names in an image.
fn export_rows(state: &State, image: &[u8]) -> Option<LastRows> {
    let out = |name: &[u8]| {
        let out = state.outputs.iter().find(|out| state.text(out.name) == name)?;
        image.get(usize::try_from(out.offset).ok()?..)?.get(..usize::try_from(out.size).ok()?)
    };
    let (symbols, strings, table) = (out(b".dynsym")?, out(b".dynstr")?, out(b".gnu.hash")?);
    let first = state.image.exports_first as usize;
    let symbols = symbols.as_chunks::<{ Sym::SIZE }>().0.get(first..)?;
    let row = |symbol: &[u8; Sym::SIZE]| {
        let at = Sym(*symbol).st_name();
        let rest = strings.get(at as usize..)?;
        let name = rest.get(..memchr::memchr(0, rest)?)?;
        Some((at != 0).then(|| (name.to_vec(), at)))
    };
    let rows = symbols.get(..state.image.exports as usize)?.iter().map(row).collect::<Option<_>>()?;
    let runs = gnu_hash::buckets_in(table, state.image.exports_first)?;
    Some(LastRows { rows, runs, names_end: state.image.names_end })
}

/// How large runs of objects are in tables of the output.
fn last_runs(state: &State, others: &OtherRuns) -> LastRuns {
    let run = |(row, input): (u32, &InputRow)| {
        let mut input = *input;
        others.get(&row).into_iter().for_each(|runs| input.set_table_runs(runs));
        (FileId(input.precedence), input.runs())
    };
    let of_file = (0..).zip(&state.inputs).map(run).collect();
    let table = state.outputs.iter().find(|out| state.text(out.name) == b".eh_frame_hdr");
    LastRuns { of_file, searched: table.map_or(0, |table| entries_in(table.size)) }
}

/// For each file the object that it is, if it is nothing else.
fn objects(state: &State) -> Vec<Option<u32>> {
    let mut objects: Vec<Option<u32>> = vec![None; state.files.len()];
    let mut uses = vec![0u32; state.files.len()];
    for (number, input) in (0..).zip(&state.inputs) {
        let Some(count) = uses.get_mut(input.file as usize) else { continue };
        *count += 1;
        let is_whole = |input: &InputRow| input.size == state.files[input.file as usize].size;
        let is_object = input.kind == input_kind::OBJECT && input.member.size == 0 && is_whole(input);
        objects[input.file as usize] = Some(number).filter(|_| is_object && *count == 1);
    }
    objects
}

/// Whether members of archives were looked at for what they define of common symbols.
fn asks_for_commons(link: &Link) -> bool {
    let resolved = link.image.resolved;
    resolved.commons.iter().any(|common| resolved.names.get(common.id).flags & flag::OFFERED != 0)
}

/// For each file the inputs that are members of it and linked, with their bytes.
fn linked_members<'c>(state: &State, link: &'c Link) -> Vec<Vec<(u32, &'c [u8])>> {
    let mut linked: Vec<Vec<(u32, &[u8])>> = vec![Vec::new(); state.files.len()];
    for (row, input) in (0..).zip(&state.inputs) {
        if input.kind == input_kind::OBJECT
            && input.member.size != 0
            && let Some(list) = linked.get_mut(input.file as usize)
        {
            let read = link.original(FileId(input.precedence));
            list.push((row, read.unwrap_or_else(|| link.data(input))));
        }
    }
    linked
}

/// Paths that led nowhere.
fn missing(job: &Job) -> Vec<PathBuf> {
    let mut missing = job.store.missing();
    missing.sort_unstable();
    missing.dedup();
    missing
}

fn dependency_text(job: &Job, context: &Context) -> Option<Vec<u8>> {
    job.options.reports.dependency_file.as_ref()?;
    let text = dependencies::text(job, context.inputs).ok()?;
    Some(text::bytes(&text).into_owned())
}

/// Where a file begins to differ from what is to be another one.
fn first_difference(path: &Path, other: &OutputFile) -> Option<u64> {
    let Ok(bytes) = std::fs::read(path) else { return Some(0) };
    let mut part = Vec::new();
    let mut at = 0;
    for there in bytes.chunks(COMPARED) {
        part.resize(there.len(), 0);
        let is_read = other.read_at(at, &mut part).is_ok();
        if let Some(first) = there.iter().zip(&part).position(|(a, b)| a != b).or((!is_read).then_some(0)) {
            return Some(at + first as u64);
        }
        at += there.len() as u64;
    }
    (at != other.len()).then_some(at)
}

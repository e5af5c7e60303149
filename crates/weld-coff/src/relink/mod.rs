//! Relinking of images: `/incremental`.
//!
//! A full link that is asked to keeps beside its output what a later one wants (`weld_common::relink::directory`): a
//! *memo* of what it was asked for, what it has read and looked for, and what it has written ([`memo`]). The later one
//! asks the system whether all of that is as it was ([`changes`]). If so, nothing is linked: the image, its PDB and all
//! that is beside them are what a full link would write, and become as new. If objects have changed in bytes of code
//! and data only ([`outline`]), these bytes are written into copies of the image and the PDB, with what follows from
//! them ([`patch`]). If more has changed, it is a full link, for one reason ([`full_link_reason`]), which is in the log.
//! `/incremental:verify` makes a full link in any case, and compares.
//!
//! A relink does not fail. While outputs change there is no memo, so whoever is killed leaves outputs that are whole,
//! and a full link to the next. The image and its PDBs have a second name in the directory, which they get before they
//! take their places: so a link knows which files are its own, whatever links beside it do, and what is unlinked (as
//! cargo does before each link) is still there.

mod against;
mod block;
mod changes;
mod contests;
mod digests;
mod full_link_reason;
mod keys;
mod memo;
mod moves;
mod names;
mod notes;
mod outline;
mod patch;
mod resize;
#[cfg(all(test, target_os = "linux"))]
mod section_tests;
mod shapes;
mod tables;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod told;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use weld_common::diag::{Diagnostic, Diagnostics};
use weld_common::digest::UnitDigest;
use weld_common::host::Host;
use weld_common::io::input::{InputFile, InputStore};
use weld_common::io::output::{self, OutputFile};
use weld_common::io::reason;
use weld_common::io::spare;
use weld_common::io::stamp::Stamp;
use weld_common::par;
use weld_common::relink::copy;
use weld_common::relink::directory::{self, Place, STATE, TABLES, Unusable};
use weld_common::relink::leaves::Write;
use weld_common::relink::system;
use weld_common::relink::warnings::KeptWarning;
use weld_common::relink::witness::{Stay, Witness};

use crate::coff::machine::Machine;
use crate::input::search::Search;
use crate::job::Job;
use crate::options::{Incremental, Options};
use crate::report::files;
use block::Block;
use changes::{ChangedObject, Changes};
use full_link_reason::Why;
use memo::{Digest, ImageNotes, KnownFile, KnownObject, KnownOutput, Memo};
use patch::{Last, Patch};

/// An input that nobody has written to for so long is not likely to be written anew with what it has: it is not hashed.
const RESTED: Duration = Duration::from_secs(3600);

/// The other names of the image, its PDB and the PDB of `/pdbstripped`.
const NAMES: [&str; 3] = ["a", "pdb", "stripped"];
/// Those that they have after each second relink.
const OTHER_NAMES: [&str; 2] = ["b", "pdb2"];

/// The name that is not in use.
fn other_name(name: &str) -> &'static str {
    match name {
        "a" => OTHER_NAMES[0],
        "b" => NAMES[0],
        "pdb" => OTHER_NAMES[1],
        _ => NAMES[1],
    }
}

/// A link that may relink.
pub struct Session {
    mode: Incremental,
    begun: SystemTime,
    dir: PathBuf,
    place: Result<Place, Why>,
    request: Digest,
    /// What the command line was warned of, which each link finds out by itself.
    said: usize,
    /// Why the next link cannot relink.
    never: OnceLock<Why>,
    /// What the outputs hold that are written with the image.
    reports: Mutex<Vec<(PathBuf, Vec<Digest>)>>,
    image: Mutex<Option<KnownImage>>,
    /// What the next link is to know, when this one has come to its end.
    memo: Mutex<Option<Memo>>,
    /// What a link that is to be verified would have left as it is.
    held: Mutex<Option<Memo>>,
    /// The PDB that goes with it.
    told_pdb: OnceLock<Vec<u8>>,
    stay: Stay,
}

impl Session {
    /// `None` if nobody asks for it. `said`: messages so far.
    pub fn begin(options: &Options, said: usize, host: &dyn Host) -> Option<Session> {
        if options.incremental == Incremental::Off || options.library || options.inputs.is_empty() {
            return None;
        }
        let dir = match (&options.incremental_dir, &options.out) {
            (Some(dir), _) => dir.clone(),
            (None, Some(out)) => directory::beside(out),
            (None, None) => PathBuf::new(),
        };
        let never = OnceLock::new();
        if let Some(why) = against::against(options) {
            _ = never.set(why);
        }
        let place = match never.get() {
            Some(why) => Err(why.clone()),
            None => Place::open(&dir, host).map_err(Why::from),
        };
        // What changes no output is left out.
        let mut asked = options.clone();
        (asked.threads, asked.reports.time, asked.incremental) = (None, false, Incremental::On);
        asked.detach = None;
        let request = UnitDigest::of(format!("{asked:?}").as_bytes()).bytes();
        Some(Session {
            mode: options.incremental,
            begun: SystemTime::now(),
            dir,
            place,
            request,
            said,
            never,
            reports: Mutex::default(),
            image: Mutex::default(),
            memo: Mutex::default(),
            held: Mutex::default(),
            told_pdb: OnceLock::new(),
            stay: Stay::default(),
        })
    }

    fn log(&self, text: &str) {
        // Whoever reads the log of links before learns why this one is not like them.
        let is_there = || !self.dir.as_os_str().is_empty() && self.dir.join("lock").is_file();
        match &self.place {
            Ok(place) => place.log(text),
            Err(why) if matches!(why, Why::Place(Unusable::Busy)) || is_there() => {
                directory::log(&self.dir, text);
            }
            Err(_) => {}
        }
    }

    /// Nothing is kept for the next link.
    fn give_up(&self, why: Why) {
        let text = format!("nothing is kept for the next link: {why}");
        if self.never.set(why).is_ok() {
            self.log(&text);
        }
    }

    /// The next link cannot relink: bitcode is compiled, which depends on more than is known here.
    pub fn compiles(&self) {
        self.give_up(Why::Nature("there is link-time optimisation"));
    }

    /// Whether a full link is to be made all the same.
    pub fn verifies(&self) -> bool {
        self.mode == Incremental::Verify
    }

    /// Has the outputs be as new, if nothing has changed; whether that is so.
    ///
    /// # Errors
    /// If standard output cannot be written to.
    pub fn relink(&self, job: &Job) -> Result<bool, Diagnostics> {
        let done = job.step("relink", || self.attempt(job));
        let text = match &done {
            Ok(done) => done.to_string(),
            Err(why) => format!("full link: {why}"),
        };
        self.log(&text);
        job.trace.note("incremental", || text);
        if done.is_ok() && !self.verifies() {
            job.report_trace(job.options.reports.time, None)?;
        }
        Ok(done.is_ok())
    }

    fn attempt(&self, job: &Job) -> Result<Done, Why> {
        let place = self.place.as_ref().map_err(Clone::clone)?;
        let memo = self.last_memo(place)?;
        let Changes { files, looked_at, objects } =
            changes::find(&memo, job.options, (job.store, place), self.begun)?;
        memo.outputs.iter().try_for_each(|output| is_whole(place, output))?;
        let mut next = Memo { files, ..memo };
        let mut done = Done::Nothing(looked_at);
        if !objects.is_empty() {
            let patch = self.patch(job, place, &objects, &next)?;
            place.forget_state().map_err(|e| Why::system("remove", &place.path(STATE), &e))?;
            for (output, writes) in next.outputs.iter_mut().zip([&patch.image, &patch.pdb]) {
                self.write(place, output, writes)?;
            }
            next.image = patch.notes;
            for (number, outline) in patch.outlines {
                next.files[number].object.iter_mut().for_each(|object| object.outline = outline);
            }
            if !patch.names.is_empty() {
                self.renew_tables(place, &mut next, patch.names, &patch.blocks)?;
            }
            let (sections, bytes, followers) = (patch.sections, patch.bytes, patch.followers);
            let is_edited = next.image.is_edited;
            done = Done::Patched { objects: objects.len(), sections, bytes, followers, is_edited };
        }
        place.forget_state().map_err(|e| Why::system("remove", &place.path(STATE), &e))?;
        if self.verifies() {
            // A full link that fails leaves the outputs as they were, and no state.
            *self.held.lock().unwrap() = Some(next);
        } else {
            self.renew(job, place, next)?;
        }
        Ok(done)
    }

    /// What changes in the image and the PDB, which are the first outputs.
    fn patch<'j>(
        &self,
        job: &Job<'j>,
        place: &Place,
        objects: &[ChangedObject<'j>],
        memo: &Memo,
    ) -> Result<Patch, Why> {
        let name = |number: usize| memo.outputs.get(number).and_then(|output| output.name.as_deref());
        let path = |number: usize| place.path(name(number).unwrap_or_default());
        let open =
            |number: usize| File::open(path(number)).map_err(|e| Why::system("read", &path(number), &e));
        let store = InputStore::new(job.host);
        let (image, pdb) = (open(0)?, if job.options.debug.pdb { Some(open(1)?) } else { None });
        let bytes = match &pdb {
            // Not one of the inputs.
            Some(_) => store.open(&path(1)).ok().flatten().ok_or_else(|| Why::Output(path(1)))?,
            None => &[],
        };
        let image_path = path(0);
        let pdb_path = memo.outputs.get(1).map_or(Path::new(""), |output| &output.path);
        let pdb = pdb.as_ref().map(|file| (file, bytes, pdb_path));
        let tables = File::open(place.path(TABLES)).ok();
        let tables = tables.as_ref();
        let last = Last { memo, notes: &memo.image, tables, image: (&image, &image_path), pdb };
        patch::of_objects(job.options, objects, &last, job.store)
    }

    /// Writes what is kept beside the memo anew: names, and what is known of objects.
    fn renew_tables(
        &self,
        place: &Place,
        next: &mut Memo,
        names: Vec<u8>,
        blocks: &HashMap<usize, Block>,
    ) -> Result<(), Why> {
        let path = place.path(TABLES);
        let old = std::fs::read(&path).map_err(|e| Why::system("read", &path, &e))?;
        let mut all = names;
        next.image.names = 0..all.len() as u64;
        next.image.names_digest = digests::of_bytes(&all);
        for (number, file) in next.files.iter_mut().enumerate() {
            let Some(object) = &mut file.object else { continue };
            let start = all.len();
            match blocks.get(&number) {
                Some(block) => {
                    block.put(&mut all);
                    object.digest = digests::of_bytes(&all[start..]);
                }
                None => {
                    let range = object.block.start as usize..object.block.end as usize;
                    all.extend_from_slice(old.get(range).ok_or(Why::State("has no rows of an object"))?);
                }
            }
            object.block = start as u64..all.len() as u64;
        }
        place.write(TABLES, [&all[..]]).map_err(|e| Why::system("write", &path, &e))
    }

    /// Makes the file that an output is to be. It is what the output was before the last relink, with what that
    /// wrote; if somebody may have it, or there has been none, a copy of the output.
    fn write(&self, place: &Place, output: &mut KnownOutput, writes: &[Write]) -> Result<(), Why> {
        let Some(name) = &output.name else { return Ok(()) };
        let (path, other) = (place.path(name), other_name(name));
        let other_path = place.path(other);
        let spare = output.spare.take();
        let written = || -> std::io::Result<Stamp> {
            let old = File::open(&path)?;
            let known = spare.and_then(|(stamp, ranges)| {
                let (file, own) = spare::open_alone(&other_path).ok()?;
                (own == stamp).then_some((file, ranges))
            });
            let (new, is_copied) = match known {
                Some((file, ranges)) => {
                    copy::ranges(&old, &file, &ranges)?;
                    (file, false)
                }
                None => {
                    let file = place.create(other)?;
                    copy::copy(&old, &file)?;
                    file.set_permissions(old.metadata()?.permissions())?;
                    (file, true)
                }
            };
            writes.iter().try_for_each(|(offset, bytes)| spare::write_all_at(&new, bytes, *offset))?;
            digests::renew(&mut output.digests, &new, writes)?;
            if is_copied {
                place.adopt(other)?;
            }
            Stamp::at(&other_path)
        };
        output.stamp = written().map_err(|e| Why::system("write", &other_path, &e))?;
        output.name = Some(other.to_owned());
        let range = |(offset, bytes): &Write| *offset..*offset + bytes.len() as u64;
        // The stamp comes when the output has taken its place.
        output.spare = Some((Stamp::default(), writes.iter().map(range).collect()));
        Ok(())
    }

    /// Has the outputs be as new as if they had been written now.
    fn renew(&self, job: &Job, place: &Place, mut memo: Memo) -> Result<(), Why> {
        if let Some(path) = job.store.changed(false) {
            return Err(Why::Changing(path));
        }
        // As in full links, the image is the last.
        for output in memo.outputs.iter_mut().rev() {
            let path = &output.path;
            if let Some(name) = &output.name
                && !is_file_of(path, output.stamp)
            {
                output::replace_by(path, &place.path(name), job.host)
                    .map_err(|e| Why::system("write", path, &e))?;
            }
            let failed = |e: std::io::Error| Why::system("set the time of", path, &e);
            if !output.is_kept {
                File::open(path).and_then(|file| file.set_modified(SystemTime::now())).map_err(failed)?;
            }
            output.stamp = Stamp::at(path).map_err(failed)?;
            if let (Some(name), Some((stamp, _))) = (&output.name, &mut output.spare)
                && *stamp == Stamp::default()
            {
                *stamp = Stamp::at(&place.path(other_name(name))).unwrap_or_default();
            }
        }
        KeptWarning::repeated(&memo.warnings).for_each(|warning| job.sink.push(warning));
        // Without it, the next link is a full one.
        _ = place.write(STATE, [&memo.encode()[..]]);
        Ok(())
    }

    /// What the last link left, if it was of the same kind.
    fn last_memo(&self, place: &Place) -> Result<Memo, Why> {
        let bytes = place.state().map_err(|e| Why::system("read", &place.path(STATE), &e))?;
        let bytes = bytes.ok_or(Why::First)?;
        let memo = Memo::decode(&bytes)?;
        let (build, boot) = this_system()?;
        if memo.build != build {
            return Err(Why::State("is that of another weld"));
        }
        if memo.boot != boot {
            return Err(Why::Rebooted);
        }
        if memo.request != self.request {
            return Err(Why::Command);
        }
        Ok(memo)
    }

    /// The directory, if anything is to be kept there.
    fn keeper(&self) -> Option<&Place> {
        self.place.as_ref().ok().filter(|_| self.never.get().is_none())
    }

    /// Whether anything is kept for the next link.
    pub fn keeps(&self) -> bool {
        self.keeper().is_some()
    }

    /// Right before the outputs take their places: gives the image and its PDBs their other names, and looks at what
    /// is written with them.
    pub fn name_outputs<'h>(&self, job: &Job, files: impl IntoIterator<Item = &'h OutputFile<'h>>) {
        let Some(place) = self.keeper() else { return };
        if let Err(error) = place.forget_state() {
            return self.give_up(Why::system("remove", &place.path(STATE), &error));
        }
        for (file, name) in files.into_iter().zip(NAMES) {
            let path = place.new_path(name);
            _ = std::fs::remove_file(&path);
            if let Err(error) = file.link_to(&path) {
                return self.give_up(Why::system("give an output the name", &path, &error));
            }
        }
        *self.reports.lock().unwrap() =
            job.reports.each(|path, text| (path.to_owned(), digests::of_parts(text)));
    }

    /// A full link begins, whose caller need not wait for what is kept. Figures are of all that it does.
    pub fn begin_full_link(&self, job: &Job) {
        if self.keeps() && !self.verifies() && !job.trace.is_enabled() {
            self.stay.ask(job.host, job.options.detach);
        }
    }

    /// The outputs have taken their places: lets go of whoever waits, and finds out what the next link has to know.
    pub fn keep(&self, job: &Job, outputs: &[Output], (search, machine): (&Search, Machine), parallel: bool) {
        let Some(place) = self.keeper() else { return };
        let held = self.held_outputs();
        let last = place.of_last_link();
        // From then on tools may change them.
        let adopted: Result<Vec<Stamp>, Why> = outputs.iter().map(|output| adopt(place, output)).collect();
        let inputs = (job.store, self.begun);
        let witness = self.stay.let_go(place, (job.host, job.sink), inputs, parallel);
        drop(last);
        let memo = job.step("state of the link", || {
            let adopted: Vec<_> = outputs.iter().zip(adopted?).collect();
            self.memo(job, &adopted, (search, machine), (&witness, parallel))
        });
        match memo {
            Err(why) => self.give_up(why),
            Ok(memo) => {
                let relinked = self.held.lock().unwrap().take();
                if let Some(relinked) = relinked {
                    self.compare(job, (&relinked, &held), &memo);
                }
                *self.memo.lock().unwrap() = Some(memo);
            }
        }
    }

    fn memo(
        &self,
        job: &Job,
        outputs: &[(&Output, Stamp)],
        (search, machine): (&Search, Machine),
        (witness, parallel): (&Witness, bool),
    ) -> Result<Memo, Why> {
        let place = self.place.as_ref().map_err(Clone::clone)?;
        let outputs = outputs.iter().map(|output| self.known_output(place, *output, parallel));
        let mut image = self.image.lock().unwrap().take().unwrap_or_default();
        image.notes.names = 0..image.names.len() as u64;
        image.notes.names_digest = digests::of_bytes(&image.names);
        let mut lookups = search.lookups();
        // Such as the PDBs that compilers say they wrote types to.
        lookups.missing.extend(job.store.missing());
        let (files, blocks, known) = self.files(job, &image, parallel)?;
        // Of objects of which nothing is kept nobody would know what they refer to.
        let is_plain = |block: &&Option<Block>| block.as_ref().is_none_or(|block| block.is_plain);
        if known < image.blocks.values().filter(is_plain).count() && image.notes.against_sizes.is_empty() {
            image.notes.against_sizes = "an object is linked twice, or is not understood".to_owned();
        }
        place
            .write(TABLES, [&image.names[..], &blocks[..]])
            .map_err(|e| Why::system("write", &place.path(TABLES), &e))?;
        let (build, boot) = this_system()?;
        let memo = Memo {
            build,
            boot,
            request: self.request,
            outputs: outputs.collect::<Result<_, _>>()?,
            files,
            lookups,
            toolchain: search.late().map(|dirs| (machine.number(), dirs.to_owned())),
            warnings: Vec::new(),
            against: image.against,
            image: image.notes,
        };
        // What has been looked at since the outputs were complete must be what they were made of.
        witness.changed(parallel).map_or(Ok(memo), |path| Err(Why::Changing(path)))
    }

    /// An output, which had this stamp, as the next link is to find it.
    fn known_output(
        &self,
        place: &Place,
        (output, stamp): (&Output, Stamp),
        parallel: bool,
    ) -> Result<KnownOutput, Why> {
        let path = output.path.as_path();
        let failed = |e: std::io::Error| Why::system("look at", path, &e);
        let name = output.is.name();
        let at = output.path_in(place);
        let digests = digests::of_file(&at, parallel).map_err(failed)?;
        let reports = self.reports.lock().unwrap();
        // Somebody may have changed the file since it was there.
        let is_own = match name {
            Some(_) => is_file_of(path, stamp) && Stamp::at(&at).is_ok_and(|now| now == stamp),
            None => reports.iter().find(|(of, _)| of == path).is_none_or(|(_, written)| *written == digests),
        };
        if !is_own {
            return Err(Why::Output(path.to_owned()));
        }
        let is_kept = output.is == Is::ImportLibrary;
        let (path, name) = (path.to_owned(), name.map(str::to_owned));
        Ok(KnownOutput { path, stamp, digests, name, spare: None, is_kept })
    }

    /// The files that were read, each once, what is kept of objects among them, and how many of these may have sections of
    /// other sizes.
    fn files(
        &self,
        job: &Job,
        image: &KnownImage,
        parallel: bool,
    ) -> Result<(Vec<KnownFile>, Vec<u8>, usize), Why> {
        let mut all = job.store.files();
        // A link that could not relink has opened some of them before.
        let is_linked = |file: &InputFile| image.blocks.contains_key(&file.bytes.as_ptr().addr());
        all.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| is_linked(b).cmp(&is_linked(a))));
        if let Some([one, _]) = all.array_windows().find(|[a, b]| a.path == b.path && a.stamp != b.stamp) {
            return Err(Why::Changing(one.path.clone()));
        }
        // As itself and as a member of a thin archive: then its bytes have several places.
        let is_twice = |[a, b]: &&[InputFile; 2]| a.path == b.path && is_linked(a) && is_linked(b);
        let twice: HashSet<PathBuf> =
            all.array_windows().filter(is_twice).map(|[a, _]| a.path.clone()).collect();
        all.dedup_by(|a, b| a.path == b.path);
        if all.iter().any(|file| file.stamp.is_none()) {
            return Err(Why::Nature("an input is a pipe or a device"));
        }
        let own = changes::owners(all.iter().filter_map(|file| file.stamp));
        let limit = self.begun.checked_sub(RESTED).unwrap_or(SystemTime::UNIX_EPOCH);
        let known = par::runs("digests of inputs", parallel, all.len(), 8, |run| {
            let file = |number: usize| {
                let file = &all[number];
                let stamp = file.stamp.filter(|stamp| stamp.is_older_than(self.begun));
                let is_likely = stamp.is_none_or(|stamp| !stamp.is_modified_before(limit));
                let block = image.blocks.get(&file.bytes.as_ptr().addr()).and_then(Option::as_ref);
                let block = block.filter(|_| !twice.contains(&file.path));
                let machine = Machine::of_number(image.notes.machine);
                let pdb = job.options.debug.pdb;
                let known = block.zip(machine).and_then(|(block, machine)| {
                    let coff = outline::object(file.bytes)?;
                    let outline = outline::of(&coff, (machine, pdb), &block.rows)?;
                    Some((
                        outline,
                        Block { frame: outline::frame(&coff, pdb, &block.rows)?, ..block.clone() },
                    ))
                });
                let (mut bytes, mut is_plain) = (Vec::new(), false);
                let object = known.map(|(outline, block)| {
                    block.put(&mut bytes);
                    is_plain = block.is_plain;
                    KnownObject { outline, block: 0..0, digest: digests::of_bytes(&bytes) }
                });
                let has_digest = is_likely && object.is_none();
                let digest = has_digest.then(|| digests::of_bytes(file.bytes));
                let path = file.path.clone();
                (KnownFile { path, stamp, same_as: own[number], digest, object }, bytes, is_plain)
            };
            run.map(file).collect::<Vec<_>>()
        });
        let (mut files, mut blocks, mut plain) = (Vec::new(), Vec::new(), 0);
        for (mut file, own, is_plain) in known.into_iter().flatten() {
            let start = (image.names.len() + blocks.len()) as u64;
            blocks.extend(own);
            let end = (image.names.len() + blocks.len()) as u64;
            file.object.iter_mut().for_each(|object| object.block = start..end);
            files.push(file);
            plain += usize::from(is_plain);
        }
        Ok((files, blocks, plain))
    }

    /// The link has come to its end, with these messages: leaves the memo.
    pub fn finish(&self, messages: &[Diagnostic]) {
        let (Some(place), Some(mut memo)) = (self.keeper(), self.memo.lock().unwrap().take()) else { return };
        memo.warnings = KeptWarning::of(messages.get(self.said..).unwrap_or_default());
        if place.write(STATE, [&memo.encode()[..]]).is_err() {
            self.log("nothing is kept for the next link: the state cannot be written");
        }
    }
}

impl Drop for Session {
    /// What has not become an output, because the link failed, is of no use.
    fn drop(&mut self) {
        if self.held.lock().is_ok_and(|held| held.is_some()) {
            self.log("the full link that was to verify failed: there is no state");
        }
        if let Ok(place) = &self.place {
            NAMES.iter().chain(&OTHER_NAMES).for_each(|name| _ = std::fs::remove_file(place.new_path(name)));
        }
    }
}

/// What a link has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    Image,
    Pdb,
    StrippedPdb,
    /// It stays as old as it is if it would not change, so that what is linked with it is not linked again.
    ImportLibrary,
    Other,
}

impl Is {
    /// The name that relinks give it, if they write it.
    fn name(self) -> Option<&'static str> {
        match self {
            Is::Image => Some(NAMES[0]),
            Is::Pdb => Some(NAMES[1]),
            Is::StrippedPdb => Some(NAMES[2]),
            Is::ImportLibrary | Is::Other => None,
        }
    }
}

/// A file that a link has written.
pub struct Output {
    is: Is,
    path: PathBuf,
}

impl Output {
    /// Of two links that write to one path, this may not be the one whose file is there: so by its other name.
    fn path_in(&self, place: &Place) -> PathBuf {
        self.is.name().map_or_else(|| self.path.clone(), |name| place.path(name))
    }
}

/// Gives an output its other name, and says what it is like.
fn adopt(place: &Place, output: &Output) -> Result<Stamp, Why> {
    let failed = |e: std::io::Error| Why::system("look at", &output.path, &e);
    if let Some(name) = output.is.name() {
        place.adopt(name).map_err(failed)?;
        if name != NAMES[2] {
            place.remove(other_name(name)).map_err(failed)?;
        }
    }
    Stamp::at(&output.path_in(place)).map_err(failed)
}

/// What a link has written, as reports list it.
pub fn outputs(written: Vec<(&'static str, PathBuf)>) -> Vec<Output> {
    let is = |what: &str| match what {
        files::IMAGE => Is::Image,
        files::PDB => Is::Pdb,
        files::STRIPPED_PDB => Is::StrippedPdb,
        files::IMPORT_LIBRARY => Is::ImportLibrary,
        _ => Is::Other,
    };
    written.into_iter().map(|(what, path)| Output { is: is(what), path }).collect()
}

/// What a link knows of the image that it writes.
#[derive(Default)]
struct KnownImage {
    notes: ImageNotes,
    /// What is known of objects, by the addresses of their bytes; `None` if an object is linked twice.
    blocks: HashMap<usize, Option<Block>>,
    names: Vec<u8>,
    against: String,
}

/// What a relink has done.
enum Done {
    /// So many files had been written to and hold what they held.
    Nothing(usize),
    Patched {
        objects: usize,
        sections: usize,
        bytes: usize,
        followers: usize,
        /// A full link would put something elsewhere.
        is_edited: bool,
    },
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match *self {
            Done::Nothing(0) => f.write_str("relinked: no input has changed"),
            Done::Nothing(1) => f.write_str("relinked: no input has changed; 1 file was looked at"),
            Done::Nothing(files) => {
                write!(f, "relinked: no input has changed; {files} files were looked at")
            }
            Done::Patched { objects, sections, bytes, followers, is_edited } => {
                write!(f, "relinked: {sections} section{} of ", plural(sections))?;
                write!(f, "{objects} object{}, {bytes} byte{}", plural(objects), plural(bytes))?;
                if followers > 0 {
                    write!(f, ", and {followers} more that refer to what has moved")?;
                }
                if is_edited { f.write_str("; a full link would put some things elsewhere") } else { Ok(()) }
            }
        }
    }
}

/// The program that links, and the time since the system was started.
fn this_system() -> Result<(Digest, Vec<u8>), Why> {
    let both = || Ok((system::build()?, system::boot()?));
    both().map_err(|e| Why::System(format!("cannot find out what system this is: {}", reason(&e))))
}

/// That an output is what the last link wrote, or can be had.
fn is_whole(place: &Place, output: &KnownOutput) -> Result<(), Why> {
    // One with another name may have been unlinked, or replaced.
    let path = output.name.as_ref().map_or(output.path.clone(), |name| place.path(name));
    let is_same = || -> Option<bool> {
        let stamp = Stamp::at(&path).ok()?;
        // Links to it come and go, and a tool that sets times back would look the same.
        let is_moved = stamp.is_same_but_links(&output.stamp);
        Some(stamp == output.stamp || is_moved && digests::of_file(&path, false).ok()? == output.digests)
    };
    let is_replaced = || output::is_replaced(&output.path).unwrap_or(false);
    (is_same() == Some(true) && (output.name.is_none() || is_replaced()))
        .then_some(())
        .ok_or_else(|| Why::Output(output.path.clone()))
}

/// Whether a path is a name of the file with this stamp; a symbolic link is none.
fn is_file_of(path: &Path, stamp: Stamp) -> bool {
    let own = std::fs::symlink_metadata(path).ok().and_then(|meta| Stamp::of(&meta));
    own.is_some_and(|own| (own.device, own.number) == (stamp.device, stamp.number))
}

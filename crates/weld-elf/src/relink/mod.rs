//! Relinking: an output is made from the one before where inputs have changed, and all else stays
//! (`--incremental`).
//!
//! A full link that is asked to keeps beside its output what a later one wants ([`directory`]): a *memo* of what
//! it read and wrote ([`memo`]), its rows ([`crate::relink_state`]), and a second *image* of the output
//! ([`images`]). The later link asks the system which inputs have changed ([`changes`]). If none has, the
//! output is as new. If objects have, and only in bytes of their own sections, these are written again, each
//! by itself ([`patch`]), into the image that nobody uses, which becomes the output. The program is then the
//! one that a full link gives, byte for byte; `verify` compares.
//!
//! A relink does not fail. What it cannot be sure of is a full link, for one reason ([`full_link_reason`]), which is in
//! the log and in `--stats`; what a full link finds wrong, it says. Until the first byte is written nothing
//! has happened. From then on there is no memo until all is done, so whoever is killed leaves an output that
//! is whole, and a full link to the next.
//!
//! The order of a relink is [`Session::attempt`], of what a full link does beside [`save_state`].

mod changes;
mod command;
pub mod directory;
mod eligibility;
mod fitted;
mod full_link_reason;
mod images;
mod libraries;
mod members;
mod memo;
mod patch;
mod save_state;
mod skeleton;
mod stood_for;
mod units;
mod yard_object;

#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use weld_common::args::response::Expanded;
use weld_common::diag::Diagnostics;
use weld_common::digest::UnitDigest;
use weld_common::host::Host;
use weld_common::io::output;
use weld_common::io::reason;
use weld_common::io::spare;
use weld_common::io::stamp::Stamp;
use weld_common::io::units::digest_of;
use weld_common::relink::warnings::KeptWarning;
use weld_common::relink::witness::Stay;
use weld_common::text;

use crate::ids::FileId;
use crate::job::Job;
use crate::options::{BuildId, Incremental, Options};
use crate::relink_state::Unreadable;
use crate::relink_state::file::StateFile;
use changes::Changes;
use command::Request;
pub use command::{boot, build};
use directory::{Place, STATE, TABLES, Unusable};
use full_link_reason::{Changed, Why};
pub use members::TakingPart;
use memo::{Is, Memo};
use patch::{LastLink, Offered, Patch};

pub use eligibility::{COMPILED, GATEWAYS};

/// If more objects have changed, and more than one of so many, a full link is faster: what changes of each is looked for
/// several times, and whoever refers to what moves is written again.
const MANY: usize = 64;

/// A link that may relink.
pub struct Session {
    mode: Incremental,
    begun: SystemTime,
    dir: PathBuf,
    /// The directory of the state, and what the link is asked for.
    place: Result<Place, Why>,
    request: Result<Request, Why>,
    /// Why the next link cannot relink.
    never: OnceLock<Why>,
    /// It was possible to relink.
    is_relinked: OnceLock<()>,
    /// It cannot be known whether that was right: the state cannot be read as a whole.
    is_unknown: OnceLock<()>,
    /// What the next link is to know, when this one has come to its end.
    memo: Mutex<Option<Memo>>,
    /// What a relink has made, until a full link has made the same.
    held: Mutex<Option<Held>>,
    /// The objects of a full link of which the next may have others.
    units: Mutex<units::Found>,
    stay: Stay,
    /// The output of a full link as it was then; tools may have changed it since.
    image: OnceLock<Stamp>,
    /// From this file on, objects are spare, or have taken the places of such.
    spare_from: OnceLock<u32>,
    /// The object whose sections have yards.
    yard_object: OnceLock<FileId>,
    taking_part: TakingPart,
}

/// A relink that is to be verified: the output is not replaced yet, and there is no state.
struct Held {
    /// What the last link left, the image of that, and what the next is to know.
    last: Memo,
    current: File,
    next: Memo,
    /// It is another image than the last one.
    is_patched: bool,
}

impl Held {
    /// The image that is to be the output.
    fn image(&self, place: &Place) -> PathBuf {
        let (current, other) = images::names(self.last.current);
        place.path(if self.is_patched { other } else { current })
    }
}

/// What a relink has done.
enum Done {
    /// Nothing that is in the output has changed, in so many objects that have.
    Nothing(usize),
    Patched {
        objects: usize,
        sections: usize,
        bytes: usize,
    },
}

impl Session {
    /// `None` if nobody asks for it.
    pub fn begin(
        options: &Options,
        args: &Expanded,
        host: &dyn Host,
        taking_part: TakingPart,
    ) -> Option<Session> {
        let mode = options.output.incremental;
        if mode == Incremental::Off {
            return None;
        }
        let begun = SystemTime::now();
        let replaced = output::is_replaced(&options.output.path).is_ok_and(|is_replaced| is_replaced);
        let dir = directory::path(options);
        let place = match replaced {
            true => Place::open(&dir, host).map_err(Why::from),
            false => Err(Why::Nature("the output is not a file that can be replaced")),
        };
        let never = OnceLock::new();
        if let Some(why) = eligibility::of_options(options) {
            _ = never.set(why);
        }
        let request = Request::new(args, options, host);
        Some(Session {
            mode,
            begun,
            dir,
            place,
            request,
            never,
            is_relinked: OnceLock::new(),
            is_unknown: OnceLock::new(),
            memo: Mutex::default(),
            held: Mutex::default(),
            units: Mutex::default(),
            stay: Stay::default(),
            image: OnceLock::new(),
            spare_from: OnceLock::new(),
            yard_object: OnceLock::new(),
            taking_part,
        })
    }

    /// The next link cannot relink either.
    pub fn never(&self, why: &'static str) {
        _ = self.never.set(Why::Nature(why));
    }

    /// Whether a relink is to be compared with a full link.
    pub fn verifies(&self) -> bool {
        self.mode == Incremental::Verify
    }

    /// Adds a line to the log, if there is one.
    fn log(&self, text: &str) {
        match &self.place {
            Ok(place) => place.log(text),
            Err(Why::Place(Unusable::Busy)) => directory::log(&self.dir, text),
            Err(_) => {}
        }
    }

    /// Relinks; whether that was possible.
    ///
    /// # Errors
    /// If standard output cannot be written to.
    pub fn relink(&self, job: &Job) -> Result<bool, Diagnostics> {
        let done = job.step("relink", || self.attempt(job));
        let (is_done, text) = match done {
            Ok(done) => (true, done.to_string()),
            Err(why) => (false, format!("full link: {why}")),
        };
        self.log(&text);
        job.trace.note("incremental", || text);
        if is_done {
            _ = self.is_relinked.set(());
        }
        if is_done && !self.verifies() {
            let reports = &job.options.reports;
            job.report_trace(reports.stats, reports.time_trace.as_deref())?;
            job.write_reports()?;
        }
        Ok(is_done)
    }

    fn attempt(&self, job: &Job) -> Result<Done, Why> {
        if let Some(why) = self.never.get() {
            return Err(why.clone());
        }
        let place = self.place.as_ref().map_err(Clone::clone)?;
        if self.mode == Incremental::ForceFull {
            return Err(Why::Asked);
        }
        // Is it the same link?
        let memo = self.last_memo(place, job)?;
        // Which inputs have changed?
        let mut changes = Changes::find(&memo, job.store, self.begun)?;
        members::find((&memo, place), (job, self.taking_part), &mut changes)?;
        units::lay_skeletons(&memo.units, &changes.files, job);
        if changes.objects.len() > MANY && changes.objects.len() > changes.all_objects() / MANY {
            return Err(Why::Much);
        }
        // What does that change?
        let current = images::open_current(place, &memo)?;
        let patch = match changes.objects.is_empty() {
            true => Patch::default(),
            false => patch_of((job, self.taking_part), place, (&memo, &current), &mut changes)?,
        };
        if let Some(object) = changes.objects.first()
            && !memo.warnings.is_empty()
            && !patch.writes.is_empty()
        {
            return Err(Why::Warned(changes.files[object.file].path.clone()));
        }
        self.write(job, place, (memo, changes), (patch, current))
    }

    /// Has the output be what was found.
    fn write(
        &self,
        job: &Job,
        place: &Place,
        (memo, changes): (Memo, Changes),
        (patch, current): (Patch, File),
    ) -> Result<Done, Why> {
        let has_other_members = memo.has_other_members || changes.is_resolved;
        let mut next = Memo { files: changes.files, has_other_members, ..memo.clone() };
        let objects = changes.objects.len();
        if objects > 0 {
            // Also where no byte of the image changes: what an object mentions may be told apart later.
            next.values = patch.values;
            next.pieces.extend(patch.pieces);
            // Of each object that was looked at, those are all that are not in the tables.
            let looked_at: HashSet<u32> = changes.objects.iter().map(|object| object.row).collect();
            next.mentions.retain(|(input, _)| !looked_at.contains(input));
            next.mentions.extend(patch.mentions);
            next.mentions.sort_unstable();
            next.mentions.dedup();
            next.asks.extend(patch.asks);
            next.names = patch.names;
            next.guests = patch.guests;
            next.holes = patch.holes;
            next.extents = patch.extents;
            next.init_arrays = patch.init_arrays;
            next.lists = patch.lists;
            next.runs = patch.runs;
            next.imports = patch.imports;
            next.words = patch.words;
        }
        let is_patched = !patch.writes.is_empty();
        let mut done = Done::Nothing(objects);
        if is_patched {
            next.leaves = patch::leaves(&memo, &current, (&patch.writes, &patch.borders))?;
            let mut writes = patch.writes;
            let bytes = writes.iter().map(|(_, bytes)| bytes.len()).sum();
            if job.options.notes.build_id == BuildId::Fast {
                writes.push((memo.id.start, digest_of(&next.leaves).bytes().to_vec()));
            }
            place.forget_state().map_err(|e| Why::system("remove", &place.path(STATE), &e))?;
            let image = images::spare(place, &memo, &current)?;
            let path = place.path(images::names(memo.current).1);
            for (offset, bytes) in &writes {
                spare::write_all_at(&image, bytes, *offset).map_err(|e| Why::system("write", &path, &e))?;
            }
            next.current = 1 - memo.current;
            next.last = writes.iter().map(|(offset, bytes)| *offset..*offset + bytes.len() as u64).collect();
            done = Done::Patched { objects: patch.objects, sections: patch.sections, bytes };
        }
        let held = Held { last: memo, current, next, is_patched };
        if self.verifies() {
            // A full link that fails, or makes something else, leaves the output as it was, and no state.
            place.forget_state().map_err(|e| Why::system("remove", &place.path(STATE), &e))?;
            *self.held.lock().unwrap() = Some(held);
        } else {
            self.put(job, place, held)?;
        }
        Ok(done)
    }

    /// Has the output be what a relink has made.
    fn put(&self, job: &Job, place: &Place, held: Held) -> Result<(), Why> {
        let image = held.image(place);
        let Held { last, current, next, is_patched } = held;
        self.last_look(job, place, &last)?;
        match is_patched {
            true => images::put(job, &image)?,
            false => images::renew(job, place, &last, &current)?,
        }
        // A full link says so itself.
        if !self.verifies() {
            KeptWarning::repeated(&last.warnings).for_each(|warning| job.sink.push(warning));
        }
        self.remember(place, next);
        Ok(())
    }

    /// The last thing before the output takes its place: inputs are what they were, and reports are written.
    /// There is no state from here on.
    fn last_look(&self, job: &Job, place: &Place, memo: &Memo) -> Result<(), Why> {
        if let Some(path) = job.store.changed(false) {
            return Err(Why::Changing(path));
        }
        place.forget_state().map_err(|e| Why::system("remove", &place.path(STATE), &e))?;
        if let (Some(path), Some(text)) = (&job.options.reports.dependency_file, &memo.dependencies) {
            let failed = |e: Diagnostics| Why::System(e.to_string());
            job.report(path, &text::text(text)).map_err(failed)?;
            job.write_reports().map_err(|e| Why::System(e.message))?;
        }
        Ok(())
    }

    /// What the last link left, if it was of the same kind.
    fn last_memo(&self, place: &Place, job: &Job) -> Result<Memo, Why> {
        let bytes = place.state().map_err(|e| Why::system("read", &place.path(STATE), &e))?;
        let bytes = bytes.ok_or(Why::First)?;
        let mut memo = Memo::decode(&bytes)?;
        let failed =
            |e: std::io::Error| Why::System(format!("cannot find out which weld this is: {}", reason(&e)));
        if memo.build != command::build().map_err(failed)? {
            return Err(Why::Unreadable(Unreadable::OtherBuild));
        }
        let failed = |e: std::io::Error| {
            Why::System(format!("cannot find out when the system started: {}", reason(&e)))
        };
        if memo.boot != command::boot().map_err(failed)? {
            return Err(Why::Rebooted);
        }
        let request = self.request.as_ref().map_err(Clone::clone)?;
        if request.digest != memo.request.digest || request.random.len() != memo.request.random.len() {
            return Err(Why::Command);
        }
        let last = memo.request.clone();
        let renamed = request.renamed(&last);
        if !renamed.is_empty() && memo.dependencies.is_some() {
            // The text names files by their old names.
            return Err(Why::Command);
        }
        if !renamed.is_empty() {
            for file in Arc::make_mut(&mut memo.files) {
                if let Some(name) = renamed.get(file.path.as_os_str().as_encoded_bytes()) {
                    file.path = text::os_str(name).into();
                }
            }
        }
        units::bring_up_to_date(&mut memo, request, job)?;
        memo.request = request.clone();
        Ok(memo)
    }

    /// Writes the memo for the next link. If that cannot be done there is none.
    fn remember(&self, place: &Place, mut memo: Memo) -> bool {
        let at = place.path(images::names(memo.current).0);
        let Some(current) = self.image.get().copied().or_else(|| Stamp::at(&at).ok()) else { return false };
        memo.images = directory::IMAGES.map(|name| Stamp::at(&place.path(name)).unwrap_or_default());
        memo.images[usize::from(memo.current)] = current;
        place.write(STATE, [&memo.encode()[..]]).is_ok()
    }
}

/// What changes make otherwise in the image of the last link.
fn patch_of(
    (job, taking_part): (&Job, TakingPart),
    place: &Place,
    (memo, image): (&Memo, &File),
    changes: &mut Changes,
) -> Result<Patch, Why> {
    let tables = place.map(TABLES).map_err(|_| Why::First)?;
    let tables = StateFile::open(&tables, UnitDigest::from_bytes(memo.build))?;
    if tables.digest().bytes() != memo.tables {
        return Err(Why::Unreadable(Unreadable::Damaged));
    }
    let last = LastLink {
        tables: &tables,
        memo,
        image,
        names: &memo.names,
        guests: &memo.guests,
        holes: &memo.holes,
        extents: &memo.extents,
        init_arrays: &memo.init_arrays,
        lists: &memo.lists,
        runs: &memo.runs,
        imports: &memo.imports,
        words: &memo.words,
        offered: &Offered::default(),
        is_resolved: changes.is_resolved,
    };
    let found = patch::of_objects(job, changes, &last);
    let Err(Why::Object(_, Changed::Name(_) | Changed::Names | Changed::NoMore(_))) = &found else {
        return found;
    };
    // Archives may offer what is mentioned for the first time, or no more.
    let mut again = changes.clone();
    let has_archives = changes.files.iter().any(|file| matches!(file.is, Is::Archive(_)));
    if changes.is_resolved || !has_archives {
        return found;
    }
    match members::resolve(&memo.units, (job, taking_part), &mut again) {
        Ok(()) => {}
        Err(why @ (Why::NewUnit(..) | Why::GoneUnit(_) | Why::Order(_))) => return Err(why),
        Err(_) => return found,
    }
    *changes = again;
    units::lay_skeletons(&memo.units, &changes.files, job);
    patch::of_objects(job, changes, &LastLink { is_resolved: true, ..last })
}

impl Drop for Session {
    /// An image that has not become one, because the link failed, is of no use.
    fn drop(&mut self) {
        if self.held.lock().is_ok_and(|held| held.is_some()) {
            self.log(
                "the full link that was to verify failed: the output is as it was, and there is no state",
            );
        }
        if let Ok(place) = &self.place {
            directory::IMAGES.iter().for_each(|name| _ = std::fs::remove_file(place.new_path(name)));
        }
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Done::Nothing(0) => f.write_str("relinked: no input has changed"),
            Done::Nothing(1) => {
                f.write_str("relinked: nothing of 1 changed object is otherwise in the output")
            }
            Done::Nothing(objects) => {
                write!(f, "relinked: nothing of {objects} changed objects is otherwise in the output")
            }
            Done::Patched { objects, sections, bytes } => {
                let plural = |count: usize| if count == 1 { "" } else { "s" };
                write!(
                    f,
                    "relinked: {sections} section{} of {objects} object{}",
                    plural(*sections),
                    plural(*objects)
                )?;
                write!(f, ", {bytes} byte{}", plural(*bytes))
            }
        }
    }
}

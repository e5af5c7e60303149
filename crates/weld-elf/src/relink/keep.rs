//! What a full link keeps for the next one, and what it does for that on its way.
//!
//! While the image is written each unit goes to a second file, too. Right before the output takes its place it gets
//! another name, by which it is the first image; so an output that is unlinked or replaced is still there. When all
//! is in place the rows are written, and last the memo, with what the link had to warn of.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use weld_common::diag::{Diagnostic, Severity};
use weld_common::digest::UnitDigest;
use weld_common::io::input::InputFile;
use weld_common::io::output::OutputFile;
use weld_common::io::units::Leaves;
use weld_common::{par, text};

use super::Session;
use super::command;
use super::memo::{Is, KnownFile, Memo, short};
use super::nature;
use super::place::{IMAGES, Place, TABLES};
use super::why::Why;
use crate::job::{Context, Job};
use crate::report::dependencies;
use crate::state::State;
use crate::state::collect::Link;
use crate::state::file::StateFile;
use crate::state::rows::{InputRow, input_kind};
use crate::synth::image::Image;

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

    fn give_up(&self, why: Why) {
        if self.never.set(why).is_ok()
            && let Some(why) = self.never.get()
        {
            self.log(&format!("nothing is kept for the next link: {why}"));
        }
    }

    /// Finds out whether there is something that is not relinked. Has a second file get what is written to `file`.
    pub fn begin_images(&self, file: &mut OutputFile, image: &Image, context: &Context) {
        if self.keeper().is_some()
            && let Some(why) = nature::of_link(context, image.resolved, image.live)
        {
            self.give_up(why);
        }
        // To be compared, one is enough.
        if self.is_relinked.get().is_some() {
            return;
        }
        let Some(place) = self.keeper() else { return };
        let second = place.create(IMAGES[1]).and_then(|second| file.write_twin(second));
        if let Err(error) = second {
            self.give_up(Why::system("write", &place.new_path(IMAGES[1]), &error));
        }
    }

    /// If a relink is to be verified, and was one: whether `file`, which a full link has made, is the same. If not, it
    /// is to take the output's place.
    pub fn is_verified(&self, job: &Job, file: &OutputFile, image: &Image) -> bool {
        if self.is_relinked.get().is_none() {
            return false;
        }
        let Some(at) = first_difference(&job.options.output.path, file) else { return true };
        let sections = &image.layout.sections;
        let around = sections
            .iter()
            .find(|out| !out.is_nobits() && (out.offset.0..out.offset.0 + out.size).contains(&at));
        let name = around.map_or("the headers".into(), |out| text::text(&out.name));
        let message = format!(
            "what was relinked differs from what a full link makes at {at:#x} of the file ({name}); it was replaced"
        );
        self.log(&message);
        job.sink.push(Diagnostic::warning(message).note("this is a bug in weld; please report it"));
        self.give_up(Why::First);
        if let Ok(place) = &self.place {
            _ = place.forget_state();
        }
        false
    }

    /// Gives the output, which is complete but for its place, the name of an image.
    pub fn name_image(&self, file: &mut OutputFile) {
        let Some(place) = self.keeper() else { return };
        let path = place.new_path(IMAGES[0]);
        if file.take_twin().is_none() {
            return self.give_up(Why::System("there is no room for a second image of the output".to_owned()));
        }
        _ = std::fs::remove_file(&path);
        if let Err(error) = file.link_to(&path) {
            self.give_up(Why::system("give the output the name", &path, &error));
        }
    }

    /// The output has taken its place: keeps all but the memo.
    pub fn keep(&self, job: &Job, link: &Link, (leaves, id): (Leaves, Option<Range<u64>>)) {
        if link.files.iter().any(|file| file.stamp.is_none()) {
            self.give_up(Why::Nature("an input is a pipe or a device"));
        }
        let (Some(place), Ok(request)) = (self.keeper(), &self.request) else { return };
        let state = job.step("state of the link", || link.state());
        let kept = job.step("keep the state", || self.keep_in(place, &state));
        match kept {
            Ok((build, tables)) => {
                let memo = Memo {
                    build: build.bytes(),
                    boot: command::boot().unwrap_or_default(),
                    request: request.clone(),
                    tables,
                    current: 0,
                    images: Default::default(),
                    id: id.unwrap_or(0..0),
                    files: self.files(&state, &link.files, link.context),
                    missing: missing(job),
                    warnings: Vec::new(),
                    dependencies: dependency_text(job, link.context),
                    leaves,
                    last: Vec::new(),
                };
                *self.memo.lock().unwrap() = Some(memo);
            }
            Err(error) => self.give_up(Why::system("write to", &place.path(""), &error)),
        }
    }

    /// Has the images and the tables take their places.
    fn keep_in(&self, place: &Place, state: &State) -> io::Result<(UnitDigest, [u8; 20])> {
        place.forget_state()?;
        IMAGES.iter().try_for_each(|name| place.adopt(name))?;
        let rights = std::fs::metadata(place.path(IMAGES[0]))?.permissions();
        std::fs::set_permissions(place.path(IMAGES[1]), rights)?;
        let build = UnitDigest::from_bytes(command::build()?);
        let bytes = state.write(build);
        place.write(TABLES, &bytes)?;
        let file = &bytes[..];
        let written = StateFile::open(&file, build).map_err(io::Error::other)?;
        Ok((build, written.digest().bytes()))
    }

    /// The link has come to its end, with these messages: leaves the memo.
    pub fn finish(&self, messages: &[Diagnostic]) {
        let (Ok(place), Some(mut memo)) = (&self.place, self.memo.lock().unwrap().take()) else { return };
        let warnings = messages.iter().filter(|message| message.severity == Severity::Warning);
        let bytes = |text: &String| text::bytes(text).into_owned();
        memo.warnings = warnings.map(|d| (bytes(&d.message), d.notes.iter().map(bytes).collect())).collect();
        if !memo.boot.is_empty() && !self.remember(place, memo) {
            self.log("nothing is kept for the next link: the state cannot be written");
        }
    }

    /// The files of the link, as the rows have them.
    fn files(&self, state: &State, opened: &[InputFile], context: &Context) -> Vec<KnownFile> {
        let mut known: HashMap<&[u8], &InputFile> = HashMap::new();
        let mut changed: Vec<&Path> = Vec::new();
        for file in opened {
            let first = known.entry(file.path.as_os_str().as_encoded_bytes()).or_insert(file);
            if first.stamp != file.stamp {
                changed.push(&file.path);
            }
        }
        let objects = objects(state);
        let found = par::runs("digests of inputs", context.parallel, state.files.len(), 8, |run| {
            let file = |number: usize| {
                let row = &state.files[number];
                let path = PathBuf::from(text::os_str(state.text(row.given)));
                let file = known.get(state.text(row.given));
                let stamp = file.and_then(|file| file.stamp);
                let stamp = stamp.filter(|s| s.is_older_than(self.begun) && !changed.contains(&&*path));
                let is = match (objects[number], file) {
                    (Some(input), _) => Is::Object(input),
                    (None, file) => Is::Other(file.map_or(0, |file| short(UnitDigest::of(file.bytes)))),
                };
                KnownFile { path, stamp, is }
            };
            run.map(file).collect::<Vec<_>>()
        });
        found.into_iter().flatten().collect()
    }
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

//! The two images of an output, which are written in turn.
//!
//! One is the output, under another name; programs run it, debuggers read it, tools have links to it. So the
//! other one is written: it is what the output was one relink before, gets what that changed, then what this
//! one changes, and takes the output's place. If anybody may have it, or there has been no relink since the
//! last full link, a copy of the output is written in its stead.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use weld_common::io::output;
use weld_common::io::spare::open_alone;
use weld_common::io::stamp::Stamp;
use weld_common::relink::copy;

use super::directory::{IMAGES, Place};
use super::full_link_reason::Why;
use super::memo::Memo;
use super::patch;
use crate::job::Job;

/// The names of an image and of the other one.
pub fn names(current: u8) -> (&'static str, &'static str) {
    let [a, b] = IMAGES;
    if current == 0 { (a, b) } else { (b, a) }
}

/// Opens the image that is the output, or was when the last link ended.
///
/// # Errors
/// If it is not what the last link has written.
pub fn open_current(place: &Place, memo: &Memo) -> Result<File, Why> {
    let path = place.path(names(memo.current).0);
    let file = File::open(&path).map_err(|_| Why::Image)?;
    let stamp = file.metadata().ok().and_then(|meta| Stamp::of(&meta)).ok_or(Why::Image)?;
    let known = memo.images[usize::from(memo.current)];
    // Links to it come and go, and a tool that sets times back would look the same.
    let is_whole = stamp == known || stamp.is_same_but_links(&known) && patch::is_whole(memo, &file);
    is_whole.then_some(file).ok_or(Why::Image)
}

/// The other image, with all that the current one has. There must be no state any more.
///
/// # Errors
/// If it cannot be written.
pub fn spare(place: &Place, memo: &Memo, current: &File) -> Result<File, Why> {
    let (_, name) = names(memo.current);
    let path = place.path(name);
    if let Ok((file, stamp)) = open_alone(&path) {
        let known = memo.images[usize::from(1 - memo.current)];
        let is_known = stamp == known;
        if is_known || stamp.is_same_but_links(&known) {
            copy::ranges(current, &file, &memo.last).map_err(|e| Why::system("write", &path, &e))?;
            if is_known || patch::is_whole(memo, &file) {
                return Ok(file);
            }
        }
    }
    let before = Stamp::of(&current.metadata().map_err(|_| Why::Image)?);
    let copied = || -> io::Result<File> {
        let file = place.create(name)?;
        copy::copy(current, &file)?;
        file.set_permissions(current.metadata()?.permissions())?;
        place.adopt(name)?;
        Ok(file)
    };
    let file = copied().map_err(|e| Why::system("copy the output to", &path, &e))?;
    // Was it written to meanwhile?
    let after = current.metadata().ok().and_then(|meta| Stamp::of(&meta));
    let is_still = before.zip(after).is_some_and(|(before, after)| before.is_same_but_links(&after));
    is_still.then_some(file).ok_or(Why::Image)
}

/// Has an image be the output.
///
/// # Errors
/// If the output cannot be replaced.
pub fn put(job: &Job, image: &Path) -> Result<(), Why> {
    let path = &job.options.output.path;
    output::replace_by(path, image, job.host).map_err(|e| Why::system("write", path, &e))
}

/// Has the current image be the output, as new as if it had been written now.
///
/// # Errors
/// If the output cannot be replaced.
pub fn renew(job: &Job, place: &Place, memo: &Memo, file: &File) -> Result<(), Why> {
    let (path, image) = (&job.options.output.path, place.path(names(memo.current).0));
    let is_there = |a: Stamp, b: Stamp| (a.device, a.number) == (b.device, b.number);
    let own = Stamp::at(&image).map_err(|e| Why::system("look at", &image, &e))?;
    // A symbolic link in the output's place is replaced by every link.
    let is_output = std::fs::symlink_metadata(path)
        .ok()
        .and_then(|meta| Stamp::of(&meta))
        .is_some_and(|out| is_there(out, own));
    if !is_output {
        put(job, &image)?;
    }
    file.set_modified(SystemTime::now()).map_err(|e| Why::system("set the time of", path, &e))
}

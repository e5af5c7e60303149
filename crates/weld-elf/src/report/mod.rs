//! What a link has to say: errors about symbols, and the reports that options ask for.
//!
//! Everything here is off the common path of a link that succeeds: what errors need to be clear
//! (referrers, functions, source lines, likely causes) is looked up when there is an error, and a
//! report costs nothing unless its option is given.
//!
//! Texts name places as `file:(section+offset)`; source lines are added last, by [`source`], and only
//! to what will be shown.

pub mod discarded;
pub mod duplicates;
pub mod hints;
pub mod place;
pub mod source;
pub mod undefined;
pub mod versions;

use std::borrow::Cow;

use weld_common::demangle;
use weld_common::diag::{Diagnostic, Diagnostics};

use crate::ids::*;
use crate::image::Image;
use crate::input::sections::Sections;
use crate::link::{Context, Job};
use crate::live::Live;
use crate::options::Options;
use crate::resolve::Resolved;

/// A symbol's name for people: demangled unless `--no-demangle`.
pub fn shown<'n>(options: &Options, name: &'n [u8]) -> Cow<'n, str> {
    if options.demangle { demangle::demangle(name) } else { String::from_utf8_lossy(name) }
}

/// How many errors get all their details: as many as are shown.
pub fn detailed(options: &Options) -> usize {
    if options.error_limit == 0 { usize::MAX } else { options.error_limit }
}

/// `--print-gc-sections`.
pub fn removed_sections(job: &Job, resolved: &Resolved, sections: &Sections, live: &Live) {
    let mut text = String::new();
    for object in &resolved.objects {
        for shndx in 1..object.shdrs.len() as u32 {
            let id = SectionId(object.section_base + shndx);
            if sections.get(id).in_image() && !live.contains(id) {
                text += &format!(
                    "removing unused section {}:({})\n",
                    object.name,
                    object.section_label(shndx as usize)
                );
            }
        }
    }
    job.host.print(&text);
}

/// Reports on the finished image: maps, cross references, dependencies.
pub fn outputs(_job: &Job, _image: &Image, _context: &Context) -> Result<(), Diagnostics> {
    Ok(())
}

/// `--stats` and `--time-trace`.
pub fn finish_trace(job: &Job) -> Result<(), Diagnostics> {
    if job.options.stats {
        job.host.print(&job.trace.stats());
    }
    if let Some(path) = &job.options.time_trace {
        std::fs::write(path, job.trace.to_json())
            .map_err(|e| Diagnostic::error(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok(())
}

//! What sections ask of their place that cannot be: to be in the order of sections that are not in the image,
//! or to be one section in which some bytes are a template for threads and others are not.
//!
//! Specification: gABI chapter 4 (`SHF_LINK_ORDER`, `SHF_TLS`).

use weld_common::diag::{Cause, Diagnostic};

use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::job::Job;
use crate::live::Live;
use crate::resolve::Resolved;
use crate::sections::{SectionKind, Sections};

pub fn report(job: &Job, resolved: &Resolved, sections: &Sections, live: &Live) {
    let mut kinds = vec![0u8; sections.bins.len()];
    for (object, extra) in resolved.objects.iter().zip(&sections.objects) {
        for &(follower, leader) in &extra.link_order {
            check_link(job, object, sections, live, follower, leader);
        }
        for used in &extra.uses {
            kinds[used.bin.index()] |= kind_of(used.any_flags) | kind_of(used.all_flags);
        }
    }
    for bin in (0..kinds.len()).filter(|bin| kinds[*bin] == TLS | PLAIN) {
        mixture(job, resolved, sections, live, PlacementId(bin as u32));
    }
}

const TLS: u8 = 1;
const PLAIN: u8 = 2;

fn kind_of(flags: u64) -> u8 {
    if flags & SHF_TLS != 0 { TLS } else { PLAIN }
}

/// What is in the image must not be linked to what is not, or to what is in pieces.
fn check_link(job: &Job, object: &Object, sections: &Sections, live: &Live, follower: u32, leader: u32) {
    let id = |shndx: u32| SectionId(object.section_base + shndx);
    let is_here = |id: SectionId| sections.get(id).in_image() && live.contains(id);
    if !is_here(id(follower)) {
        return;
    }
    let why = match sections.get(id(leader)).kind() {
        SectionKind::Merge | SectionKind::EhFrame => "is not in one piece in the output",
        _ if !is_here(id(leader)) => "is not in the output",
        _ => return,
    };
    let label = object.section_label(leader as usize);
    let text = format!("is in the order of section {leader} (sh_link), {label}, which {why}");
    job.sink.push(object.at_section(follower).error(Cause::SectionFlags, text));
}

/// Reports that the output section of `bin` would be thread-local in parts: a section of each kind. One that
/// gc removed has its say in the output section's flags all the same; only where all that is left is
/// thread-local, that is right.
fn mixture(job: &Job, resolved: &Resolved, sections: &Sections, live: &Live, bin: PlacementId) {
    let find = |kind: u8, dead: bool| {
        resolved.objects.iter().find_map(|object| {
            let mine = |shndx: &usize| {
                let id = SectionId(object.section_base + *shndx as u32);
                let section = sections.get(id);
                let here = section.in_image() && (dead || live.contains(id)) && section.bin() == bin;
                here && kind_of(object.shdrs[*shndx].sh_flags()) == kind
            };
            let shndx = (1..object.shdrs.len()).find(mine)?;
            Some(object.at_section(shndx as u32).to_string())
        })
    };
    let (Some(template), Some(other)) = (find(TLS, true), find(PLAIN, false)) else { return };
    let name = String::from_utf8_lossy(sections.bins[bin.index()]);
    let diagnostic = Diagnostic::error(
        Cause::SectionFlags,
        format!("section {name} would be thread-local (SHF_TLS) in parts only"),
    )
    .note(format!("thread-local in {template}"))
    .note(format!("not so in {other}"));
    job.sink.push(diagnostic);
}

//! The graph of the sections that may be folded.
//!
//! Sieves come first: most sections are unlike all others in size and number of relocations, or in their
//! bytes, and what they lead to need not be looked at. What passes is a vertex. Its colour is a hash of all
//! that it is made of, but for other vertices that it leads to: these are its edges.

use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::hash::{hash_bytes, join};
use weld_common::{par, zeroed};

use super::Link;
use super::addrsig::Significance;
use super::contents::{Destination, Frames, Parts, Vertex};
use crate::elf::*;
use crate::ids::*;
use crate::sections::SectionKind;
use crate::sections::bins::bin as bins;
use crate::sections::names::is_c_identifier;
use weld_common::partition_refinement::{Contents, Graph};

/// Objects looked at by one task, sections, and sections of which the contents are.
const OBJECTS: usize = 16;
const SECTIONS: usize = 1 << 13;
const VERTICES: usize = 1 << 10;

/// A section that may be folded, and a hash of what is known of it.
#[derive(Clone, Copy)]
struct Candidate {
    section: SectionId,
    object: u32,
    hash: u64,
}

/// What sections of a bin can be folded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    No,
    ReadOnly,
    /// Only the loader writes there.
    Relro,
    /// Exception tables: nothing but a frame leads there.
    Table,
}

/// Tells keys that occur once from most of those that occur more often.
struct Sieve {
    once: Vec<AtomicU32>,
    again: Vec<AtomicU32>,
    mask: u64,
}

impl Sieve {
    fn new(keys: usize) -> Self {
        let bits = (keys * 8).next_power_of_two().max(32);
        Sieve { once: zeroed::sparse(bits / 32), again: zeroed::sparse(bits / 32), mask: bits as u64 - 1 }
    }

    fn add(&self, key: u64) {
        let (word, bit) = self.place(key);
        if self.once[word].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            self.again[word].fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Whether the key may have been added more than once.
    fn repeats(&self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        self.again[word].load(Ordering::Relaxed) & bit != 0
    }

    fn place(&self, key: u64) -> (usize, u32) {
        let place = key & self.mask;
        ((place / 32) as usize, 1 << (place % 32))
    }
}

/// The candidates whose hashes others have, too.
fn sieve(candidates: Vec<Candidate>, parallel: bool) -> Vec<Candidate> {
    let sieve = Sieve::new(candidates.len());
    par::runs("count hashes", parallel, candidates.len(), SECTIONS, |run| {
        candidates[run].iter().for_each(|candidate| sieve.add(candidate.hash));
    });
    let kept = par::runs("keep repeated hashes", parallel, candidates.len(), SECTIONS, |run| {
        let repeats = |candidate: &&Candidate| sieve.repeats(candidate.hash);
        candidates[run].iter().filter(repeats).copied().collect()
    });
    par::concat("join repeated hashes", parallel, kept)
}

/// The vertices, and where they are.
pub struct Vertices<'c, 'a> {
    link: &'c Link<'c, 'a>,
    pub list: Vec<Vertex>,
    /// Of each object.
    frames: Vec<Frames>,
    /// Of each section: one more than its vertex, or 0.
    of_section: Vec<AtomicU32>,
}

impl<'c, 'a> Vertices<'c, 'a> {
    pub fn find(link: &'c Link<'c, 'a>, significance: &Significance) -> Self {
        let names: Vec<Name> =
            (0..).zip(&link.sections.bins).map(|(number, name)| kind_of(PlacementId(number), name)).collect();
        let found = par::runs("candidates for folding", link.parallel, link.objects.len(), OBJECTS, |run| {
            let mut found = Vec::new();
            run.for_each(|object| candidates(link, significance, &names, object, &mut found));
            found
        });
        let mut candidates = sieve(par::concat("join candidates", link.parallel, found), link.parallel);
        par::in_pieces(
            "hash sections",
            link.parallel,
            (&mut candidates, VERTICES),
            |_, candidates| {
                for Candidate { section, object, hash } in candidates {
                    *hash = join(*hash, hash_bytes(link.bytes(&link.objects[*object as usize], *section)));
                }
            },
            |()| {},
        );
        Self::new(link, sieve(candidates, link.parallel))
    }

    fn new(link: &'c Link<'c, 'a>, candidates: Vec<Candidate>) -> Self {
        let of_section: Vec<AtomicU32> = zeroed::sparse(link.sections.list.len());
        let by_object: Vec<&[Candidate]> = candidates.chunk_by(|a, b| a.object == b.object).collect();
        let found = par::runs("frames of sections", link.parallel, by_object.len(), OBJECTS, |run| {
            let (mut list, mut frames) = (Vec::new(), Vec::new());
            for candidates in &by_object[run] {
                let object = candidates[0].object;
                let base = link.objects[object as usize].section_base;
                let wanted =
                    |shndx: u32| candidates.binary_search_by_key(&shndx, |c| c.section.0 - base).is_ok();
                let mine = link.frames(object as usize, wanted);
                let mut end = 0;
                for candidate in *candidates {
                    let shndx = candidate.section.0 - base;
                    let start = end;
                    end += mine[start..].iter().take_while(|frame| frame.0 == shndx).count();
                    list.push(Vertex {
                        section: candidate.section,
                        object,
                        frames: start as u32,
                        frames_end: end as u32,
                    });
                }
                frames.push((object, mine));
            }
            (list, frames)
        });
        let mut vertices =
            Vertices { link, list: Vec::with_capacity(candidates.len()), frames: Vec::new(), of_section };
        vertices.frames.resize_with(link.objects.len(), Vec::new);
        for (mut list, frames) in found {
            vertices.list.append(&mut list);
            frames.into_iter().for_each(|(object, frames)| vertices.frames[object as usize] = frames);
        }
        for (number, vertex) in (1..).zip(&vertices.list) {
            vertices.of_section[vertex.section.index()].store(number, Ordering::Relaxed);
        }
        vertices
    }

    fn vertex(&self, section: SectionId) -> Option<u32> {
        self.of_section[section.index()].load(Ordering::Relaxed).checked_sub(1)
    }

    fn parts(&self, vertex: u32, parts: &mut Parts<'a>) {
        let vertex = &self.list[vertex as usize];
        self.link.parts(vertex, &self.frames[vertex.object as usize], parts);
    }

    pub fn graph(&self) -> Graph {
        let runs =
            par::runs("relocations of sections", self.link.parallel, self.list.len(), VERTICES, |run| {
                let (mut colours, mut ends, mut targets) = (Vec::new(), Vec::new(), Vec::new());
                let mut parts = Parts::default();
                for number in run {
                    self.parts(number as u32, &mut parts);
                    colours.push(self.colour(&self.list[number], &parts, &mut targets));
                    ends.push(targets.len() as u32);
                }
                (colours, ends, targets)
            });
        let mut graph = Graph { colours: Vec::new(), starts: vec![0], targets: Vec::new() };
        for (mut colours, ends, mut targets) in runs {
            let before = graph.targets.len() as u32;
            graph.colours.append(&mut colours);
            graph.starts.extend(ends.into_iter().map(|end| before + end));
            graph.targets.append(&mut targets);
        }
        graph
    }

    /// The hash of what a vertex is made of. Adds what it leads to to `targets`.
    fn colour(&self, vertex: &Vertex, parts: &Parts, targets: &mut Vec<u32>) -> u64 {
        let section = self.link.sections.get(vertex.section);
        let mut colour = join(u64::from(section.bin().0), self.flags(vertex));
        for bytes in &parts.bytes {
            colour = join(colour, hash_bytes(bytes));
        }
        for reloc in &parts.relocs {
            let target = match reloc.target {
                Destination::Section { section, .. } => self.vertex(section),
                _ => None,
            };
            targets.extend(target);
            colour = join(colour, reloc.hash(target.is_some()));
        }
        colour
    }

    fn flags(&self, vertex: &Vertex) -> u64 {
        let object = &self.link.objects[vertex.object as usize];
        telling_flags(&object.shdrs[(vertex.section.0 - object.section_base) as usize])
    }
}

impl Contents for Vertices<'_, '_> {
    fn equal_to(&self, vertex: u32) -> Box<dyn FnMut(u32) -> bool + '_> {
        let (mut mine, mut theirs) = (Parts::default(), Parts::default());
        self.parts(vertex, &mut mine);
        let fixed = |number: u32| {
            let vertex = &self.list[number as usize];
            (self.flags(vertex), self.link.sections.get(vertex.section).bin())
        };
        let is_vertex = |section: SectionId| self.vertex(section).is_some();
        Box::new(move |other| {
            self.parts(other, &mut theirs);
            let relocs = || mine.relocs.iter().zip(&theirs.relocs);
            fixed(vertex) == fixed(other)
                && mine.bytes == theirs.bytes
                && mine.relocs.len() == theirs.relocs.len()
                && relocs().all(|(a, b)| a.is_like(b, is_vertex))
        })
    }
}

/// The flags in which sections that are folded agree. Being in a group is of no account any longer.
fn telling_flags(shdr: &Shdr) -> u64 {
    shdr.sh_flags() & !SHF_GROUP
}

/// What sections of a bin are to folding, by its name. Code of `.init` and `.fini` is run through from one
/// object to the next, and programs go through sections whose names are C identifiers.
fn kind_of(bin: PlacementId, name: &[u8]) -> Name {
    match (bin, name) {
        (bins::RELRO, _) => Name::Relro,
        (bins::EXCEPTION_TABLE | bins::ARM_EXCEPTION_TABLE, _) => Name::Table,
        (_, b".init" | b".fini" | b".ctors" | b".dtors") => Name::No,
        _ if is_c_identifier(name) => Name::No,
        _ => Name::ReadOnly,
    }
}

fn candidates(
    link: &Link,
    significance: &Significance,
    names: &[Name],
    index: usize,
    found: &mut Vec<Candidate>,
) {
    let object = &link.objects[index];
    for (shndx, shdr) in object.shdrs.iter().enumerate() {
        let id = SectionId(object.section_base + shndx as u32);
        let section = link.sections.get(id);
        let name = names.get(section.bin().index()).copied().unwrap_or(Name::No);
        if section.kind() != SectionKind::Regular || name == Name::No {
            continue;
        }
        let flags = shdr.sh_flags();
        let writable = if name == Name::Relro { 0 } else { SHF_WRITE };
        if shdr.sh_type() != SHT_PROGBITS
            || flags & (SHF_ALLOC | SHF_LINK_ORDER | writable) != SHF_ALLOC
            || !link.live.contains(id)
        {
            continue;
        }
        let may_share = || significance.may_share(index, id, flags & SHF_EXECINSTR != 0);
        if name == Name::Table || may_share() {
            let relocs = link.count_relocs(index, id) as u64;
            let key = join(section.size, relocs << 32 | u64::from(section.bin().0));
            found.push(Candidate { section: id, object: index as u32, hash: join(key, telling_flags(shdr)) });
        }
    }
}

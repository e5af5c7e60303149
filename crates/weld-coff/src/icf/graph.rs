//! The sections that can be folded, and what they lead to, as a graph.
//!
//! A vertex is a section. Its colour is a hash of all that it is made of but for the sections it refers to
//! that may be folded themselves: those are its edges, in the order of relocations, and after them the
//! sections that go with it.

use object::LittleEndian as LE;
use weld_common::hash::{hash_bytes, join};
use weld_common::par;
use weld_common::partition_refinement::{Contents, Graph};

use super::Link;
use super::addrsig::Compared;
use crate::coff::machine::Machine;
use crate::coff::object::Relocation;
use crate::coff::pe;
use crate::ids::SectionId;
use crate::input::object::Object;
use crate::options::Icf;
use crate::sections::{Kind, Section};
use crate::symbols::{Kind as SymbolKind, Symbol, of_object};

/// Sections looked at by one task.
const RUN: usize = 1 << 12;

/// Marks sections that are no vertices.
const NONE: u32 = u32::MAX;

pub struct Vertices<'c, 'a> {
    link: Link<'c, 'a>,
    /// The section of each vertex, ascending.
    pub list: Vec<SectionId>,
    /// The vertex of each section.
    of_section: Vec<u32>,
}

/// What a relocation leads to, as far as it does not depend on what is folded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// An offset in a section that may be folded.
    Vertex(u64),
    Other(Symbol),
}

impl<'c, 'a> Vertices<'c, 'a> {
    pub fn find(link: &Link<'c, 'a>, compared: &Compared) -> Vertices<'c, 'a> {
        let count = link.sections.list.len();
        let runs = par::runs("sections to fold", link.parallel, count, RUN, |run| {
            let ids = run.map(|id| SectionId(id as u32));
            ids.filter(|&id| is_candidate(link, compared, id)).collect::<Vec<_>>()
        });
        let list: Vec<SectionId> = par::concat("join sections to fold", link.parallel, runs);
        let mut of_section = par::filled("room for numbers", link.parallel, count, 0, NONE);
        let number = |first: usize, part: &mut [u32]| {
            let (start, end) = (list.partition_point(|id| id.index() < first), first + part.len());
            let own = list[start..].iter().take_while(|id| id.index() < end);
            (start as u32..).zip(own).for_each(|(vertex, id)| part[id.index() - first] = vertex);
        };
        par::in_pieces("number sections", link.parallel, (&mut of_section, 16 * RUN), number, |()| ());
        Vertices { link: *link, list, of_section }
    }

    pub fn graph(&self) -> Graph {
        let runs = par::runs("contents of sections", self.link.parallel, self.list.len(), RUN, |run| {
            let (mut colours, mut counts, mut targets) = (Vec::new(), Vec::new(), Vec::new());
            for vertex in run {
                let before = targets.len();
                colours.push(self.colour(self.list[vertex], &mut targets));
                counts.push((targets.len() - before) as u32);
            }
            (colours, counts, targets)
        });
        let (mut colours, mut starts, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        let mut sum = 0;
        for (some_colours, counts, some_targets) in runs {
            starts.push((sum, counts));
            sum += some_targets.len() as u32;
            colours.push(some_colours);
            targets.push(some_targets);
        }
        let parallel = self.link.parallel;
        let add_up = |_, runs: &mut [(u32, Vec<u32>)]| {
            for (start, counts) in runs {
                counts.iter_mut().for_each(|count| *start += std::mem::replace(count, *start));
            }
        };
        par::in_pieces("add up", parallel, (&mut starts, 4), add_up, |()| ());
        let mut starts = starts.into_iter().map(|(_, starts)| starts).collect::<Vec<_>>();
        starts.push(vec![sum]);
        Graph {
            colours: par::concat("join contents", parallel, colours),
            starts: par::concat("join contents", parallel, starts),
            targets: par::concat("join contents", parallel, targets),
        }
    }

    fn object(&self, section: &Section) -> &'c Object<'a> {
        &self.link.resolved.objects[section.object.index()]
    }

    fn relocations(&self, section: &Section) -> &'a [Relocation] {
        let object = self.object(section);
        let header = self.link.sections.header(&self.link.resolved.objects, section);
        object.coff.relocations(header).unwrap_or_default()
    }

    fn contents(&self, section: &Section) -> &'a [u8] {
        let header = self.link.sections.header(&self.link.resolved.objects, section);
        self.object(section).coff.contents(header).unwrap_or_default()
    }

    fn target(&self, section: &Section, relocation: &Relocation) -> (Target, u32) {
        let index = relocation.symbol_table_index.get(LE);
        let (symbols, sections) = (self.link.symbols, self.link.sections);
        let symbol = of_object(symbols, sections, section.object, self.object(section), index);
        if symbol.kind == SymbolKind::Section && self.of_section[symbol.target as usize] != NONE {
            return (Target::Vertex(symbol.value), self.of_section[symbol.target as usize]);
        }
        // With `/force`, names that nobody defines stay different ones.
        if symbol.kind == SymbolKind::Undefined
            && let Some(name) = self.object(section).global(index)
        {
            return (Target::Other(Symbol { target: name.0, ..symbol }), NONE);
        }
        (Target::Other(symbol), NONE)
    }

    /// Sections that go with one: those in the image.
    fn children(&self, section: &Section) -> impl Iterator<Item = SectionId> {
        let sections = self.link.sections;
        let mut child = section.first_child;
        std::iter::from_fn(move || {
            let id = child.is_some().then_some(child)?;
            child = sections.get(id).next_sibling;
            Some(id)
        })
        .filter(move |&id| sections.get(id).is_in_image() && sections.get(id).kind != Kind::Dwarf)
    }

    /// A hash of what a section is made of; the vertices that it leads to are added to `edges`.
    fn colour(&self, id: SectionId, edges: &mut Vec<u32>) -> u64 {
        let section = self.link.sections.get(id);
        let mut hash =
            join(u64::from(section.part) << 32 | u64::from(section.size), hash_bytes(self.contents(section)));
        for relocation in self.relocations(section) {
            let place =
                u64::from(relocation.virtual_address.get(LE)) << 16 | u64::from(relocation.typ.get(LE).0);
            hash = join(hash, place);
            hash = match self.target(section, relocation) {
                (Target::Vertex(value), vertex) => {
                    edges.push(vertex);
                    join(hash, value)
                }
                (Target::Other(symbol), _) => {
                    join(join(hash, symbol.value), u64::from(symbol.target) << 8 | symbol.kind as u64)
                }
            };
        }
        for child in self.children(section) {
            match self.of_section[child.index()] {
                NONE => hash = join(hash, u64::from(child.0)),
                vertex => edges.push(vertex),
            }
        }
        hash
    }

    fn is_equal(&self, a: &Section, b: &Section) -> bool {
        let (one, other) = (self.relocations(a), self.relocations(b));
        if a.part != b.part
            || a.size != b.size
            || one.len() != other.len()
            || self.contents(a) != self.contents(b)
        {
            return false;
        }
        let same = one.iter().zip(other).all(|(one, other)| {
            one.typ.get(LE) == other.typ.get(LE)
                && one.virtual_address.get(LE) == other.virtual_address.get(LE)
                && self.target(a, one).0 == self.target(b, other).0
        });
        let child = |id: SectionId| if self.of_section[id.index()] == NONE { id } else { SectionId::NONE };
        same && self.children(a).map(child).eq(self.children(b).map(child))
    }
}

impl Contents for Vertices<'_, '_> {
    fn equal_to(&self, vertex: u32) -> Box<dyn FnMut(u32) -> bool + '_> {
        let section = |vertex: u32| self.link.sections.get(self.list[vertex as usize]);
        Box::new(move |other| self.is_equal(section(vertex), section(other)))
    }
}

/// Whether a section may be folded.
fn is_candidate(link: &Link, compared: &Compared, id: SectionId) -> bool {
    let section = link.sections.get(id);
    let writable = section.flags & pe::IMAGE_SCN_MEM_WRITE.0 != 0;
    if section.kind != Kind::Regular || !section.comdat || writable || !link.live.has(id) || section.is_bss()
    {
        return false;
    }
    if link.level == Icf::All && section.flags & pe::IMAGE_SCN_MEM_EXECUTE.0 != 0 {
        return true;
    }
    let name = &link.sections.parts[section.part as usize].name;
    let name = name.split(|&byte| byte == b'$').next().unwrap_or(name);
    matches!(name, b".pdata" | b".xdata") || is_vtable(link, section) || !compared.has(id)
}

/// Nobody compares addresses of tables of virtual functions.
fn is_vtable(link: &Link, section: &Section) -> bool {
    let object = &link.resolved.objects[section.object.index()];
    let Some(name) = object.leader_name(section.number) else { return false };
    let itanium: &[u8] = if link.resolved.machine == Machine::X86 { b"__ZTV" } else { b"_ZTV" };
    name.starts_with(b"??_7") || name.starts_with(itanium)
}

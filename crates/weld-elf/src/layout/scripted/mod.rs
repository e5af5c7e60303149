//! Layout by a linker script: another program than the default one.
//!
//! The script becomes one flat list of [`Step`]s: assignments, assertions, and output sections with what
//! stands in them. Running through it once gives everything an address (`evaluate`), and it is run through
//! until nothing changes. Input sections of a bin are not looked at one by one for that: how far they reach
//! from any place is known for each run of them ([`weld_common::runs::Extent`]), so a pass over the script
//! costs a step for each run and bin. Where nothing changes any more, each run gives its sections their
//! places, in parallel.
//!
//! * `build` makes the list, and the output sections: `compile` from what the script says, `contents` from
//!   what there is, `order` puts them in order, with places that `orphans` finds for what the script does not
//!   name, and `members` lists what lies in each;
//! * `evaluate` runs through it, with the values of `value`; `loads` has the rules for load addresses;
//! * `headers` makes program headers and offsets in the file;
//! * `promises` finds what the scan was told of symbols and is not so;
//! * `insert` adds chunks to what is laid out; `spill` moves what does not fit its memory region.
//!
//! Source: GNU ld manual, "Linker Scripts". Where ld.lld and GNU ld differ, docs/compatibility.md says what
//! holds.

mod assumed_values;
mod build;
mod compile;
mod contents;
mod evaluate;
mod headers;
mod insert;
mod loads;
mod members;
mod order;
mod orphans;
mod spill;
mod value;

use std::collections::HashMap;
use std::sync::Arc;

pub use assumed_values::broken as broken_promises;
pub(super) use build::beside_default;
pub use headers::{assign, compute};
pub use spill::{ROUNDS as SPILLS, Spiller};
pub use value::{Kind, Value};

use super::runs::Part;
use super::{Layout, Member, MergedPart};
use crate::ids::*;
use crate::layout::addresses::Bases;
use crate::layout::error::{EvalError, LayoutError, ScriptError, SectionName};
use crate::script::expr::{Expr, Op};
use crate::script::input_sections::InputSections;
use crate::script::layout::LayoutScript;
use crate::script::lexer::Place;
use crate::script::sections::Content;
use crate::sections::Sections;
use crate::sections::scripted::Rules;
use crate::symbols::Symbols;
use crate::symbols::assigned::Original;
use crate::symbols::internal::{Internals, Target};
use weld_common::par;

/// What a layout by a script is made from, besides what any layout is.
#[derive(Clone, Copy)]
pub struct Source<'s> {
    pub script: &'s Arc<LayoutScript>,
    pub rules: &'s Rules,
    /// The symbols that its expressions name and that there are.
    pub names: &'s HashMap<String, SymbolId>,
    pub internals: &'s Internals,
}

/// What values of symbols are looked up in.
#[derive(Clone, Copy)]
pub struct World<'w, 'a> {
    pub symbols: &'w Symbols,
    pub internals: &'w Internals,
    pub merged: &'w [MergedPart<'a>],
    /// Copies of libraries' variables that become read-only.
    pub relro_copies: &'w [SymbolId],
    pub bases: Bases,
    pub shared: bool,
}

/// One step of a script.
#[derive(Debug)]
enum Step {
    Assign {
        name: String,
        target: Option<usize>,
        value: Expr,
        place: Place,
        /// As the script has it.
        text: String,
    },
    Assert {
        value: Expr,
        message: String,
    },
    /// A `PROVIDE` that nobody asks for: only maps speak of it.
    NotProvided {
        name: String,
        value: Expr,
        text: String,
    },
    /// Which sections the bins that follow are for: the numbers of the output section's description and of
    /// what is in it.
    Describe(u32, u32),
    /// An output section begins; its number among the blocks.
    Begin(usize),
    /// All input sections of a bin; its number among the bins.
    Inputs(usize),
    /// A value as so many bytes; its number among the data.
    Data(usize, Expr),
    /// What fills gaps from here on.
    Fill(Vec<u8>),
    End(usize),
    /// Output sections follow that lie at the same addresses.
    BeginOverlay {
        address: Option<Expr>,
        load_address: Option<Expr>,
    },
    EndOverlay,
}

/// An output section, as the script has it or as an orphan.
#[derive(Debug)]
struct Block {
    name: Vec<u8>,
    place: Option<Place>,
    /// `None`: nothing is in it, so there is none.
    out: Option<OutputSectionId>,
    /// Where it would lie then.
    vacancy: Extent,
    address: Option<Expr>,
    /// The script gives it an address, or the overlay that it is in; or an option, if no script names it.
    fixed: bool,
    align: Option<Expr>,
    load_address: Option<Expr>,
    align_with_input: bool,
    /// Without one, that which takes its like.
    region: Option<usize>,
    /// It names no region.
    chooses: bool,
    /// That of `AT>`, or of the section before it in the same region.
    load_region: Option<usize>,
    /// `NOLOAD`
    unloaded: bool,
    /// `COPY` and kin: it is not in memory, but has an address.
    kept_out: bool,
    /// Those of `PHDRS` that it is in; `None`: as the section before it.
    phdrs: Option<Vec<usize>>,
    fill: Option<Vec<u8>>,
    /// The strictest alignment inside.
    inner_align: u64,
    /// The first block of the `OVERLAY` that it is in.
    overlay: Option<usize>,
    /// It assigns to symbols or to `.`, so its place counts although there is nothing in it.
    assigns: bool,
    /// It has data of its own, or leaves room: it is in memory, whatever its inputs are.
    makes_room: bool,
}

/// What expressions can ask of an output section.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    address: u64,
    load_address: u64,
    align: u64,
    size: u64,
}

impl Block {
    /// Whether it has the address at which it stands if it is not in memory: `.reloc` of EFI programs becomes
    /// a part of the image. But distances into debug information count from its start.
    fn stands_somewhere(&self) -> bool {
        self.kept_out || self.place.is_some() && !self.is_debug()
    }

    /// Whether the script has it at the number 0, as it does with what is for nobody in memory.
    fn is_at_nothing(&self) -> bool {
        matches!(self.address.as_ref().map(|address| &address.code[..]), Some([Op::Number(0)]))
    }

    fn is_debug(&self) -> bool {
        self.name.starts_with(b".debug") || self.name.starts_with(b".zdebug")
    }
}

/// What lies one after the other at one place of an output section.
#[derive(Debug)]
struct Bin {
    /// Run and number of each part.
    parts: Vec<(u32, u32)>,
    /// Members in an order of their own, which no runs have.
    sorted: Vec<Member>,
    chunks: Vec<ChunkId>,
}

/// Sections of a bin whose order is that of the addresses of other sections.
struct Linked {
    bin: usize,
    out: OutputSectionId,
    /// For each of the members in the order in which they were found, where what it is linked to lies: output
    /// section, and place in that.
    leaders: HashMap<Member, (OutputSectionId, u64)>,
}

/// A symbol that the script assigns to.
struct Assigned {
    value: Value,
    /// It has been assigned to in this pass.
    seen: bool,
    /// What an object defines by that name, which the script replaces: until then it is meant.
    original: Option<Original>,
}

#[derive(Clone, Copy, Default)]
struct DataSegment {
    base: u64,
    /// How far the base is moved up, so that what becomes read-only ends with a page.
    padding: u64,
    /// How often that has been found out.
    tries: u32,
    relro_end: Option<u64>,
}

/// A layout in the making: its output sections, and the input sections that get their places in them.
pub struct Draft<'d, 'a> {
    pub layout: &'d mut Layout<'a>,
    pub sections: &'d mut Sections<'a>,
}

/// A script while it lays out.
pub struct Scripted {
    script: Arc<LayoutScript>,
    steps: Vec<Step>,
    blocks: Vec<Block>,
    /// The block that a name means.
    by_name: HashMap<Vec<u8>, u32>,
    /// The block of an output section.
    by_section: HashMap<OutputSectionId, u32>,
    bins: Vec<Bin>,
    /// By run.
    parts: Vec<Vec<Part>>,
    /// The bytes of each data statement.
    pub data: Vec<Vec<u8>>,
    data_chunks: Vec<ChunkId>,
    names: HashMap<String, SymbolId>,
    assigned: Vec<Assigned>,
    by_symbol: HashMap<SymbolId, usize>,
    /// The same by numbers among the linker's definitions.
    by_internal: HashMap<u32, usize>,
    data_segment: DataSegment,
    /// The load address and the flags that `PHDRS` gives each program header.
    header_values: Vec<[Option<u64>; 2]>,
    /// Where each region begins, how long it is, and how far it is filled.
    regions: Vec<RegionState>,
    /// Sections have to have their places before expressions can be known.
    needs_places: bool,
    /// What the linker makes and the script has no place for.
    pub orphans: Vec<String>,
    /// The headers are not loaded, although there seems to be room for them: they would be one more then, for
    /// which there is none.
    without_headers: bool,
    /// `SIZEOF_HEADERS` is at least this.
    room_for_headers: u64,
    /// Sections with `SHF_LINK_ORDER` by what they are linked to.
    linked: Vec<Linked>,
    /// Of each assignment, in order, the location counter in front of it and after it, and the value.
    moments: Vec<[u64; 3]>,
    /// The block of each bin and its number among `bins`, if what is in one may go to another.
    homes: Vec<Option<(u32, u32)>>,
}

/// What a map says of a script.
pub enum Note<'s> {
    /// The output section ends.
    Section(OutputSectionId),
    Assignment {
        inside: Inside,
        /// The location counter in front of it and after it.
        from: u64,
        to: u64,
        value: u64,
        said: Said<'s>,
    },
    /// A `PROVIDE` that nobody asks for.
    NotProvided { inside: Inside, said: Said<'s> },
    /// What follows in an output section is found by this.
    Inputs { inside: (OutputSectionId, usize), inputs: &'s InputSections },
}

/// An assignment: its symbol, the expression, and both as the script has them.
pub struct Said<'s> {
    pub name: &'s str,
    pub value: &'s Expr,
    pub text: &'s str,
}

/// The output section that something stands in, and how many members of that lie before it.
pub type Inside = Option<(OutputSectionId, usize)>;

#[derive(Clone, Copy, Default)]
pub struct RegionState {
    pub origin: u64,
    pub length: u64,
    /// Where the next section in it begins.
    pub at: u64,
    /// How far it is filled.
    pub end: u64,
}

impl Scripted {
    /// The value of a symbol that the script assigns to.
    pub fn value_of(&self, id: SymbolId) -> Option<&Value> {
        self.by_symbol.get(&id).map(|&slot| &self.assigned[slot].value)
    }

    /// The value of a symbol that the script assigns to, by its number among the linker's definitions.
    pub fn assigned(&self, internal: u32) -> Option<&Value> {
        self.by_internal.get(&internal).map(|slot| &self.assigned[*slot].value)
    }

    /// The output section that a value counts from, if that is one.
    pub fn section_of(&self, value: &Value) -> Option<OutputSectionId> {
        match value.kind {
            Kind::Section(block) => self.blocks.get(block as usize)?.out,
            _ => None,
        }
    }

    /// What symbols have been assigned.
    fn values(&self) -> Vec<Value> {
        self.assigned.iter().map(|assigned| assigned.value).collect()
    }

    /// A symbol whose value is another than before.
    fn changed(&self, before: &[Value]) -> Option<&str> {
        let has_changed = |id: &SymbolId| {
            let slot = self.by_symbol.get(id)?;
            Some(self.assigned[*slot].value != *before.get(*slot)?)
        };
        let changed = self.names.iter().filter(|(_, id)| has_changed(id) == Some(true));
        changed.map(|(name, _)| &name[..]).min()
    }

    /// Whether the script decides what lies where.
    pub fn lays_out(&self) -> bool {
        self.script.has_sections
    }

    /// Whether the script says what program headers there are.
    pub fn lists_segments(&self) -> bool {
        self.script.phdrs.is_some()
    }

    /// The assignments with their places, in order; for maps.
    pub fn notes(&self) -> Vec<Note<'_>> {
        let mut list = Vec::new();
        let mut moments = self.moments.iter();
        let (mut open, mut members) = (None, 0);
        for step in &self.steps {
            match step {
                Step::Begin(block) => (open, members) = (self.blocks[*block].out, 0),
                Step::End(block) => {
                    open = None;
                    list.extend(self.blocks[*block].out.map(Note::Section));
                }
                Step::Inputs(number) => {
                    let bin = &self.bins[*number];
                    let of_part =
                        |(run, part): &(u32, u32)| self.parts[*run as usize][*part as usize].members.len();
                    let in_runs: usize = bin.parts.iter().map(of_part).sum();
                    members += in_runs + bin.sorted.len() + bin.chunks.len();
                }
                Step::Data(..) => members += usize::from(open.is_some()),
                Step::Assign { name, value, text, .. } => {
                    let said = Said { name, value, text };
                    let Some(&[from, to, value]) = moments.next() else { continue };
                    let inside = open.map(|out| (out, members));
                    list.push(Note::Assignment { inside, from, to, value, said });
                }
                Step::NotProvided { name, value, text } => {
                    let said = Said { name, value, text };
                    list.push(Note::NotProvided { inside: open.map(|out| (out, members)), said });
                }
                Step::Describe(section, content) => {
                    let description = self.script.descriptions().nth(*section as usize);
                    let content = description.and_then(|section| section.contents.get(*content as usize));
                    if let (Some(out), Some(Content::Inputs(inputs))) = (open, content) {
                        list.push(Note::Inputs { inside: (out, members), inputs });
                    }
                }
                _ => {}
            }
        }
        list
    }

    /// Sections in memory that no memory region takes, though there are some.
    pub fn outside_regions<'l>(&'l self, layout: &'l Layout) -> impl Iterator<Item = &'l [u8]> {
        let homeless = |block: &&Block| {
            block.region.is_none() && !block.fixed && block.overlay.is_none() && !block.unloaded
        };
        let blocks = self.blocks.iter().filter(|_| !self.regions.is_empty()).filter(homeless);
        let outs = blocks.filter_map(|block| block.out).map(|out| &layout[out]);
        outs.filter(|out| out.is_alloc() && out.size > 0).map(|out| &out.name[..])
    }

    /// The regions with their names, and how far each is filled.
    pub fn regions(&self) -> impl Iterator<Item = (&str, &RegionState)> {
        self.script.regions.iter().map(|region| region.name.as_str()).zip(&self.regions)
    }

    /// The letters that say which sections each region takes.
    pub fn region_letters(&self) -> impl Iterator<Item = String> {
        self.script.regions.iter().map(|region| region.attributes.letters())
    }

    /// The output sections that may lie over others: those of overlays, and those that nobody loads.
    fn overlaid(&self) -> Vec<OutputSectionId> {
        let may = |block: &&Block| block.overlay.is_some() || block.unloaded;
        let mut list: Vec<_> = self.blocks.iter().filter(may).filter_map(|b| b.out).collect();
        list.sort_unstable();
        list
    }
}

/// Measures anew how far runs of members reach, after the sizes of sections have changed.
pub(super) fn measure(layout: &mut Layout, sections: &Sections, parallel: bool) {
    let Some(mut script) = layout.script.take() else { return };
    let measure = |part: &mut Part| {
        if let Some(out) = layout.out_of(part.bin) {
            part.extent = super::shrink::extent(&layout[out].members[part.members.clone()], sections);
        }
    };
    par::each_mut(parallel, &mut script.parts, |_, parts| parts.iter_mut().for_each(measure));
    layout.script = Some(script);
}

/// Gives members their offsets: those in runs, in parallel, and those that lie in an order of their own.
fn place_members(script: &Scripted, layout: &Layout, sections: &mut Sections, parallel: bool) {
    let run = if parallel { super::runs::RUN } else { sections.list.len().max(1) };
    par::each_piece(parallel, &mut sections.list, run, |i, sections| {
        for part in &script.parts[i] {
            let Some(start) = part.start else { continue };
            let Some(out) = layout.out_of(part.bin) else { continue };
            let out = &layout[out];
            super::runs::place_from(
                &out.members[part.members.clone()],
                sections,
                i * run,
                start,
                out.address.get(),
            );
        }
    });
}

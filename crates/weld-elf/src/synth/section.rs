//! What the linker knows of a section that it makes itself: [`Synthetic`], one implementation a file.
//!
//! A link asks these questions one after the other. Before layout: is there such a section, where does it
//! belong, how large is it ([`Synthetic::spec`])? Once it is known which output sections there are: is
//! it larger now ([`Synthetic::resize`]), which others does its header name ([`Synthetic::links`])? At the
//! end: where may it be cut ([`Synthetic::cuts`]), and what are its bytes ([`Synthetic::write`])?
//!
//! The kinds are listed in [`super::all`].

use super::contents::Contents;
use super::plan::Plan;
use crate::elf::Format;
use crate::ids::*;
use crate::input::object::Object;
pub use crate::layout::chunk::{Header, Place, Spec};
use crate::layout::{Chunk, ChunkKind};
use crate::live::SectionOwners;
use crate::options::Options;
use crate::sections::Sections;
use crate::synth::commons::Commons;
use crate::synth::image::Image;

/// A section that the linker makes, or a part of one among input sections.
pub trait Synthetic {
    /// What there is of it in this output; `None` if nothing.
    fn spec(&self, sizes: &Sizes) -> Option<Spec>;

    /// The size in bytes once it is known which output sections there are; `None` if that changes nothing.
    fn resize(&self, _plan: &Plan) -> Option<u64> {
        None
    }

    /// The header fields that speak of other sections; `None` if they are not this section's to set.
    fn links(&self, _plan: &Plan) -> Option<Links> {
        None
    }

    /// Where it may be cut, so that several threads can write it.
    fn cuts(&self, _source: &Source) -> Cuts {
        Cuts::Whole
    }

    /// What writing it is called in traces.
    fn work(&self) -> &'static str {
        "dynamic tables"
    }

    /// Writes every byte of `out`: the section's bytes from `at.start` on, which is one of its cuts.
    fn write(&self, at: &At, out: &mut [u8]);
}

/// What sizes depend on.
pub struct Sizes<'c> {
    pub plan: &'c Plan<'c>,
    pub options: &'c Options,
    pub objects: &'c [Object<'c>],
    pub sections: &'c Sections<'c>,
    pub commons: &'c Commons,
}

impl Sizes<'_> {
    /// The form of the output.
    pub fn format(&self) -> Format {
        self.plan.layout.format
    }
}

/// `sh_link` and `sh_info`.
pub struct Links {
    /// 0 where that section does not exist.
    pub link: Option<ChunkKind>,
    /// An output section, in place of `link`.
    pub output: Option<OutputSectionId>,
    pub info: Info,
}

pub enum Info {
    Number(u32),
    /// The header index of another section (`SHF_INFO_LINK`); 0 where it does not exist.
    Section(ChunkKind),
    /// That of an output section (`SHF_INFO_LINK`).
    Output(OutputSectionId),
}

impl Links {
    pub fn to(link: ChunkKind) -> Option<Links> {
        Some(Links { link: Some(link), output: None, info: Info::Number(0) })
    }

    pub fn with(link: ChunkKind, info: Info) -> Option<Links> {
        Some(Links { link: Some(link), output: None, info })
    }

    pub fn to_output(output: OutputSectionId) -> Option<Links> {
        Some(Links { link: None, output: Some(output), info: Info::Number(0) })
    }
}

/// Where a large section may be cut.
pub enum Cuts {
    Whole,
    /// At multiples of this many bytes.
    Every(u64),
    /// At these offsets, ascending.
    At(Vec<u64>),
    /// Nowhere: it is written beside others, by units that are not its own.
    Elsewhere,
}

impl Cuts {
    /// Entries of tables stay whole; all sizes of entries divide this, but for some of the PLT's code.
    pub const ENTRIES: Cuts = Cuts::Every(24 << 14);
}

/// What bytes are made from, once everything has its address.
#[derive(Clone, Copy)]
pub struct Source<'c> {
    pub image: &'c Image<'c, 'c>,
    pub contents: &'c Contents<'c>,
    pub owners: &'c SectionOwners,
}

/// The bytes that are to be written: those of `chunk` from `start` on.
pub struct At<'c> {
    pub source: Source<'c>,
    pub chunk: &'c Chunk,
    pub start: u64,
}

impl<'c> At<'c> {
    pub fn image(&self) -> &'c Image<'c, 'c> {
        self.source.image
    }

    pub fn contents(&self) -> &'c Contents<'c> {
        self.source.contents
    }

    /// The form of the output.
    pub fn format(&self) -> Format {
        self.source.image.format()
    }

    /// The number of the first entry if entries have `size` bytes.
    pub fn entry(&self, size: u64) -> usize {
        (self.start / size) as usize
    }
}

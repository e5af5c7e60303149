//! What the linker's own sections are written from, once everything has its address.

use super::dynsym::DynSym;
use super::eh_frames::EhFrames;
use super::emitted_relocs::EmittedRelocs;
use super::headers::Identity;
use super::property_note::Properties;
use super::rela::Dynamics;
use super::sframe::index::Entry;
use super::shstrtab::Names;
use super::symtab::SymTab;
use super::tables::Tables;
use crate::address::Address;
use crate::compressed::CompressedSection;
use crate::ids::OutputSectionId;

/// The linker's own sections, ready to be written.
pub struct Contents<'c> {
    pub dynsym: Option<&'c DynSym>,
    pub dynamic: Vec<(u64, u64)>,
    pub dynamics: Dynamics,
    /// What memory the loader is to tag.
    pub memtag_globals: Vec<u8>,
    /// `.rela.dyn` as Android packs it.
    pub android_relocs: Option<Vec<u8>>,
    pub relr_words: Vec<u64>,
    /// Those of `.relr.auth.dyn`.
    pub signed_words: Vec<u64>,
    pub eh_frames: &'c EhFrames,
    /// What `.eh_frame_hdr` says, in order; empty if there is none.
    pub frame_table: Vec<(Address, Address)>,
    pub relocs: Option<&'c EmittedRelocs>,
    pub symtab: Option<&'c SymTab>,
    pub tables: &'c Tables<'c>,
    /// The index of `.sframe`, in order; empty if there is none.
    pub sframe_index: Vec<Entry>,
    /// Those of output sections.
    pub names: &'c Names,
    pub properties: Option<&'c Properties>,
    pub attributes: &'c [u8],
    pub gnu_attributes: &'c [u8],
    pub registers: &'c [u8],
    /// Sections that were compressed, by their ids.
    pub compressed: &'c [(OutputSectionId, CompressedSection)],
    pub headers: Vec<u8>,
    /// What the first of them says of the file.
    pub identity: Identity,
    /// Where the program starts.
    pub entry: u64,
}

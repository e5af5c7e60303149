//! The state of a link: what it decided and where everything went, for a later link that wants to do only
//! what has changed since.
//!
//! Within a link, sections and names are known by running totals ([`crate::ids`]), which one more section
//! changes all of. Here they are translated ([`collect`]) to ids that a later link gives again: rows of
//! tables, each with a key that depends on nothing but what the row is of ([`rows`], [`keys`]). [`mod@file`]
//! writes them and reads them back with checks. [`rewrite_section`] needs no more than one object and the
//! rows to write its sections as the link did.
//!
//! Nobody pays for it who does not ask ([`crate::relink`], [`crate::link::link_with_state`]).

mod check;
pub mod collect;
pub mod debug_lists;
pub mod differences;
pub mod excerpt;
pub mod extents;
pub mod file;
pub mod free_sections;
pub mod guests;
mod handed_over;
pub mod init_array;
pub mod keys;
pub mod mentions;
mod moved_names;
pub mod new_names;
pub mod outline;
pub mod rewrite_section;
pub mod rows;
#[cfg(test)]
mod tests;

use crate::sections::rooms::Runs;
pub use file::Unreadable;
use rows::*;
pub use weld_common::relink::fields;

/// All tables. Fields that name rows do so within bounds: those who make states see to it, and who reads one
/// checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub image: ImageRow,
    pub files: Vec<FileRow>,
    pub inputs: Vec<InputRow>,
    pub names: Vec<NameRow>,
    pub mentions: Vec<MentionRow>,
    pub by_name: Vec<ByName>,
    pub outputs: Vec<OutputRow>,
    pub sections: Vec<SectionRow>,
    pub parts: Vec<PartRow>,
    pub pieces: Vec<PieceRow>,
    pub groups: Vec<GroupRow>,
    pub candidates: Vec<CandidateRow>,
    pub slots: Vec<SlotRow>,
    pub thunks: Vec<ThunkRow>,
    pub outlines: Vec<OutlineRow>,
    /// Paths and names.
    pub text: Vec<u8>,
    pub yards: Vec<YardRow>,
}

impl InputRow {
    /// How large what it has in tables of the whole image is there.
    pub fn runs(&self) -> Runs {
        Runs {
            locals: self.locals_room,
            globals: self.globals_room,
            strings: self.strings_room.into(),
            frames: self.frames_size.into(),
        }
    }
}

impl State {
    pub fn text(&self, text: Text) -> &[u8] {
        let (start, size) = (text.start as usize, text.size as usize);
        self.text.get(start..start + size).unwrap_or_default()
    }

    /// The row of a name.
    pub fn find_name(&self, name: &[u8]) -> Option<&NameRow> {
        let found = self.names.binary_search_by_key(&keys::hash(name), |row| row.hash);
        found.ok().map(|i| &self.names[i])
    }

    /// What mentions a name.
    pub fn mentions_of(&self, name: u32) -> impl Iterator<Item = &MentionRow> {
        let first = self.names[name as usize].first_mention as usize;
        let rows = self.by_name[first..].iter().map(|row| &self.mentions[row.mention as usize]);
        rows.take_while(move |row| row.name == name)
    }

    /// The kept sections of an input, by ordinal.
    pub fn sections_of(&self, input: &InputRow) -> &[SectionRow] {
        let first = input.first_section as usize;
        &self.sections[first..first + input.sections as usize]
    }

    /// The pieces of a part.
    pub fn pieces_of(&self, part: u32) -> &[PieceRow] {
        let part = part as usize;
        let end = self.parts.get(part + 1).map_or(self.pieces.len(), |next| next.first_piece as usize);
        &self.pieces[self.parts[part].first_piece as usize..end]
    }

    /// The pieces of a part that have this tag.
    pub fn pieces_tagged(&self, part: u32, tag: u32) -> impl Iterator<Item = &PieceRow> {
        let pieces = self.pieces_of(part);
        let first = pieces.partition_point(|row| row.tag < tag);
        pieces[first..].iter().take_while(move |row| row.tag == tag)
    }
}

//! The file, cut into pieces: headers, output sections, in these what was gathered in them, and in that symbols.
//!
//! Each level covers the one above it byte by byte ([`cover`]), so no table that is wrong can lose a byte or
//! count one twice.

use weld_common::{par, trace};
use weld_explore::cover::{Claim, cover, give_sizes};
use weld_explore::drafts::Draft;
use weld_explore::model::{Piece, Ref, Role};

use super::super::map::{InSection, Symbols};
use super::shares::Share;
use super::{NONE, Rows};
use crate::elf::*;
use crate::ids::*;
use crate::job::Context;
use crate::layout::{Chunk, ChunkKind, Member, OutputSection};
use crate::synth::image::Image;

/// Members that one task cuts up.
const RUN: usize = 1024;

/// What a range of the file is.
#[derive(Clone, Copy)]
enum Whole {
    Headers,
    Section(OutputSectionId),
}

struct Cutter<'c, 'i, 'a> {
    image: &'c Image<'i, 'a>,
    rows: &'c Rows,
    symbols: Symbols,
    parallel: bool,
}

/// Lists of all pieces, in the order of the file; then of those that take memory only.
pub fn all<'a>(image: &Image<'_, 'a>, context: &Context, rows: &Rows) -> Vec<Vec<Draft<'a>>> {
    let layout = image.layout;
    let finding = trace::stretch("find symbols of sections");
    let symbols = Symbols::collect(image, context.parallel);
    drop(finding);
    let cutter = Cutter { image, rows, symbols, parallel: context.parallel };
    let headers = |offset, size| Claim { offset, size, what: Whole::Headers };
    let mut claims = vec![headers(0, layout.headers_size())];
    if let Some(offset) = layout.section_headers {
        claims.push(headers(offset.0, layout.file_size - offset.0.min(layout.file_size)));
    }
    claims.extend(layout.with_ids().map(|(id, out)| Claim {
        offset: out.offset.0,
        size: out.file_size(),
        what: Whole::Section(id),
    }));
    let mut drafts = Vec::new();
    for (size, what) in cover(layout.file_size, claims) {
        match what {
            Some(Whole::Section(id)) => cutter.section(id, size, &mut drafts),
            Some(Whole::Headers) => drafts.push(vec![Draft::plain(Role::Header, size)]),
            None => drafts.push(vec![Draft::plain(Role::Padding, size)]),
        }
    }
    for (id, _) in layout.with_ids().filter(|(_, out)| out.is_nobits()) {
        cutter.section(id, 0, &mut drafts);
    }
    drafts
}

impl<'a> Cutter<'_, '_, 'a> {
    /// Adds the pieces of an output section, which has `in_file` bytes of the file, a list for each run.
    fn section(&self, id: OutputSectionId, in_file: u64, lists: &mut Vec<Vec<Draft<'a>>>) {
        let out = &self.image.layout[id];
        let claims: Vec<Claim<Member>> = out.members.iter().map(|member| self.claim(out, *member)).collect();
        // What a compressed section was made of is larger than it.
        let end = claims.iter().map(|claim| claim.offset.saturating_add(claim.size)).max().unwrap_or(0);
        let is_packed = out.flags & SHF_COMPRESSED != 0 && end > out.size;
        let total = if is_packed { end } else { out.size };
        let ranges = cover(total, claims);
        // What lies before each run.
        let sizes = ranges.chunks(RUN).map(|run| run.iter().map(|(size, _)| size).sum::<u64>());
        let starts: Vec<u64> = sizes.scan(0, |at, size| Some(std::mem::replace(at, *at + size))).collect();
        let in_memory = out.is_alloc();
        lists.extend(par::runs("cut up sections", self.parallel, ranges.len(), RUN, |run| {
            let mut drafts = Vec::with_capacity(run.len());
            let mut shares =
                Shares { bytes: in_file, total, before: starts.get(run.start / RUN).copied().unwrap_or(0) };
            let mut near = 0;
            ranges[run].iter().for_each(|(size, member)| self.member(*size, *member, &mut near, &mut drafts));
            for Draft { piece, .. } in &mut drafts {
                piece.memory = if in_memory { piece.size } else { 0 };
                piece.size = shares.next(piece.size);
                piece.output = Ref::to(id.index());
            }
            drafts
        }));
    }

    fn claim(&self, out: &OutputSection, member: Member) -> Claim<Member> {
        let (address, size) = match (member.as_chunk(), member.as_section()) {
            (Some(id), _) => {
                let chunk = &self.image.layout.chunks[id.index()];
                (chunk.address(), chunk.size)
            }
            (_, Some(id)) => (self.image.sections.get(id).address(), self.image.sections.get(id).size),
            _ => (out.address, 0),
        };
        Claim { offset: address.wrapping_sub(out.address), size, what: member }
    }

    /// The pieces of `size` bytes that a member has, or nobody. `near` is where symbols are, as for [`Symbols::of_next`].
    fn member(&self, size: u64, member: Option<Member>, near: &mut usize, drafts: &mut Vec<Draft<'a>>) {
        let Some(member) = member else { return drafts.push(Draft::plain(Role::Padding, size)) };
        if let Some(id) = member.as_section() {
            let piece = Piece { input: reference(self.rows.of_section[id.index()]), ..Piece::default() };
            return self.input(id, self.symbols.of_next(id, near), Piece { size, ..piece }, drafts);
        }
        let Some(id) = member.as_chunk() else { return };
        let chunk = &self.image.layout.chunks[id.index()];
        let role = match chunk.kind {
            ChunkKind::Merged(_) => Role::Merged,
            ChunkKind::Padding => Role::Padding,
            ChunkKind::Common(_) | ChunkKind::ScriptData(_) | ChunkKind::CopyBss | ChunkKind::CopyRelro => {
                Role::Contents
            }
            // `.rodata` of a resource compiler is still data, a table of the linker is what nobody brought.
            _ => Role::Table,
        };
        let piece = Piece { input: reference(self.rows.of_chunk[id.index()]), role, ..Piece::default() };
        if let Some(shares) = self.rows.shares.get(&id) {
            let claim =
                |(share, row): &(Share, u32)| Claim { offset: share.offset, size: share.size, what: *row };
            for (size, row) in cover(size, shares.iter().map(claim).collect::<Vec<_>>()) {
                let input = row.map_or(piece.input, reference);
                drafts.push(Draft { piece: Piece { input, size, ..piece }, symbol: &[] });
            }
            return;
        }
        match chunk.kind {
            ChunkKind::Common(_) | ChunkKind::CopyBss | ChunkKind::CopyRelro => {
                self.variables(chunk, size, piece, drafts)
            }
            _ => drafts.push(Draft { piece: Piece { size, ..piece }, symbol: &[] }),
        }
    }

    /// An input section, cut at its symbols.
    fn input(&self, id: SectionId, symbols: &[InSection], piece: Piece, drafts: &mut Vec<Draft<'a>>) {
        let image = self.image;
        let mut found = symbols.iter().filter_map(|found| {
            let object = &image.resolved.objects[found.object.index()];
            let symbol = &object.syms[found.index as usize];
            let name = object.symbol_name(found.index);
            // Marks of code and data among instructions are no symbols.
            let is_meant = !name.starts_with(b"$") && !matches!(symbol.kind(), STT_FILE | STT_SECTION);
            let offset = image.sections.output_offset(id, found.value);
            let size = image.sections.output_size(id, found.value, symbol.st_size());
            is_meant.then_some(Claim { offset, size, what: name })
        });
        if symbols.len() <= 1 {
            // Most are of one function, and have nothing else.
            let found = found.next_back();
            let is_whole =
                |claim: &Claim<&[u8]>| claim.offset == 0 && (claim.size == 0 || claim.size >= piece.size);
            if found.as_ref().is_none_or(is_whole) && piece.size > 0 {
                return drafts.push(Draft { piece, symbol: found.map_or(&[], |claim| claim.what) });
            }
            return self.cut_sized(piece, found.into_iter().collect(), drafts);
        }
        self.cut_sized(piece, found.collect(), drafts);
    }

    /// Cuts a piece by claims, of which some may have no sizes.
    fn cut_sized(&self, piece: Piece, mut claims: Vec<Claim<&'a [u8]>>, drafts: &mut Vec<Draft<'a>>) {
        give_sizes(&mut claims, piece.size);
        self.cut(piece.size, claims, piece, drafts);
    }

    /// Variables without a section of their own.
    fn variables(&self, chunk: &Chunk, size: u64, piece: Piece, drafts: &mut Vec<Draft<'a>>) {
        let image = self.image;
        let is_common = matches!(chunk.kind, ChunkKind::Common(_));
        let list: Vec<_> = match is_common {
            true => self.symbols.commons_in(chunk).collect(),
            false => self.symbols.copies_in(chunk).collect(),
        };
        let claims = list.into_iter().map(|(address, id)| {
            let of_copy = || image.shared_symbol(id).map_or(0, |symbol| symbol.st_size());
            let size = if is_common { image.symbol_size(id).unwrap_or(0) } else { of_copy() };
            Claim {
                offset: address.wrapping_sub(chunk.address()),
                size,
                what: image.resolved.names.get(id).name,
            }
        });
        self.cut(size, claims.collect(), piece, drafts);
    }

    fn cut(&self, size: u64, claims: Vec<Claim<&'a [u8]>>, piece: Piece, drafts: &mut Vec<Draft<'a>>) {
        for (size, symbol) in cover(size, claims) {
            drafts.push(Draft { piece: Piece { size, ..piece }, symbol: symbol.unwrap_or_default() });
        }
    }
}

fn reference(row: u32) -> Ref {
    if row == NONE { Ref::NONE } else { Ref::to(row as usize) }
}

/// Divides `bytes` among parts of a whole of `total`, in proportion; the shares add up to it.
struct Shares {
    bytes: u64,
    total: u64,
    /// What the parts before are together.
    before: u64,
}

impl Shares {
    /// The share of the next part.
    fn next(&mut self, part: u64) -> u64 {
        let at = |place: u64| match self.total {
            0 => 0,
            _ if self.bytes == self.total || self.bytes == 0 => place.min(self.bytes),
            total => (u128::from(place) * u128::from(self.bytes) / u128::from(total)) as u64,
        };
        let share = at(self.before + part) - at(self.before);
        self.before += part;
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(bytes: u64, total: u64, parts: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut shares = Shares { bytes, total, before: 0 };
        parts.map(|part| shares.next(part)).collect()
    }

    #[test]
    fn shares_add_up() {
        assert_eq!(share(10, 10, [3, 7].into_iter()), [3, 7]);
        assert_eq!(share(0, 10, [3, 7].into_iter()), [0, 0]);
        let shares = share(10, 1000, [1, 332, 333, 334].into_iter());
        assert_eq!(shares.iter().sum::<u64>(), 10);
        assert_eq!(share(5, 0, [0, 0].into_iter()), [0, 0]);
    }
}

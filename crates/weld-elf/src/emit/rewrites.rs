//! Instructions that options have changed once everything has its address, section by section after the
//! relocations. Those of x86 are here; the bytes that `--be8` turns are in [`super::code_order`].
//!
//! - `-z rewrite-endbr` (mold's): functions that are only called directly lose the mark at their start, so
//!   that indirect branches cannot go there. A function keeps it if its address is seen anywhere but in a
//!   direct branch: in a relocation, in a distance that the assembler has computed itself, through a slot, by
//!   other modules or by the loader. Only global functions are looked at: compilers mark local ones only if
//!   their addresses are taken.
//! - `--branch-to-branch` (lld's): a direct branch to an instruction that does nothing but jump on goes where
//!   that one goes.
//! - `-z call-nop` (GNU ld's, also on i386): how a call through a slot that became a direct call, which is
//!   one byte shorter, is padded.
//!
//! All are rare, so they have no part in the loops that copy and relocate: without them a section costs one
//! comparison. Where sections are folded (`--icf`), addresses are those of the copies that stay, so nothing
//! here has to know of it.

use std::collections::{HashMap, HashSet};

use super::code_order::CodeOrder;
use crate::address::Address;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::job::Context;
use crate::options::CallPadding;
use crate::sections::SectionKind;
use crate::symbol_names::flag;
use crate::symbols::internal::Target;
use crate::symbols::symbol_flags;
use crate::synth::image::Image;
use crate::synth::relocate::Site;

// Types that branches and calls through slots have. The first two have the same numbers on x86-64 and i386.
const R_PC32: u32 = 2;
const R_PLT32: u32 = 4;
const R_GOTPCRELX: u32 = 41;
/// That of i386 for such calls.
const R_386_GOT32X: u32 = 43;

const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
/// A `nop` of the same length.
const NOP4: [u8; 4] = [0x0f, 0x1f, 0x40, 0x00];

/// From how many jumps on the rest is left as it is; some go in circles.
const MOST_JUMPS: usize = 16;

/// What is to be changed.
pub struct Rewrites {
    /// Addresses of marks that become `nop`.
    unmarked: HashSet<Address>,
    /// Where the instruction at an address jumps.
    jumps: HashMap<Address, Address>,
    padding: Option<CallPadding>,
    code_order: Option<CodeOrder>,
}

/// One section of the image that is code or may hold addresses of code.
struct Section<'s, 'a> {
    object: &'s Object<'a>,
    relocs: &'s [Rela],
    data: &'a [u8],
    address: Address,
    is_code: bool,
}

impl Rewrites {
    /// What options ask for, if they ask for anything.
    pub fn of(image: &Image, context: &Context) -> Option<Rewrites> {
        let options = image.options;
        let padding = options.relocs.call_padding;
        let code_order = CodeOrder::of(image, context.parallel);
        let is_for_x86 = options.relocs.unmark || options.relocs.skip_jumps || padding.is_some();
        if !is_for_x86 && code_order.is_none() {
            return None;
        }
        let mut rewrites = Rewrites { unmarked: HashSet::new(), jumps: HashMap::new(), padding, code_order };
        if options.relocs.unmark {
            rewrites.unmarked = unmarked(image, context);
        }
        if options.relocs.skip_jumps {
            each_section(image, context, |section| jumps(image, section, &mut rewrites.jumps));
        }
        Some(rewrites)
    }

    /// Whether sections are changed as a whole only.
    pub fn is_of_whole_sections(&self) -> bool {
        self.code_order.is_some()
    }

    /// Changes the bytes of a section, or the part of it that `out` is, which lies at `site.address`.
    pub fn apply(&self, site: &Site, out: &mut [u8]) {
        if let Some(order) = &self.code_order {
            return order.apply(site, out);
        }
        let start = site.delta.wrapping_neg() as usize;
        for reloc in site.relocs {
            let Some(at) = (reloc.r_offset() as usize).checked_sub(start) else { continue };
            if at + 4 > out.len() {
                continue;
            }
            if is_direct_branch(out, at, reloc) {
                self.skip_jumps(site.address, at, out);
            } else if let (Some(padding), R_GOTPCRELX | R_386_GOT32X) = (self.padding, reloc.kind()) {
                let opcode = (start + at).checked_sub(2).and_then(|from| site.input.get(from..start + at));
                padding.put(out, at, opcode);
            }
        }
        if !self.unmarked.is_empty() {
            for at in memchr::memmem::find_iter(out, &ENDBR64).collect::<Vec<_>>() {
                if self.unmarked.contains(&site.address.wrapping_add(at as u64)) {
                    out[at..at + 4].copy_from_slice(&NOP4);
                }
            }
        }
    }

    /// Lets the branch whose distance is at `at` go where it ends up.
    fn skip_jumps(&self, address: Address, at: usize, out: &mut [u8]) {
        let next = address.wrapping_add(at as u64 + 4);
        let distance = i32::from_le_bytes([out[at], out[at + 1], out[at + 2], out[at + 3]]);
        let mut target = next.wrapping_add(i64::from(distance) as u64);
        for _ in 0..MOST_JUMPS {
            let Some(&behind) = self.jumps.get(&target) else { break };
            target = behind;
        }
        if let Ok(distance) = i32::try_from(target.wrapping_sub(next) as i64) {
            out[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
    }
}

impl CallPadding {
    /// Pads the call whose distance is at `at`, if it was a call through a slot and is `addr32 call` now.
    fn put(self, out: &mut [u8], at: usize, before: Option<&[u8]>) {
        let through_slot = matches!(before, Some([0xff, 0x15 | 0x90..=0x97]));
        if !through_slot || at < 2 || out[at - 2..at] != [0x67, 0xe8] {
            return;
        }
        match self {
            CallPadding::Prefix(byte) => out[at - 2] = byte,
            CallPadding::Suffix(byte) => {
                let distance = i32::from_le_bytes([out[at], out[at + 1], out[at + 2], out[at + 3]]);
                // The call ends one byte earlier.
                let Some(distance) = distance.checked_add(1) else { return };
                out[at - 2] = 0xe8;
                out[at - 1..at + 3].copy_from_slice(&distance.to_le_bytes());
                out[at + 3] = byte;
            }
        }
    }
}

/// Whether a relocation is for the distance of `call`, `jmp` or `jcc`.
fn is_direct_branch(code: &[u8], at: usize, reloc: &Rela) -> bool {
    matches!(reloc.kind(), R_PC32 | R_PLT32) && reloc.r_addend() == -4 && is_branch_opcode(code, at)
}

/// Whether the four bytes at `at` are the distance of `call`, `jmp` or `jcc`.
fn is_branch_opcode(code: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|i| code.get(i));
    matches!(before(1), Some(0xe8 | 0xe9))
        || matches!((before(2), before(1)), (Some(0x0f), Some(0x80..=0x8f)))
}

/// Calls `take` with each section in memory.
fn each_section(image: &Image, context: &Context, mut take: impl FnMut(&Section)) {
    for (index, object) in image.resolved.objects.iter().enumerate() {
        for shndx in 1..object.shdrs.len() as u32 {
            let id = SectionId(object.section_base + shndx);
            let (input, flags) = (image.sections.get(id), object.shdrs[shndx as usize].sh_flags());
            if flags & SHF_ALLOC == 0 || !image.live.contains(id) || input.kind() == SectionKind::EhFrame {
                continue;
            }
            debug_assert_eq!(context.owners.object(id).index(), index);
            take(&Section {
                object,
                relocs: image.sections.relocs(object, index, input),
                data: object.section_data(shndx as usize).unwrap_or(&[]),
                address: input.address(),
                is_code: flags & SHF_EXECINSTR != 0,
            });
        }
    }
}

/// The jumps of a section whose targets are known.
fn jumps(image: &Image, section: &Section, found: &mut HashMap<Address, Address>) {
    if !section.is_code {
        return;
    }
    for reloc in section.relocs {
        let at = reloc.r_offset() as usize;
        if !is_direct_branch(section.data, at, reloc) || section.data[at - 1] != 0xe9 {
            continue;
        }
        let target = image.place(section.object, reloc.sym(), 0);
        let plain = target.flags & (symbol_flags::KIND | symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC)
            == symbol_flags::DEFINED
            && !target.dead;
        if !plain {
            continue;
        }
        let jump = section.address.wrapping_add(at as u64 - 1);
        let to = target.address.wrapping_add(target.addend as u64);
        found.insert(jump, to);
        // A mark in front of it does nothing, either.
        if at >= 5 && section.data[at - 5..at - 1] == ENDBR64 {
            found.insert(jump.back(4), to);
        }
    }
}

/// Addresses of global functions that start with a mark and are only called directly.
fn unmarked(image: &Image, context: &Context) -> HashSet<Address> {
    let mut marked = HashSet::new();
    let mut seen = HashSet::new();
    for (i, symbol) in image.symbols.list.iter().enumerate() {
        let flags = symbol.flags();
        if flags & symbol_flags::KIND != symbol_flags::DEFINED {
            continue;
        }
        let needs =
            symbol_flags::EXPORTED | symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC | symbol_flags::NEEDS;
        let by_option = image.resolved.names.get(SymbolId(i as u32)).flags & (flag::ROOT | flag::KEEP) != 0;
        if flags & needs != 0 || by_option {
            seen.insert(symbol.address());
        } else if flags & symbol_flags::FUNC != 0 {
            marked.insert(symbol.address());
        }
    }
    for slot in &image.slots.list {
        seen.insert(slot.definition);
        if let Some((object, index)) = slot.local {
            seen.insert(image.place(&image.resolved.objects[object.index()], index, 0).address);
        }
    }
    for internal in &context.internals.list {
        if let Target::Alias(other, _) = internal.target {
            seen.insert(image.symbols[other].address());
        }
    }
    personality_routines(image, &mut seen);
    each_section(image, context, |section| see(image, section, &marked, &mut seen));
    &marked - &seen
}

/// Adds what exception frames have called. That they name all functions means nothing.
fn personality_routines(image: &Image, seen: &mut HashSet<Address>) {
    for (index, (object, extra)) in image.resolved.objects.iter().zip(&image.sections.objects).enumerate() {
        for (shndx, frames) in &extra.eh_frames {
            let section = image.sections.get(SectionId(object.section_base + shndx));
            let relocs = image.sections.relocs(object, index, section);
            for cie in &frames.cies {
                let range = cie.first_reloc as usize..(cie.first_reloc + cie.n_relocs) as usize;
                let of_cie = relocs.get(range).unwrap_or_default();
                seen.extend(of_cie.iter().map(|reloc| image.place(object, reloc.sym(), 0).address));
            }
        }
    }
}

/// Adds what a section has of the addresses `marked`, but for direct branches.
fn see(image: &Image, section: &Section, marked: &HashSet<Address>, seen: &mut HashSet<Address>) {
    for reloc in section.relocs {
        let at = reloc.r_offset() as usize;
        if section.is_code && is_direct_branch(section.data, at, reloc) {
            continue;
        }
        let target = image.place(section.object, reloc.sym(), reloc.r_addend());
        let address = target.address.wrapping_add(target.addend as u64);
        // The field of an instruction counts from its end, which is as far after as there are bytes of other
        // operands.
        seen.extend((0..=8).map(|behind| address.wrapping_add(behind)));
        seen.insert(target.address);
    }
    if !section.is_code {
        return;
    }
    // What lies in the same section the assembler finds without a relocation. What it leaves to one says
    // nothing yet.
    let fields: HashSet<u64> = section.relocs.iter().map(|reloc| reloc.r_offset()).collect();
    let is_relocated = |at: usize| (at.saturating_sub(3)..=at + 3).any(|i| fields.contains(&(i as u64)));
    for (at, field) in section.data.windows(4).enumerate() {
        let distance = i64::from(i32::from_le_bytes([field[0], field[1], field[2], field[3]]));
        let end = section.address.wrapping_add(at as u64 + 4).wrapping_add(distance as u64);
        let found = (0..=4).map(|behind| end.wrapping_add(behind)).find(|address| marked.contains(address));
        if let Some(address) = found.filter(|_| !is_branch_opcode(section.data, at) && !is_relocated(at)) {
            seen.insert(address);
        }
    }
}

//! What relocations of an object ask for beyond what their types say: see [`super::types`].

use super::Abi;
use super::types::*;
use crate::arch::facts::{ObjectFacts, Written};
use crate::elf::{Rela, Types};

/// `e_flags`: functions have their own address in t9.
const EF_PIC: u32 = 2;

/// The number for up to three types of one record, the first in the low byte.
pub fn number(types: u32) -> u32 {
    match types {
        0..MADE => types,
        _ => {
            let known = WRITTEN.iter().position(|written| *written == types);
            known.map_or(MIXED, |at| MADE + at as u32)
        }
    }
}

pub const WRITTEN_32: Written = written(false);
pub const WRITTEN_64: Written = written(true);

const fn written(is_packed: bool) -> Written {
    Written { types: Types { from: MADE, list: WRITTEN, is_packed }, number }
}

/// Gives relocations the numbers for what they ask for. Only the old ABI has `_gp_disp`; n32 has the types of
/// one place in records that follow one another.
pub fn settle<const ABI: u8>(object: &dyn ObjectFacts, relocs: &mut [Rela]) {
    if Abi::of(ABI) == Abi::N32 {
        join_places(relocs);
    }
    let old = Abi::of(ABI) == Abi::O32;
    let is_pic = object.flags() & EF_PIC != 0;
    let base = object.pointer();
    // The last symbol that was looked at, and whether it is `_gp_disp`.
    let mut last = (0, false);
    for reloc in relocs {
        let (kind, symbol) = (reloc.kind(), reloc.sym());
        let is_local = object.is_local(symbol);
        let mut addend = reloc.r_addend();
        let kind = match kind {
            R_GOT16 if is_local => PAGE16,
            M_GOT16 if is_local => M_PAGE16,
            R_26 if is_pic => PIC_26,
            M_26 if is_pic => M_PIC_26,
            R_PC26 if is_pic => PIC_PC26,
            M_PC26 if is_pic => M_PIC_PC26,
            R_SUB => MIXED,
            _ if counts_from_base(kind) && is_local && base != 0 => {
                addend = addend.wrapping_add(base as i64);
                kind
            }
            _ if old && !is_local && kind != R_NONE => {
                if last.0 != symbol {
                    last = (symbol, object.name(symbol) == b"_gp_disp");
                }
                match kind {
                    _ if !last.1 => continue,
                    R_HI16 => GP_HI16,
                    R_LO16 => GP_LO16,
                    M_HI16 => M_GP_HI16,
                    M_LO16 => M_GP_LO16,
                    _ => GP_OTHER,
                }
            }
            _ => continue,
        };
        *reloc = Rela::make(reloc.r_offset(), symbol, kind, addend);
    }
}

/// What `-r` does: addends that have the GOT's base taken away get it back, for the output says that none has.
pub fn settle_joined(object: &dyn ObjectFacts, relocs: &mut [Rela]) {
    let base = object.pointer() as i64;
    if base == 0 {
        return;
    }
    for reloc in relocs {
        if counts_from_base(reloc.kind()) && object.is_local(reloc.sym()) {
            let addend = reloc.r_addend().wrapping_add(base);
            *reloc = Rela::make(reloc.r_offset(), reloc.sym(), reloc.kind(), addend);
        }
    }
}

/// Whether a relocation's addend has the GOT's base taken away that its object says.
fn counts_from_base(kind: u32) -> bool {
    matches!(
        kind,
        R_GPREL16
            | R_GPREL32
            | R_LITERAL
            | GPREL64
            | BACK_HI16
            | BACK_LO16
            | M_GPREL16
            | M_LITERAL
            | M_GPREL7
    )
}

/// Makes one relocation of those of one place, of which the first has the symbol and the others none.
fn join_places(relocs: &mut [Rela]) {
    let mut i = 0;
    while i < relocs.len() {
        let (place, own) = (relocs[i].r_offset(), &relocs[i..]);
        let is_next = |reloc: &&Rela| reloc.r_offset() == place && reloc.sym() == 0;
        let count = 1 + own[1..].iter().take_while(is_next).take(2).count();
        if count > 1 {
            let types = own[..count].iter().rev().fold(0, |types, reloc| types << 8 | reloc.kind() & 0xff);
            relocs[i] = Rela::make(place, relocs[i].sym(), number(types), relocs[i].r_addend());
            for rest in &mut relocs[i + 1..i + count] {
                *rest = Rela::make(place, 0, R_NONE, 0);
            }
        }
        i += count;
    }
}

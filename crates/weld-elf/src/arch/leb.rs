//! Differences of two labels that are stored as unsigned LEB128, which two relocations of one place make: the
//! first has the minuend, the second the subtrahend. A number keeps the length that it has.

use super::class::Class;
use super::rules::{Failure, FieldAt, Rules};
use super::site::Site;
use crate::address::Address;
use crate::elf::Rela;

/// Why a number cannot be stored as LEB128.
#[derive(Debug, PartialEq, Eq)]
pub enum Leb {
    /// The bytes that are there do not end.
    Endless,
    /// It needs more than the bytes that are there.
    TooLarge,
}

/// Bytes that a number of 64 bits has as LEB128, at most.
const LEB: usize = 10;

fn length(bytes: &[u8]) -> Result<usize, Leb> {
    Ok(bytes.iter().take(LEB).position(|byte| byte & 0x80 == 0).ok_or(Leb::Endless)? + 1)
}

/// Stores `value` in the bytes that a LEB128 number at `at` has, however few it needs.
pub fn put_leb(out: &mut [u8], at: usize, value: u64) -> Result<(), Leb> {
    let length = length(&out[at..])?;
    let mut rest = value;
    for (i, byte) in out[at..at + length].iter_mut().enumerate() {
        *byte = rest as u8 & 0x7f | if i + 1 < length { 0x80 } else { 0 };
        rest = rest.checked_shr(7).unwrap_or(0);
    }
    if rest == 0 { Ok(()) } else { Err(Leb::TooLarge) }
}

/// The LEB128 number at `at`; 0 if it does not end.
fn number(bytes: &[u8], at: usize) -> u64 {
    let Ok(length) = length(&bytes[at..]) else { return 0 };
    let digits = bytes[at..at + length].iter().rev();
    digits.fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f))
}

/// The relocations that make a difference.
pub struct Pair {
    /// The type of the first.
    pub first: u32,
    /// The type of the second.
    pub second: u32,
    /// It is added to the number that is there; else it replaces that.
    pub adds: bool,
}

/// Stores the difference that relocation `i` and the one after it make. `target` is what a relocation refers
/// to. Returns how many relocations after the first were with it.
pub fn put_difference<R: Rules>(
    site: &impl Site,
    i: usize,
    pair: &Pair,
    mut target: impl FnMut(&Rela) -> Option<Address>,
    FieldAt { out, at }: FieldAt,
) -> Result<usize, Failure> {
    let relocs = site.relocs();
    let reloc = &relocs[i];
    let follows = |r: &&Rela| r.kind() == pair.second && r.r_offset() == reloc.r_offset();
    let Some(second) = relocs.get(i + 1).filter(follows) else {
        site.refuse(reloc, &format!("has no {} after it", R::FACTS.type_name(pair.second)));
        return Ok(0);
    };
    let gone = |reloc: &Rela| Address::new(site.symbol_value(reloc)).wrapping_add(reloc.r_addend() as u64);
    let from = target(second).unwrap_or_else(|| gone(second));
    let to = target(reloc).unwrap_or_else(|| gone(reloc));
    let before = if pair.adds { number(out, at) } else { 0 };
    let value = before.wrapping_add(to.wrapping_sub(from));
    match put_leb(out, at, value) {
        Ok(()) => {}
        Err(Leb::Endless) => site.refuse(reloc, "is at a number that does not end"),
        Err(Leb::TooLarge) => {
            site.refuse(reloc, &format!("has no room for the difference {:#x}", value as i64));
        }
    }
    Ok(1)
}

/// Applies the relocations of a section outside memory, on a machine that stores such differences by `pair`
/// and others by [`Class::Term`]. `store` stores a term. `tombstone` stands for what is gone.
pub fn apply_in_debug<R: Rules>(
    site: &impl Site,
    pair: &Pair,
    store: impl Fn(u32, &mut [u8], usize, u64),
    tombstone: u64,
    out: &mut [u8],
) {
    let mut target_of = site.debug_targets();
    let relocs = site.relocs();
    let mut i = 0;
    while i < relocs.len() {
        let reloc = &relocs[i];
        i += 1;
        let kind = reloc.kind();
        let class = R::class(kind);
        let at = reloc.r_offset().wrapping_add(site.delta()) as usize;
        if class == Class::None {
            continue;
        }
        if at.checked_add(R::width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            continue;
        }
        let result = match class {
            _ if kind == pair.first => {
                put_difference::<R>(site, i - 1, pair, &mut target_of, FieldAt { out, at })
                    .map(|more| i += more)
            }
            _ if kind == pair.second => {
                site.refuse(reloc, &format!("has no {} before it", R::FACTS.type_name(pair.first)));
                Ok(())
            }
            Class::Term => {
                // Of what is gone, differences stay what they were.
                let gone = || site.symbol_value(reloc).wrapping_add(reloc.r_addend() as u64);
                store(kind, out, at, target_of(reloc).map_or_else(gone, Address::get));
                Ok(())
            }
            _ => site.apply_in_debug::<R>(reloc, target_of(reloc), tombstone, FieldAt { out: &mut *out, at }),
        };
        if let Err(failure) = result {
            site.report(reloc, failure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_leb128_keep_their_length() {
        let mut out = [0x80, 0x80, 0x00, 0xee];
        assert_eq!(put_leb(&mut out, 0, 0x3fff), Ok(()));
        assert_eq!(out, [0xff, 0xff, 0x00, 0xee]);
        assert_eq!(number(&out, 0), 0x3fff);
        assert_eq!(put_leb(&mut out[2..3], 0, 0x80), Err(Leb::TooLarge));
        assert_eq!(put_leb(&mut [0x80, 0x80], 0, 1), Err(Leb::Endless));
        assert_eq!(put_leb(&mut [0xff; 12][..], 0, 1), Err(Leb::Endless));
        let mut out = [0x80; 12];
        out[10] = 0;
        assert_eq!(put_leb(&mut out, 0, 1), Err(Leb::Endless));
        out[9] = 0;
        assert_eq!(put_leb(&mut out, 0, 1), Ok(()));
    }
}

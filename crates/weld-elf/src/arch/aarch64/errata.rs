//! Sequences of instructions that some Cortex-A53 processors execute wrongly (`--fix-cortex-a53-843419`,
//! `--fix-cortex-a53-835769`).
//!
//! * 843419: `adrp` in one of the last two instructions of a page of 4 KiB, a load or store that does not
//!   write its register, and then, or one instruction later, a load or store that uses its register with an
//!   offset: it may access another address.
//! * 835769: a load or store, and then a multiplication of 64 bits that adds: the sum may be wrong.
//!
//! The last instruction of the sequence is carried out elsewhere, between two branches. More sequences than
//! necessary may be found; that only costs time.
//!
//! Source: "ARM Processor Cortex-A53 MPCore Product Revision r0 Software Developers Errata Notice"
//! (ARM-EPM-048406); encodings: "Arm Architecture Reference Manual", C4.1.

use super::code::instruction;
use crate::address::Address;
use crate::arch::facts::{Cure, Errata, Erratum};

pub const ERRATA: Errata = Errata { list: &LIST, is_code, cure: Cure::Move };

static LIST: [Erratum; 2] = [
    Erratum { option: "--fix-cortex-a53-843419", prefix: "__CortexA53843419_", find: find_843419 },
    Erratum { option: "--fix-cortex-a53-835769", prefix: "__CortexA53835769_", find: find_835769 },
];

/// Whether what a mapping symbol of this name stands in front of is code.
fn is_code(name: &[u8]) -> Option<bool> {
    match name {
        [b'$', b'x'] | [b'$', b'x', b'.', ..] => Some(true),
        [b'$', b'd'] | [b'$', b'd', b'.', ..] => Some(false),
        _ => None,
    }
}

const PAGE: u64 = 0x1000;

fn find_843419(code: &[u8], address: Address, found: &mut dyn FnMut(usize, usize)) {
    // The last two instructions of each page.
    let in_page = address.get() % PAGE;
    let mut first = (if in_page > PAGE - 8 { PAGE - 4 } else { PAGE - 8 }).saturating_sub(in_page) as usize;
    while first + 12 <= code.len() {
        if let Some(last) = end_of_843419(code, first) {
            found(first, last);
        }
        let in_page = (address + first as u64).get() % PAGE;
        first += if in_page == PAGE - 8 { 4 } else { PAGE as usize - 4 };
    }
}

/// The last instruction of a sequence that begins at `first`, if it does.
fn end_of_843419(code: &[u8], first: usize) -> Option<usize> {
    let register = instruction(code, first).filter(|code| is_page_address(*code))? & 31;
    instruction(code, first + 4).filter(|code| is_access(*code) && !writes(*code, register))?;
    let third = instruction(code, first + 8)?;
    if uses(third, register) {
        return Some(first + 8);
    }
    let fourth = instruction(code, first + 12).filter(|code| uses(*code, register) && !is_branch(third));
    fourth.map(|_| first + 12)
}

fn find_835769(code: &[u8], _address: Address, found: &mut dyn FnMut(usize, usize)) {
    let mut before = None;
    for (i, word) in code.chunks_exact(4).enumerate() {
        let code = instruction(word, 0);
        if code.is_some_and(is_multiply_add) && before.is_some_and(is_memory) {
            found(4 * i - 4, 4 * i);
        }
        before = code;
    }
}

/// `adrp`
fn is_page_address(code: u32) -> bool {
    code & 0x9f00_0000 == 0x9000_0000
}

/// Any load or store.
fn is_memory(code: u32) -> bool {
    code & 0x0a00_0000 == 0x0800_0000
}

/// Of vector registers.
fn is_vector(code: u32) -> bool {
    code & 1 << 26 != 0
}

fn is_exclusive(code: u32) -> bool {
    code & 0x3f00_0000 == 0x0800_0000
}

/// A load from where the code is.
fn is_literal(code: u32) -> bool {
    code & 0x3b00_0000 == 0x1800_0000
}

/// A load or store of one register.
fn is_single(code: u32) -> bool {
    code & 0x3a00_0000 == 0x3800_0000
}

/// One of two registers.
fn is_pair(code: u32) -> bool {
    code & 0x3a00_0000 == 0x2800_0000
}

fn is_load_bit(code: u32) -> bool {
    code & 1 << 22 != 0
}

/// `st1` of whole registers, or of one element.
fn is_vector_store(code: u32) -> bool {
    let whole = code & 0xbf20_0000 == 0x0c00_0000 && matches!(code >> 12 & 15, 2 | 6 | 7 | 10);
    let element = code & 0xbf20_0000 == 0x0d00_0000 && matches!(code >> 13 & 7, 0 | 2 | 4);
    (whole || element) && !is_load_bit(code)
}

/// An access that may be the second of a sequence.
fn is_access(code: u32) -> bool {
    is_exclusive(code)
        || is_literal(code)
        || is_single(code)
        || is_pair(code) && !is_load_bit(code)
        || is_vector_store(code)
}

/// Whether an access writes register `register`: what it loads, where it is stored whether it succeeded, or
/// the base.
fn writes(code: u32, register: u32) -> bool {
    let (to, base) = (code & 31, code >> 5 & 31);
    if is_exclusive(code) {
        return if is_load_bit(code) { to == register } else { code >> 16 & 31 == register };
    }
    if is_literal(code) {
        return !is_vector(code) && to == register;
    }
    if is_single(code) {
        // Before or after the access, with an offset that is no register.
        let changes_base = code & 1 << 24 == 0 && code & 1 << 21 == 0 && code & 1 << 10 != 0;
        let loads = !is_vector(code) && code >> 22 & 3 != 0;
        return loads && to == register || changes_base && base == register;
    }
    // Pairs and vectors: stores only.
    code & 1 << 23 != 0 && base == register
}

/// A load or store at an offset from `register`.
fn uses(code: u32, register: u32) -> bool {
    code & 0x3b00_0000 == 0x3900_0000 && code >> 5 & 31 == register
}

fn is_branch(code: u32) -> bool {
    code & 0x7c00_0000 == 0x1400_0000
        || code & 0xff00_0010 == 0x5400_0000
        || code & 0x7c00_0000 == 0x3400_0000
        || code & 0xfe00_0000 == 0xd600_0000
}

/// `madd`, `msub` and their kin for 64 bits, unless nothing is added.
fn is_multiply_add(code: u32) -> bool {
    code & 0xff00_0000 == 0x9b00_0000 && matches!(code >> 21 & 7, 0 | 1 | 5) && code >> 10 & 31 != 31
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a sequence is found, with its first instruction at `address`.
    fn found(erratum: usize, address: u64, code: &[u32]) -> Vec<(usize, usize)> {
        let bytes: Vec<u8> = code.iter().flat_map(|code| code.to_le_bytes()).collect();
        let mut list = Vec::new();
        (LIST[erratum].find)(&bytes, Address::new(address), &mut |first, last| list.push((first, last)));
        list
    }

    const ADRP: u32 = 0x9000_0000;
    const RET: u32 = 0xd65f_03c0;
    const NOP: u32 = 0xd503_201f;
    /// `ldr x1, [x0, #8]`
    const LOAD: u32 = 0xf940_0401;

    #[test]
    fn address_and_access_at_the_end_of_a_page() {
        // ldr x1, [x1]
        let access = 0xf940_0021;
        for offset in [0xff8, 0xffc] {
            assert_eq!(found(0, offset, &[ADRP, access, LOAD]), [(0, 8)]);
            assert_eq!(found(0, 0x5000 + offset, &[ADRP, access, NOP, LOAD]), [(0, 12)]);
            assert_eq!(found(0, offset, &[ADRP, access, RET, LOAD]), []);
            assert_eq!(found(0, offset, &[ADRP, access, NOP, NOP]), []);
            assert_eq!(found(0, offset, &[ADRP, access]), []);
        }
        assert_eq!(found(0, 0xff4, &[ADRP, access, LOAD]), []);
        assert_eq!(found(0, 0, &[ADRP, access, LOAD]), []);
        // Further pages of a section, which begins anywhere.
        let mut code = vec![NOP; 3 * 1024];
        for at in [1, 1024 + 2, 2048 + 1] {
            code[at..at + 3].copy_from_slice(&[ADRP, access, LOAD]);
        }
        assert_eq!(found(0, 0x1ff4, &code), [(4, 12), (4104, 4112), (8196, 8204)]);
        assert_eq!(found(0, 0x1ff0, &code), [(4104, 4112)]);
    }

    #[test]
    fn accesses_that_write_the_register_are_harmless() {
        // str x1, [x2]; ldr x1, .+8; stp x1, x2, [x3]; ldxr x1, [x2]; str q1, [x2], #16; st1 {v0.16b}, [x1]
        for access in [0xf900_0041, 0x5800_0041, 0xa900_0861, 0xc85f_7c41, 0x3c81_0441, 0x4c00_7020] {
            assert_eq!(found(0, 0xff8, &[ADRP, access, LOAD]), [(0, 8)], "{access:#x}");
        }
        // ldr x0, [x2]; ldr x0, .+8; ldp x1, x2, [x3]; ldxr x0, [x2]; stxr w0, x1, [x2]; str x1, [x0], #8;
        // add x1, x1, x2
        for access in
            [0xf940_0040, 0x5800_0040, 0xa940_0861, 0xc85f_7c40, 0xc800_7c41, 0xf800_8401, 0x8b02_0021]
        {
            assert_eq!(found(0, 0xff8, &[ADRP, access, LOAD]), [], "{access:#x}");
        }
    }

    #[test]
    fn sums_of_products_behind_an_access() {
        // madd x0, x1, x2, x3; umaddl x0, w1, w2, x3
        for sum in [0x9b02_0c20, 0x9ba2_0c20] {
            assert_eq!(found(1, 4, &[NOP, LOAD, sum]), [(4, 8)]);
            assert_eq!(found(1, 4, &[LOAD, NOP, sum]), []);
        }
        // mul x0, x1, x2; madd w0, w1, w2, w3; smulh x0, x1, x2
        for product in [0x9b02_7c20, 0x1b02_0c20, 0x9b42_7c20] {
            assert_eq!(found(1, 0, &[LOAD, product]), []);
        }
    }
}

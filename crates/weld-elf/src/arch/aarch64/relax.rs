//! Instructions that do without the GOT or without a call, because more is known when a program is linked.
//!
//! | was | becomes |
//! |---|---|
//! | `adrp`, `ldr` of a slot with an address | `adrp`, `add` of the address itself |
//! | `adrp`, `add` of an address within a megabyte | `nop`, `adr` |
//! | `adrp`, `ldr` of a slot with an offset from the thread pointer | `movz`, `movk` of the offset |
//! | TLS descriptor: `adrp`, `ldr`, `add`, `blr` | the offset as above, or `adrp`, `ldr` of its slot |
//! | the same, tiny model: `ldr`, `adr`, `blr` | the same |
//! | general dynamic: `adrp`, `add`, `bl`, `nop` | the offset, `mrs`, `add` |
//! | local dynamic: `adrp`, `add`, `bl`, `nop` | `mrs`, then nothing |
//!
//! What is left of a sequence becomes `nop`.
//!
//! Specification: AAELF64, "Relocation optimization"; "ELF Handling for Thread-Local Storage on AArch64",
//! relaxations.

use super::code::*;
use super::types::*;
use crate::address::Address;
use crate::arch::rules::{Failure, Field, reaches};
use crate::arch::site::Site;
use crate::elf::Rela;
use crate::symbol_flags;

/// `adrp x?, …`
fn is_adrp(code: u32) -> bool {
    code & 0x9f00_0000 == 0x9000_0000
}

/// `ldr x?, [x?, #…]`
fn is_load(code: u32) -> bool {
    code & 0xffc0_0000 == 0xf940_0000
}

/// `add x?, x?, #…`
fn is_add(code: u32) -> bool {
    code & 0xffc0_0000 == 0x9100_0000
}

/// The register that an instruction writes.
fn to(code: u32) -> u32 {
    code & 31
}

/// The register that it reads.
fn from(code: u32) -> u32 {
    code >> 5 & 31
}

/// `adrp` to the page of `target`.
fn put_page(field: &mut Field, register: u32, target: Address) -> Result<(), Failure> {
    let distance = pages(target.get(), field.address.get());
    put_instruction(field.out, field.at, adrp(register, distance));
    reaches(checked(R_ADR_PREL_PG_HI21, distance).is_ok())
}

/// Whether an offset from the thread pointer fits two moves.
fn offset(tpoff: i64) -> Result<u32, Failure> {
    u32::try_from(tpoff).map_err(|_| Failure::TooFar)
}

/// Whether the instruction takes part in loading a slot as expected.
pub fn is_got_load(kind: u32, bytes: &[u8], at: usize) -> bool {
    instruction(bytes, at).is_some_and(|code| match kind {
        R_ADR_GOT_PAGE => is_adrp(code),
        _ => is_load(code),
    })
}

/// The address that a slot would hold.
pub fn load_to_address(mut field: Field, target: Address) -> Result<(), Failure> {
    let code = instruction(field.out, field.at).ok_or(Failure::Form)?;
    if field.kind == R_ADR_GOT_PAGE {
        return put_page(&mut field, to(code), target);
    }
    put_instruction(field.out, field.at, add_low(to(code), from(code), target.get()));
    Ok(())
}

/// How far `adr` reaches: `-ADR_REACH..ADR_REACH`.
const ADR_REACH: i64 = 1 << 20;

/// `nop`, `adr` in place of `adrp`, `add`, if these make the address of `target` in one register. `at` is
/// where the first is in `out`, `address` where it is in memory.
fn near_address(out: &mut [u8], at: usize, address: Address, target: Address) {
    let (Some(page), Some(low)) = (instruction(out, at), instruction(out, at + 4)) else { return };
    let register = to(page);
    let is_pair = is_adrp(page) && is_add(low) && to(low) == register && from(low) == register;
    let distance = target.wrapping_sub(address + 4) as i64;
    if is_pair && (-ADR_REACH..ADR_REACH).contains(&distance) {
        put_instruction(out, at, NOP);
        put_instruction(out, at + 4, adr(register, distance));
    }
}

/// Has addresses nearby computed by one instruction, once everything else is done to a section. Tools that
/// look at relocations that are kept expect the instructions that these are for.
pub fn shorten(site: &impl Site, out: &mut [u8]) {
    let settings = site.settings();
    if !settings.relax || settings.keeps_relocs {
        return;
    }
    for pair in site.relocs().windows(2) {
        let [page, low] = [&pair[0], &pair[1]];
        let follows = page.kind() == R_ADR_PREL_PG_HI21
            && low.kind() == R_ADD_ABS_LO12_NC
            && low.r_offset() == page.r_offset().wrapping_add(4)
            && (low.sym(), low.r_addend()) == (page.sym(), page.r_addend());
        if !follows {
            continue;
        }
        let place = site.resolve(page);
        let known = !place.dead && place.flags & symbol_flags::KIND != symbol_flags::UNDEFINED;
        let at = usize::try_from(page.r_offset().wrapping_add(site.delta()))
            .ok()
            .filter(|at| known && *at < out.len());
        if let Some(at) = at {
            near_address(out, at, site.address().wrapping_add(at as u64), site.target(page));
        }
    }
}

/// A load has to put the offset where the half of it is that the instruction before it made.
pub fn is_initial_exec(kind: u32, bytes: &[u8], at: usize) -> bool {
    instruction(bytes, at).is_some_and(|code| match kind {
        R_TLSIE_ADR_GOTTPREL_PAGE21 => is_adrp(code),
        R_TLSIE_LD64_GOTTPREL_LO12_NC => is_load(code) && to(code) == from(code),
        _ => false,
    })
}

pub fn initial_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
    let offset = offset(tpoff)?;
    let register = to(instruction(field.out, field.at).ok_or(Failure::Form)?);
    let half = if field.kind == R_TLSIE_ADR_GOTTPREL_PAGE21 { move_high } else { move_low };
    put_instruction(field.out, field.at, half(register, offset));
    Ok(())
}

/// The function behind a descriptor takes its address in x0 and leaves the offset there.
pub fn is_descriptor(kind: u32, bytes: &[u8], at: usize) -> bool {
    instruction(bytes, at).is_some_and(|code| match kind {
        R_TLSDESC_ADR_PAGE21 => is_adrp(code) && to(code) == 0,
        R_TLSDESC_LD64_LO12 => is_load(code) && from(code) == 0,
        R_TLSDESC_ADD_LO12 => is_add(code) && to(code) == 0 && from(code) == 0,
        // `ldr x?, …` of what is near; `adr x0, …`
        R_TLSDESC_LD_PREL19 => code & 0xff00_0000 == 0x5800_0000,
        R_TLSDESC_ADR_PREL21 => code & 0x9f00_001f == 0x1000_0000,
        _ => false,
    })
}

pub fn descriptor_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
    let offset = offset(tpoff)?;
    let code = match field.kind {
        R_TLSDESC_ADR_PAGE21 | R_TLSDESC_LD_PREL19 => move_high(0, offset),
        R_TLSDESC_LD64_LO12 | R_TLSDESC_ADR_PREL21 => move_low(0, offset),
        _ => NOP,
    };
    put_instruction(field.out, field.at, code);
    Ok(())
}

pub fn descriptor_to_initial_exec(mut field: Field, slot: Address) -> Result<(), Failure> {
    match field.kind {
        R_TLSDESC_ADR_PAGE21 => return put_page(&mut field, 0, slot),
        R_TLSDESC_LD64_LO12 => put_instruction(field.out, field.at, load_low(0, 0, slot.get())),
        R_TLSDESC_LD_PREL19 => {
            // `ldr x0, slot`
            let distance = slot.wrapping_sub(field.address) as i64;
            put_instruction(field.out, field.at, 0x5800_0000);
            put(R_LD_PREL_LO19, field.out, field.at, distance);
            return reaches(checked(R_LD_PREL_LO19, distance).is_ok());
        }
        _ => put_instruction(field.out, field.at, NOP),
    }
    Ok(())
}

/// Whether relocation `i` begins `adrp x0, …; add x0, x0, …; bl __tls_get_addr; nop` with all its
/// relocations.
pub fn is_tls_call(bytes: &[u8], relocs: &[Rela], i: usize) -> bool {
    let Some([first, second, call]) = relocs.get(i..).and_then(|relocs| relocs.first_chunk()) else {
        return false;
    };
    let low = match first.kind() {
        R_TLSGD_ADR_PAGE21 => R_TLSGD_ADD_LO12_NC,
        R_TLSLD_ADR_PAGE21 => R_TLSLD_ADD_LO12_NC,
        _ => return false,
    };
    let follows = |reloc: &Rela, bytes| reloc.r_offset() == first.r_offset().wrapping_add(bytes);
    let Ok(at) = usize::try_from(first.r_offset()) else { return false };
    let code = |n: usize| instruction(bytes, at.saturating_add(4 * n));
    (second.kind(), second.sym(), call.kind()) == (low, first.sym(), R_CALL26)
        && follows(second, 4)
        && follows(call, 8)
        && code(0).is_some_and(|code| is_adrp(code) && to(code) == 0)
        && code(1).is_some_and(|code| is_add(code) && to(code) == 0 && from(code) == 0)
        && code(2).is_some_and(|code| code & 0xfc00_0000 == 0x9400_0000)
        && code(3) == Some(NOP)
}

/// Writes the four instructions of a sequence.
fn put_sequence(field: Field, sequence: [u32; 4]) -> Result<(), Failure> {
    let Some(out) = field.out.get_mut(field.at..field.at + 16) else { return Err(Failure::Form) };
    for (bytes, code) in out.chunks_exact_mut(4).zip(sequence) {
        bytes.copy_from_slice(&code.to_le_bytes());
    }
    Ok(())
}

/// `mrs x1, tpidr_el0; add x0, x0, x1`
const ADD_THREAD_POINTER: [u32; 2] = [THREAD_POINTER | 1, 0x8b01_0000];

pub fn general_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
    let offset = offset(tpoff)?;
    let [pointer, sum] = ADD_THREAD_POINTER;
    put_sequence(field, [move_high(0, offset), move_low(0, offset), pointer, sum])
}

pub fn general_to_initial_exec(field: Field, slot: Address) -> Result<(), Failure> {
    let distance = pages(slot.get(), field.address.get());
    let [pointer, sum] = ADD_THREAD_POINTER;
    put_sequence(field, [adrp(0, distance), load_low(0, 0, slot.get()), pointer, sum])?;
    reaches(checked(R_ADR_PREL_PG_HI21, distance).is_ok())
}

pub fn local_dynamic_to_local_exec(field: Field) -> Result<(), Failure> {
    put_sequence(field, [THREAD_POINTER, NOP, NOP, NOP])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_nearby_take_one_instruction() {
        let near = |code: [u32; 2], target: u64| {
            let mut out: Vec<u8> = code.iter().flat_map(|code| code.to_le_bytes()).collect();
            near_address(&mut out, 0, Address::new(0x10_0ffc), Address::new(target));
            [0, 4].map(|at| instruction(&out, at).unwrap())
        };
        // adrp x30, …; add x30, x30, …
        let pair = [0x9000_001e, 0x9100_03de];
        assert_eq!(near(pair, 0x10_1008), [NOP, 0x1000_005e]);
        assert_eq!(near(pair, 0x1000), [NOP, 0x1080_001e]);
        assert_eq!(near(pair, 0x20_0fff), [NOP, 0x707f_fffe]);
        for out_of_reach in [0xfff, 0x20_1000] {
            assert_eq!(near(pair, out_of_reach), pair);
        }
        // What others may use: another register, or a load.
        for second in [0x9100_03dd, 0x9100_03be, 0xf940_03de] {
            assert_eq!(near([pair[0], second], 0x10_1008), [pair[0], second]);
        }
    }
}

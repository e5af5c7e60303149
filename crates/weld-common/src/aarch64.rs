//! AArch64's instructions: the fields that relocations fill, and the few instructions that linkers make.
//!
//! An instruction is a word of 32 bits, little endian in either byte order.
//!
//! Specification: "Arm Architecture Reference Manual", C4.1 (encodings) and C6.2.

pub const NOP: u32 = 0xd503_201f;
/// `bti c`: indirect calls may lead here.
pub const BTI_C: u32 = 0xd503_245f;
/// `autia1716`: checks x17, which was signed with x16.
pub const AUTIA1716: u32 = 0xd503_219f;
/// `br x16`
pub const BR_X16: u32 = 0xd61f_0200;
/// `br x17`
pub const BR_X17: u32 = 0xd61f_0220;
/// `mrs x0, tpidr_el0`: the thread pointer.
pub const THREAD_POINTER: u32 = 0xd53b_d040;

/// The instruction at `at`; `None` if it is not all there.
pub fn instruction(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[inline(always)]
pub fn put_instruction(out: &mut [u8], at: usize, code: u32) {
    out[at..at + 4].copy_from_slice(&code.to_le_bytes());
}

/// `adrp x16, target; add x16, x16, target; br x16`: a jump to what is within 4 GiB.
pub fn put_page_jump(out: &mut [u8], address: u64, target: u64) {
    put_instruction(out, 0, adrp(16, pages(target, address)));
    put_instruction(out, 4, add_low(16, 16, target));
    put_instruction(out, 8, BR_X16);
}

/// `adrp xN, .+pages`
pub fn adrp(register: u32, pages: i64) -> u32 {
    0x9000_0000 | register | address_bits(pages >> 12)
}

/// `adr xN, .+distance`
pub fn adr(register: u32, distance: i64) -> u32 {
    0x1000_0000 | register | address_bits(distance)
}

/// `add xN, xM, #low`
pub fn add_low(to: u32, from: u32, address: u64) -> u32 {
    0x9100_0000 | to | from << 5 | (address as u32 & 0xfff) << 10
}

/// `ldr xN, [xM, #low]` of a word at an address that is a multiple of 8.
pub fn load_low(to: u32, from: u32, address: u64) -> u32 {
    0xf940_0000 | to | from << 5 | (address as u32 & 0xff8) >> 3 << 10
}

/// `movz xN, #bits, lsl #16`
pub fn move_high(register: u32, value: u32) -> u32 {
    0xd2a0_0000 | register | value >> 16 << 5
}

/// `movk xN, #bits`
pub fn move_low(register: u32, value: u32) -> u32 {
    0xf280_0000 | register | (value & 0xffff) << 5
}

/// The page of 4 KiB that an address is in.
#[inline(always)]
const fn page(address: u64) -> u64 {
    address & !0xfff
}

/// How far the page of `target` is from that of `here`.
#[inline(always)]
pub fn pages(target: u64, here: u64) -> i64 {
    page(target).wrapping_sub(page(here)) as i64
}

/// Replaces the bits of `mask` in the instruction at `at`.
#[inline(always)]
pub fn put_bits(out: &mut [u8], at: usize, mask: u32, bits: u32) {
    let Some(field) = out.get_mut(at..).and_then(|out| out.first_chunk_mut::<4>()) else { return };
    *field = (u32::from_le_bytes(*field) & !mask | bits & mask).to_le_bytes();
}

/// The bits of `adr` and `adrp`: the lowest two are apart.
#[inline(always)]
fn address_bits(value: i64) -> u32 {
    (value as u32 & 3) << 29 | ((value >> 2) as u32) << 5 & 0x00ff_ffe0
}

/// `adr`
#[inline(always)]
pub fn put_address(out: &mut [u8], at: usize, value: i64) {
    put_bits(out, at, 0x60ff_ffe0, address_bits(value));
}

/// `adrp`
#[inline(always)]
pub fn put_pages(out: &mut [u8], at: usize, value: i64) {
    put_address(out, at, value >> 12);
}

/// The low 12 bits in an addition, or in a load or store of `1 << scale` bytes, which counts in those.
#[inline(always)]
pub fn put_low(out: &mut [u8], at: usize, value: i64, scale: u32) {
    put_bits(out, at, 0xfff << 10, (value as u32 & 0xfff) >> scale << 10);
}

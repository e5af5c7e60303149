//! MIPS, with 32 and 64 bits: constants, and what is said of its relocations. Both byte orders; the ABIs o32,
//! n32 and n64.
//!
//! gp points into the GOT, 0x7ff0 bytes after its start, so that 16 bits with a sign reach 64 KiB of it. The
//! GOT is in two parts for loaders ([`loader`]): words that hold addresses of this image, which code finds by
//! what is in them (an address, or the page of 64 KiB that one is near), and words of symbols that other
//! modules may define, in the order of the end of `.dynsym`. What needs more has several GOTs, and objects have the gp
//! of theirs (`synth::further_gots`).
//!
//! Code may be of two instruction sets, of which microMIPS has odd addresses. Objects' tables of symbols have even ones,
//! and say of which set it is; here the lowest bit is there from the time on that they are read.
//!
//! Not here: MIPS16 code and microMIPS code of n64.
//!
//! Specification: "System V ABI, MIPS RISC Processor Supplement"; "MIPS n32 ABI Handbook"; "64-bit ELF Object
//! File Specification" (SGI); "MIPS non-PIC ABI" (CodeSourcery); GNU's extensions.

mod apply;
mod attributes;
mod code;
mod flags;
mod loader;
mod plt;
mod settle;
#[cfg(test)]
mod tests;
mod thunks;
mod types;

use super::facts::*;
use super::plt::Plan;
use super::rules::{Failure, FieldAt, Rules};
use super::site::Site;
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, SHF_ALLOC, SHT_GNU_ATTRIBUTES, Target};
use types::*;

/// Which ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Abi {
    O32,
    N32,
    N64,
}

impl Abi {
    pub const fn of(number: u8) -> Abi {
        match number {
            0 => Abi::O32,
            1 => Abi::N32,
            _ => Abi::N64,
        }
    }
}

/// `st_other`: the function expects its address in t9; bits that say which instruction set code is of.
const OTHER_PIC: u8 = 0x20;
const OTHER_MODE: u8 = 0xf0;
const OTHER_MICRO: u8 = 0x80;
const OTHER_MIPS16: u8 = 0xf0;
/// The symbol's value is the address of its entry in the PLT, for who asks for its address.
const OTHER_PLT: u8 = 8;

/// Whether `st_other` says that code is that of microMIPS.
const fn is_marked(other: u8) -> bool {
    other & 0xc0 == OTHER_MICRO
}

/// Whether it says that code is that of MIPS16.
const fn is_mips16(other: u8) -> bool {
    other & OTHER_MODE == OTHER_MIPS16
}

const fn facts<const BIG: bool, const ABI: u8>() -> Facts {
    let order = if BIG { Order::Big } else { Order::Little };
    let abi = Abi::of(ABI);
    let wide = matches!(abi, Abi::N64);
    let old = matches!(abi, Abi::O32);
    Facts {
        name: match (abi, BIG) {
            (Abi::O32, false) => "MIPS (little endian)",
            (Abi::O32, true) => "MIPS (big endian)",
            (Abi::N32, false) => "MIPS n32 (little endian)",
            (Abi::N32, true) => "MIPS n32 (big endian)",
            (Abi::N64, false) => "MIPS64 (little endian)",
            (Abi::N64, true) => "MIPS64 (big endian)",
        },
        emulations: match (abi, BIG) {
            (Abi::O32, false) => &["elf32ltsmip"],
            (Abi::O32, true) => &["elf32btsmip"],
            (Abi::N32, false) => &["elf32ltsmipn32"],
            (Abi::N32, true) => &["elf32btsmipn32"],
            (Abi::N64, false) => &["elf64ltsmip"],
            (Abi::N64, true) => &["elf64btsmip"],
        },
        object_format: match (abi, BIG) {
            (Abi::O32, false) => "elf32-tradlittlemips",
            (Abi::O32, true) => "elf32-tradbigmips",
            (Abi::N32, false) => "elf32-ntradlittlemips",
            (Abi::N32, true) => "elf32-ntradbigmips",
            (Abi::N64, false) => "elf64-tradlittlemips",
            (Abi::N64, true) => "elf64-tradbigmips",
        },
        architecture: "mips",
        target: Target {
            machine: 8,
            format: Format { class: if wide { ElfClass::Elf64 } else { ElfClass::Elf32 }, order },
            abi: if matches!(abi, Abi::N32) { 0x20 } else { 0 },
        },
        implicit_addend: if old { Some(code::implicit_addend::<BIG>) } else { None },
        shortened: &[b".pdr"],
        store_addend: if old { Some(code::store_addend::<BIG>) } else { None },
        lower_half: if old { Some(code::lower_half) } else { None },
        written: Some(if wide { &settle::WRITTEN_64 } else { &settle::WRITTEN_32 }),
        settle: Some(settle::settle::<ABI>),
        settle_joined: Some(settle::settle_joined),
        pages: Pages { smallest: 0x1000, max: 0x1_0000, common: 0x1000 },
        image_base: Address::new(match abi {
            Abi::N64 => 0x1_2000_0000,
            Abi::N32 => 0x1000_0000,
            Abi::O32 => 0x40_0000,
        }),
        // Four of them are `nop`.
        filler: 0,
        tls: Tls::Behind(0x7000),
        tls_offset: 0x8000,
        types: if wide { &TYPES_64 } else { &TYPES_32 },
        type_names: &NAMES,
        none: R_NONE,
        dynamic: DynamicTypes {
            with_addends: false,
            address: if wide { REL64 } else { R_REL32 },
            distance: None,
            copy: R_COPY,
            glob_dat: if wide { REL64 } else { R_REL32 },
            jump_slot: R_JUMP_SLOT,
            relative: if wide { REL64 } else { R_REL32 },
            signed: None,
            // Loaders know no IFUNCs.
            irelative: None,
            resolvers_in_plt: false,
            dtpmod: if wide { R_TLS_DTPMOD64 } else { R_TLS_DTPMOD32 },
            dtpoff: if wide { R_TLS_DTPREL64 } else { R_TLS_DTPREL32 },
            tpoff: if wide { R_TLS_TPREL64 } else { R_TLS_TPREL32 },
            backward_tpoff: None,
            // There are no TLS descriptors.
            tlsdesc: R_IRELATIVE,
        },
        loader_got: Some(loader::got(wide)),
        plt: plt::plt(wide),
        flags: Some(FileFlags::Always(flags::join::<ABI>)),
        data_flags: if old {
            flags::ABI_O32
        } else if wide {
            0
        } else {
            flags::ABI2
        },
        features_of_flags: Some(flags::features),
        function_other: Some(flags::of_functions),
        called_other: 0xe0,
        stand_in_other: OTHER_PLT,
        stand_in_version: 1,
        attributes: Some(Attributes {
            name: attributes::SECTION,
            section: 0x7000_002a,
            output: AttributesOutput::Section {
                segment: Some(0x7000_0003),
                flags: SHF_ALLOC,
                align: 8,
                entsize: 24,
                merge: attributes::merge::<BIG>,
            },
            features: None,
            doubts: None,
        }),
        gnu_attributes: Some(Attributes::joined(
            attributes::GNU_SECTION,
            SHT_GNU_ATTRIBUTES,
            attributes::merge_gnu::<BIG>,
        )),
        registers: Some(if wide {
            Registers {
                name: b".MIPS.options",
                section: 0x7000_000d,
                // It has to stay even if nothing refers to it (SHF_MIPS_NOSTRIP).
                flags: SHF_ALLOC | 0x0800_0000,
                align: 8,
                entsize: 1,
                segment: 0x7000_0002,
                merge: attributes::merge_registers::<true>,
                pointer: attributes::pointer::<BIG, true>,
                put_pointer: attributes::put_pointer::<BIG, true>,
            }
        } else {
            Registers {
                name: b".reginfo",
                section: 0x7000_0006,
                flags: SHF_ALLOC,
                align: 4,
                entsize: 24,
                segment: 0x7000_0000,
                merge: attributes::merge_registers::<false>,
                pointer: attributes::pointer::<BIG, false>,
                put_pointer: attributes::put_pointer::<BIG, false>,
            }
        }),
        frames_become_distances: true,
        executes_stack: true,
        entry: "__start",
        branches: Some(thunks::branches(match (BIG, wide) {
            (false, false) => &LITTLE,
            (true, false) => &BIG_ENDIAN,
            (false, true) => &LITTLE_64,
            (true, true) => &BIG_64,
        })),
        ..Facts::PLAIN
    }
}

static LITTLE: InstructionSets = thunks::sets::<false, false>();
static BIG_ENDIAN: InstructionSets = thunks::sets::<true, false>();
static LITTLE_64: InstructionSets = thunks::sets::<false, true>();
static BIG_64: InstructionSets = thunks::sets::<true, true>();

pub struct Mips<const BIG: bool, const ABI: u8>;

impl<const BIG: bool, const ABI: u8> Mips<BIG, ABI> {
    const WIDE: bool = matches!(Abi::of(ABI), Abi::N64);

    /// Stores a value in a whole field of data.
    fn put_any_width(kind: u32, FieldAt { out, at }: FieldAt, value: u64) {
        Self::FACTS.target.format.put(&mut out[at..at + Self::width(kind)], value);
    }
}

impl<const BIG: bool, const ABI: u8> Rules for Mips<BIG, ABI> {
    const FACTS: Facts = facts::<BIG, ABI>();
    const DEBUG_OFFSET: u32 = R_32;
    type GotForm = ();
    type TlsCall = ();
    const UNDEFINED_IS_NEAR: bool = true;

    fn put_distance(
        kind: u32,
        out: &mut [u8],
        at: usize,
        target: Address,
        here: Address,
    ) -> Result<(), Failure> {
        // Loads of words and doublewords count from the one that they are in.
        let here = match kind {
            R_PC18 | M_PC18 => Address::new(here.get() & !7),
            M_PC19 | M_PC23 => Address::new(here.get() & !3),
            _ => here,
        };
        Self::put(kind, out, at, target.wrapping_sub(here))
    }

    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        if Self::WIDE {
            code::put::<BIG, true>(kind, out, at, value)
        } else {
            code::put::<BIG, false>(kind, out, at, value)
        }
    }

    fn put_address(out: &mut [u8], at: usize, value: u64) {
        let word = if Self::WIDE { 8 } else { 4 };
        Self::FACTS.target.format.put(&mut out[at..at + word], value);
    }

    /// Null; branches do not ask, but go on after themselves ([`apply`]).
    fn undefined(_kind: u32, _here: Address) -> Address {
        Address::ZERO
    }

    fn apply<S: Site>(site: &S, out: &mut [u8]) {
        apply::allocated::<BIG, ABI, S>(site, out);
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write::<BIG, ABI>(plan, start, out);
    }

    /// There are no IFUNCs.
    fn write_iplt(_plan: &Plan, _start: u64, out: &mut [u8]) {
        out.fill(0);
    }

    fn unbound(plan: &Plan, _entry: u32) -> Address {
        plt::unbound(plan)
    }
}

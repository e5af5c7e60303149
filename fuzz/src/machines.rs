//! Objects for machines other than x86-64: code that relocations look at before they rewrite it, with any
//! relocations, in the machine's own form (32 or 64 bits, either byte order, addends beside relocations or in
//! place).

use std::path::Path;

use weld_tests::elf::Image;
use weld_tests::verify::verify;

use crate::{Choices, MemFile, options, run_link};

/// Links two objects that `data` decides on. What is linked is read back and verified. With
/// `WELD_FUZZ_SAVE=DIR` in the environment the objects are written to DIR, with the options in DIR/args.
///
/// # Panics
/// If the output is not sound.
pub fn check(data: &[u8]) {
    let mut choices = Choices::new(data);
    let byte = choices.byte();
    let machine = &MACHINES[choices.below(MACHINES.len())];
    let objects = [object(machine, &mut choices), object(machine, &mut choices)];
    let mut args = vec!["-m".to_owned(), machine.emulation.to_owned()];
    args.extend(options(byte).iter().map(|option| (*option).to_owned()));
    if let Some(dir) = std::env::var_os("WELD_FUZZ_SAVE") {
        let dir = Path::new(&dir);
        let kept = std::iter::zip(["0.o", "1.o"], &objects)
            .try_for_each(|(name, o)| std::fs::write(dir.join(name), o));
        kept.and_then(|()| std::fs::write(dir.join("args"), args.join(" ")))
            .expect("the directory can be written");
    }
    let files: Vec<MemFile> = objects.iter().map(|bytes| MemFile::new(bytes)).collect();
    let output = std::env::temp_dir().join(format!("weld-fuzz-machines-{}", std::process::id()));
    args.extend(["-o".to_owned(), output.display().to_string()]);
    args.extend(files.iter().map(MemFile::path));
    let forced = args.iter().any(|arg| arg == "--noinhibit-exec");
    if run_link(&args).is_err() || forced {
        return;
    }
    let image = Image::read(&output).expect("the output can be read back");
    let mut problems = verify(&image);
    problems.retain(|problem| !comes_from_input(problem));
    assert!(problems.is_empty(), "{}: {}", args.join(" "), problems.join("\n"));
}

/// Symbols lie anywhere, and relocations of one place may be several.
fn comes_from_input(problem: &str) -> bool {
    let symbol = problem.starts_with("symbol ") || problem.starts_with("TLS symbol ");
    symbol || problem.contains("relocated twice") || problem.contains("is outside")
}

/// What objects for a machine are like.
pub struct Machine {
    /// `-m`
    pub emulation: &'static str,
    number: u16,
    narrow: bool,
    big: bool,
    /// Relocations have their addends beside them.
    addends: bool,
    /// `e_flags`
    flags: u32,
    /// Relocation types are below this.
    types: usize,
    /// Sequences of instructions, each with relocations: where, and of what type.
    code: &'static [(&'static [u8], &'static [(u8, u32)])],
}

pub const MACHINES: [Machine; 14] = [
    Machine {
        emulation: "elf_i386",
        number: 3,
        narrow: true,
        big: false,
        addends: false,
        flags: 0,
        types: 45,
        code: I386,
    },
    Machine {
        emulation: "elf32_x86_64",
        number: 62,
        narrow: true,
        big: false,
        addends: true,
        flags: 0,
        types: 52,
        code: X32,
    },
    Machine {
        emulation: "elf64_s390",
        number: 22,
        narrow: false,
        big: true,
        addends: true,
        flags: 0,
        types: 67,
        code: S390X,
    },
    Machine {
        emulation: "aarch64linux",
        number: 183,
        narrow: false,
        big: false,
        addends: true,
        flags: 0,
        types: 580,
        code: AARCH64,
    },
    Machine {
        emulation: "elf64lriscv",
        number: 243,
        narrow: false,
        big: false,
        addends: true,
        flags: 0,
        types: 67,
        code: RISCV,
    },
    Machine {
        emulation: "elf64loongarch",
        number: 258,
        narrow: false,
        big: false,
        addends: true,
        flags: 0x43,
        types: 141,
        code: LOONGARCH,
    },
    Machine {
        emulation: "armelf_linux_eabi",
        number: 40,
        narrow: true,
        big: false,
        addends: false,
        flags: 0x0500_0000,
        types: 168,
        code: ARM,
    },
    Machine {
        emulation: "elf32ppc",
        number: 20,
        narrow: true,
        big: true,
        addends: true,
        flags: 0,
        types: 256,
        code: PPC32,
    },
    Machine {
        emulation: "elf64_sparc",
        number: 43,
        narrow: false,
        big: true,
        addends: true,
        flags: 2,
        types: 256,
        code: SPARC64,
    },
    Machine {
        emulation: "avr6",
        number: 83,
        narrow: true,
        big: false,
        addends: true,
        flags: 0x86,
        types: 38,
        code: AVR,
    },
    Machine {
        emulation: "elf64_amdgpu",
        number: 224,
        narrow: false,
        big: false,
        addends: true,
        flags: 0x2c,
        types: 15,
        code: AMDGPU,
    },
    Machine {
        emulation: "msp430elf",
        number: 105,
        narrow: true,
        big: false,
        addends: true,
        flags: 0,
        types: 11,
        code: MSP430,
    },
    Machine {
        emulation: "hexagonelf",
        number: 164,
        narrow: true,
        big: false,
        addends: true,
        flags: 0x68,
        types: 101,
        code: HEXAGON,
    },
    Machine {
        emulation: "elf64ppc",
        number: 21,
        narrow: false,
        big: true,
        addends: true,
        // ELFv1.
        flags: 1,
        types: 256,
        code: PPC64,
    },
];

const AMDGPU: &[(&[u8], &[(u8, u32)])] = &[
    // Parts of the distance of a slot, and of a symbol; a branch; words.
    (&[0xff, 0, 0x80, 0x80, 0, 0, 0, 0, 0xff, 0, 0x80, 0x80, 0, 0, 0, 0], &[(4, 8), (12, 9)]),
    (&[0xff, 0, 0x80, 0x80, 0, 0, 0, 0, 0xff, 0, 0x80, 0x80, 0, 0, 0, 0], &[(4, 10), (12, 11)]),
    (&[0, 0, 0x82, 0xbf, 0, 0, 0, 0, 0, 0, 0, 0], &[(0, 14), (4, 5)]),
    (&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[(0, 3), (8, 7), (12, 4)]),
];

const MSP430: &[(&[u8], &[(u8, u32)])] = &[
    // jmp; call; mov to a distance; words.
    (&[0, 0x3c, 0xb0, 0x12, 0, 0], &[(0, 2), (4, 5)]),
    (&[0xb0, 0x43, 0, 0], &[(2, 6)]),
    (&[0, 0, 0, 0, 0, 0, 0, 0], &[(0, 3), (2, 4), (4, 1)]),
];

const HEXAGON: &[(&[u8], &[(u8, u32)])] = &[
    // An extension in front of a load from a slot, of an address, of a duplex that sets a register.
    (&[0, 0x40, 0, 0, 0, 0xc0, 0x81, 0x91], &[(0, 69), (4, 71)]),
    (&[0, 0x40, 0, 0, 0, 0xc0, 0x80, 0x49], &[(0, 17), (4, 23)]),
    (&[0, 0x40, 0, 0, 0x82, 0x30, 0, 0x28], &[(0, 17), (4, 30)]),
    // One that makes an address, and one that calls.
    (&[0, 0x40, 0, 0, 0, 0xc0, 0x49, 0x6a], &[(0, 16), (4, 65)]),
    (&[0, 0x40, 0, 0, 0, 0xc0, 0, 0x5a], &[(0, 16), (4, 18)]),
    // call; if (p0) jump; a jump that compares; loop0; both halves of a register.
    (&[0, 0xc0, 0, 0x5a, 0, 0xc0, 0, 0x5c, 0, 0xc0, 0, 0x61], &[(0, 1), (4, 2), (8, 14)]),
    (&[0, 0xc0, 0, 0x60, 0, 0xc0, 0x20, 0x72, 0, 0xc0, 0x20, 0x71], &[(0, 3), (4, 5), (8, 4)]),
    // Small data; slots and calls for thread-local storage, and offsets there.
    (&[0, 0xc0, 0, 0x49, 0, 0xc0, 0x80, 0x48], &[(0, 9), (4, 11)]),
    (&[0, 0x40, 0, 0, 0, 0xc0, 0, 0xb0, 0, 0xc0, 0, 0x5a], &[(0, 75), (4, 76), (8, 49)]),
    (&[0, 0x40, 0, 0, 0, 0xc0, 0x80, 0x49, 4, 0xc0, 0, 0x78], &[(0, 78), (4, 79), (8, 64)]),
    (
        &[0, 0x40, 0, 0, 0, 0xc0, 0, 0xb0, 0, 0x40, 0, 0, 0, 0xc0, 0, 0x5a],
        &[(0, 83), (4, 84), (8, 96), (12, 95)],
    ),
];

const SPARC64: &[(&[u8], &[(u8, u32)])] = &[
    // sethi, add, call with its argument after it; with that in front.
    (
        &[3, 0, 0, 0, 0x82, 0, 0x60, 0, 0x40, 0, 0, 0, 0x90, 0x05, 0xc0, 0x01],
        &[(0, 56), (4, 57), (8, 59), (12, 58)],
    ),
    (&[0x90, 0x05, 0xc0, 0x01, 0x40, 0, 0, 0, 1, 0, 0, 0], &[(0, 58), (4, 59)]),
    // The same of the local-dynamic model; an offset there.
    (
        &[3, 0, 0, 0, 0x82, 0, 0x60, 0, 0x40, 0, 0, 0, 0x90, 0x05, 0xc0, 0x01],
        &[(0, 60), (4, 61), (8, 63), (12, 62)],
    ),
    (&[3, 0, 0, 0, 0x82, 0x18, 0x60, 0, 0x82, 0x02, 0, 0x01], &[(0, 64), (4, 65), (8, 66)]),
    // Offsets, by their slots and as they are.
    (&[3, 0, 0, 0, 0x82, 0, 0x60, 0, 0xc2, 0x5d, 0xc0, 0x01], &[(0, 67), (4, 68), (8, 70)]),
    (&[3, 0, 0, 0, 0x82, 0x18, 0x60, 0], &[(0, 72), (4, 73)]),
    // Slots that instructions can do without; addresses; a load with a number beside its type; branches.
    (&[3, 0, 0, 0, 0x82, 0x18, 0x60, 0, 0xc2, 0x5d, 0xc0, 0x01], &[(0, 82), (4, 83), (8, 84)]),
    (&[3, 0, 0, 0, 0xc2, 0, 0x60, 0, 0x2f, 0, 0, 0], &[(0, 9), (4, 8 << 8 | 33), (8, 17)]),
    (&[0x40, 0, 0, 0, 1, 0, 0, 0, 0x30, 0x68, 0, 0], &[(0, 18), (4, 7), (8, 41)]),
];

const AVR: &[(&[u8], &[(u8, u32)])] = &[
    // ldi of both halves of a function's address; of data; brne, rjmp; call.
    (&[0xe0, 0xe0, 0xf0, 0xe0], &[(0, 24), (2, 25)]),
    (&[0x80, 0xe0, 0x90, 0xe0, 0xa0, 0xe0, 0xb0, 0xe0], &[(0, 6), (2, 7), (4, 8), (6, 22)]),
    (&[1, 0xf4, 0, 0xc0, 0x0e, 0x94, 0, 0], &[(0, 2), (2, 3), (4, 18)]),
    // ldd, adiw, in, sbi, lds; words of tables.
    (&[0x98, 0x80, 0, 0x96, 0x40, 0xb1, 0, 0x9a, 0x40, 0xa0], &[(0, 20), (2, 21), (4, 34), (6, 35), (8, 33)]),
    (&[0, 0, 0, 0, 0, 0, 0, 0], &[(0, 4), (2, 5), (4, 1)]),
];

const PPC64: &[(&[u8], &[(u8, u32)])] = &[
    // addis and addi from the TOC; bl, nop; ld of a slot.
    (&[0x3c, 0x62, 0, 0, 0x38, 0x63, 0, 0], &[(2, 50), (6, 48)]),
    (&[0x48, 0, 0, 1, 0x60, 0, 0, 0], &[(0, 10)]),
    (&[0x3c, 0x62, 0, 0, 0xe8, 0x63, 0, 0], &[(2, 17), (6, 59)]),
    // The general-dynamic and the local-dynamic sequence; an initial-exec one; a local-exec one.
    (
        &[0x3c, 0x62, 0, 0, 0x38, 0x63, 0, 0, 0x48, 0, 0, 1, 0x60, 0, 0, 0],
        &[(2, 82), (6, 80), (8, 107), (8, 10)],
    ),
    (
        &[0x3c, 0x62, 0, 0, 0x38, 0x63, 0, 0, 0x48, 0, 0, 1, 0x60, 0, 0, 0],
        &[(2, 86), (6, 84), (8, 108), (8, 10)],
    ),
    (&[0x3d, 0x22, 0, 0, 0xe9, 0x29, 0, 0, 0x7d, 0x29, 0x6a, 0x14], &[(2, 90), (6, 88), (8, 67)]),
    (&[0x3d, 0x2d, 0, 0, 0x39, 0x29, 0, 0], &[(2, 72), (6, 70)]),
];

const PPC32: &[(&[u8], &[(u8, u32)])] = &[
    // addi of a general-dynamic pair, marked bl; the same of the local-dynamic one.
    (&[0x38, 0x7e, 0, 0, 0x48, 0, 0, 1], &[(2, 79), (4, 95), (4, 10)]),
    (&[0x38, 0x7e, 0, 0, 0x48, 0, 0, 1, 0x3d, 0x23, 0, 0], &[(2, 83), (4, 96), (4, 18), (10, 77)]),
    // addis, addi, bl; addis, lwz, add of an initial-exec one; lwz, lwzx.
    (&[0x3c, 0x7e, 0, 0, 0x38, 0x63, 0, 0, 0x48, 0, 0, 1], &[(2, 82), (6, 80), (8, 95), (8, 18)]),
    (&[0x3d, 0x3e, 0, 0, 0x81, 0x29, 0, 0, 0x7d, 0x29, 0x12, 0x14], &[(2, 90), (6, 88), (8, 67)]),
    (&[0x81, 0x3e, 0, 0, 0x7c, 0x69, 0x10, 0x2e], &[(2, 87), (4, 67)]),
    // Branches; parts of addresses, distances and slots.
    (&[0x48, 0, 0, 1, 0x48, 0, 0, 1, 0x41, 0x82, 0, 0], &[(0, 10), (4, 18), (8, 11)]),
    (&[0x3d, 0x20, 0, 0, 0x39, 0x29, 0, 0, 0x81, 0x3e, 0, 0], &[(2, 6), (6, 4), (10, 14)]),
    (&[0x3f, 0xde, 0, 0, 0x3b, 0xde, 0, 0], &[(2, 252), (6, 250)]),
];

const ARM: &[(&[u8], &[(u8, u32)])] = &[
    // bl; b; blx; beq
    (&[0xfe, 0xff, 0xff, 0xeb, 0xfe, 0xff, 0xff, 0xea, 0xfe, 0xff, 0xff, 0xfa], &[(0, 28), (4, 29), (8, 28)]),
    // bl; b.w; beq.w; b; beq of Thumb code.
    (&[0xff, 0xf7, 0xfe, 0xff, 0xff, 0xf7, 0xfe, 0xbf, 0x3f, 0xf4, 0xfe, 0xaf], &[(0, 10), (4, 30), (8, 51)]),
    (&[0xfe, 0xe7, 0xfe, 0xd0, 0xff, 0x48, 0, 0], &[(0, 102), (2, 103), (4, 11)]),
    // movw, movt in both; parts of distances.
    (
        &[0, 0, 0, 0xe3, 0, 0, 0x40, 0xe3, 0x40, 0xf2, 0, 0, 0xc0, 0xf2, 0, 0],
        &[(0, 43), (4, 46), (8, 47), (12, 50)],
    ),
    (&[8, 0, 0x4f, 0xe2, 8, 0, 0x4f, 0xe2, 8, 0, 0x1f, 0xe5], &[(0, 57), (4, 60), (8, 63)]),
    // Words: distances, slots, thread-local storage.
    (&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[(0, 42), (4, 96), (8, 26), (12, 25)]),
    (&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[(0, 104), (4, 105), (8, 107), (12, 108)]),
];

const X32: &[(&[u8], &[(u8, u32)])] = &[
    // lea x@tlsgd(%rip), %rdi; call, and call *.
    (&[0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0], &[(3, 19), (11, 4)]),
    (&[0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x66, 0x48, 0xff, 0x15, 0, 0, 0, 0], &[(3, 19), (11, 41)]),
    // lea x@tlsld(%rip), %rdi; call, and call *; lea x@dtpoff(%rax), %edx
    (&[0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x8d, 0x90, 0, 0, 0, 0], &[(3, 20), (8, 4), (14, 21)]),
    (&[0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xff, 0x15, 0, 0, 0, 0], &[(3, 20), (9, 41)]),
    // Loads of offsets, with 32 bits and with 64; descriptors and their calls.
    (&[0x40, 0x8b, 0x05, 0, 0, 0, 0, 0x48, 0x03, 0x0d, 0, 0, 0, 0], &[(3, 22), (10, 22)]),
    (&[0x44, 0x8b, 0x05, 0, 0, 0, 0, 0x03, 0x0d, 0, 0, 0, 0], &[(3, 22), (9, 22)]),
    (&[0x40, 0x8d, 0x05, 0, 0, 0, 0, 0x67, 0xff, 0x10], &[(3, 34), (7, 35)]),
    (&[0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xff, 0x10], &[(3, 34), (7, 35)]),
    // mov, call, jmp, cmp and test of slots.
    (
        &[0x8b, 0x05, 0, 0, 0, 0, 0xff, 0x15, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0],
        &[(2, 41), (8, 41), (14, 41)],
    ),
    (&[0x48, 0x3b, 0x05, 0, 0, 0, 0, 0x48, 0x85, 0x05, 0, 0, 0, 0], &[(3, 42), (10, 42)]),
];

const I386: &[(&[u8], &[(u8, u32)])] = &[
    // lea x@tlsgd(,%ebx), %eax; call. lea x@tlsgd(%ebx), %eax; call; nop. The same with call *.
    (&[0x8d, 0x04, 0x1d, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0], &[(3, 18), (8, 4)]),
    (&[0x8d, 0x83, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x90], &[(2, 18), (7, 4)]),
    (&[0x8d, 0x83, 0, 0, 0, 0, 0xff, 0x93, 0, 0, 0, 0], &[(2, 18), (8, 43)]),
    // lea x@tlsldm(%ebx), %eax; call; lea x@dtpoff(%eax), %edx
    (&[0x8d, 0x83, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x8d, 0x90, 0, 0, 0, 0], &[(2, 19), (7, 4), (13, 32)]),
    // Loads of offsets, in both dialects; a descriptor and its call.
    (&[0xa1, 0, 0, 0, 0, 0x8b, 0x0d, 0, 0, 0, 0, 0x03, 0x83, 0, 0, 0, 0], &[(1, 15), (7, 15), (13, 16)]),
    (&[0x2b, 0x83, 0, 0, 0, 0, 0x8b, 0x83, 0, 0, 0, 0, 0x2d, 0, 0, 0, 0], &[(2, 33), (8, 33), (13, 34)]),
    (&[0x8d, 0x83, 0, 0, 0, 0, 0xff, 0x10], &[(2, 39), (6, 40)]),
    // mov, call, jmp, cmp and test of slots.
    (
        &[0x8b, 0x83, 0, 0, 0, 0, 0xff, 0x93, 0, 0, 0, 0, 0xff, 0xa3, 0, 0, 0, 0],
        &[(2, 43), (8, 43), (14, 43)],
    ),
    (
        &[0x3b, 0x05, 0, 0, 0, 0, 0x85, 0x83, 0, 0, 0, 0, 0x8b, 0x15, 0, 0, 0, 0],
        &[(2, 43), (8, 43), (14, 43)],
    ),
    (&[0xe8, 0xfc, 0xff, 0xff, 0xff, 0x81, 0xc3, 2, 0, 0, 0], &[(1, 2), (7, 10)]),
];

const S390X: &[(&[u8], &[(u8, u32)])] = &[
    // A call, with its mark behind the function's relocation, and in front.
    (&[0xc0, 0xe5, 0, 0, 0, 0], &[(2, 20), (0, 38)]),
    (&[0xc0, 0xe5, 0, 0, 0, 0], &[(0, 39), (2, 20)]),
    // Loads of offsets: by a literal, from its own place, by an address.
    (&[0xe3, 0x21, 0xc0, 0, 0, 0x04, 0xc4, 0x28, 0, 0, 0, 0], &[(0, 37), (8, 49)]),
    (&[0xc0, 0x10, 0, 0, 0, 0, 0xe3, 0x20, 0x10, 0, 0, 0x04], &[(2, 49), (6, 37)]),
    // lgrl, larl of slots and addresses; displacements; short branches.
    (&[0xc4, 0x18, 0, 0, 0, 0, 0xc0, 0x10, 0, 0, 0, 0], &[(2, 26), (8, 26)]),
    (&[0xc0, 0x10, 0, 0, 0, 0, 0xe3, 0x20, 0x10, 0, 0, 0x04], &[(2, 19), (8, 58)]),
    (&[0xc5, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[(1, 62), (3, 64), (8, 41)]),
    (&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[(0, 44), (8, 48)]),
    (&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[(0, 46), (8, 51)]),
];

const AARCH64: &[(&[u8], &[(u8, u32)])] = &[
    // adrp, ldr of a slot; adrp, ldr, add, blr of a descriptor; bl.
    (&[0, 0, 0, 0x90, 0, 0, 0x40, 0xf9], &[(0, 311), (4, 312)]),
    (
        &[0, 0, 0, 0x90, 1, 0, 0x40, 0xf9, 0, 0, 0, 0x91, 0x20, 0, 0x3f, 0xd6],
        &[(0, 562), (4, 563), (8, 564), (12, 569)],
    ),
    (&[0, 0, 0, 0x90, 0, 0, 0x40, 0xf9, 0, 0, 0, 0x94], &[(0, 541), (4, 542), (8, 283)]),
];

const RISCV: &[(&[u8], &[(u8, u32)])] = &[
    // auipc, jalr; auipc, ld of a slot; lui, addi.
    (&[0x97, 0, 0, 0, 0xe7, 0x80, 0, 0], &[(0, 19), (0, 51)]),
    (&[0x17, 5, 0, 0, 3, 0x35, 5, 0], &[(0, 20), (4, 24), (0, 51)]),
    (&[0x37, 5, 0, 0, 0x13, 5, 5, 0], &[(0, 26), (0, 51), (4, 27), (4, 51)]),
    (&[0x13, 0, 0, 0, 0x13, 0, 0, 0], &[(0, 43)]),
];

const LOONGARCH: &[(&[u8], &[(u8, u32)])] = &[
    // pcaddu18i, jirl; pcalau12i, addi.d; pcalau12i, ld.d of a slot; bl.
    (&[1, 0, 0, 0x1e, 0x21, 0, 0, 0x4c], &[(0, 110), (0, 100)]),
    (&[4, 0, 0, 0x1a, 0x84, 0, 0xc0, 2], &[(0, 71), (0, 100), (4, 72), (4, 100)]),
    (&[4, 0, 0, 0x1a, 0x84, 0, 0xc0, 0x28], &[(0, 75), (0, 100), (4, 76), (4, 100)]),
    (&[0, 0, 0, 0x54, 0, 0, 0x40, 3], &[(0, 66)]),
    // pcalau12i, ld.d of an offset; pcalau12i, addi.d, ld.d, jirl of a descriptor; lu12i.w, add.d, addi.d.
    (&[4, 0, 0, 0x1a, 0x84, 0, 0xc0, 0x28], &[(0, 87), (0, 100), (4, 88), (4, 100)]),
    (
        &[4, 0, 0, 0x1a, 0x84, 0, 0xc0, 2, 0x81, 0, 0xc0, 0x28, 0x21, 0, 0, 0x4c],
        &[(0, 111), (0, 100), (4, 112), (4, 100), (8, 119), (8, 100), (12, 120), (12, 100)],
    ),
    (
        &[4, 0, 0, 0x14, 0x84, 0x88, 0x10, 0, 0x84, 0, 0xc0, 2],
        &[(0, 121), (0, 100), (4, 122), (4, 100), (8, 123), (8, 100)],
    ),
    (&[0, 0, 0x40, 3, 0, 0, 0x40, 3, 0, 0, 0x40, 3], &[(0, 102)]),
    (&[0x80, 0x80, 0, 0], &[(0, 107), (0, 108)]),
];

/// Bytes in the making.
struct Writer<'m> {
    machine: &'m Machine,
    bytes: Vec<u8>,
}

impl Writer<'_> {
    fn number(&mut self, value: u64, width: usize) {
        match self.machine.big {
            true => self.bytes.extend(&value.to_be_bytes()[8 - width..]),
            false => self.bytes.extend(&value.to_le_bytes()[..width]),
        }
    }

    fn half(&mut self, value: u16) {
        self.number(value.into(), 2);
    }

    fn long(&mut self, value: u32) {
        self.number(value.into(), 4);
    }

    /// As wide as addresses are.
    fn word(&mut self, value: u64) {
        self.number(value, if self.machine.narrow { 4 } else { 8 });
    }

    fn symbol(&mut self, name: u32, (value, size): (u64, u64), (info, other, section): (u8, u8, u16)) {
        self.long(name);
        if self.machine.narrow {
            self.word(value);
            self.word(size);
        }
        self.bytes.extend([info, other]);
        self.half(section);
        if !self.machine.narrow {
            self.word(value);
            self.word(size);
        }
    }

    fn reloc(&mut self, offset: u64, symbol: u32, kind: u32, addend: u64) {
        self.word(offset);
        match self.machine.narrow {
            true => self.word(u64::from(symbol << 8 | kind & 0xff)),
            false => self.word(u64::from(symbol) << 32 | u64::from(kind)),
        }
        if self.machine.addends {
            self.word(addend);
        }
    }
}

/// A section: name in `NAMES`, type, flags, contents, link, info.
type Section = (u32, u32, u64, Vec<u8>, u32, u32);

const SECTION_NAMES: &[u8] = b"\0.text\0.data\0.tdata\0.rel.text\0.rel.data\0.symtab\0.strtab\0.opd\0";
/// Where in them that of descriptors begins.
const OPD: u32 = 56;
const SYMBOL_NAMES: &[u8] =
    b"\0_start\0v\0f\0t\0_GLOBAL_OFFSET_TABLE_\0__tls_get_addr\0___tls_get_addr\0__tls_get_offset\0";
/// Where in them names begin.
const NAMES: [u32; 8] = [1, 8, 10, 12, 14, 37, 52, 68];

/// An object with generated code and relocations.
pub fn object(machine: &Machine, c: &mut Choices) -> Vec<u8> {
    let new = || Writer { machine, bytes: Vec::new() };
    let symbols = 3 + NAMES.len() as u32;
    let (mut text, mut text_relocs, mut data_relocs) = (Vec::new(), new(), new());
    for _ in 0..1 + c.below(12) {
        let (code, relocs) = c.pick(machine.code);
        for &(at, kind) in relocs {
            let kind = if c.below(16) == 15 { c.below(machine.types) as u32 } else { kind };
            let addend = c.pick(&[0, 0, 0, 2, 4, u64::MAX - 3]);
            let jitter = u64::from(c.below(32) == 31);
            text_relocs.reloc(
                text.len() as u64 + u64::from(at) + jitter,
                c.below(symbols as usize) as u32,
                kind,
                addend,
            );
        }
        text.extend_from_slice(code);
        if c.below(16) == 15 {
            text.truncate(text.len() - c.below(code.len()));
        }
    }
    // Of ELFv1, data are descriptors: the address of code, and that of the TOC.
    let has_descriptors = machine.number == 21 && c.below(2) == 1;
    for at in (0..72).step_by(24).filter(|_| has_descriptors) {
        data_relocs.reloc(at, 1 + c.below(4) as u32, 38, c.pick(&[0, 4, 8]));
        data_relocs.reloc(at + 8, 0, 51, 0);
    }
    for _ in 0..c.below(if has_descriptors { 2 } else { 6 }) {
        let kind = c.below(machine.types) as u32;
        data_relocs.reloc(8 * c.below(9) as u64, c.below(symbols as usize) as u32, kind, c.number());
    }
    let mut table = new();
    table.symbol(0, (0, 0), (0, 0, 0));
    for section in [1, 2] {
        table.symbol(0, (0, 0), (3, 0, section));
    }
    for name in NAMES {
        let kind = c.pick(&[0, 0, 1, 2, 6, 10]);
        let binding = c.pick(&[1, 1, 2]);
        let section = if name == 1 { 1 } else { c.pick(&[0, 0, 1, 2, 3, 3, 0xfff1, 0xfff2]) };
        let value = c.pick(&[0, 0, 1, 8, 16]);
        table.symbol(name, (value, 4), (binding << 4 | kind, c.pick(&[0, 0, 2, 3]), section));
    }
    let kind = if machine.addends { 4 } else { 9 };
    let sections = [
        (1, 1, 6, text, 0, 0),
        (if has_descriptors { OPD } else { 7 }, 1, 3, vec![0; 72], 0, 0),
        (13, 1, 0x403, vec![0; 24], 0, 0),
        (20, kind, 0, text_relocs.bytes, 6, 1),
        (30, kind, 0, data_relocs.bytes, 6, 2),
        (40, 2, 0, table.bytes, 7, 3),
        (48, 3, 0, SYMBOL_NAMES.to_vec(), 0, 0),
        (48, 3, 0, SECTION_NAMES.to_vec(), 0, 0),
    ];
    file(machine, &sections)
}

/// The file with these sections, the last of which has their names.
fn file(machine: &Machine, sections: &[Section]) -> Vec<u8> {
    let mut out = Writer { machine, bytes: Vec::new() };
    let (header, entry): (usize, usize) = if machine.narrow { (52, 40) } else { (64, 64) };
    let size: usize = sections.iter().map(|section| section.3.len().next_multiple_of(8)).sum();
    let start = header.next_multiple_of(8);
    out.bytes.extend([0x7f, b'E', b'L', b'F', 2 - u8::from(machine.narrow), 1 + u8::from(machine.big), 1]);
    out.bytes.resize(16, 0);
    out.half(1);
    out.half(machine.number);
    out.long(1);
    out.word(0);
    out.word(0);
    out.word((start + size) as u64);
    out.long(machine.flags);
    for value in [header, 0, 0, entry, sections.len() + 1, sections.len()] {
        out.half(value as u16);
    }
    let mut offsets = Vec::new();
    for section in sections {
        out.bytes.resize(out.bytes.len().next_multiple_of(8), 0);
        offsets.push(out.bytes.len());
        out.bytes.extend_from_slice(&section.3);
    }
    out.bytes.resize(start + size, 0);
    out.bytes.resize(start + size + entry, 0);
    for ((name, kind, flags, bytes, link, info), offset) in sections.iter().zip(offsets) {
        let entry = match kind {
            2 => 16 + 8 * u64::from(!machine.narrow),
            4 | 9 => (2 + u64::from(machine.addends)) * if machine.narrow { 4 } else { 8 },
            _ => 0,
        };
        out.long(*name);
        out.long(*kind);
        for value in [*flags, 0, offset as u64, bytes.len() as u64] {
            out.word(value);
        }
        out.long(*link);
        out.long(*info);
        out.word(8);
        out.word(entry);
    }
    out.bytes
}

#[cfg(test)]
mod tests {
    #[test]
    fn links_of_random_objects_are_sound() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        for _ in 0..2000 {
            let data: Vec<u8> = (0..400).map(|_| next()).collect();
            super::check(&data);
        }
    }
}

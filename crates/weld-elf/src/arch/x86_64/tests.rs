//! The table of types, what fits where, and each instruction that is rewritten.

use super::*;
use crate::address::Address;

#[test]
fn types_have_the_psabi_numbers() {
    let known = [
        (R_64, 1, "R_X86_64_64"),
        (R_PC32, 2, "R_X86_64_PC32"),
        (R_PLT32, 4, "R_X86_64_PLT32"),
        (R_32S, 11, "R_X86_64_32S"),
        (R_TPOFF32, 23, "R_X86_64_TPOFF32"),
        (R_GOTOFF64, 25, "R_X86_64_GOTOFF64"),
        (R_TLSDESC_CALL, 35, "R_X86_64_TLSDESC_CALL"),
        (R_REX_GOTPCRELX, 42, "R_X86_64_REX_GOTPCRELX"),
        (R_CODE_6_GOTPC32_TLSDESC, 51, "R_X86_64_CODE_6_GOTPC32_TLSDESC"),
    ];
    for (kind, number, name) in known {
        assert_eq!((kind, FACTS.type_name(kind)), (number, name.to_owned()));
    }
    assert_eq!(FACTS.type_name(38), "relocation type 38");
    assert_eq!(FACTS.type_name(u32::MAX), "relocation type 4294967295");
}

/// Whether `value` can be stored, and what is then stored.
fn put(kind: u32, value: i64) -> (bool, u64) {
    let mut out = [0xee; 16];
    let fits = X86_64::<false>::put(kind, &mut out, 4, value as u64);
    let width = FACTS.width(kind);
    assert!(fits.is_ok() || fits == Err(Failure::Overflow(value)));
    assert!(out[..4].iter().chain(&out[4 + width..]).all(|byte| *byte == 0xee), "bytes beside the field");
    let mut field = [0; 8];
    field[..width].copy_from_slice(&out[4..4 + width]);
    (fits.is_ok(), u64::from_le_bytes(field))
}

#[test]
fn values_fit_or_are_refused_at_their_limits() {
    let limits = [
        (R_PC32, -0x8000_0000, 0x7fff_ffff),
        (R_32S, -0x8000_0000, 0x7fff_ffff),
        (R_32, 0, 0xffff_ffff),
        (R_SIZE32, 0, 0xffff_ffff),
        (R_16, -0x8000, 0xffff),
        (R_PC16, -0x1_0000, 0xffff),
        (R_8, -0x80, 0xff),
        (R_PC8, -0x80, 0x7f),
    ];
    for (kind, low, high) in limits {
        let mask = u64::MAX >> (64 - 8 * FACTS.width(kind));
        for (value, fits) in [(low, true), (high, true), (0, true), (low - 1, false), (high + 1, false)] {
            assert_eq!(put(kind, value), (fits, value as u64 & mask), "{} {value:#x}", FACTS.type_name(kind));
        }
    }
    assert_eq!(put(R_PC64, i64::MIN), (true, i64::MIN as u64));
}

#[test]
fn plain_distances_are_stored_as_others_are() {
    for kind in [R_PC32, R_PLT32, R_PC16, R_PC8, R_PC64] {
        for value in [0, 1, -1, 0x7f, 0x80, 0x7fff, 0x8000, 0x7fff_ffff, 0x8000_0000, i64::MIN] {
            let (mut plain, mut other) = ([0; 8], [0; 8]);
            let fits = X86_64::<false>::put_distance(
                kind,
                &mut plain,
                0,
                Address::new(0x1000u64.wrapping_add_signed(value)),
                Address::new(0x1000),
            );
            assert_eq!(fits, X86_64::<false>::put(kind, &mut other, 0, value as u64));
            assert_eq!(plain, other);
        }
    }
}

/// The instruction that `code` becomes if a GOT load of `kind` at its last 4 bytes is shortened for a symbol
/// at `address`; the code lies at 0x1000. `None`: it stays.
fn shortened(kind: u32, code: &[u8], address: Address, pic: bool) -> Option<Result<Vec<u8>, Failure>> {
    let at = code.len() - 4;
    let reloc = Rela::make(at as u64, 1, kind, -4);
    let form = X86_64::<false>::got_form(Code { reloc: &reloc, bytes: code, at }, pic)?;
    let mut out = code.to_vec();
    let field =
        Field { out: &mut out, at, address: Address::new(0x1000 + at as u64), kind, got_base: Address::ZERO };
    Some(X86_64::<false>::rewrite_got(form, field, address.back(4)).map(|()| out))
}

#[test]
fn got_loads_become_addresses() {
    // The instruction ends at 0x1007, or 0x1006.
    let cases: [(u32, &[u8], &[u8]); 5] = [
        // mov sym@GOTPCREL(%rip), %rax → lea sym(%rip), %rax
        (R_REX_GOTPCRELX, &[0x48, 0x8b, 0x05, 0, 0, 0, 0], &[0x48, 0x8d, 0x05, 0xf9, 0x0f, 0, 0]),
        // mov …, %eax
        (R_GOTPCRELX, &[0x8b, 0x05, 0, 0, 0, 0], &[0x8d, 0x05, 0xfa, 0x0f, 0, 0]),
        // call *…(%rip) → addr32 call
        (R_GOTPCRELX, &[0xff, 0x15, 0, 0, 0, 0], &[0x67, 0xe8, 0xfa, 0x0f, 0, 0]),
        // jmp *…(%rip) → jmp; nop
        (R_GOTPCRELX, &[0xff, 0x25, 0, 0, 0, 0], &[0xe9, 0xfb, 0x0f, 0, 0, 0x90]),
        // REX2: mov …, %r16
        (
            R_CODE_4_GOTPCRELX,
            &[0xd5, 0x48, 0x8b, 0x05, 0, 0, 0, 0],
            &[0xd5, 0x48, 0x8d, 0x05, 0xf8, 0x0f, 0, 0],
        ),
    ];
    for (kind, code, wanted) in cases {
        for pic in [false, true] {
            assert_eq!(
                shortened(kind, code, Address::new(0x2000), pic),
                Some(Ok(wanted.to_vec())),
                "{code:x?}"
            );
        }
        assert_eq!(
            shortened(kind, code, Address::new(0x9000_0000), true),
            Some(Err(Failure::TooFar)),
            "{code:x?}"
        );
    }
}

#[test]
fn got_operands_become_immediates_at_fixed_addresses() {
    let cases: [(&[u8], &[u8]); 3] = [
        // add sym@GOTPCREL(%rip), %rcx → add $sym, %rcx
        (&[0x48, 0x03, 0x0d, 0, 0, 0, 0], &[0x48, 0x81, 0xc1, 0, 0x20, 0, 0]),
        // cmp …, %r9: its extension moves from REX.R to REX.B
        (&[0x4c, 0x3b, 0x0d, 0, 0, 0, 0], &[0x49, 0x81, 0xf9, 0, 0x20, 0, 0]),
        // test %rdx, … → test $sym, %rdx
        (&[0x48, 0x85, 0x15, 0, 0, 0, 0], &[0x48, 0xf7, 0xc2, 0, 0x20, 0, 0]),
    ];
    for (code, wanted) in cases {
        assert_eq!(shortened(R_REX_GOTPCRELX, code, Address::new(0x2000), false), Some(Ok(wanted.to_vec())));
        assert_eq!(shortened(R_REX_GOTPCRELX, code, Address::new(0x2000), true), None);
        let high = 0x8000_0000;
        assert_eq!(
            shortened(R_REX_GOTPCRELX, code, Address::new(high), false),
            Some(Err(Failure::Overflow(high as i64))),
            "the sign of an immediate is extended"
        );
    }
}

#[test]
fn other_got_operands_stay() {
    // push …; mov with another base; an instruction cut off in front.
    assert_eq!(shortened(R_GOTPCRELX, &[0xff, 0x35, 0, 0, 0, 0], Address::ZERO, false), None);
    assert_eq!(shortened(R_REX_GOTPCRELX, &[0x48, 0x8b, 0x83, 0, 0, 0, 0], Address::ZERO, false), None);
    assert_eq!(shortened(R_REX_GOTPCRELX, &[0x8b, 0x05, 0, 0, 0, 0], Address::ZERO, false), None);
    // After an EVEX prefix the same opcode is another instruction.
    assert_eq!(
        shortened(
            R_CODE_6_GOTPCRELX,
            &[0x62, 0xf4, 0xfc, 0x18, 0x8b, 0x05, 0, 0, 0, 0],
            Address::ZERO,
            false
        ),
        None
    );
    // Another addend would mean another word of the GOT.
    let reloc = Rela::make(3, 1, R_REX_GOTPCRELX, 0);
    let bytes = &[0x48, 0x8b, 0x05, 0, 0, 0, 0];
    assert!(X86_64::<false>::got_form(Code { reloc: &reloc, bytes, at: 3 }, false).is_none());
}

const GENERAL: [u8; 16] = [0x66, 0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0];
const LOCAL: [u8; 12] = [0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0];

fn field(out: &mut [u8], at: usize) -> Field<'_> {
    Field { address: Address::new(0x1000 + at as u64), out, at, kind: R_NONE, got_base: Address::ZERO }
}

#[test]
fn general_dynamic_becomes_cheaper() {
    let relocs = [Rela::make(4, 1, R_TLSGD, -4), Rela::make(12, 2, R_PLT32, -4)];
    let call = X86_64::<false>::tls_call(&GENERAL, &relocs, 0).unwrap();
    let mut out = GENERAL;
    X86_64::<false>::general_to_local_exec(call, field(&mut out, 4), -16).unwrap();
    // mov %fs:0, %rax; lea -16(%rax), %rax
    assert_eq!(out, [0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x8d, 0x80, 0xf0, 0xff, 0xff, 0xff]);
    let mut out = GENERAL;
    X86_64::<false>::general_to_initial_exec(call, field(&mut out, 4), Address::new(0x2000)).unwrap();
    // … add 0x2000(%rip), %rax, which ends at 0x1010.
    assert_eq!(out[9..], [0x48, 0x03, 0x05, 0xf0, 0x0f, 0, 0]);
    let mut out = GENERAL;
    assert_eq!(
        X86_64::<false>::general_to_local_exec(call, field(&mut out, 4), 1 << 31),
        Err(Failure::TooFar)
    );
    // The call has to be there, and next.
    assert!(X86_64::<false>::tls_call(&GENERAL, &relocs[..1], 0).is_none());
    let apart = [relocs[0], Rela::make(11, 2, R_PLT32, -4)];
    assert!(X86_64::<false>::tls_call(&GENERAL, &apart, 0).is_none());
    for cut in 0..16 {
        assert!(X86_64::<false>::tls_call(&GENERAL[..cut], &relocs, 0).is_none());
    }
}

#[test]
fn local_dynamic_becomes_the_thread_pointer() {
    let relocs = [Rela::make(3, 1, R_TLSLD, -4), Rela::make(8, 2, R_PLT32, -4)];
    let call = X86_64::<false>::tls_call(&LOCAL, &relocs, 0).unwrap();
    let mut out = LOCAL;
    X86_64::<false>::local_dynamic_to_local_exec(call, field(&mut out, 3)).unwrap();
    assert_eq!(out, [0x66, 0x66, 0x66, 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0]);
}

#[test]
fn initial_exec_becomes_local_exec() {
    let reloc = Rela::make(3, 1, R_GOTTPOFF, -4);
    let cases: [([u8; 7], [u8; 3]); 6] = [
        // mov x@gottpoff(%rip), %rbx → mov $tpoff, %rbx; so with %r12
        ([0x48, 0x8b, 0x1d, 0, 0, 0, 0], [0x48, 0xc7, 0xc3]),
        ([0x4c, 0x8b, 0x25, 0, 0, 0, 0], [0x49, 0xc7, 0xc4]),
        // add x@gottpoff(%rip), %rax → lea tpoff(%rax), %rax; so with %r9
        ([0x48, 0x03, 0x05, 0, 0, 0, 0], [0x48, 0x8d, 0x80]),
        ([0x4c, 0x03, 0x0d, 0, 0, 0, 0], [0x4d, 0x8d, 0x89]),
        // add x@gottpoff(%rip), %rsp → add $tpoff, %rsp; so with %r12
        ([0x48, 0x03, 0x25, 0, 0, 0, 0], [0x48, 0x81, 0xc4]),
        ([0x4c, 0x03, 0x25, 0, 0, 0, 0], [0x49, 0x81, 0xc4]),
    ];
    for (bytes, wanted) in cases {
        assert!(X86_64::<false>::is_initial_exec(Code { reloc: &reloc, bytes: &bytes, at: 3 }));
        let mut out = bytes;
        X86_64::<false>::initial_to_local_exec(field(&mut out, 3), -8).unwrap();
        assert_eq!((&out[..3], &out[3..]), (&wanted[..], &[0xf8, 0xff, 0xff, 0xff][..]));
    }
    // sub: not one of them.
    let bytes = [0x48, 0x2b, 0x05, 0, 0, 0, 0];
    assert!(!X86_64::<false>::is_initial_exec(Code { reloc: &reloc, bytes: &bytes, at: 3 }));
}

#[test]
fn descriptors_become_offsets() {
    let reloc = Rela::make(3, 1, R_GOTPC32_TLSDESC, -4);
    let bytes = [0x48, 0x8d, 0x05, 0, 0, 0, 0];
    assert!(X86_64::<false>::is_descriptor(Code { reloc: &reloc, bytes: &bytes, at: 3 }));
    let mut out = bytes;
    X86_64::<false>::descriptor_to_local_exec(field(&mut out, 3), -8).unwrap();
    assert_eq!(out, [0x48, 0xc7, 0xc0, 0xf8, 0xff, 0xff, 0xff]);
    let mut out = bytes;
    X86_64::<false>::descriptor_to_initial_exec(field(&mut out, 3), Address::new(0x1007)).unwrap();
    assert_eq!(out, [0x48, 0x8b, 0x05, 0, 0, 0, 0]);
    let mut call = [0xff, 0x10];
    X86_64::<false>::descriptor_call_to_nothing(field(&mut call, 0)).unwrap();
    assert_eq!(call, [0x66, 0x90]);
    // call *(%rcx)
    assert_eq!(X86_64::<false>::descriptor_call_to_nothing(field(&mut [0xff, 0x11], 0)), Err(Failure::Form));
    assert_eq!(X86_64::<false>::descriptor_call_to_nothing(field(&mut call, 1)), Err(Failure::Form));
}

#[test]
fn x32_loads_the_thread_pointer_with_32_bits() {
    // lea x@tlsgd(%rip), %rdi; call
    let code = [0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0];
    assert_eq!(relax::is_general_dynamic::<true>(&code, 3), Some(relax::TlsCall::Direct));
    assert_eq!(relax::is_general_dynamic::<false>(&code, 3), None);
    let mut to_local = code;
    assert!(relax::general_dynamic_to_local_exec::<true>(&mut to_local, 3, relax::TlsCall::Direct, -8));
    // mov %fs:0, %eax; lea -8(%rax), %rax
    assert_eq!(to_local, [0x64, 0x8b, 4, 0x25, 0, 0, 0, 0, 0x48, 0x8d, 0x80, 0xf8, 0xff, 0xff, 0xff]);
    let mut to_initial = code;
    assert!(relax::general_dynamic_to_initial_exec::<true>(
        &mut to_initial,
        3,
        relax::TlsCall::Direct,
        0x100
    ));
    // From the end, 12 bytes after the field.
    assert_eq!(to_initial[8..], [0x48, 0x03, 0x05, 0xf4, 0, 0, 0]);
    // The end of the code comes before that of the sequence.
    assert_eq!(relax::is_general_dynamic::<true>(&code[..14], 3), None);
    let mut local = [0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xff, 0x15, 0, 0, 0, 0];
    assert_eq!(relax::is_local_dynamic::<true>(&local, 3), Some(relax::TlsCall::Indirect));
    relax::local_dynamic_to_local_exec::<true>(&mut local, 3, relax::TlsCall::Indirect);
    assert_eq!(local, [0x66, 0x0f, 0x1f, 0x40, 0, 0x64, 0x8b, 4, 0x25, 0, 0, 0, 0]);
}

#[test]
fn x32_has_registers_of_32_bits() {
    // rex mov x@gottpoff(%rip), %eax; what may be the end of another instruction in front of one without prefix.
    let mut load = [0x40, 0x8b, 0x05, 0, 0, 0, 0];
    assert!(relax::is_initial_exec::<true>(R_GOTTPOFF, &load, 3));
    assert!(!relax::is_initial_exec::<false>(R_GOTTPOFF, &load, 3));
    assert!(!relax::is_initial_exec::<true>(R_GOTTPOFF, &[0x4c, 0x8b, 0x05, 0, 0, 0, 0], 3));
    assert!(relax::initial_to_local_exec(&mut load, 3, -8));
    assert_eq!(load, [0x40, 0xc7, 0xc0, 0xf8, 0xff, 0xff, 0xff]);
    // rex lea x@tlsdesc(%rip), %r8d; call *(%eax)
    let mut descriptor = [0x44, 0x8d, 0x05, 0, 0, 0, 0, 0x67, 0xff, 0x10];
    assert!(relax::is_tlsdesc::<true>(R_GOTPC32_TLSDESC, &descriptor, 3));
    assert!(!relax::is_tlsdesc::<false>(R_GOTPC32_TLSDESC, &descriptor, 3));
    assert!(relax::tlsdesc_to_local_exec(&mut descriptor, 3, -8));
    assert!(relax::tlsdesc_call_to_nop::<true>(&mut descriptor, 7));
    assert_eq!(descriptor, [0x41, 0xc7, 0xc0, 0xf8, 0xff, 0xff, 0xff, 0x0f, 0x1f, 0]);
    let facts = X86_64::<true>::FACTS;
    assert_eq!((facts.slot(), facts.target.format.word()), (8, 4));
    let mut word = [0xee; 8];
    X86_64::<true>::put_address(&mut word, 2, 0x1_2345_6789);
    assert_eq!(word, [0xee, 0xee, 0x89, 0x67, 0x45, 0x23, 0xee, 0xee]);
}

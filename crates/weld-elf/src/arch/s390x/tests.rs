//! s390x: values in fields, and what instructions become.

use super::*;

/// What a field of these bytes holds after a value is stored.
fn stored(kind: u32, before: &[u8], value: i64) -> (Vec<u8>, Result<(), Failure>) {
    let mut out = before.to_vec();
    let result = put(kind, &mut out, 0, value);
    (out, result)
}

#[test]
fn distances_are_halved() {
    assert_eq!(stored(R_PC32DBL, &[0; 4], 0x1234_5678), (vec![0x09, 0x1a, 0x2b, 0x3c], Ok(())));
    assert_eq!(stored(R_PC32DBL, &[0; 4], -2), (vec![0xff; 4], Ok(())));
    assert_eq!(stored(R_PLT32DBL, &[0; 4], 0xffff_fffe).1, Ok(()));
    assert_eq!(stored(R_PLT32DBL, &[0; 4], 1 << 32).1, Err(Failure::Overflow(1 << 32)));
    assert_eq!(stored(R_PLT32DBL, &[0; 4], -1 << 32).1, Ok(()));
    assert_eq!(stored(R_GOTENT, &[0; 4], -(1 << 32) - 2).1, Err(Failure::Overflow(-(1 << 32) - 2)));
    assert_eq!(stored(R_PC32DBL, &[0; 4], 7).1, Err(Failure::Odd(7)));
    assert_eq!(stored(R_PC16DBL, &[0; 2], -0x1_0000), (vec![0x80, 0], Ok(())));
    assert_eq!(stored(R_PC16DBL, &[0; 2], 0x1_0000).1, Err(Failure::Overflow(0x1_0000)));
}

#[test]
fn displacements_leave_the_bits_beside_them() {
    assert_eq!(stored(R_12, &[0xa0, 0], 0xfed), (vec![0xaf, 0xed], Ok(())));
    assert_eq!(stored(R_GOT12, &[0, 0], 0x1000).1, Err(Failure::Overflow(0x1000)));
    assert_eq!(stored(R_GOT12, &[0, 0], -1).1, Err(Failure::Overflow(-1)));
    assert_eq!(stored(R_20, &[0x1f, 0, 0, 0x58], 0x7_89ab), (vec![0x19, 0xab, 0x78, 0x58], Ok(())));
    assert_eq!(stored(R_GOT20, &[0xf0, 0, 0, 4], -8), (vec![0xff, 0xf8, 0xff, 4], Ok(())));
    assert_eq!(stored(R_GOT20, &[0; 4], 1 << 19).1, Err(Failure::Overflow(1 << 19)));
}

#[test]
fn words_are_big_endian() {
    assert_eq!(stored(R_32, &[0; 4], 0xdead_beef), (vec![0xde, 0xad, 0xbe, 0xef], Ok(())));
    assert_eq!(stored(R_PC32, &[0; 4], -2), (vec![0xff, 0xff, 0xff, 0xfe], Ok(())));
    assert_eq!(stored(R_PC32, &[0; 4], 1 << 31).1, Err(Failure::Overflow(1 << 31)));
    assert_eq!(stored(R_TLS_LE64, &[0; 8], -16), (vec![255, 255, 255, 255, 255, 255, 255, 0xf0], Ok(())));
    assert_eq!(stored(R_8, &[0], 300).1, Err(Failure::Overflow(300)));
}

#[test]
fn short_distances_are_halved() {
    assert_eq!(stored(R_PC12DBL, &[0x1f, 0], -2), (vec![0x1f, 0xff], Ok(())));
    assert_eq!(stored(R_PLT12DBL, &[0x50, 0], 0xffe), (vec![0x57, 0xff], Ok(())));
    assert_eq!(stored(R_PC12DBL, &[0, 0], 0x1000).1, Err(Failure::Overflow(0x1000)));
    assert_eq!(stored(R_PC24DBL, &[0; 3], -0x100_0000), (vec![0x80, 0, 0], Ok(())));
    assert_eq!(stored(R_PLT24DBL, &[0; 3], 0x100_0000).1, Err(Failure::Overflow(0x100_0000)));
    assert_eq!(stored(R_PC24DBL, &[0; 3], 3).1, Err(Failure::Odd(3)));
}

fn field(out: &mut [u8], at: usize, kind: u32) -> Field<'_> {
    Field { address: Address::new(0x1000 + at as u64), out, at, kind, got_base: Address::new(0x3000) }
}

fn code<'c>(reloc: &'c Rela, bytes: &'c [u8]) -> Code<'c> {
    Code { reloc, bytes, at: reloc.r_offset() as usize }
}

#[test]
fn got_loads_become_addresses() {
    // lgrl %r5, x@GOTENT → larl %r5, x
    let bytes = [0xc4, 0x58, 0, 0, 0, 0];
    let reloc = Rela::make(2, 1, R_GOTENT, 2);
    assert!(S390x::got_form(code(&reloc, &bytes), true).is_some());
    let mut out = bytes;
    S390x::rewrite_got((), field(&mut out, 2, R_GOTENT), Address::new(0x2002)).unwrap();
    assert_eq!(out, [0xc0, 0x50, 0, 0, 8, 0]);
    let mut out = bytes;
    assert!(S390x::rewrite_got((), field(&mut out, 2, R_GOTENT), Address::new(1 << 40)).is_err());
    // larl; another word of the GOT; cut off.
    assert!(S390x::got_form(code(&reloc, &[0xc0, 0x50, 0, 0, 0, 0]), true).is_none());
    assert!(S390x::got_form(code(&Rela::make(2, 1, R_GOTENT, 10), &bytes), true).is_none());
    assert!(S390x::got_form(code(&reloc, &bytes[..5]), true).is_none());
    assert!(S390x::got_form(code(&Rela::make(1, 1, R_GOTENT, 2), &bytes), true).is_none());
}

#[test]
fn functions_addresses_are_told_from_calls() {
    let reloc = Rela::make(2, 1, R_PLT32DBL, 2);
    // larl %r2, f@PLT; brasl %r14, f@PLT; jg f@PLT
    assert!(S390x::is_address(code(&reloc, &[0xc0, 0x20, 0, 0, 0, 0])));
    assert!(!S390x::is_address(code(&reloc, &CALL)));
    assert!(!S390x::is_address(code(&reloc, &[0xc0, 0xf4, 0, 0, 0, 0])));
}

const CALL: [u8; 6] = [0xc0, 0xe5, 0, 0, 0, 0];

#[test]
fn marked_calls_go_away() {
    let relocs = [Rela::make(2, 2, R_PLT32DBL, 2), Rela::make(0, 1, R_TLS_GDCALL, 0)];
    assert!(S390x::is_marked_call(&relocs, 0));
    assert!(S390x::is_marked_call(&[relocs[1], relocs[0]], 1));
    assert!(!S390x::is_marked_call(&relocs[..1], 0));
    assert!(!S390x::is_marked_call(&[relocs[0], Rela::make(0, 1, R_TLS_LOAD, 0)], 0));
    assert!(!S390x::is_marked_call(&[relocs[0], Rela::make(8, 1, R_TLS_GDCALL, 0)], 0));
    let rewritten = |kind, local, bytes: &[u8]| {
        let mut out = bytes.to_vec();
        S390x::rewrite_marked(field(&mut out, 0, kind), local).map(|()| out)
    };
    // brcl 0, .
    let nothing = vec![0xc0, 0x04, 0, 0, 0, 0];
    assert_eq!(rewritten(R_TLS_GDCALL, true, &CALL), Ok(nothing.clone()));
    assert_eq!(rewritten(R_TLS_LDCALL, false, &CALL), Ok(nothing));
    // lg %r2, 0(%r2,%r12)
    assert_eq!(rewritten(R_TLS_GDCALL, false, &CALL), Ok(vec![0xe3, 0x22, 0xc0, 0, 0, 0x04]));
    assert_eq!(rewritten(R_TLS_GDCALL, true, &CALL[..5]), Err(Failure::Form));
    assert_eq!(rewritten(R_TLS_GDCALL, true, &[0xc0, 0xe4, 0, 0, 0, 0]), Err(Failure::Form));
    // lg %r7, 0(%r1,%r12), lg %r7, 0(%r12,%r1), lg %r7, 0(%r1) → sllg %r7, %r1, 0
    let moved = vec![0xeb, 0x71, 0, 0, 0, 0x0d];
    for bytes in [[0xe3, 0x71, 0xc0, 0, 0, 4], [0xe3, 0x7c, 0x10, 0, 0, 4], [0xe3, 0x70, 0x10, 0, 0, 4]] {
        assert_eq!(rewritten(R_TLS_LOAD, true, &bytes), Ok(moved.clone()));
    }
    // A displacement; no register of the literal.
    assert_eq!(rewritten(R_TLS_LOAD, true, &[0xe3, 0x71, 0xc0, 1, 0, 4]), Err(Failure::Form));
    assert_eq!(rewritten(R_TLS_LOAD, true, &[0xe3, 0x70, 0, 0, 0, 4]), Err(Failure::Form));
}

#[test]
fn literals_get_what_their_instructions_need() {
    let mut out = [0; 8];
    S390x::general_to_local_exec((), field(&mut out, 0, R_TLS_GD64), -16).unwrap();
    assert_eq!(i64::from_be_bytes(out), -16);
    S390x::general_to_initial_exec((), field(&mut out, 0, R_TLS_GD64), Address::new(0x3018)).unwrap();
    assert_eq!(i64::from_be_bytes(out), 0x18);
    S390x::local_dynamic_to_local_exec((), field(&mut out, 0, R_TLS_LDM64)).unwrap();
    assert_eq!(out, [0; 8]);
    S390x::initial_to_local_exec(field(&mut out, 0, R_TLS_IE64), -8).unwrap();
    assert_eq!(i64::from_be_bytes(out), -8);
    // lgrl %r3, x@indntpoff → lgfi %r3, x@ntpoff; larl stays.
    let bytes = [0xc4, 0x38, 0, 0, 0, 0];
    let reloc = Rela::make(2, 1, R_TLS_IEENT, 2);
    assert!(S390x::is_initial_exec(code(&reloc, &bytes)));
    assert!(!S390x::is_initial_exec(code(&reloc, &[0xc0, 0x30, 0, 0, 0, 0])));
    let mut out = bytes;
    S390x::initial_to_local_exec(field(&mut out, 2, R_TLS_IEENT), -8).unwrap();
    assert_eq!(out, [0xc0, 0x31, 0xff, 0xff, 0xff, 0xf8]);
}

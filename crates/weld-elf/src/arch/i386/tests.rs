//! i386: values in fields, and what instructions become.

use super::*;
use crate::elf::Rela;

#[test]
fn slots_count_from_the_base_if_there_is_a_register() {
    let from = |kind, bytes: &[u8]| {
        let at = bytes.len() - 4;
        I386::slot_from(Code { reloc: &Rela::make(at as u64, 1, kind, 0), bytes, at })
    };
    // mov x@GOT(%ebx), %eax; call *x@GOT(%ecx)
    assert_eq!(from(R_GOT32X, &[0x8b, 0x83, 0, 0, 0, 0]), From::GotBase);
    assert_eq!(from(R_GOT32X, &[0xff, 0x91, 0, 0, 0, 0]), From::GotBase);
    // mov x@GOT, %eax; call *x@GOT
    assert_eq!(from(R_GOT32X, &[0x8b, 0x05, 0, 0, 0, 0]), From::Zero);
    assert_eq!(from(R_GOT32, &[0xff, 0x15, 0, 0, 0, 0]), From::Zero);
    // Nothing is in front of the field.
    assert_eq!(from(R_GOT32, &[0; 4]), From::GotBase);
    assert_eq!(from(R_TLS_IE, &[0x8b, 0x83, 0, 0, 0, 0]), From::Zero);
    assert_eq!(from(R_TLS_GOTIE, &[0x8b, 0x05, 0, 0, 0, 0]), From::GotBase);
}

#[test]
fn calls_are_told_from_other_distances() {
    let is_call = |kind, addend, before: &[u8]| {
        let bytes = [before, &[0; 4]].concat();
        let reloc = Rela::make(before.len() as u64, 1, kind, addend);
        I386::is_call(Code { reloc: &reloc, bytes: &bytes, at: before.len() })
    };
    // call, jmp, je
    assert!(is_call(R_PC32, -4, &[0xe8]));
    assert!(is_call(R_PC32, -4, &[0x90, 0xe9]));
    assert!(is_call(R_PC32, -4, &[0x0f, 0x84]));
    // .long f - .
    assert!(!is_call(R_PC32, 0, &[0xe8]));
    assert!(!is_call(R_PC32, -4, &[0x0f, 0x94]));
    assert!(!is_call(R_PC32, -4, &[0x84]));
    assert!(!is_call(R_PC32, -4, &[]));
    assert!(!is_call(R_32, -4, &[0xe8]));
}

#[test]
fn values_wrap_in_words_and_are_checked_in_less() {
    let put = |kind, value: i64| {
        let mut out = [0xee; 8];
        let fits = I386::put(kind, &mut out, 2, value as u64).is_ok();
        assert!(out[2 + FACTS.width(kind)..].iter().all(|byte| *byte == 0xee));
        (fits, u32::from_le_bytes([out[2], out[3], out[4], out[5]]))
    };
    assert_eq!(put(R_32, -1), (true, u32::MAX));
    assert_eq!(put(R_PC32, 0x1_0000_0004), (true, 4));
    assert_eq!(put(R_16, 0xffff), (true, 0xeeee_ffff));
    assert_eq!(put(R_16, -0x8000), (true, 0xeeee_8000));
    assert_eq!(put(R_16, 0x1_0000), (false, 0xeeee_0000));
    // Code of 16 bits wraps around at 64 KiB.
    assert_eq!(put(R_PC16, -0x1_0000), (true, 0xeeee_0000));
    assert!(!put(R_PC16, -0x1_0001).0);
    assert!(put(R_PC8, -0x80).0 && !put(R_PC8, 0x80).0);
    assert!(put(R_8, 0xff).0 && !put(R_8, 0x100).0);
}

#[test]
fn addends_are_read_with_their_sign() {
    assert_eq!(implicit_addend(R_PC32, &[0xfc, 0xff, 0xff, 0xff]), Some(-4));
    assert_eq!(implicit_addend(R_16, &[0xfe, 0xff, 1]), Some(-2));
    assert_eq!(implicit_addend(R_8, &[0x7f]), Some(127));
    assert_eq!(implicit_addend(R_NONE, &[]), Some(0));
    assert_eq!(implicit_addend(R_32, &[1, 2, 3]), None);
    assert_eq!(implicit_addend(R_COPY, &[0; 8]), None);
    assert_eq!(implicit_addend(u32::MAX, &[0; 8]), None);
}

/// The instruction that `code` becomes if a GOT load at its last 4 bytes does without its slot, for a symbol
/// at 0x2000; the code lies at 0x1000, the GOT's base at 0x3000. `None`: it stays.
fn shortened(kind: u32, code: &[u8], addend: i64, pic: bool) -> Option<Vec<u8>> {
    let at = code.len() - 4;
    let reloc = Rela::make(at as u64, 1, kind, addend);
    let form = I386::got_form(Code { reloc: &reloc, bytes: code, at }, pic)?;
    let mut out = code.to_vec();
    I386::rewrite_got(form, field(&mut out, at, kind), Address::new(0x2000)).unwrap();
    Some(out)
}

fn field(out: &mut [u8], at: usize, kind: u32) -> Field<'_> {
    Field { address: Address::new(0x1000 + at as u64), out, at, kind, got_base: Address::new(0x3000) }
}

#[test]
fn got_loads_become_addresses() {
    let both: [(&[u8], &[u8]); 4] = [
        // mov x@GOT(%ebx), %ecx → lea x@GOTOFF(%ebx), %ecx
        (&[0x8b, 0x8b, 0, 0, 0, 0], &[0x8d, 0x8b, 0, 0xf0, 0xff, 0xff]),
        // call *x@GOT(%eax), call *x@GOT → addr32 call x
        (&[0xff, 0x90, 0, 0, 0, 0], &[0x67, 0xe8, 0xfa, 0x0f, 0, 0]),
        (&[0xff, 0x15, 0, 0, 0, 0], &[0x67, 0xe8, 0xfa, 0x0f, 0, 0]),
        // jmp *x@GOT(%ebx) → jmp x; nop
        (&[0xff, 0xa3, 0, 0, 0, 0], &[0xe9, 0xfb, 0x0f, 0, 0, 0x90]),
    ];
    for (code, wanted) in both {
        for pic in [false, true] {
            assert_eq!(shortened(R_GOT32X, code, 0, pic).as_deref(), Some(wanted), "{code:x?}");
        }
    }
    let fixed: [(&[u8], &[u8]); 4] = [
        // mov x@GOT, %edx → lea x, %edx
        (&[0x8b, 0x15, 0, 0, 0, 0], &[0x8d, 0x15, 0, 0x20, 0, 0]),
        // cmp x@GOT(%ebx), %ecx; add x@GOT, %esi; test %eax, x@GOT(%ebx)
        (&[0x3b, 0x8b, 0, 0, 0, 0], &[0x81, 0xf9, 0, 0x20, 0, 0]),
        (&[0x03, 0x35, 0, 0, 0, 0], &[0x81, 0xc6, 0, 0x20, 0, 0]),
        (&[0x85, 0x83, 0, 0, 0, 0], &[0xf7, 0xc0, 0, 0x20, 0, 0]),
    ];
    for (code, wanted) in fixed {
        assert_eq!(shortened(R_GOT32X, code, 0, false).as_deref(), Some(wanted), "{code:x?}");
        assert_eq!(shortened(R_GOT32X, code, 0, true), None, "{code:x?}");
    }
    // An addend; no promise of an instruction; another byte for the address; push; cut off in front.
    assert_eq!(shortened(R_GOT32X, &[0x8b, 0x83, 0, 0, 0, 0], 4, false), None);
    assert_eq!(shortened(R_GOT32, &[0x8b, 0x83, 0, 0, 0, 0], 0, false), None);
    assert_eq!(shortened(R_GOT32X, &[0x8b, 0x84, 0, 0, 0, 0], 0, false), None);
    assert_eq!(shortened(R_GOT32X, &[0xff, 0xb3, 0, 0, 0, 0], 0, false), None);
    assert_eq!(shortened(R_GOT32X, &[0x83, 0, 0, 0, 0], 0, false), None);
}

/// Sequences of the general- and the local-dynamic model: bytes, where the field is, where that of the call.
const GENERAL: [(&[u8], u64, u64); 4] = [
    // lea x@tlsgd(,%ebx), %eax; call
    (&[0x8d, 0x04, 0x1d, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0], 3, 8),
    // lea x@tlsgd(%ebx), %eax; call; nop
    (&[0x8d, 0x83, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x90], 2, 7),
    // lea x@tlsgd(%ebx), %eax; call *(%ebx); addr32 call
    (&[0x8d, 0x83, 0, 0, 0, 0, 0xff, 0x93, 0, 0, 0, 0], 2, 8),
    (&[0x8d, 0x83, 0, 0, 0, 0, 0x67, 0xe8, 0, 0, 0, 0], 2, 8),
];
const LOCAL: [(&[u8], u64, u64); 2] = [
    (&[0x8d, 0x83, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0], 2, 7),
    (&[0x8d, 0x83, 0, 0, 0, 0, 0xff, 0x93, 0, 0, 0, 0], 2, 8),
];
const LOAD: [u8; 6] = [0x65, 0xa1, 0, 0, 0, 0];

#[test]
fn general_dynamic_becomes_cheaper() {
    for (code, at, operand) in GENERAL {
        let relocs = [Rela::make(at, 1, R_TLS_GD, 0), Rela::make(operand, 2, R_PLT32, -4)];
        let call = I386::tls_call(code, &relocs, 0).unwrap();
        let mut out = code.to_vec();
        I386::general_to_local_exec(call, field(&mut out, at as usize, R_TLS_GD), -8).unwrap();
        assert_eq!(out, [&LOAD[..], &[0x81, 0xe8, 8, 0, 0, 0]].concat());
        let mut out = code.to_vec();
        I386::general_to_initial_exec(call, field(&mut out, at as usize, R_TLS_GD), Address::new(0x2ff0))
            .unwrap();
        assert_eq!(out, [&LOAD[..], &[0x03, 0x83, 0xf0, 0xff, 0xff, 0xff]].concat());
        // The call has to be there, and next.
        assert!(I386::tls_call(code, &relocs[..1], 0).is_none());
        let apart = [relocs[0], Rela::make(operand + 1, 2, R_PLT32, -4)];
        assert!(I386::tls_call(code, &apart, 0).is_none());
        for cut in 0..code.len() {
            assert!(I386::tls_call(&code[..cut], &relocs, 0).is_none());
        }
    }
}

#[test]
fn local_dynamic_becomes_the_thread_pointer() {
    for (code, at, operand) in LOCAL {
        let relocs = [Rela::make(at, 1, R_TLS_LDM, 0), Rela::make(operand, 2, R_PLT32, -4)];
        let call = I386::tls_call(code, &relocs, 0).unwrap();
        let mut out = code.to_vec();
        I386::local_dynamic_to_local_exec(call, field(&mut out, at as usize, R_TLS_LDM)).unwrap();
        let rest: &[u8] =
            if out.len() == 11 { &[0x90, 0x8d, 0x74, 0x26, 0] } else { &[0x8d, 0xb6, 0, 0, 0, 0] };
        assert_eq!(out, [&LOAD[..], rest].concat());
    }
}

#[test]
fn initial_exec_becomes_local_exec() {
    let cases: [(u32, &[u8], &[u8]); 8] = [
        // mov x@indntpoff, %eax → mov $x@ntpoff, %eax; so with %ecx; add
        (R_TLS_IE, &[0xa1, 0, 0, 0, 0], &[0xb8, 0xf8, 0xff, 0xff, 0xff]),
        (R_TLS_IE, &[0x8b, 0x0d, 0, 0, 0, 0], &[0xc7, 0xc1, 0xf8, 0xff, 0xff, 0xff]),
        (R_TLS_IE, &[0x03, 0x05, 0, 0, 0, 0], &[0x81, 0xc0, 0xf8, 0xff, 0xff, 0xff]),
        // mov x@gotntpoff(%ebx), %edx; add
        (R_TLS_GOTIE, &[0x8b, 0x93, 0, 0, 0, 0], &[0xc7, 0xc2, 0xf8, 0xff, 0xff, 0xff]),
        (R_TLS_GOTIE, &[0x03, 0x93, 0, 0, 0, 0], &[0x8d, 0x92, 0xf8, 0xff, 0xff, 0xff]),
        (R_TLS_GOTIE, &[0x03, 0xa3, 0, 0, 0, 0], &[0x81, 0xc4, 0xf8, 0xff, 0xff, 0xff]),
        // Sun's: sub x@gottpoff(%ebx), %eax; mov
        (R_TLS_IE_32, &[0x2b, 0x83, 0, 0, 0, 0], &[0x81, 0xe8, 8, 0, 0, 0]),
        (R_TLS_IE_32, &[0x8b, 0x83, 0, 0, 0, 0], &[0xc7, 0xc0, 8, 0, 0, 0]),
    ];
    for (kind, code, wanted) in cases {
        let at = code.len() - 4;
        let reloc = Rela::make(at as u64, 1, kind, 0);
        assert!(I386::is_initial_exec(Code { reloc: &reloc, bytes: code, at }), "{code:x?}");
        let mut out = code.to_vec();
        I386::initial_to_local_exec(field(&mut out, at, kind), -8).unwrap();
        assert_eq!(out, wanted, "{code:x?}");
    }
    let others: [(u32, &[u8]); 3] = [
        (R_TLS_IE, &[0x8b, 0x83, 0, 0, 0, 0]),
        (R_TLS_GOTIE, &[0x8b, 0x05, 0, 0, 0, 0]),
        (R_TLS_GOTIE, &[0x3b, 0x83, 0, 0, 0, 0]),
    ];
    for (kind, bytes) in others {
        let reloc = Rela::make(2, 1, kind, 0);
        assert!(!I386::is_initial_exec(Code { reloc: &reloc, bytes, at: 2 }), "{bytes:x?}");
    }
}

#[test]
fn offsets_of_sun_have_the_other_sign() {
    // 12 after what is 8 in front of the thread pointer.
    let mut out = [12, 0, 0, 0];
    I386::put(R_TLS_LE_32, &mut out, 0, 4).unwrap();
    assert_eq!(i32::from_le_bytes(out), 20);
    assert!(I386::counts_backward(R_TLS_IE_32) && !I386::counts_backward(R_TLS_GOTIE));
}

#[test]
fn narrow_values_wrap_around_with_addresses() {
    for (value, fits) in
        [(0xffff_ffff, true), (0xffff_ff80, true), (0xff, true), (0xffff_ff7f, false), (0x100, false)]
    {
        assert_eq!(I386::put(R_8, &mut [0; 1], 0, value).is_ok(), fits, "{value:#x}");
    }
}

#[test]
fn descriptors_become_offsets() {
    let reloc = Rela::make(2, 1, R_TLS_GOTDESC, 0);
    let bytes = [0x8d, 0x8b, 0, 0, 0, 0];
    assert!(I386::is_descriptor(Code { reloc: &reloc, bytes: &bytes, at: 2 }));
    let mut out = bytes;
    I386::descriptor_to_local_exec(field(&mut out, 2, R_TLS_GOTDESC), -8).unwrap();
    assert_eq!(out, [0x8d, 0x0d, 0xf8, 0xff, 0xff, 0xff]);
    let mut out = bytes;
    I386::descriptor_to_initial_exec(field(&mut out, 2, R_TLS_GOTDESC), Address::new(0x3008)).unwrap();
    assert_eq!(out, [0x8b, 0x8b, 8, 0, 0, 0]);
    let mut call = [0xff, 0x10];
    I386::descriptor_call_to_nothing(field(&mut call, 0, R_TLS_DESC_CALL)).unwrap();
    assert_eq!(call, [0x66, 0x90]);
    // call *(%ecx)
    let mut other = [0xff, 0x11];
    assert_eq!(I386::descriptor_call_to_nothing(field(&mut other, 0, R_TLS_DESC_CALL)), Err(Failure::Form));
    assert_eq!(other, [0xff, 0x11]);
    assert_eq!(I386::descriptor_call_to_nothing(field(&mut call, 1, R_TLS_DESC_CALL)), Err(Failure::Form));
}

//! Values at the ends of their ranges, and what goes together.

use super::*;

fn stored(kind: u32, value: u64) -> (u64, Result<(), Failure>) {
    let mut out = [0; 8];
    let result = Amdgpu::put(kind, &mut out, 0, value);
    (u64::from_le_bytes(out), result)
}

#[test]
fn halves_of_values() {
    for (kind, value, wanted) in [
        (R_ABS32_LO, 0x1234_5678_9abc_def0, 0x9abc_def0),
        (R_ABS32_HI, 0x1234_5678_9abc_def0, 0x1234_5678),
        (R_REL32_LO, 0xffff_ffff_9abc_def0, 0x9abc_def0),
        (R_REL32_HI, 0xffff_fffe_9abc_def0, 0xffff_fffe),
        (R_GOTPCREL32_LO, 0x1_0000_0004, 4),
        (R_GOTPCREL32_HI, 0x1_0000_0004, 1),
        (R_REL64, 0x1234_5678_9abc_def0, 0x1234_5678_9abc_def0),
        (R_REL32, 0xffff_ffff_8000_0000, 0x8000_0000),
        (R_REL16, 0x2_0000, 0x7fff),
        (R_REL16, 0xffff_ffff_fffe_0004, 0x8000),
    ] {
        assert_eq!(stored(kind, value), (wanted, Ok(())), "{kind} {value:#x}");
    }
    assert_eq!(stored(R_REL32, 0x8000_0000).1, Err(Failure::Overflow(0x8000_0000)));
    assert_eq!(stored(R_GOTPCREL, 0x8000_0000).1, Err(Failure::Overflow(0x8000_0000)));
    assert_eq!(stored(R_ABS32, 0x1_0000_0000).1, Err(Failure::Overflow(0x1_0000_0000)));
    assert_eq!(stored(R_REL16, 0x2_0004).1, Err(Failure::Overflow(0x2_0000)));
    assert_eq!(stored(R_REL16, 6).1, Err(Failure::Unaligned(2)));
}

#[test]
fn features_go_together() {
    let join = |version, before, next| {
        let join = flags::of_version(version)?;
        Some(join(before, next).map_err(|why| why.to_string()))
    };
    assert_eq!(join(1, 0x12f, 0x12f), Some(Ok(0x12f)));
    assert!(join(1, 0x12f, 0x2f).unwrap().is_err());
    for (before, next, wanted) in [
        (0x52f, 0x52f, Ok(0x52f)),
        // Any with on and off.
        (0x52f, 0x62f, Ok(0x62f)),
        (0x72f, 0x52f, Ok(0x72f)),
        (0x52f, 0xd2f, Ok(0xd2f)),
        (0x62f, 0x72f, Err("uses XNACK on (e_flags), but others use XNACK off")),
        (0x02f, 0x12f, Err("uses XNACK on (e_flags), but others use no XNACK")),
        (0x92f, 0xd2f, Err("uses SRAM ECC on (e_flags), but others use SRAM ECC off")),
        (0x52f, 0x530, Err("is for processor 0x30 (e_flags), but others are for 0x2f")),
    ] {
        let wanted = wanted.map_err(str::to_owned);
        if before != 0x02f {
            assert_eq!(join(3, before, next), Some(wanted), "{before:#x} {next:#x}");
        }
    }
    assert!(join(3, 0x02f, 0x12f).unwrap().is_err());
    assert_eq!(join(4, 0x0100_0051, 0x0100_0051), Some(Ok(0x0100_0051)));
    assert!(join(4, 0x0100_0051, 0x0200_0051).unwrap().unwrap_err().contains("version 2"));
    assert_eq!(join(5, 0, 0), None);
}

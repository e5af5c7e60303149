//! Numeric leaves: numbers of any size inside records. Below 0x8000 a word is the number itself; otherwise it
//! says what follows.

use super::{Fault, string_at, u16_at};

/// Bytes that the numeric leaf at `at` takes.
#[inline]
pub fn size(body: &[u8], at: usize) -> Result<usize, Fault> {
    let kind = u16_at(body, at)?;
    if kind < 0x8000 {
        return Ok(2);
    }
    let size = match kind {
        0x8000 => 1,
        0x8001 | 0x8002 => 2,
        0x8003..=0x8005 => 4,
        0x800b => 6,
        0x8006 | 0x8009 | 0x800a | 0x800c | 0x801a => 8,
        0x8007 => 10,
        0x8008 | 0x800d | 0x8017..=0x8019 => 16,
        0x800e => 20,
        0x800f => 32,
        // A string with its length.
        0x8010 => 2 + usize::from(u16_at(body, at + 2)?),
        // A string with a NUL.
        0x801b => string_at(body, at + 2)?.len() + 1,
        _ => return Err(Fault::UnknownKind(kind)),
    };
    Ok(2 + size)
}

//! Records of types and symbols: a length (of what follows it), a kind, a body.

use super::{Fault, SIGNATURE_C13, u16_at, u32_at};

/// Bytes before the body: length and kind.
pub const HEADER: usize = 4;

/// No record is longer, its length included: the longest one whose length fits into 16 bits when it is padded
/// to 4 bytes.
pub const LONGEST: usize = 0x1_0000;

/// A record as it lies in its section.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub kind: u16,
    /// All of it, from its length on.
    pub bytes: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record that begins at `at`.
    #[inline]
    pub fn at(data: &'a [u8], at: usize) -> Result<Record<'a>, Fault> {
        let len = usize::from(u16_at(data, at)?);
        let kind = u16_at(data, at + 2)?;
        let bytes = data.get(at..at + 2 + len).ok_or(Fault::Truncated)?;
        if bytes.len() < HEADER {
            return Err(Fault::Truncated);
        }
        if bytes.len() > LONGEST {
            return Err(Fault::TooLong);
        }
        Ok(Record { kind, bytes })
    }

    #[inline]
    pub fn body(&self) -> &'a [u8] {
        &self.bytes[HEADER..]
    }

    /// Bytes that it takes in a PDB, where records begin at multiples of 4.
    #[inline]
    pub fn padded(&self) -> usize {
        self.bytes.len().next_multiple_of(4)
    }
}

/// What is left behind the last record may be padding of the section: less than a header, of zeroes.
pub fn check_padding(rest: &[u8]) -> Result<(), Fault> {
    if rest.iter().all(|&byte| byte == 0) { Ok(()) } else { Err(Fault::Truncated) }
}

/// What follows the signature of a section.
pub fn after_signature(section: &[u8]) -> Result<&[u8], Fault> {
    match u32_at(section, 0) {
        Ok(SIGNATURE_C13) => Ok(&section[4..]),
        _ => Err(Fault::Signature),
    }
}

/// Copies a record to `out`, which is as long as [`Record::padded`] says, corrects its length, and pads it:
/// types with leaves that say how many bytes to skip, symbols with zeroes.
#[inline]
pub fn copy_padded(bytes: &[u8], out: &mut [u8], leaves: bool) {
    out[..bytes.len()].copy_from_slice(bytes);
    if out.len() != bytes.len() {
        let missing = out.len() - bytes.len();
        for (i, byte) in out[bytes.len()..].iter_mut().enumerate() {
            *byte = if leaves { 0xf0 + (missing - i) as u8 } else { 0 };
        }
        let len = (out.len() - 2) as u16;
        out[..2].copy_from_slice(&len.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_inside_its_section_or_none() {
        let data = [6, 0, 1, 0x10, 1, 2, 3, 4, 2, 0, 6, 0];
        let record = Record::at(&data, 0).unwrap();
        assert_eq!((record.kind, record.body(), record.padded()), (0x1001, &[1, 2, 3, 4][..], 8));
        assert_eq!(Record::at(&data, 8).unwrap().body(), []);
        for cut in 0..8 {
            assert_eq!(Record::at(&data[..cut], 0).unwrap_err(), Fault::Truncated);
        }
        assert_eq!(Record::at(&[1, 0, 1, 0], 0).unwrap_err(), Fault::Truncated);
        assert_eq!(Record::at(&vec![0xff; 0x2_0000], 0).unwrap_err(), Fault::TooLong);
    }

    #[test]
    fn padding_tells_how_much_is_left() {
        let mut out = [9; 8];
        copy_padded(&[3, 0, 1, 2, 7], &mut out, true);
        assert_eq!(out, [6, 0, 1, 2, 7, 0xf3, 0xf2, 0xf1]);
        copy_padded(&[3, 0, 1, 2, 7], &mut out, false);
        assert_eq!(out, [6, 0, 1, 2, 7, 0, 0, 0]);
    }
}

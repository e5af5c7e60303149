//! A checked reader over bytes for the formats without fixed records: `.eh_frame`, CREL; and LEB128 as it is
//! written.
//!
//! Each read either yields a value and moves on, or yields `None` at the end of the
//! bytes (or for a LEB128 number of more than 64 bits). Source of LEB128: DWARF 5, section 7.6.

/// Appends a number in ULEB128.
pub fn put_uleb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads forward from the start of a slice.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    data: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Reader { data, position: 0 }
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.position
    }

    pub fn is_empty(&self) -> bool {
        self.position == self.data.len()
    }

    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        let byte = *self.data.get(self.position)?;
        self.position += 1;
        Some(byte)
    }

    pub fn skip(&mut self, len: usize) -> Option<()> {
        self.position = self.position.checked_add(len).filter(|&p| p <= self.data.len())?;
        Some(())
    }

    /// The string up to the next NUL, which is read too.
    pub fn c_string(&mut self) -> Option<&'a [u8]> {
        let rest = self.data.get(self.position..)?;
        let len = memchr::memchr(0, rest)?;
        self.position += len + 1;
        Some(&rest[..len])
    }

    /// An unsigned LEB128 number. Padding with zero groups is allowed, bits above 64 are not.
    #[inline]
    pub fn uleb128(&mut self) -> Option<u64> {
        let mut value = 0u64;
        let mut shift = 0u32;
        loop {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if shift < 64 && bits << shift >> shift == bits {
                value |= bits << shift;
            } else if bits != 0 {
                return None;
            }
            if byte & 0x80 == 0 {
                return Some(value);
            }
            // Beyond 64 only zero groups follow; the shift need not grow further.
            shift = (shift + 7).min(70);
        }
    }

    /// A signed LEB128 number. Padding with groups of the sign is allowed.
    #[inline]
    pub fn sleb128(&mut self) -> Option<i64> {
        let mut value = 0i64;
        let mut shift = 0u32;
        loop {
            let byte = self.u8()?;
            let bits = i64::from(byte & 0x7f);
            if shift < 63 {
                value |= bits << shift;
            } else {
                // Bit 63 is the sign; what comes with it and after it must repeat it.
                let sign = if shift == 63 { bits & 1 != 0 } else { value < 0 };
                if bits != if sign { 0x7f } else { 0 } {
                    return None;
                }
                value |= if sign { i64::MIN } else { 0 };
            }
            shift = (shift + 7).min(70);
            if byte & 0x80 == 0 {
                let negative = byte & 0x40 != 0 && shift < 64;
                return Some(if negative { value | -1 << shift } else { value });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uleb(bytes: &[u8]) -> Option<u64> {
        let mut reader = Reader::new(bytes);
        reader.uleb128().filter(|_| reader.is_empty())
    }

    fn sleb(bytes: &[u8]) -> Option<i64> {
        let mut reader = Reader::new(bytes);
        reader.sleb128().filter(|_| reader.is_empty())
    }

    #[test]
    fn unsigned_numbers() {
        assert_eq!(uleb(&[0]), Some(0));
        assert_eq!(uleb(&[0x7f]), Some(127));
        assert_eq!(uleb(&[0xe5, 0x8e, 0x26]), Some(624485));
        let max = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(uleb(&max), Some(u64::MAX));
        assert_eq!(uleb(&[0x81, 0x80, 0x00]), Some(1), "padded");
        assert_eq!(uleb(&[&[0x81], &[0x80; 30][..], &[0]].concat()), Some(1), "padded beyond 64 bits");
        assert_eq!(uleb(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), None, "65 bits");
        assert_eq!(uleb(&[0x80; 3]), None);
        assert_eq!(uleb(&[]), None);
    }

    #[test]
    fn signed_numbers() {
        assert_eq!(sleb(&[0]), Some(0));
        assert_eq!(sleb(&[0x3f]), Some(63));
        assert_eq!(sleb(&[0x40]), Some(-64));
        assert_eq!(sleb(&[0x78]), Some(-8));
        assert_eq!(sleb(&[0xc0, 0xbb, 0x78]), Some(-123456));
        let min = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f];
        assert_eq!(sleb(&min), Some(i64::MIN));
        let max = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00];
        assert_eq!(sleb(&max), Some(i64::MAX));
        assert_eq!(sleb(&[&[0xff; 30][..], &[0x7f]].concat()), Some(-1), "padded");
        assert_eq!(sleb(&[&[0x82], &[0x80; 30][..], &[0]].concat()), Some(2), "padded");
        assert_eq!(sleb(&[&[0x80; 9][..], &[0x01]].concat()), None, "65 bits");
        assert_eq!(sleb(&[&[0xff; 9][..], &[0x7e]].concat()), None, "65 bits");
        assert_eq!(sleb(&[0xff]), None);
    }

    #[test]
    fn fixed_sizes_and_strings() {
        let mut reader = Reader::new(b"\x01\x02\0\0\0zR\0\x05");
        assert_eq!(reader.u8(), Some(1));
        assert_eq!(reader.skip(4), Some(()));
        assert_eq!(reader.c_string(), Some(&b"zR"[..]));
        assert_eq!((reader.position(), reader.c_string()), (8, None));
        assert_eq!((reader.skip(usize::MAX), reader.skip(2), reader.u8()), (None, None, Some(5)));
        assert!(reader.is_empty());
        assert_eq!(reader.u8(), None);
    }
}

//! Numbers into bytes.

#[inline(always)]
pub fn put_u16(out: &mut [u8], at: usize, value: u16) {
    out[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

#[inline(always)]
pub fn put_u32(out: &mut [u8], at: usize, value: u32) {
    out[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Fills bytes from front to back.
pub struct Writer<'o> {
    out: &'o mut [u8],
    at: usize,
}

impl<'o> Writer<'o> {
    pub fn new(out: &'o mut [u8]) -> Writer<'o> {
        Writer { out, at: 0 }
    }

    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    #[inline(always)]
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }
}

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

    pub fn at(&self) -> usize {
        self.at
    }

    /// What has been filled so far.
    pub fn written(&mut self) -> &mut [u8] {
        &mut self.out[..self.at]
    }

    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    #[inline(always)]
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    #[inline(always)]
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// A string and its NUL.
    pub fn string(&mut self, text: &[u8]) {
        self.bytes(text);
        self.bytes(&[0]);
    }

    /// The next `len` bytes, for somebody else to fill.
    pub fn part(&mut self, len: usize) -> &mut [u8] {
        self.at += len;
        &mut self.out[self.at - len..self.at]
    }
}

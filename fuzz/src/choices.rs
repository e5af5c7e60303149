//! Decisions read from a fuzzer's bytes. Behind their end everything is zero, so that any bytes are
//! a valid input, and short ones stand for simple cases.

pub struct Choices<'a> {
    rest: &'a [u8],
}

/// Numbers at which fields change their meaning, or arithmetic its sign.
const NASTY: [u64; 16] = [
    0,
    1,
    4,
    0x7f,
    0x80,
    0xff,
    0xfff,
    0x1000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_f000,
    u64::MAX,
];

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices { rest: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((&byte, rest)) => {
                self.rest = rest;
                byte
            }
            None => 0,
        }
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 != 0
    }

    /// A number below `bound`, which is not 0 and at most 256.
    pub fn below(&mut self, bound: usize) -> usize {
        self.byte() as usize % bound
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Mostly a small number, sometimes one to stumble over.
    pub fn number(&mut self) -> u64 {
        match self.byte() {
            small @ 0..0xe0 => small.into(),
            nasty => NASTY[(nasty & 15) as usize],
        }
    }

    /// At most `len` bytes.
    pub fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (bytes, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        bytes
    }

    /// All that is left.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }
}

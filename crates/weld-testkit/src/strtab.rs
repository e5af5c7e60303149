//! A string table under construction (gABI "String Table"): offset 0 is the empty string, equal
//! strings share an offset.

use std::collections::HashMap;

pub(crate) struct StrTab {
    pub bytes: Vec<u8>,
    seen: HashMap<Vec<u8>, u32>,
}

impl StrTab {
    pub fn new() -> Self {
        StrTab { bytes: vec![0], seen: HashMap::new() }
    }

    pub fn add(&mut self, s: &[u8]) -> u32 {
        if s.is_empty() {
            return 0;
        }
        if let Some(&at) = self.seen.get(s) {
            return at;
        }
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(s);
        self.bytes.push(0);
        self.seen.insert(s.to_vec(), at);
        at
    }
}

/// Little-endian writing into a `Vec<u8>`.
pub(crate) trait Put {
    fn u16(&mut self, v: u16);
    fn u32(&mut self, v: u32);
    fn u64(&mut self, v: u64);
    /// Pads with zeros to a multiple of `align`.
    fn align(&mut self, align: u64);
}

impl Put for Vec<u8> {
    fn u16(&mut self, v: u16) {
        self.extend_from_slice(&v.to_le_bytes());
    }

    fn u32(&mut self, v: u32) {
        self.extend_from_slice(&v.to_le_bytes());
    }

    fn u64(&mut self, v: u64) {
        self.extend_from_slice(&v.to_le_bytes());
    }

    fn align(&mut self, align: u64) {
        let align = align.max(1) as usize;
        self.resize(self.len().next_multiple_of(align), 0);
    }
}

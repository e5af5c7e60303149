//! A large section in parts that follow one another: each has its size before layout, and is written at once.
//!
//! What a part holds, its owner knows: `K` says which it is. Numbers are written in the output's form.

use crate::elf::Format;

pub struct Parts<K> {
    list: Vec<Part<K>>,
    /// Of all together, in bytes.
    pub size: u64,
}

struct Part<K> {
    start: u64,
    size: u64,
    kind: K,
}

impl<K> Default for Parts<K> {
    fn default() -> Self {
        Parts { list: Vec::new(), size: 0 }
    }
}

impl<K: Copy> Parts<K> {
    pub fn add(&mut self, kind: K, size: u64) {
        self.list.push(Part { start: self.size, size, kind });
        self.size += size;
    }

    /// Where the section may be cut.
    pub fn borders(&self) -> impl Iterator<Item = u64> + '_ {
        self.list.iter().map(|part| part.start)
    }

    /// Where the first part that is `wanted` begins; the end if there is none.
    pub fn start(&self, wanted: impl Fn(K) -> bool) -> u64 {
        self.list.iter().find(|part| wanted(part.kind)).map_or(self.size, |part| part.start)
    }

    /// Has each part written that is in `out`, which begins at offset `start` of the section; both ends are
    /// [borders](Self::borders).
    pub fn write(&self, start: u64, out: &mut [u8], mut part: impl FnMut(K, &mut [u8])) {
        let first = self.list.partition_point(|part| part.start < start);
        let mut rest = out;
        for Part { size, kind, .. } in &self.list[first..] {
            if rest.is_empty() {
                return;
            }
            let (bytes, behind) = rest.split_at_mut(*size as usize);
            part(*kind, bytes);
            rest = behind;
        }
    }
}

/// Writes numbers one after the other.
pub struct Out<'o> {
    pub rest: &'o mut [u8],
    pub format: Format,
}

impl Out<'_> {
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        let (here, rest) = std::mem::take(&mut self.rest).split_at_mut(bytes.len());
        here.copy_from_slice(bytes);
        self.rest = rest;
    }
    #[inline(always)]
    pub fn u16(&mut self, value: u16) {
        self.bytes(&self.format.u16_bytes(value));
    }
    #[inline(always)]
    pub fn u32(&mut self, value: u32) {
        self.bytes(&self.format.u32_bytes(value));
    }
    #[inline(always)]
    pub fn u64(&mut self, value: u64) {
        self.bytes(&self.format.u64_bytes(value));
    }
    /// The lower `size` bytes, 1, 2 or 4.
    #[inline(always)]
    pub fn number(&mut self, value: u32, size: u8) {
        match size {
            1 => self.bytes(&[value as u8]),
            2 => self.u16(value as u16),
            _ => self.u32(value),
        }
    }
    /// As LEB128.
    pub fn uleb(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes(&[value as u8 | 0x80]);
            value >>= 7;
        }
        self.bytes(&[value as u8]);
    }
}

/// How many bytes a number has as LEB128.
pub fn uleb_size(value: u64) -> u64 {
    u64::from((64 - (value | 1).leading_zeros()).div_ceil(7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_leb128() {
        for value in [0, 1, 127, 128, 16383, 16384, u64::MAX] {
            let mut bytes = vec![0; uleb_size(value) as usize];
            let mut out = Out { rest: &mut bytes, format: Format::NATIVE };
            out.uleb(value);
            assert!(out.rest.is_empty());
            assert_eq!(weld_common::reader::Reader::new(&bytes).uleb128(), Some(value));
        }
    }

    #[test]
    fn parts_are_written_between_borders() {
        let mut parts = Parts::default();
        [(1, 3), (2, 0), (3, 2)].into_iter().for_each(|(kind, size)| parts.add(kind, size));
        assert_eq!((parts.size, parts.start(|kind| kind == 3)), (5, 3));
        let mut bytes = [0; 2];
        parts.write(3, &mut bytes, |kind, bytes| bytes.fill(kind));
        assert_eq!(bytes, [3, 3]);
    }
}

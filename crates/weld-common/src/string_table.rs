//! Builder for small string tables: strings that end in NUL, found by their offset (ELF's `.shstrtab`, names
//! of versions).
//!
//! Whole strings are stored once; suffixes are not shared. Offset 0 is the empty string. The
//! lookup table holds 8 bytes a slot (hash tag and offset), not the strings: they are compared in
//! the table itself. It is for thousands of strings, not millions: names of symbols are copied in parallel.

use crate::hash::hash_bytes;

/// A string table under construction.
pub struct StringTable {
    bytes: Vec<u8>,
    /// Open addressing, a power of two long. `offset` 0 marks a free slot: the empty string, which
    /// lives there, is never looked up.
    slots: Vec<Slot>,
    used: usize,
    too_large: bool,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    tag: u32,
    offset: u32,
}

impl Default for StringTable {
    fn default() -> Self {
        Self::new()
    }
}

impl StringTable {
    /// A table with the empty string only.
    pub fn new() -> Self {
        StringTable { bytes: vec![0], slots: Vec::new(), used: 0, too_large: false }
    }

    /// The offset of `string` in the table; adds it if it is new. `string` has no NUL in it.
    ///
    /// When the table would outgrow 32-bit offsets the answer is 0 and [`Self::too_large`] tells.
    pub fn add(&mut self, string: &[u8]) -> u32 {
        debug_assert!(!string.contains(&0));
        if string.is_empty() {
            return 0;
        }
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        let tag = hash_bytes(string) as u32;
        let mask = self.slots.len() - 1;
        let mut i = tag as usize & mask;
        while self.slots[i].offset != 0 {
            if self.slots[i].tag == tag && self.holds(self.slots[i].offset, string) {
                return self.slots[i].offset;
            }
            i = (i + 1) & mask;
        }
        let end = self.bytes.len() + string.len() + 1;
        if u32::try_from(end).is_err() {
            self.too_large = true;
            return 0;
        }
        let offset = self.bytes.len() as u32;
        self.bytes.extend_from_slice(string);
        self.bytes.push(0);
        self.slots[i] = Slot { tag, offset };
        self.used += 1;
        offset
    }

    /// The section's bytes so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The section's size in bytes so far.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether a string was turned away because the table has reached 4 GiB.
    pub fn too_large(&self) -> bool {
        self.too_large
    }

    /// Whether the string at `offset` is `string`.
    fn holds(&self, offset: u32, string: &[u8]) -> bool {
        let rest = &self.bytes[offset as usize..];
        rest.starts_with(string) && rest.get(string.len()) == Some(&0)
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); len]);
        for slot in old.into_iter().filter(|s| s.offset != 0) {
            let mut i = slot.tag as usize & (len - 1);
            while self.slots[i].offset != 0 {
                i = (i + 1) & (len - 1);
            }
            self.slots[i] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_strings_are_shared() {
        let mut t = StringTable::new();
        assert_eq!(t.add(b""), 0);
        assert_eq!(t.add(b"libc.so.6"), 1);
        assert_eq!(t.add(b"so.6"), 11, "no suffix sharing");
        assert_eq!(t.add(b"libc.so.6"), 1);
        assert_eq!(t.add(b"libc.so.60"), 16);
        assert_eq!(t.bytes(), b"\0libc.so.6\0so.6\0libc.so.60\0");
        assert_eq!(t.size(), 27);
        assert!(!t.too_large());
    }

    #[test]
    fn many_strings_keep_their_offsets() {
        let mut t = StringTable::new();
        let names: Vec<String> = (0..5000).map(|i| format!("symbol_{i}")).collect();
        let first: Vec<u32> = names.iter().map(|n| t.add(n.as_bytes())).collect();
        let size = t.size();
        let again: Vec<u32> = names.iter().map(|n| t.add(n.as_bytes())).collect();
        assert_eq!(first, again);
        assert_eq!(t.size(), size);
        for (name, &offset) in names.iter().zip(&first) {
            assert!(t.bytes()[offset as usize..].starts_with(name.as_bytes()));
        }
    }
}

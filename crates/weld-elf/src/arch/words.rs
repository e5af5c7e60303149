//! Words of 32 bits in code, in either byte order. What lies beyond the bytes is not there to be read or written.

pub fn word<const BIG: bool>(code: &[u8], at: usize) -> Option<u32> {
    let bytes = *code.get(at..)?.first_chunk()?;
    Some(if BIG { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
}

pub fn put_word<const BIG: bool>(out: &mut [u8], at: usize, value: u32) {
    let bytes = if BIG { value.to_be_bytes() } else { value.to_le_bytes() };
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&bytes);
    }
}

pub fn put_words<const BIG: bool>(out: &mut [u8], words: &[u32]) {
    for (i, word) in words.iter().enumerate() {
        put_word::<BIG>(out, 4 * i, *word);
    }
}

/// Changes the bits in `mask` of a word.
pub fn put_bits<const BIG: bool>(out: &mut [u8], at: usize, mask: u32, value: u32) {
    let old = word::<BIG>(out, at).unwrap_or_default();
    put_word::<BIG>(out, at, old & !mask | value & mask);
}

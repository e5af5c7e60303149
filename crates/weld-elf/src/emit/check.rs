//! The proof that every byte of the file is written.
//!
//! Units are filled in buffers that hold whatever was there before, so a byte that nobody writes would be one of
//! another file, or another one each time. With debug assertions a unit is therefore filled twice, over
//! different fillers: a byte in which the two differ was left out. The tests are built like that. That units cover
//! the file, each byte once, is for [`super::sink`] to see, which knows where they go.

use weld_common::diag::DiagSink;

use crate::image::Image;

const FILLERS: [u8; 2] = [0xa5, 0x5a];

/// Has `fill` fill `bytes`, which are those of the image from `offset` on.
pub fn fill<'a>(
    image: &Image<'_, 'a>,
    offset: u64,
    bytes: &mut [u8],
    fill: impl for<'x, 'y> Fn(&'x Image<'y, 'a>, &mut [u8]),
) {
    if !cfg!(debug_assertions) {
        return fill(image, bytes);
    }
    // What there is to say is said once.
    let silent = DiagSink::new();
    let quiet = Image { sink: &silent, ..*image };
    if let Some(at) = unwritten(bytes, |bytes| fill(image, bytes), |bytes| fill(&quiet, bytes)) {
        let text = format!("internal error: nobody writes {}", place(image, offset + at as u64));
        image.sink.error(text);
    }
}

/// Fills `bytes` in two ways that should come to the same. The first byte that one of them does not write.
pub fn unwritten(
    bytes: &mut [u8],
    fill: impl FnOnce(&mut [u8]),
    again: impl FnOnce(&mut [u8]),
) -> Option<usize> {
    bytes.fill(FILLERS[0]);
    fill(bytes);
    let mut other = vec![FILLERS[1]; bytes.len()];
    again(&mut other);
    bytes.iter().zip(&other).position(|(a, b)| a != b)
}

/// The section that offset `at` of the file lies in.
fn place(image: &Image, at: u64) -> String {
    let holds = |(offset, size): (u64, u64)| at >= offset && at - offset < size;
    let found = image.layout.sections.iter().find(|s| holds((s.offset, s.file_size())));
    match found {
        Some(out) => format!("byte {:#x} of section {}", at - out.offset, String::from_utf8_lossy(&out.name)),
        None => format!("byte {at:#x} of the file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_nobody_writes_are_found() {
        let mut bytes = [0; 16];
        let whole = |bytes: &mut [u8]| bytes.fill(FILLERS[1]);
        assert_eq!(unwritten(&mut bytes, whole, whole), None);
        assert_eq!(bytes, [FILLERS[1]; 16]);
        for missing in 0..16 {
            let all_but_one = |bytes: &mut [u8]| {
                let kept = bytes[missing];
                bytes.fill(7);
                bytes[missing] = kept;
            };
            assert_eq!(unwritten(&mut bytes, all_but_one, all_but_one), Some(missing));
        }
        // A value that depends on what was there before is not written either.
        let adds = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        assert_eq!(unwritten(&mut bytes, adds, adds), Some(0));
    }
}

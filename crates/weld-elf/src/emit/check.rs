//! The proof that every byte of the file is written.
//!
//! Units are filled in buffers that hold whatever was there before, so a byte that nobody writes would be one
//! of another file, or another one each time. With debug assertions a unit is therefore filled twice, over
//! different fillers: a byte in which the two differ was left out. The tests are built like that. That units
//! cover the file, each byte once, is for `weld_common::io::units` to see, which knows where they go.

use weld_common::diag::{Cause, DiagSink};
use weld_common::io::units::unwritten;

use crate::layout::{FileOffset, OutputSection};
use crate::synth::image::Image;

/// Has `fill` fill `bytes`, which are those of the image from `offset` on.
pub fn fill<'a>(
    image: &Image<'_, 'a>,
    offset: FileOffset,
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
        image.sink.error(Cause::Internal, text);
    }
}

/// The section that offset `at` of the file lies in.
fn place(image: &Image, at: FileOffset) -> String {
    let holds = |s: &&OutputSection| at >= s.offset && at - s.offset < s.file_size();
    let found = image.layout.sections.iter().find(holds);
    match found {
        Some(out) => format!("byte {:#x} of section {}", at - out.offset, String::from_utf8_lossy(&out.name)),
        None => format!("byte {at:#x} of the file"),
    }
}

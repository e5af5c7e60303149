//! What engines say to weld: whatever it is, it is read or refused, and in pieces the same as whole. The
//! first byte is the size of the pieces.
#![no_main]

use weld_lto::protocol::{Order, Replies};

/// What is heard until something makes no sense.
fn heard<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let (mut replies, mut heard) = (Replies::default(), Vec::new());
    for piece in pieces {
        replies.push(piece);
        loop {
            match replies.next_reply() {
                Ok(Some(reply)) => heard.push(format!("{reply:?}")),
                Ok(None) => break,
                Err(malformed) => {
                    heard.push(malformed.0.to_owned());
                    return heard;
                }
            }
        }
    }
    heard
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&size, data)) = data.split_first() else { return };
    let whole = heard([data].into_iter());
    assert_eq!(whole, heard(data.chunks(usize::from(size).max(1))));
    // Orders come from weld itself; that they are read without harm costs nothing to know.
    if let Some(order) = Order::read(data) {
        assert_eq!(&order.write()[8..], data);
    }
});

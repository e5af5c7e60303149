//! Tar files: a list of headers and contents, whose length is known before a byte is written.
//!
//! Format: POSIX.1-2001 `ustar`, with pax records for names and sizes that do not fit.

use std::borrow::Cow;

pub const BLOCK: usize = 512;

/// The largest size, in bytes, for which a header has room.
const LARGEST_USTAR_SIZE: u64 = 0o77_777_777_777;

/// Pieces up to here are written together, in bytes.
const BUFFER: usize = 1 << 20;

/// A tar file that is to be written.
#[derive(Default)]
pub struct Tar<'a> {
    /// What lies one after the other: headers, contents and padding.
    pieces: Vec<Cow<'a, [u8]>>,
    len: u64,
}

impl<'a> Tar<'a> {
    /// Adds a file of this name.
    pub fn append(&mut self, name: &[u8], bytes: Cow<'a, [u8]>) {
        let size = bytes.len() as u64;
        let split = split_name(name);
        let mut records = Vec::new();
        if split.is_none() {
            records.extend(pax_record("path", name));
        }
        if size > LARGEST_USTAR_SIZE {
            records.extend(pax_record("size", size.to_string().as_bytes()));
        }
        if !records.is_empty() {
            self.push(header(b"", b"PaxHeader", records.len() as u64, b'x').to_vec().into());
            self.push_padded(records.into());
        }
        let (prefix, short) = split.unwrap_or_else(|| (b"", &name[..100]));
        self.push(header(prefix, short, size.min(LARGEST_USTAR_SIZE), b'0').to_vec().into());
        self.push_padded(bytes);
    }

    /// The size of the whole file, in bytes.
    pub fn len(&self) -> u64 {
        self.len + END.len() as u64
    }

    /// Has `put` write the file: parts of it by their offsets, in order.
    ///
    /// # Errors
    /// Those of `put`.
    pub fn write<E>(&self, mut put: impl FnMut(u64, &[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut at = 0;
        let mut buffer = Vec::new();
        for piece in self.pieces.iter().map(|piece| &**piece).chain([&END[..]]) {
            if buffer.len() + piece.len() > BUFFER {
                put(at, &buffer)?;
                at += buffer.len() as u64;
                buffer.clear();
            }
            match piece.len() > BUFFER {
                true => {
                    put(at, piece)?;
                    at += piece.len() as u64;
                }
                false => buffer.extend_from_slice(piece),
            }
        }
        put(at, &buffer)
    }

    fn push_padded(&mut self, bytes: Cow<'a, [u8]>) {
        let padding = bytes.len().next_multiple_of(BLOCK) - bytes.len();
        self.push(bytes);
        self.push(END[..padding].into());
    }

    fn push(&mut self, piece: Cow<'a, [u8]>) {
        self.len += piece.len() as u64;
        self.pieces.push(piece);
    }
}

/// Two empty blocks end the file.
const END: &[u8; 2 * BLOCK] = &[0; 2 * BLOCK];

/// Cuts a name at a slash into the parts that a header has room for: 155 and 100 bytes.
fn split_name(name: &[u8]) -> Option<(&[u8], &[u8])> {
    if name.len() <= 100 {
        return Some((b"", name));
    }
    let first = name.len() - 101;
    let slash = first + memchr::memchr(b'/', &name[first..])?;
    (slash <= 155 && slash > 0).then(|| (&name[..slash], &name[slash + 1..]))
}

/// `LENGTH KEY=VALUE\n`, where the length counts itself.
pub(super) fn pax_record(key: &str, value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut len = rest + 1;
    while len != rest + len.to_string().len() {
        len = rest + len.to_string().len();
    }
    let mut record = format!("{len} {key}=").into_bytes();
    record.extend_from_slice(value);
    record.push(b'\n');
    record
}

fn header(prefix: &[u8], name: &[u8], size: u64, kind: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, name);
    put(100, b"0000644\0"); // mode
    put(108, b"0000000\0"); // owner
    put(116, b"0000000\0"); // group
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0"); // time
    put(148, b"        "); // checksum, counted as spaces
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    put(345, prefix);
    let sum: u32 = block.iter().map(|&b| u32::from(b)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

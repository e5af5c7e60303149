//! What weld says in its last moment: as a signal ends the link, memory is refused, or weld contradicts itself.
//!
//! Who says it may be a signal handler, at any instruction of any thread, also inside the allocator. So nothing
//! here allocates or locks; parts of the text are handed on one by one. As all messages these are for people, or
//! one line of JSON each if that was asked for (`--error-format=json`, docs/error-format.md).

use std::sync::atomic::{AtomicBool, Ordering};

use weld_common::diag::Cause;

/// The link was asked for messages as JSON.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// From now on words are JSON.
pub fn become_json() {
    AS_JSON.store(true, Ordering::Relaxed);
}

#[derive(Clone, Copy)]
pub enum Words<'w> {
    /// The input of this path is not what it was when it was opened.
    Changed(&'w [u8]),
    /// The system could not read or write a file that is mapped, and it is not known which.
    #[cfg_attr(windows, expect(dead_code, reason = "Windows has no signal that says so"))]
    MappedFile,
    NoMemory,
    /// A panic, and what to do about it.
    Bug(&'w str),
}

impl Words<'_> {
    fn cause(self) -> Cause {
        match self {
            Words::Changed(_) => Cause::InputChanged,
            Words::MappedFile => Cause::CannotReadFile,
            Words::NoMemory => Cause::OutOfMemory,
            Words::Bug(_) => Cause::Internal,
        }
    }

    /// The message, in parts.
    fn message(&self) -> [&[u8]; 3] {
        match self {
            Words::Changed(path) => [b"input file ", path, b" changed while it was being linked"],
            Words::MappedFile => {
                [b"a mapped file could not be read or written: input/output error", b"", b""]
            }
            Words::NoMemory => [b"out of memory", b"", b""],
            Words::Bug(text) => [text.trim_end().as_bytes(), b"", b""],
        }
    }

    /// Hands the words on, a part at a time. `program` is its name, if that is known.
    pub fn say(self, program: Option<&[u8]>, write: &mut dyn FnMut(&[u8])) {
        if AS_JSON.load(Ordering::Relaxed) {
            return self.json(write);
        }
        if let Some(program) = program {
            write(program);
            write(b": ");
        }
        if !matches!(self, Words::Bug(_)) {
            write(b"error: ");
        }
        self.message().into_iter().for_each(&mut *write);
        write(b"\n");
    }

    fn json(self, write: &mut dyn FnMut(&[u8])) {
        write(b"{\"level\":\"error\",\"code\":\"");
        write(self.cause().code().as_bytes());
        write(b"\",\"message\":\"");
        self.message().into_iter().for_each(|part| escape(part, write));
        if let Words::Changed(path) = self {
            write(b"\",\"file\":\"");
            escape(path, write);
        }
        write(b"\"}\n");
    }
}

/// The inside of a JSON string. What is no UTF-8 is U+FFFD.
fn escape(text: &[u8], write: &mut dyn FnMut(&[u8])) {
    for chunk in text.utf8_chunks() {
        let plain = chunk.valid().as_bytes();
        let mut rest = plain;
        while let Some(at) = rest.iter().position(|&byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
            write(&rest[..at]);
            let byte = rest[at];
            match byte {
                b'"' | b'\\' => write(&[b'\\', byte]),
                _ => {
                    let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
                    write(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
                }
            }
            rest = &rest[at + 1..];
        }
        write(rest);
        if !chunk.invalid().is_empty() {
            write("\u{fffd}".as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_people_and_for_programs() {
        let said = |words: Words, is_json| {
            let mut all = Vec::new();
            let mut write = |part: &[u8]| all.extend_from_slice(part);
            match is_json {
                true => words.json(&mut write),
                false => words.say(Some(b"ld"), &mut write),
            }
            String::from_utf8(all).unwrap()
        };
        let bug = Words::Bug("internal error: at\nlast\n");
        assert_eq!(said(bug, false), "ld: internal error: at\nlast\n");
        assert_eq!(said(Words::NoMemory, false), "ld: error: out of memory\n");
        assert_eq!(
            said(bug, true),
            "{\"level\":\"error\",\"code\":\"internal\",\"message\":\"internal error: at\\u000alast\"}\n"
        );
        let path = Words::Changed(b"a\"\\\x1f\xff.o");
        let json = r#"{"level":"error","code":"input-changed","message":"input file a\"\\\u001f�.o changed while it was being linked","file":"a\"\\\u001f�.o"}"#;
        assert_eq!(said(path, true), format!("{json}\n"));
    }
}

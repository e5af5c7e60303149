//! Where the bytes of an object are in the file system, for compilers that are to read them.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use weld_common::archive::{Archive, Member, MemberData};
use weld_common::diag::{Cause, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::io::thin;
use weld_common::text;

use crate::ir::Compiler;
use crate::request;

/// A file, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub path: &'a [u8],
    /// In bytes from the file's start.
    pub offset: u64,
    /// Set if the file is an archive.
    pub member: Option<request::Member<'a>>,
    /// The object.
    pub bytes: &'a [u8],
}

impl<'a> Origin<'a> {
    /// Of an object that is a file of its own, `path` as it was given. `None` if the system has no room for a
    /// copy: what was read from a pipe is there once only.
    pub fn of_file(path: &str, bytes: &'a [u8], store: &'a InputStore<'a>) -> Option<Origin<'a>> {
        let path = text::to_path(path);
        let path = match std::fs::metadata(store.rooted(&path)).is_ok_and(|meta| meta.is_file()) {
            true => kept(&store.rooted(&path), store),
            false => kept(&store.spool(bytes).ok()?, store),
        };
        Some(Origin { path, offset: 0, member: None, bytes })
    }

    /// Of a member of the archive at `path`. `None` if it is outside and not there any more.
    pub fn of_member(
        archive: &Archive<'a>,
        path: &str,
        member: &Member<'a>,
        store: &'a InputStore<'a>,
    ) -> Option<Origin<'a>> {
        if let MemberData::Inline(bytes) = member.data {
            let offset = bytes.as_ptr().addr() - archive.bytes().as_ptr().addr();
            let path = kept(&store.rooted(&text::to_path(path)), store);
            let member = request::Member { name: member.name, header: member.header_offset };
            return Some(Origin { path, offset: offset as u64, member: Some(member), bytes });
        }
        let outside = thin::outside(store, path, member).ok()?;
        let offset = outside.bytes.as_ptr().addr() - outside.file.as_ptr().addr();
        let path = kept(&store.rooted(&outside.path), store);
        Some(Origin { path, offset: offset as u64, member: None, bytes: outside.bytes })
    }

    /// What an engine is told of `code`, which is the object or a part of it. Of its symbols nothing yet.
    pub fn file(&self, code: &'a [u8], compiler: Compiler) -> request::File<'a> {
        let inside = code.as_ptr().addr() - self.bytes.as_ptr().addr();
        request::File {
            path: self.path,
            offset: self.offset + inside as u64,
            bytes: code,
            member: self.member,
            compiler,
            thinness: OnceLock::new(),
            symbols: Vec::new(),
        }
    }
}

/// An object of which a compiler would find no intermediate code any more.
pub fn gone(object: &dyn fmt::Display) -> Diagnostic {
    Diagnostic::error(Cause::LtoIncompatible, format!("{object}: a compiler would not find it any more"))
        .in_file(object)
}

fn kept<'a>(path: &Path, store: &'a InputStore<'a>) -> &'a [u8] {
    store.keep(path.as_os_str().as_encoded_bytes().to_vec())
}

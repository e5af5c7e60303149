//! Where the bytes of an object are in the file system, for other programs that are to read them.

use std::path::Path;

use weld_common::archive::{Archive, MemberData};
use weld_common::io::input::InputStore;
use weld_common::io::thin;
use weld_common::text;
use weld_lto::request;

use super::load::{Input, InputFile, Inputs};
use crate::ids::FileId;

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

/// Finds an object, or a member of an archive.
pub fn find<'a>(inputs: &Inputs<'a>, file: FileId, store: &'a InputStore<'a>) -> Option<Origin<'a>> {
    match &inputs.files[file.index()] {
        Input::Internal => None,
        Input::Member { archive, offset } => {
            let archive = &inputs.archives[*archive as usize];
            in_archive(&archive.archive, (&archive.path, *offset), store)
        }
        Input::File(file) => match &**file {
            InputFile { name, header: Some(offset), .. } => {
                let bytes = store.open(&text::to_path(&name.path)).ok()??;
                in_archive(&Archive::without_index(bytes).ok()?, (&name.path, *offset), store)
            }
            InputFile { name, data, .. } => {
                let path = kept(&text::to_path(&name.path), store);
                Some(Origin { path, offset: 0, member: None, bytes: data })
            }
        },
    }
}

/// The member whose header is at `offset` of the archive at `path`.
fn in_archive<'a>(
    archive: &Archive<'a>,
    (path, offset): (&str, u64),
    store: &'a InputStore<'a>,
) -> Option<Origin<'a>> {
    let member = archive.member_at(offset).ok()?;
    if let MemberData::Inline(bytes) = member.data {
        let offset = bytes.as_ptr().addr() - archive.bytes().as_ptr().addr();
        let path = kept(&text::to_path(path), store);
        let member = request::Member { name: member.name, header: member.header_offset };
        return Some(Origin { path, offset: offset as u64, member: Some(member), bytes });
    }
    let outside = thin::outside(store, path, &member).ok()?;
    let offset = (outside.bytes.as_ptr().addr() - outside.file.as_ptr().addr()) as u64;
    Some(Origin { path: kept(&outside.path, store), offset, member: None, bytes: outside.bytes })
}

fn kept<'a>(path: &Path, store: &'a InputStore<'a>) -> &'a [u8] {
    store.keep(store.rooted(path).as_os_str().as_encoded_bytes().to_vec())
}

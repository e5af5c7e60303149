//! Where the bytes of an object are in the file system, for other programs that are to read them.

use std::collections::HashMap;
use std::path::Path;

use weld_common::archive::{Member, MemberData};
use weld_common::io::thin;
use weld_common::text;
use weld_lto::request;

use super::archives::ArchiveInput;
use super::load::{Input, Inputs};
use crate::ids::*;

/// A file, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub path: &'a [u8],
    /// In bytes from the file's start.
    pub offset: u64,
    /// Set if the file is an archive.
    pub member: Option<request::Member<'a>>,
}

/// Finds origins. Members of an archive that was taken in as a whole are looked for once.
pub struct Origins<'i, 'a> {
    inputs: &'i Inputs<'a>,
    /// By archive: members by the address of their bytes.
    members: HashMap<usize, HashMap<usize, Member<'a>>>,
}

impl<'i, 'a> Origins<'i, 'a> {
    pub fn new(inputs: &'i Inputs<'a>) -> Origins<'i, 'a> {
        Origins { inputs, members: HashMap::new() }
    }

    /// Of an object, or a member of an archive.
    pub fn find(&mut self, file: FileId) -> Option<Origin<'a>> {
        let inputs = self.inputs;
        let name = inputs.name(file);
        let (archive, member) = match &inputs.files[file.index()] {
            Input::Member { archive, offset } => {
                let archive = &inputs.archives[*archive as usize];
                (archive, archive.archive.member_at(*offset).ok()?)
            }
            Input::Object { data, .. } if name.member.is_none() => {
                let path = text::to_path(&name.path);
                // What was read from a pipe is there once only.
                let is_file = std::fs::metadata(inputs.store.rooted(&path)).is_ok_and(|meta| meta.is_file());
                let path = match is_file {
                    true => self.kept(&path),
                    false => bytes_of(inputs, &inputs.store.spool(data).ok()?),
                };
                return Some(Origin { path, offset: 0, member: None });
            }
            Input::Object { data, .. } => {
                let number = inputs.archives.iter().position(|archive| archive.path == name.path)?;
                let archive = &inputs.archives[number];
                let members = self.members.entry(number).or_insert_with(|| by_address(archive));
                let found = members.get(&data.as_ptr().addr()).copied();
                (archive, found.or_else(|| outside(inputs, archive, data))?)
            }
            _ => return None,
        };
        if let MemberData::Inline(data) = member.data {
            let base = archive.archive.bytes().as_ptr().addr();
            return Some(Origin {
                path: self.kept(&text::to_path(&archive.path)),
                offset: (data.as_ptr().addr() - base) as u64,
                member: Some(request::Member { name: member.name, header: member.header_offset }),
            });
        }
        let outside = thin::outside(inputs.store, &archive.path, &member).ok()?;
        let offset = outside.bytes.as_ptr().addr() - outside.file.as_ptr().addr();
        Some(Origin { path: self.kept(&outside.path), offset: offset as u64, member: None })
    }

    fn kept(&self, path: &Path) -> &'a [u8] {
        bytes_of(self.inputs, &self.inputs.store.rooted(path))
    }
}

fn bytes_of<'a>(inputs: &Inputs<'a>, path: &Path) -> &'a [u8] {
    inputs.store.keep(path.as_os_str().as_encoded_bytes().to_vec())
}

fn by_address<'a>(archive: &ArchiveInput<'a>) -> HashMap<usize, Member<'a>> {
    let inline = |member: Member<'a>| match member.data {
        MemberData::Inline(data) => Some((data.as_ptr().addr(), member)),
        _ => None,
    };
    archive.archive.members().map_while(Result::ok).filter_map(inline).collect()
}

/// The member of a thin archive that has these bytes.
fn outside<'a>(inputs: &Inputs<'a>, archive: &ArchiveInput<'a>, data: &[u8]) -> Option<Member<'a>> {
    let is_it = |member: &Member<'a>| {
        member.size == data.len() as u64
            && thin::member_bytes(inputs.store, &archive.path, member).is_ok_and(|bytes| bytes == data)
    };
    archive.archive.members().map_while(Result::ok).find(is_it)
}

//! Where the bytes of objects are in the file system, for other programs that are to read them.

use std::collections::HashMap;

use weld_common::archive::{Member, MemberData};
use weld_common::io::thin;
use weld_lto::origin::Origin;

use super::archives::ArchiveInput;
use super::load::{Input, Inputs};
use crate::ids::*;

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
                return Origin::of_file(&name.path, data, inputs.store);
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
        Origin::of_member(&archive.archive, &archive.path, &member, inputs.store)
    }
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

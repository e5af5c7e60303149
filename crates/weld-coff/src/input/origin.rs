//! Where the bytes of objects are in the file system, for other programs that are to read them.

use weld_common::archive::Archive;
use weld_common::io::input::InputStore;
use weld_common::text;
use weld_lto::origin::Origin;

use super::load::{Input, InputFile, Inputs};
use crate::ids::FileId;

/// Finds an object, or a member of an archive.
pub fn find<'a>(inputs: &Inputs<'a>, file: FileId, store: &'a InputStore<'a>) -> Option<Origin<'a>> {
    match &inputs.files[file.index()] {
        Input::Internal => None,
        Input::Member { archive, offset } => {
            let archive = &inputs.archives[*archive as usize];
            let member = archive.archive.member_at(*offset).ok()?;
            Origin::of_member(&archive.archive, &archive.path, &member, store)
        }
        Input::File(file) => match &**file {
            InputFile { name, header: Some(offset), .. } => {
                let bytes = store.open(&text::to_path(&name.path)).ok()??;
                let archive = Archive::without_index(bytes).ok()?;
                Origin::of_member(&archive, &name.path, &archive.member_at(*offset).ok()?, store)
            }
            InputFile { name, data, .. } => Origin::of_file(&name.path, data, store),
        },
    }
}

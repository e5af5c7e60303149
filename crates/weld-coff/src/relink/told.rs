//! What a link that verifies is told, and how what it makes is compared with what a relink has made.
//!
//! What was added to an image lies in yards, and types that were added have the last numbers. A full link would put them
//! elsewhere. So one that is to verify them is told where sections lie and which types there were; all else it finds by
//! itself. Both make the same bytes, but for the identity of the PDB, which is made of parts that full links cut
//! otherwise, and what follows from it; and for the order of records in the lists of symbols.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::text;

use super::changes::read_block;
use super::memo::{KnownOutput, Memo};
use super::{Session, TABLES, memo};
use crate::ids::ObjectId;
use crate::job::Job;
use crate::layout::yards::Told;
use crate::resolve::Resolved;
use crate::sections::Sections;

impl Session {
    /// Where sections lie, if this link verifies places that a link without a history would not give.
    pub fn told(&self, job: &Job, resolved: &Resolved, sections: &Sections) -> Option<Told> {
        let held = self.held.lock().unwrap();
        let memo = held.as_ref().filter(|memo| memo.image.is_edited)?;
        let tables = std::fs::File::open(self.place.as_ref().ok()?.path(TABLES)).ok()?;
        let files = job.store.files();
        let paths: HashMap<usize, &Path> =
            files.iter().map(|file| (file.bytes.as_ptr().addr(), file.path.as_path())).collect();
        let known: HashMap<&Path, &memo::KnownFile> =
            memo.files.iter().map(|file| (file.path.as_path(), file)).collect();
        let mut told = Told::default();
        told.yards.extend(memo.image.yards.iter().map(|yard| yard.told.clone()));
        for (id, object) in (0..).map(ObjectId).zip(&resolved.objects) {
            let path = paths.get(&object.coff.data.as_ptr().addr());
            let file = path.filter(|_| object.name.member.is_none()).and_then(|path| known.get(path));
            let block = file.and_then(|file| read_block(&tables, file.object.as_ref()?));
            for row in block.iter().flat_map(|block| &block.rows).filter(|row| row.is_in_image()) {
                told.places.insert(sections.id(id, row.number).0, row.offset);
            }
        }
        Some(told)
    }

    /// The PDB that is to be verified, of which types keep their numbers.
    pub fn told_types(&self) -> Option<&[u8]> {
        let held = self.held.lock().unwrap();
        let memo = held.as_ref().filter(|memo| memo.image.is_edited)?;
        let name = memo.outputs.get(1)?.name.as_ref()?;
        let path = self.place.as_ref().ok()?.path(name);
        Some(self.told_pdb.get_or_init(|| std::fs::read(path).unwrap_or_default()))
    }

    /// The outputs of the relink that is to be verified.
    pub(super) fn held_outputs(&self) -> Vec<Vec<u8>> {
        let held = self.held.lock().unwrap();
        let Some((memo, place)) = held.as_ref().zip(self.place.as_ref().ok()) else { return Vec::new() };
        let path = |output: &KnownOutput| match &output.name {
            Some(name) => place.path(name),
            None => output.path.clone(),
        };
        memo.outputs.iter().map(|output| std::fs::read(path(output)).unwrap_or_default()).collect()
    }

    /// What a full link has made beside what nothing was linked for is the same.
    pub(super) fn compare(&self, job: &Job, (held, outputs): (&Memo, &[Vec<u8>]), made: &Memo) {
        let differs = |one: &KnownOutput| {
            let other = held.outputs.iter().zip(outputs).find(|(other, _)| other.path == one.path);
            match other {
                None => Some(String::new()),
                Some((other, _)) if other.digests == one.digests => None,
                Some((other, bytes)) => self.difference((held, made), (other, one), bytes),
            }
        };
        let differing = made.outputs.iter().find_map(|output| Some((&*output.path, differs(output)?)));
        if let Some((path, why)) = differing {
            let message =
                format!("a full link makes another {} than a relink; it was replaced", text::path(path));
            self.log(&if why.is_empty() { message.clone() } else { format!("{message}: the relink {why}") });
            job.sink.push(
                Diagnostic::warning(Cause::Incremental, message)
                    .note("this is a bug in weld; please report it"),
            );
        }
    }

    /// How an output of a relink differs from that of a full link, in words that go after its name.
    fn difference(
        &self,
        (held, made): (&Memo, &Memo),
        (old, new): (&KnownOutput, &KnownOutput),
        bytes: &[u8],
    ) -> Option<String> {
        let number = held.outputs.iter().position(|output| output.path == old.path)?;
        let whole = std::fs::read(&new.path).unwrap_or_default();
        if number > 1 {
            return Some(String::new());
        }
        if number == 1 && held.image.is_edited {
            return match weld_pdb::compare::difference(&whole, bytes) {
                Ok(difference) => difference,
                Err(why) => Some(why.to_owned()),
            };
        }
        let ids = |memo: &Memo| [memo.image.time_at..memo.image.time_at + 4, memo.image.debug.clone()];
        let (ids, other_ids) = (ids(held), ids(made));
        if ids != other_ids || whole.len() != bytes.len() {
            return Some("has another size".to_owned());
        }
        let is_id =
            |at: usize| held.image.is_edited && ids.iter().any(|id: &Range<u64>| id.contains(&(at as u64)));
        let mut pairs = whole.iter().zip(bytes).enumerate();
        match pairs.find(|(at, (a, b))| a != b && !is_id(*at)) {
            Some((at, _)) => Some(format!("has other bytes at {at:#x}")),
            None => Some(String::new()).filter(|_| !held.image.is_edited),
        }
    }
}

//! Archives among the inputs: what their indices offer, or their members where there is no index to go by.
//!
//! An archive with an index is not read further: members are read when somebody wants what they define.
//! Without one, and with `--whole-archive`, every member is an input. Archives are read in parallel, and so
//! are the members of one: each has a header and an object's first bytes in a page of its own.
//!
//! Specification: System V `ar` format; thin archives as GNU `ar` makes them.

use std::sync::Arc;

use weld_common::archive::{Archive, ArchiveError, Member, MemberData};
use weld_common::diag::{Cause, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::io::thin::member_bytes;
use weld_common::resolve::Index;
use weld_common::{par, trace};

use super::FileName;
use super::identify::{Kind, identify};
use super::load::{Input, Inputs};
use super::search::Opened;
use crate::elf::ELFMAG;
use crate::ids::*;

pub struct ArchiveInput<'a> {
    pub path: Arc<str>,
    pub archive: Archive<'a>,
    /// Members are read through the index, when wanted.
    pub lazy: bool,
    pub excluded: bool,
    pub first_file: FileId,
    /// Header offsets of the members in the index, ascending; member `i` has file id `first_file + i`.
    pub offsets: Vec<u64>,
}

impl<'a> ArchiveInput<'a> {
    /// Its index, if members are read when they are wanted.
    pub fn index(&self) -> Option<Index<'_, 'a>> {
        let map = self.archive.armap().filter(|_| self.lazy)?;
        Some(Index { map, offsets: &self.offsets, first: self.first_file })
    }
}

impl<'a> Inputs<'a> {
    /// Has an archive bring in these files, one after the other, in place of its members. What comes behind them has other
    /// numbers then.
    pub fn set_members(&mut self, number: usize, files: Vec<Input<'a>>) {
        let archive = &mut self.archives[number];
        let start = archive.first_file.index();
        let end = start + archive.offsets.len();
        archive.lazy = false;
        archive.offsets.clear();
        let count = files.len();
        let moved = |file: &mut FileId| {
            if file.index() >= end && end > start {
                file.0 = (file.index() - (end - start) + count) as u32;
            }
        };
        self.files.splice(start..end, files);
        self.archives.iter_mut().skip(number + 1).for_each(|archive| moved(&mut archive.first_file));
        self.places.iter_mut().for_each(|(file, _)| moved(file));
        self.libraries.values_mut().for_each(moved);
    }
}

/// Whether `--exclude-libs` with this value means the archive: by its file name, which may lack `.a`.
pub fn is_meant(value: &str, path: &str) -> bool {
    let base = path.rsplit('/').next().unwrap_or(path);
    value == "ALL" || value == base || base.strip_suffix(".a") == Some(value)
}

/// What an archive brings in.
pub enum Contents<'a> {
    /// Header offsets of the members that its index names, ascending.
    Indexed(Vec<u64>),
    /// Its objects in order, and what there is to say of others.
    Members(Vec<Result<(FileName<'a>, &'a [u8]), Diagnostic>>),
}

pub type ReadArchive<'a> = Result<(Archive<'a>, Contents<'a>), ArchiveError>;

/// Reads the index of an archive, or its members.
///
/// # Errors
/// If it is not an archive.
pub fn read<'a>(store: &'a InputStore<'a>, file: &Opened<'a>, parallel: bool) -> ReadArchive<'a> {
    let archive = Archive::parse(file.bytes)?;
    let contents = match archive.armap() {
        Some(map) if !file.flags.whole_archive => {
            let offsets = map.members();
            // An archive that was cut off lacks its last member, whether or not that one is needed.
            if let Some(&last) = offsets.last() {
                archive.member_at(last)?;
            }
            Contents::Indexed(offsets)
        }
        _ => {
            store.readahead().will_need(file.bytes);
            Contents::Members(members(store, &file.path, &archive, parallel))
        }
    };
    Ok((archive, contents))
}

/// The bytes of the first member that is an ELF file or bitcode, and in the archive itself.
pub fn first_object(bytes: &[u8]) -> Option<&[u8]> {
    first_of(bytes, |member| match member.data {
        MemberData::Inline(data) => Some(data),
        _ => None,
    })
}

/// The same, also if it is in a file of its own, as members of thin archives are.
pub fn first_object_anywhere<'a>(store: &'a InputStore<'a>, file: &Opened<'a>) -> Option<&'a [u8]> {
    first_of(file.bytes, |member| member_bytes(store, &file.path, member).ok())
}

fn first_of<'a>(bytes: &'a [u8], read: impl Fn(&Member<'a>) -> Option<&'a [u8]>) -> Option<&'a [u8]> {
    let archive = Archive::without_index(bytes).ok()?;
    let mut members = archive.members().map_while(Result::ok).filter_map(|member| read(&member));
    members.find(|data| data.starts_with(ELFMAG) || identify(data) == Kind::Bitcode)
}

/// Every member that is an object, up to where the archive is damaged.
fn members<'a>(
    store: &'a InputStore<'a>,
    path: &Arc<str>,
    archive: &Archive<'a>,
    parallel: bool,
) -> Vec<Result<(FileName<'a>, &'a [u8]), Diagnostic>> {
    let mut damage = None;
    let found = archive.members().map_while(|member| member.map_err(|e| damage = Some(e)).ok());
    let found: Vec<Member> = found.collect();
    let region = trace::region("read members");
    let one = |member: usize| {
        let _task = region.task();
        let member = &found[member];
        let name = FileName { path: path.clone(), member: Some(member.name) };
        match member_bytes(store, path, member).map(|data| (identify(data), data)) {
            Ok((Kind::Object | Kind::Bitcode, data)) => Some(Ok((name, data))),
            Ok((_, data)) if data.starts_with(b"!<") => Some(Err(Diagnostic::error(
                Cause::ArchiveMember,
                format!("{name}: an archive inside an archive is not supported"),
            )
            .in_file(&name))),
            Ok((kind @ (Kind::Shared | Kind::Executable), _)) => {
                let what = if kind == Kind::Shared { "a shared object" } else { "an executable" };
                let text = format!("{name}: is {what}; only objects of an archive take part in a link");
                Some(Err(Diagnostic::warning(Cause::ArchiveMember, text)))
            }
            // Rust libraries carry metadata beside their objects; other linkers pass over such members.
            Ok(_) => None,
            Err(message) => {
                Some(Err(Diagnostic::error(Cause::ArchiveMember, format!("{path}: {message}")).in_file(path)))
            }
        }
    };
    let read: Vec<Option<_>> = par::map(parallel, found.len(), one);
    drop(region);
    let mut list: Vec<_> = read.into_iter().flatten().collect();
    list.extend(
        damage.map(|e| Err(Diagnostic::error(Cause::MalformedArchive, format!("{path}: {e}")).in_file(path))),
    );
    list
}

#[cfg(test)]
mod tests {
    use weld_common::host::QuietHost;
    use weld_testkit::ar::{Archive as Builder, ArchiveKind};
    use weld_testkit::obj::{Obj, Section};

    use super::*;
    use crate::options::InputFlags;

    fn file(bytes: &[u8], whole_archive: bool) -> Opened<'_> {
        let flags = InputFlags { whole_archive, ..InputFlags::default() };
        Opened { path: "lib.a".into(), bytes, kind: identify(bytes), flags, searched: false }
    }

    #[test]
    fn members_come_in_order_with_what_is_wrong_between() {
        let mut obj = Obj::new();
        obj.section(Section::text(".text"));
        let mut builder = Builder::new(ArchiveKind::Gnu).without_index();
        for i in 0..300 {
            let name = format!("{i}.o");
            builder = match i % 100 {
                7 => builder.member(&name, b"!<arch>\n", &[]),
                8 => builder.member(&name, b"metadata", &[]),
                _ => builder.object(&name, &obj),
            };
        }
        let mut bytes = builder.build();
        bytes.extend_from_slice(b"no header");
        let host = QuietHost::new();
        let store = InputStore::new(&host);
        let [one, many] = [false, true].map(|parallel| {
            let Ok((_, Contents::Members(list))) = read(&store, &file(&bytes, true), parallel) else {
                panic!()
            };
            let name = |member: Result<(FileName, &[u8]), Diagnostic>| {
                member.map(|(name, _)| name.to_string()).map_err(|e| e.message)
            };
            list.into_iter().map(name).collect::<Vec<_>>()
        });
        assert_eq!(one, many);
        assert_eq!(one.len(), 300 - 3 + 1);
        assert_eq!(one[6], Ok("lib.a(6.o)".into()));
        assert!(
            one[7].as_ref().is_err_and(|e| e.starts_with("lib.a(7.o): an archive inside")),
            "{:?}",
            one[7]
        );
        assert_eq!(one[8], Ok("lib.a(9.o)".into()));
        assert!(
            one[297].as_ref().is_err_and(|e| e.starts_with("lib.a: malformed archive")),
            "{:?}",
            one[297]
        );
    }

    #[test]
    fn an_index_names_each_member_once() {
        let mut builder = Builder::new(ArchiveKind::Gnu);
        for name in ["a.o", "b.o"] {
            builder = builder.member(name, b"anything", &["one", "two"]);
        }
        let bytes = builder.build();
        let host = QuietHost::new();
        let store = InputStore::new(&host);
        let Ok((archive, Contents::Indexed(offsets))) = read(&store, &file(&bytes, false), false) else {
            panic!()
        };
        let names: Vec<_> = offsets.iter().map(|o| archive.member_at(*o).unwrap().name).collect();
        assert_eq!(names, [b"a.o", b"b.o"]);
    }
}

//! What a link takes from libraries: known, so that a later one can tell whether another file means the same.
//!
//! Of an *archive* these are the names of its members, what its index says, and the members that are linked,
//! each with a digest. If names and index are as they were, and so is what linked members define and need
//! (which is looked at as for any object that has changed), then no other member is wanted. If there is no
//! index, members tell themselves, and who has common symbols looks for definitions in members; then those
//! that are not linked must have the same bytes. What the index of an archive that is likely to change says of linked
//! members does not count: what these define is looked at as for any object, too. Of a *shared object* these are its headers and the tables
//! for the loader: code that has changed and has not moved is nothing to who links with it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::thread;

use weld_common::archive::armap::Armap;
use weld_common::archive::{Archive, MemberData};
use weld_common::digest::UnitDigest;
use weld_common::io::input::InputStore;
use weld_common::{par, text};

use crate::elf::*;
use crate::input::identify::{Kind, identify};
use crate::input::object::Headers;
use crate::relink_state::keys;
use crate::relink_state::outline::{IDENT, short};
use crate::relink_state::rows::NONE;

/// Contents of this and more bytes are hashed by several threads, of which each gets about as many.
const SHARE: usize = 4 << 20;
const THREADS: usize = 8;

/// An archive that is not thin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownArchive {
    /// Of names and index.
    pub summary: u128,
    /// What the index says of linked members is not in that.
    pub by_member: bool,
    /// Of how many members the index told when the tables were written.
    pub indexed: u32,
    /// No two members have the same name.
    pub is_told_apart: bool,
    /// Members whose bytes count, in order.
    pub members: Vec<KnownMember>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownMember {
    /// Among all members.
    pub number: u32,
    /// Its row among inputs; `NONE` if it is not linked.
    pub row: u32,
    /// 0 if it is not known: then it counts as changed if the archive has.
    pub digest: u128,
    /// Its name, without what is random in it; empty if it is not linked.
    pub name: String,
}

/// How a full link looks at an archive.
#[derive(Clone, Copy)]
pub struct Looks {
    /// It is likely to change: members have digests.
    pub hashes: bool,
    /// Members that are not linked may have been looked at, too.
    pub at_all: bool,
    /// How many the index tells of.
    pub indexed: u32,
    pub parallel: bool,
}

/// Rows of members, and where these are in the archive.
pub type ChangedMembers = Vec<(u32, Range<usize>)>;

/// The members of an archive.
pub struct Members<'a> {
    pub data: Vec<&'a [u8]>,
    /// Their names, one behind the other, and where each ends.
    said: Vec<u8>,
    ends: Vec<usize>,
    places: Vec<u64>,
    index: Option<Armap<'a>>,
}

impl<'a> Members<'a> {
    /// `None` if the archive is damaged, thin or not GNU's, or its index leads elsewhere.
    pub fn of(bytes: &'a [u8]) -> Option<Members<'a>> {
        let archive = Archive::parse(bytes).ok().filter(|archive| !archive.is_thin())?;
        let (mut said, mut ends, mut places, mut data) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for member in archive.members() {
            let member = member.ok()?;
            let MemberData::Inline(inside) = member.data else { return None };
            // Rows tell members by their names. Many headers may share a long name; then all of them together
            // are longer than the archive.
            if member.name.is_empty() || said.len() + member.name.len() > bytes.len() {
                return None;
            }
            places.push(member.header_offset);
            data.push(inside);
            said.extend_from_slice(keys::normalised(&text::text(member.name)).as_bytes());
            ends.push(said.len());
            said.push(0);
        }
        let armap = archive.armap();
        // A BSD index says of each symbol where its name is.
        if armap.is_some_and(|map| !map.is_gnu()) {
            return None;
        }
        Some(Members { data, said, ends, places, index: armap })
    }

    /// The name of a member, without what is random in it.
    pub fn name(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        std::str::from_utf8(&self.said[start..self.ends[number]]).unwrap_or_default()
    }

    /// The numbers of members by their names.
    pub fn by_name(&self) -> HashMap<&str, u32> {
        (0..self.data.len()).map(|number| (self.name(number), number as u32)).collect()
    }

    /// What is known of the archive if these members are linked, in the order of their numbers.
    pub fn known(&self, members: Vec<KnownMember>, indexed: u32) -> Option<KnownArchive> {
        let summary = self.summary(Some(&linked_ones(&members)))?;
        let is_told_apart = self.by_name().len() == self.data.len();
        Some(KnownArchive { summary, by_member: true, indexed, is_told_apart, members })
    }

    /// Where a member is in `bytes`, which the archive is.
    pub fn place(&self, bytes: &[u8], number: usize) -> Option<Range<usize>> {
        let data = *self.data.get(number)?;
        let start = data.as_ptr().addr() - bytes.as_ptr().addr();
        Some(start..start + data.len())
    }

    /// Of names and index, but for what that says of members with these numbers.
    fn summary(&self, left_out: Option<&HashSet<u32>>) -> Option<u128> {
        let mut said = self.said.clone();
        if let Some(map) = self.index {
            let number = |offset: u64| self.places.binary_search(&offset).ok();
            match left_out {
                None => {
                    for symbol in 0..map.count() {
                        said.extend_from_slice(&(number(map.offset(symbol))? as u32).to_le_bytes());
                    }
                    said.extend_from_slice(&UnitDigest::of(map.names()).bytes());
                }
                Some(left_out) => {
                    for (name, offset) in map.symbols() {
                        let number = number(offset)? as u32;
                        if !left_out.contains(&number) {
                            said.extend_from_slice(&number.to_le_bytes());
                            said.extend_from_slice(name);
                            said.push(0);
                        }
                    }
                }
            }
        }
        Some(short(UnitDigest::of(&said)))
    }
}

impl KnownArchive {
    /// `linked`: the rows and bytes of inputs that lie in the archive. `None` if it cannot be known.
    pub fn new(bytes: &[u8], linked: &[(u32, &[u8])], how: Looks) -> Option<KnownArchive> {
        let all = Members::of(bytes)?;
        let (data, has_index) = (&all.data, all.index.is_some());
        let mut rows: Vec<(usize, u32)> =
            linked.iter().map(|(row, bytes)| (bytes.as_ptr().addr(), *row)).collect();
        rows.sort_unstable();
        let row_of = |data: &[u8]| {
            let found = rows.binary_search_by_key(&data.as_ptr().addr(), |(place, _)| *place);
            found.map_or(NONE, |found| rows[found].1)
        };
        let mut members: Vec<KnownMember> = Vec::new();
        for (number, data) in (0..).zip(data) {
            let row = row_of(data);
            if row != NONE || !has_index || how.at_all {
                let name = if row == NONE { "" } else { all.name(number as usize) };
                members.push(KnownMember { number, row, digest: 0, name: name.to_owned() });
            }
        }
        let rows = members.iter().filter(|member| member.row != NONE).count();
        if how.hashes {
            let digests = par::list("digests of members", how.parallel, members.len(), 1, |run| {
                let members = &members[run];
                members.iter().map(|member| digest(data[member.number as usize])).collect::<Vec<_>>()
            });
            members.iter_mut().zip(digests).for_each(|(member, digest)| member.digest = digest);
        }
        let by_member = how.hashes && !how.at_all && has_index;
        let linked_ones = linked_ones(&members);
        let summary = all.summary(by_member.then_some(&linked_ones))?;
        // Nobody asks where nothing is linked.
        let is_told_apart = rows > 0 && all.by_name().len() == all.data.len();
        let indexed = how.indexed;
        (rows == linked.len()).then_some(KnownArchive { summary, by_member, indexed, is_told_apart, members })
    }

    /// Where the member is in `bytes` that is input `row`.
    pub fn place(&self, bytes: &[u8], row: u32) -> Option<Range<usize>> {
        let known = self.members.iter().find(|member| member.row == row)?;
        Members::of(bytes)?.place(bytes, known.number as usize)
    }

    /// Whether the member is linked that is input `row`.
    pub fn has(&self, row: u32) -> bool {
        self.members.iter().any(|member| member.row == row)
    }

    /// Linked members that have changed, each with its place in `bytes`, and what is known of these. `None`
    /// if something else has.
    pub fn changed(&self, bytes: &[u8]) -> Option<(ChangedMembers, KnownArchive)> {
        let linked = linked_ones(&self.members);
        let is_same = |new: &Members| new.summary(self.by_member.then_some(&linked)) == Some(self.summary);
        let Members { data, .. } = Members::of(bytes).filter(is_same)?;
        let here = self.members.iter().map(|member| data.get(member.number as usize).copied());
        let here: Vec<&[u8]> = here.collect::<Option<_>>()?;
        let (mut changed, mut known) = (Vec::new(), self.clone());
        for ((member, digest), data) in known.members.iter_mut().zip(digests(&here)).zip(here) {
            if member.digest == digest {
                continue;
            }
            if member.row == NONE {
                return None;
            }
            member.digest = digest;
            let start = data.as_ptr().addr() - bytes.as_ptr().addr();
            changed.push((member.row, start..start + data.len()));
        }
        Some((changed, known))
    }
}

/// The numbers of members that are linked.
fn linked_ones(members: &[KnownMember]) -> HashSet<u32> {
    members.iter().filter(|member| member.row != NONE).map(|member| member.number).collect()
}

pub fn digest(bytes: &[u8]) -> u128 {
    short(UnitDigest::of(bytes))
}

/// The digest of each, outside the threads of a link.
fn digests(list: &[&[u8]]) -> Vec<u128> {
    let total: usize = list.iter().map(|bytes| bytes.len()).sum();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = (total / SHARE).clamp(1, THREADS.min(cores));
    // Runs of about the same size.
    let mut runs: Vec<&[&[u8]]> = Vec::new();
    let mut rest = list;
    for left in (1..=threads).rev() {
        let all: usize = rest.iter().map(|bytes| bytes.len()).sum();
        let mut size = 0;
        let end = rest.iter().take_while(|bytes| {
            let is_in = size * left < all;
            size += bytes.len();
            is_in
        });
        let end = if left == 1 { rest.len() } else { end.count() };
        let (run, after) = rest.split_at(end);
        runs.push(run);
        rest = after;
    }
    let of = |run: &[&[u8]]| run.iter().map(|bytes| digest(bytes)).collect::<Vec<_>>();
    let mut runs = runs.into_iter();
    let own = runs.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> =
            runs.map(|run| (run, thread::Builder::new().spawn_scoped(scope, move || of(run)))).collect();
        let mut all = of(own);
        for (run, other) in others {
            // Without another thread, this one does it.
            let found = other.ok().and_then(|thread| thread.join().ok());
            all.extend(found.unwrap_or_else(|| of(run)));
        }
        all
    })
}

/// The digest of what counts of a file that is neither an object nor an archive whose members are known.
pub fn of_other<'s>(bytes: &'s [u8], store: &'s InputStore<'s>) -> u128 {
    let interface = if identify(bytes) == Kind::Shared { of_shared(bytes, store) } else { None };
    interface.unwrap_or_else(|| digest(bytes))
}

/// `None` if it is not known what counts.
fn of_shared<'s>(bytes: &'s [u8], store: &'s InputStore<'s>) -> Option<u128> {
    let headers = Headers::of(bytes, store).filter(|headers| !headers.shdrs.is_empty())?;
    let Headers { facts, header: ref ehdr, shdrs, names } = headers;
    let mut said = bytes.get(..IDENT)?.to_vec();
    let mut words = vec![ehdr.e_flags().into(), shdrs.len() as u64];
    // Where copies of its variables go.
    let phdrs = records::<Phdr>(bytes, facts.target.format, ehdr.e_phoff(), ehdr.e_phnum().into())?;
    for phdr in phdrs.iter().filter(|phdr| phdr.p_type() == PT_GNU_RELRO) {
        words.extend([phdr.p_vaddr(), phdr.p_memsz()]);
    }
    let is_dynamic = |kind| matches!(kind, SHT_DYNSYM | SHT_DYNAMIC | SHT_GNU_VERDEF | SHT_GNU_VERNEED);
    let strings: Vec<u32> =
        shdrs.iter().filter(|shdr| is_dynamic(shdr.sh_type())).map(|shdr| shdr.sh_link()).collect();
    for (index, shdr) in (0..).zip(shdrs) {
        let name = string(names, shdr.sh_name()).unwrap_or_default();
        let kind = shdr.sh_type();
        let links = u64::from(shdr.sh_link()) << 32 | u64::from(shdr.sh_info());
        words.extend([kind.into(), shdr.sh_flags(), shdr.sh_addr(), shdr.sh_size(), links]);
        words.extend([shdr.sh_addralign(), shdr.sh_entsize()]);
        said.extend_from_slice(name);
        said.push(0);
        let is_loaded = shdr.sh_flags() & SHF_ALLOC != 0;
        let is_table = match kind {
            SHT_DYNSYM | SHT_DYNAMIC | SHT_GNU_VERSYM | SHT_GNU_VERDEF | SHT_GNU_VERNEED | SHT_NOTE => true,
            SHT_STRTAB => is_loaded || strings.contains(&index),
            _ => name.starts_with(b".gnu.warning"),
        };
        if is_table {
            said.extend_from_slice(
                &UnitDigest::of(slice(bytes, shdr.sh_offset(), shdr.file_size())?).bytes(),
            );
        }
    }
    said.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    Some(digest(&said))
}

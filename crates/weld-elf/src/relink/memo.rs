//! What a later link has to know before anything else: whether nothing has changed, and if so, what there is
//! to do.
//!
//! It is read and written as a whole, and small beside the tables. Its digest tells accidents, and counts are
//! believed only as far as there are bytes for them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use weld_common::digest::{SIZE as DIGEST, UnitDigest};
use weld_common::io::stamp::Stamp;
use weld_common::io::units::Leaves;
use weld_common::relink::leaves;
use weld_common::relink::warnings::KeptWarning;

use super::command::Request;
use super::libraries::{KnownArchive, KnownMember};
use super::units::Units;
use crate::relink_state::Unreadable;
use crate::relink_state::debug_lists::{AddedList, Lists};
use crate::relink_state::excerpt::KnownImport;
use crate::relink_state::extents::{Extent, Extents, OtherRuns, Run, TableRuns};
use crate::relink_state::fields::*;
use crate::relink_state::guests::Guest;
use crate::relink_state::init_array::{InitArrays, Words};
use crate::relink_state::new_names::NewNames;
use crate::relink_state::rows::HandedOver;
use crate::sections::spare_imports::Import;

const MAGIC: &[u8; 8] = b"weldmemo";
const FORMAT: u32 = 16;

#[derive(Clone, Debug, PartialEq)]
pub struct Memo {
    /// Identifies the program that wrote it.
    pub build: [u8; DIGEST],
    /// Identifies the time since the system was started.
    pub boot: Vec<u8>,
    pub request: Request,
    /// Of the tables' head.
    pub tables: [u8; DIGEST],
    /// Which image is the output, and what both are; zeroes for the other if it has not been made yet.
    pub current: u8,
    pub images: [Stamp; 2],
    /// Where the build id is that is made of the leaves.
    pub id: Range<u64>,
    /// Shared with who looks for changes, who has a copy of his own when there are some.
    pub files: Arc<Vec<KnownFile>>,
    /// Paths that led nowhere.
    pub missing: Vec<PathBuf>,
    pub warnings: Vec<KeptWarning>,
    /// The text for `--dependency-file`.
    pub dependencies: Option<Vec<u8>>,
    pub leaves: Leaves,
    /// Where the images differ: start and end.
    pub last: Vec<Range<u64>>,
    /// Names that have other values than in the tables: row and value.
    pub values: Vec<(u32, u64)>,
    /// Who mentions names that they do not in the tables: rows of input and name.
    pub mentions: Vec<(u32, u32)>,
    /// Merged pieces that are not in the tables.
    pub pieces: Vec<AddedPiece>,
    /// Names that are not in the tables, or not any more.
    pub names: NewNames,
    /// Sections that are gone, or lie elsewhere than the tables say: their rows.
    pub holes: BTreeSet<u32>,
    /// Sections of debug information that lie elsewhere, or have other room.
    pub extents: Extents,
    /// Lists in debug information that have come or gone.
    pub lists: Lists,
    /// Words of `.init_array` that objects have, if not what the tables say.
    pub init_arrays: InitArrays,
    /// Runs in tables that lie elsewhere, or have other room.
    pub runs: OtherRuns,
    /// Sections that are not in the tables, or lie elsewhere.
    pub guests: Vec<Guest>,
    /// Functions of shared objects that have taken spare entries of the PLT, in their order.
    pub imports: Vec<KnownImport>,
    /// Names that have taken spare words of the GOT, in their order: rows, or `NONE` where one is free again.
    pub words: Vec<u32>,
    /// Which objects may come and go.
    pub units: Units,
    /// Who asks for which members of archives is not what the tables say ([`super::members`]).
    pub has_other_members: bool,
    /// What objects ask of others and offer them that have changed since the tables were written, by their rows.
    pub asks: BTreeMap<u32, u128>,
}

/// A merged piece that no object of the link had that wrote the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddedPiece {
    pub part: u32,
    pub tag: u32,
    /// In the part, and in bytes.
    pub offset: u32,
    pub size: u32,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFile {
    pub path: PathBuf,
    /// `None` if it may be written to without another stamp.
    pub stamp: Option<Stamp>,
    pub is: Is,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Is {
    /// An object: its row among the inputs, and the digest of its bytes, 0 if it has none: of one that has another name
    /// in each link, and so is written anew for each, and of those that were written to lately: `make` writes all anew for
    /// which a header has changed, and few are others.
    Object(u32, u128),
    /// An object that is gone, or has not come yet, for which there is a skeleton ([`super::units`]): its row, and whether
    /// it has just gone.
    Gone(u32, bool),
    /// The place of a member of an archive that was not linked when the tables were written, or was gone in between: its
    /// row. The archive says where it is.
    Lent(u32),
    Archive(KnownArchive),
    /// Anything else: the digest of what counts of it.
    Other(u128),
}

impl Memo {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(MAGIC);
        FORMAT.put(&mut out);
        out.extend_from_slice(&self.build);
        put_bytes(&self.boot, &mut out);
        self.request.digest.put(&mut out);
        for paths in [&self.request.random, &self.request.units] {
            put_list(paths, &mut out, |path, out| put_bytes(path, out));
        }
        out.extend_from_slice(&self.tables);
        self.current.put(&mut out);
        self.images.iter().for_each(|image| put_stamp(image, &mut out));
        put_range(&self.id, &mut out);
        put_list(&self.files, &mut out, |file, out| {
            put_path(&file.path, out);
            u8::from(file.stamp.is_some()).put(out);
            put_stamp(&file.stamp.unwrap_or_default(), out);
            put_is(&file.is, out);
        });
        put_list(&self.missing, &mut out, |path, out| put_path(path, out));
        put_list(&self.warnings, &mut out, KeptWarning::put);
        put_list(self.dependencies.as_slice(), &mut out, |text, out| put_bytes(text, out));
        leaves::put(&self.leaves, &mut out);
        put_list(&self.last, &mut out, put_range);
        put_list(&self.values, &mut out, |(name, value), out| {
            name.put(out);
            value.put(out);
        });
        put_list(&self.mentions, &mut out, |(input, name), out| {
            input.put(out);
            name.put(out);
        });
        put_list(&self.pieces, &mut out, |piece, out| {
            [piece.part, piece.tag, piece.offset, piece.size].iter().for_each(|word| word.put(out));
        });
        put_list(&self.names.added, &mut out, Field::put);
        let handed_over: Vec<HandedOver> = self.names.handed_over.values().copied().collect();
        put_list(&handed_over, &mut out, Field::put);
        let NewNames { gone, revived, hidden, shown, .. } = &self.names;
        for rows in [gone, revived, hidden, shown, &self.holes, &self.lists.gone] {
            let rows: Vec<u32> = rows.iter().copied().collect();
            put_list(&rows, &mut out, Field::put);
        }
        put_list(&self.lists.added, &mut out, |list, out| {
            [list.input, list.number, list.output].iter().for_each(|number| number.put(out));
            list.align_log2.put(out);
        });
        put_by_row(&self.extents, &mut out, |extent, out| {
            [extent.address, extent.size].iter().for_each(|number| number.put(out));
        });
        put_by_row(&self.init_arrays, &mut out, |words, out| {
            [words.start, words.before, words.now].iter().for_each(|number| number.put(out));
        });
        put_by_row(&self.runs, &mut out, |runs, out| {
            let TableRuns { frames, locals, globals, strings } = runs;
            let numbers = [frames, locals, globals, strings].map(|run| [run.start, run.size]);
            numbers.as_flattened().iter().for_each(|number| number.put(out));
        });
        put_list(&self.guests, &mut out, |guest, out| {
            guest.input.put(out);
            put_bytes(&guest.group, out);
            guest.number.put(out);
            [guest.address, guest.size, guest.align].iter().for_each(|number| number.put(out));
        });
        put_list(&self.imports, &mut out, |known, out| {
            known.row.put(out);
            put_bytes(&known.import.name, out);
            u32::from(known.import.version).put(out);
            u8::from(known.import.is_own).put(out);
        });
        put_list(&self.words, &mut out, Field::put);
        self.units.put(&mut out);
        u8::from(self.has_other_members).put(&mut out);
        put_by_row(&self.asks, &mut out, Field::put);
        let digest = UnitDigest::of(&out);
        out.extend_from_slice(&digest.bytes());
        out
    }

    /// # Errors
    /// Why it cannot be used.
    pub fn decode(bytes: &[u8]) -> Result<Memo, Unreadable> {
        let (rest, digest) = bytes.split_last_chunk::<DIGEST>().ok_or(Unreadable::Foreign)?;
        if !rest.starts_with(MAGIC) {
            return Err(Unreadable::Foreign);
        }
        if UnitDigest::of(rest).bytes() != *digest {
            return Err(Unreadable::Damaged);
        }
        let mut rest = &rest[MAGIC.len()..];
        if u32::take(&mut rest) != Some(FORMAT) {
            return Err(Unreadable::Foreign);
        }
        Memo::take(&mut rest).filter(|memo| rest.is_empty() && memo.is_sound()).ok_or(Unreadable::Damaged)
    }

    fn take(rest: &mut &[u8]) -> Option<Memo> {
        Some(Memo {
            build: take_array(rest)?,
            boot: take_bytes(rest)?,
            request: Request {
                digest: Field::take(rest)?,
                random: take_list(rest, take_bytes)?,
                units: take_list(rest, take_bytes)?,
            },
            tables: take_array(rest)?,
            current: Field::take(rest)?,
            images: [take_stamp(rest)?, take_stamp(rest)?],
            id: take_range(rest)?,
            files: Arc::new(take_list(rest, |rest| {
                let path = take_path(rest)?;
                let is_known = u8::take(rest)? != 0;
                let stamp = take_stamp(rest)?;
                Some(KnownFile { path, stamp: is_known.then_some(stamp), is: take_is(rest)? })
            })?),
            missing: take_list(rest, take_path)?,
            warnings: take_list(rest, KeptWarning::take)?,
            dependencies: take_list(rest, take_bytes)?.pop(),
            leaves: leaves::take(rest)?,
            last: take_list(rest, take_range)?,
            values: take_list(rest, |rest| Some((u32::take(rest)?, u64::take(rest)?)))?,
            mentions: take_list(rest, |rest| Some((u32::take(rest)?, u32::take(rest)?)))?,
            pieces: take_list(rest, |rest| {
                let (part, tag) = (Field::take(rest)?, Field::take(rest)?);
                Some(AddedPiece { part, tag, offset: Field::take(rest)?, size: Field::take(rest)? })
            })?,
            names: NewNames {
                added: take_list(rest, Field::take)?,
                handed_over: take_list(rest, HandedOver::take)?
                    .into_iter()
                    .map(|new| (new.name, new))
                    .collect(),
                gone: take_list(rest, Field::take)?.into_iter().collect(),
                revived: take_list(rest, Field::take)?.into_iter().collect(),
                hidden: take_list(rest, Field::take)?.into_iter().collect(),
                shown: take_list(rest, Field::take)?.into_iter().collect(),
            },
            holes: take_list(rest, Field::take)?.into_iter().collect(),
            lists: Lists {
                gone: take_list(rest, Field::take)?.into_iter().collect(),
                added: take_list(rest, |rest| {
                    let (input, number) = (Field::take(rest)?, Field::take(rest)?);
                    let (output, align_log2) = (Field::take(rest)?, Field::take(rest)?);
                    Some(AddedList { input, number, output, align_log2 })
                })?,
            },
            extents: take_by_row(rest, |rest| {
                Some(Extent { address: Field::take(rest)?, size: Field::take(rest)? })
            })?,
            init_arrays: take_by_row(rest, |rest| {
                let (start, before, now) = (Field::take(rest)?, Field::take(rest)?, Field::take(rest)?);
                Some(Words { start, before, now })
            })?,
            runs: take_by_row(rest, |rest| {
                let mut run = || Some(Run { start: Field::take(rest)?, size: Field::take(rest)? });
                let (frames, locals, globals, strings) = (run()?, run()?, run()?, run()?);
                Some(TableRuns { frames, locals, globals, strings })
            })?,
            guests: take_list(rest, |rest| {
                Some(Guest {
                    input: Field::take(rest)?,
                    group: take_bytes(rest)?,
                    number: Field::take(rest)?,
                    address: Field::take(rest)?,
                    size: Field::take(rest)?,
                    align: Field::take(rest)?,
                })
            })?,
            imports: take_list(rest, |rest| {
                let (row, name) = (Field::take(rest)?, take_bytes(rest)?);
                let version = u16::try_from(u32::take(rest)?).ok()?;
                let is_own = u8::take(rest)? != 0;
                Some(KnownImport { row, import: Import { name, version, is_own } })
            })?,
            words: take_list(rest, Field::take)?,
            units: Units::take(rest)?,
            has_other_members: u8::take(rest)? != 0,
            asks: take_by_row(rest, Field::take)?,
        })
    }

    /// Whether what is said of the image lies in it.
    fn is_sound(&self) -> bool {
        let size = self.images[0].size;
        let is_inside = |start: u64, length: u64| start.checked_add(length).is_some_and(|end| end <= size);
        let ranges = self.last.iter().chain([&self.id]);
        self.current < 2
            && [0, size].contains(&self.images[1].size)
            && self.leaves.iter().flatten().all(|leaf| is_inside(leaf.offset, leaf.size))
            && ranges.into_iter().all(|range| range.start <= range.end && range.end <= size)
    }
}

/// What rows have, by these.
fn put_by_row<T: Copy>(map: &BTreeMap<u32, T>, out: &mut Vec<u8>, put: impl Fn(&T, &mut Vec<u8>)) {
    let list: Vec<(u32, T)> = map.iter().map(|(row, what)| (*row, *what)).collect();
    put_list(&list, out, |(row, what), out| {
        row.put(out);
        put(what, out);
    });
}

fn take_by_row<T>(
    rest: &mut &[u8],
    mut take: impl FnMut(&mut &[u8]) -> Option<T>,
) -> Option<BTreeMap<u32, T>> {
    Some(take_list(rest, |rest| Some((u32::take(rest)?, take(rest)?)))?.into_iter().collect())
}

fn put_is(is: &Is, out: &mut Vec<u8>) {
    match is {
        Is::Object(row, digest) => {
            0u8.put(out);
            row.put(out);
            digest.put(out);
        }
        Is::Other(digest) => {
            1u8.put(out);
            digest.put(out);
        }
        Is::Gone(row, is_new) => {
            3u8.put(out);
            row.put(out);
            u8::from(*is_new).put(out);
        }
        Is::Lent(row) => {
            4u8.put(out);
            row.put(out);
        }
        Is::Archive(archive) => {
            2u8.put(out);
            archive.summary.put(out);
            u8::from(archive.by_member).put(out);
            archive.indexed.put(out);
            u8::from(archive.is_told_apart).put(out);
            put_list(&archive.members, out, |member, out| {
                member.number.put(out);
                member.row.put(out);
                member.digest.put(out);
                put_bytes(member.name.as_bytes(), out);
            });
        }
    }
}

fn take_is(rest: &mut &[u8]) -> Option<Is> {
    Some(match u8::take(rest)? {
        0 => Is::Object(Field::take(rest)?, Field::take(rest)?),
        1 => Is::Other(Field::take(rest)?),
        3 => Is::Gone(Field::take(rest)?, u8::take(rest)? != 0),
        4 => Is::Lent(Field::take(rest)?),
        _ => Is::Archive(KnownArchive {
            summary: Field::take(rest)?,
            by_member: u8::take(rest)? != 0,
            indexed: Field::take(rest)?,
            is_told_apart: u8::take(rest)? != 0,
            members: take_list(rest, |rest| {
                let (number, row) = (Field::take(rest)?, Field::take(rest)?);
                let digest = Field::take(rest)?;
                let name = String::from_utf8(take_bytes(rest)?).ok()?;
                Some(KnownMember { number, row, digest, name })
            })?,
        }),
    })
}

fn put_range(range: &Range<u64>, out: &mut Vec<u8>) {
    range.start.put(out);
    range.end.put(out);
}

fn take_range(rest: &mut &[u8]) -> Option<Range<u64>> {
    Some(u64::take(rest)?..u64::take(rest)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relink_state::rows::AddedName;
    use weld_common::io::units::Leaf;
    use weld_testkit::mutate::damage;

    fn memo() -> Memo {
        let stamp = |number| Stamp { device: 1, number, size: 5000, modified: -5, changed: 7 };
        let member =
            |number| KnownMember { number, row: number + 5, digest: 3 << 90, name: "m.o".to_owned() };
        let members = vec![member(2), member(7)];
        let archive =
            KnownArchive { summary: 1 << 127, by_member: true, indexed: 9, is_told_apart: true, members };
        let leaf = |offset| Leaf { offset, size: 100, digest: UnitDigest::of(b"leaf") };
        Memo {
            build: UnitDigest::of(b"this").bytes(),
            boot: b"boot".to_vec(),
            request: Request {
                digest: 17 << 100,
                random: vec![b"rustcAbCdEf/symbols.o".to_vec()],
                units: vec![b"x.rcgu.o".to_vec()],
            },
            tables: UnitDigest::of(b"tables").bytes(),
            current: 1,
            images: [stamp(2), stamp(3)],
            id: 100..120,
            files: Arc::new(vec![
                KnownFile { path: "a.o".into(), stamp: Some(stamp(4)), is: Is::Object(0, 9) },
                KnownFile { path: "b.so".into(), stamp: None, is: Is::Other(u128::MAX) },
                KnownFile { path: "<spare 0>".into(), stamp: None, is: Is::Gone(4, true) },
                KnownFile { path: "<spare 1>".into(), stamp: None, is: Is::Lent(5) },
                KnownFile { path: "c.a".into(), stamp: Some(stamp(5)), is: Is::Archive(archive) },
            ]),
            missing: vec!["dir/c.o".into()],
            warnings: vec![KeptWarning {
                code: b"symbol-warning".to_vec(),
                message: b"odd".to_vec(),
                notes: vec![b"here".to_vec()],
            }],
            dependencies: Some(b"out: a.o\n".to_vec()),
            leaves: vec![vec![leaf(0)], vec![leaf(200), leaf(4900)]],
            last: vec![3..4, 4000..5000],
            values: vec![(3, 0x2000), (7, 9)],
            mentions: vec![(4, 5)],
            pieces: vec![AddedPiece { part: 1, tag: 2, offset: 30, size: 4 }],
            names: NewNames {
                added: vec![AddedName {
                    hash: 5 << 100,
                    input: 1,
                    section: 2,
                    manner: 3,
                    value: 4,
                    seen: 5,
                    dynamic: 6,
                }],
                handed_over: [(4, HandedOver { name: 4, hash: 7 << 90, input: 3, manner: 2 })].into(),
                gone: [3, 9].into(),
                revived: [4].into(),
                hidden: [6].into(),
                shown: [7].into(),
            },
            holes: [7, 8].into(),
            extents: [(9, Extent { address: 5, size: 6 })].into(),
            lists: Lists {
                added: vec![AddedList { input: 1, number: 2, output: 3, align_log2: 4 }],
                gone: [5].into(),
            },
            init_arrays: [(2, Words { start: 3, before: 8, now: 0 })].into(),
            runs: [(1, TableRuns { strings: Run { start: 3, size: 4 }, ..TableRuns::default() })].into(),
            guests: vec![Guest {
                input: 1,
                group: b"_Z1fv".to_vec(),
                number: 1,
                address: 64,
                size: 20,
                align: 2,
            }],
            imports: vec![KnownImport {
                row: 5,
                import: Import { name: b"strlen".to_vec(), version: 4, is_own: true },
            }],
            words: vec![8, u32::MAX],
            units: Units {
                skeletons: vec![b"x".to_vec()],
                known: vec![(0, 0)],
                members: vec![(7, 0)],
                spare: vec![(4, 0)],
                sizes: vec![1],
            },
            has_other_members: true,
            asks: [(4, 5 << 100)].into(),
        }
    }

    #[test]
    fn written_and_read_back() {
        let (memo, bytes) = (memo(), memo().encode());
        assert_eq!(Memo::decode(&bytes), Ok(memo.clone()));
        for seed in 0..500 {
            let damaged = damage(&bytes, seed);
            assert!(damaged == bytes || Memo::decode(&damaged).is_err(), "{seed}");
        }
        // Digests protect from accidents only.
        let outside = Memo { last: vec![3..4, 4000..5001], ..memo };
        assert_eq!(Memo::decode(&outside.encode()), Err(Unreadable::Damaged));
    }
}

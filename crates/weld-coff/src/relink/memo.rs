//! What a later link has to know: what the last one was asked for, what it has read and looked for, what it has
//! written, and what it had to warn of.
//!
//! It is read and written as a whole. Its digest tells accidents, and counts are believed only as far as there are
//! bytes for them.

use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;

use weld_common::digest::{SIZE as DIGEST, UnitDigest};
use weld_common::io::stamp::Stamp;
use weld_common::io::units::{Leaf, Leaves};
use weld_common::relink::fields::*;
use weld_common::relink::leaves;
use weld_common::relink::warnings::KeptWarning;
use weld_common::text::os_str;

use super::full_link_reason::Why;
use super::outline::Outline;
use super::shapes::YardNotes;
use crate::input::search::{Listed, Lookups};
use crate::layout::yards::ToldYard;

const MAGIC: &[u8; 8] = b"weldcoff";
const FORMAT: u32 = 7;

pub type Digest = [u8; DIGEST];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memo {
    /// Identifies the program that wrote it.
    pub build: Digest,
    /// Identifies the time since the system was started.
    pub boot: Vec<u8>,
    pub request: Digest,
    pub files: Vec<KnownFile>,
    /// What was looked for and not found, or found under a name in other letters.
    pub lookups: Lookups,
    /// The machine whose directories a toolchain was asked for, and those.
    pub toolchain: Option<(u16, Vec<PathBuf>)>,
    pub outputs: Vec<KnownOutput>,
    pub warnings: Vec<KeptWarning>,
    /// Why objects that change are not relinked; empty if they are.
    pub against: String,
    pub image: ImageNotes,
}

/// What is known of the image and the PDB, so that bytes of them can be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageNotes {
    /// The number of the machine.
    pub machine: u16,
    /// Where the time is in the header, and where the debug directory is, which is empty if there is none.
    pub time_at: u64,
    pub debug: Range<u64>,
    /// The address that the image is made for.
    pub base: u64,
    pub outs: Vec<OutNotes>,
    /// The tables of functions and of base relocations in the file, with their room; empty if there is none.
    pub functions: Range<u64>,
    pub relocs: Range<u64>,
    /// The number of the name of each export, by ordinals, and of the entry point; `u32::MAX` if there is none.
    pub exports: Vec<u32>,
    pub entry: u32,
    /// Hashes of plain names that the command line has given for functions of C++.
    pub overloads: Vec<u64>,
    /// Room for what is new.
    pub yards: Vec<YardNotes>,
    /// A full link would put things elsewhere.
    pub is_edited: bool,
    /// Where names are among what is kept, and their digest.
    pub names: Range<u64>,
    pub names_digest: Digest,
    /// Why objects with sections of other sizes are not relinked; empty if they are.
    pub against_sizes: String,
    pub leaves: Leaves,
    pub pdb_leaves: Leaves,
}

/// An output section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutNotes {
    /// Where it is in the file.
    pub offset: u64,
    pub rva: u32,
    /// What is between its members.
    pub filler: u8,
}

/// An object of which bytes may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownObject {
    pub outline: Outline,
    /// Where what is known of it is ([`super::block`]), and the digest of that.
    pub block: Range<u64>,
    pub digest: Digest,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFile {
    pub path: PathBuf,
    /// `None` if it may be written to without another stamp.
    pub stamp: Option<Stamp>,
    /// The number of the first path that led to the same file, which is linked once.
    pub same_as: u32,
    /// Of its bytes, if it is likely to be written anew.
    pub digest: Option<Digest>,
    /// What it is to the link, if it is an object; then it needs no digest.
    pub object: Option<KnownObject>,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownOutput {
    pub path: PathBuf,
    pub stamp: Stamp,
    /// The digests of its parts ([`super::digests`]).
    pub digests: Vec<Digest>,
    /// Its other name, in the directory of the state.
    pub name: Option<String>,
    /// The file that was the output before the last relink, and what that wrote.
    pub spare: Option<(Stamp, Vec<Range<u64>>)>,
    /// It stays as old as it is if it would not change.
    pub is_kept: bool,
}

impl Memo {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        FORMAT.put(&mut out);
        out.extend_from_slice(&self.build);
        put_bytes(&self.boot, &mut out);
        out.extend_from_slice(&self.request);
        put_list(&self.files, &mut out, |file, out| {
            put_path(&file.path, out);
            put_list(file.stamp.as_slice(), out, put_stamp);
            file.same_as.put(out);
            put_list(file.digest.as_slice(), out, put_digest);
            put_list(file.object.as_slice(), out, |object, out| {
                put_digest(&object.outline.shape, out);
                put_digest(&object.outline.contents, out);
                put_range(&object.block, out);
                put_digest(&object.digest, out);
            });
        });
        put_list(&self.lookups.missing, &mut out, |path, out| put_path(path, out));
        put_list(&self.lookups.listed, &mut out, |listed, out| {
            put_path(&listed.dir, out);
            put_bytes(listed.lower.as_encoded_bytes(), out);
            put_list(listed.found.as_slice(), out, |name, out| put_bytes(name.as_encoded_bytes(), out));
        });
        put_list(self.toolchain.as_slice(), &mut out, |(machine, dirs), out| {
            u32::from(*machine).put(out);
            put_list(dirs, out, |dir, out| put_path(dir, out));
        });
        put_list(&self.outputs, &mut out, |output, out| {
            put_path(&output.path, out);
            put_stamp(&output.stamp, out);
            put_list(&output.digests, out, put_digest);
            put_list(output.name.as_slice(), out, |name, out| put_bytes(name.as_bytes(), out));
            put_list(output.spare.as_slice(), out, |(stamp, ranges), out| {
                put_stamp(stamp, out);
                put_list(ranges, out, put_range);
            });
            u8::from(output.is_kept).put(out);
        });
        put_list(&self.warnings, &mut out, KeptWarning::put);
        put_bytes(self.against.as_bytes(), &mut out);
        let image = &self.image;
        u32::from(image.machine).put(&mut out);
        image.time_at.put(&mut out);
        put_range(&image.debug, &mut out);
        image.base.put(&mut out);
        put_list(&image.outs, &mut out, |notes, out| {
            notes.offset.put(out);
            notes.rva.put(out);
            notes.filler.put(out);
        });
        put_list(&image.yards, &mut out, |yard, out| {
            let ToldYard { name, flags, out: number, first, start, end } = &yard.told;
            put_bytes(name, out);
            [flags, number, first, start, end].iter().for_each(|word| word.put(out));
            put_list(&yard.used, out, |used, out| {
                [used.start, used.end].iter().for_each(|word| word.put(out))
            });
        });
        u8::from(image.is_edited).put(&mut out);
        [&image.functions, &image.relocs].iter().for_each(|range| put_range(range, &mut out));
        put_list(&image.exports, &mut out, Field::put);
        image.entry.put(&mut out);
        put_list(&image.overloads, &mut out, Field::put);
        put_range(&image.names, &mut out);
        put_digest(&image.names_digest, &mut out);
        put_bytes(image.against_sizes.as_bytes(), &mut out);
        leaves::put(&image.leaves, &mut out);
        leaves::put(&image.pdb_leaves, &mut out);
        let digest = UnitDigest::of(&out);
        out.extend_from_slice(&digest.bytes());
        out
    }

    /// # Errors
    /// Why it cannot be used.
    pub fn decode(bytes: &[u8]) -> Result<Memo, Why> {
        const FOREIGN: Why = Why::State("is that of another kind of link or another weld");
        const DAMAGED: Why = Why::State("is damaged");
        let (rest, digest) = bytes.split_last_chunk::<DIGEST>().ok_or(DAMAGED)?;
        let mut fields = rest.strip_prefix(MAGIC).ok_or(FOREIGN)?;
        if UnitDigest::of(rest).bytes() != *digest {
            return Err(DAMAGED);
        }
        if u32::take(&mut fields) != Some(FORMAT) {
            return Err(FOREIGN);
        }
        Memo::take(&mut fields).filter(|memo| fields.is_empty() && memo.is_sound()).ok_or(DAMAGED)
    }

    /// Whether what is said of the image and the PDB lies in them.
    fn is_sound(&self) -> bool {
        let size = |number: usize| self.outputs.get(number).map_or(0, |output| output.stamp.size);
        let is_inside = |leaves: &Leaves, size: u64| {
            let end = |leaf: &Leaf| leaf.offset.checked_add(leaf.size);
            leaves.iter().flatten().all(|leaf| end(leaf).is_some_and(|end| end <= size))
        };
        let ImageNotes { debug, functions, relocs, leaves, pdb_leaves, .. } = &self.image;
        let spares = self.outputs.iter().flat_map(|output| {
            let ranges = output.spare.iter().flat_map(|(_, ranges)| ranges);
            ranges.map(|range| (range, output.stamp.size))
        });
        let mut ranges = spares.chain([debug, functions, relocs].map(|range| (range, size(0))));
        ranges.all(|(range, size)| range.start <= range.end && range.end <= size)
            && is_inside(leaves, size(0))
            && is_inside(pdb_leaves, size(1))
    }

    fn take(rest: &mut &[u8]) -> Option<Memo> {
        let take_name = |rest: &mut &[u8]| Some(OsString::from(os_str(&take_bytes(rest)?)));
        Some(Memo {
            build: take_array(rest)?,
            boot: take_bytes(rest)?,
            request: take_array(rest)?,
            files: take_list(rest, |rest| {
                Some(KnownFile {
                    path: take_path(rest)?,
                    stamp: take_list(rest, take_stamp)?.pop(),
                    same_as: u32::take(rest)?,
                    digest: take_list(rest, take_array)?.pop(),
                    object: take_list(rest, |rest| {
                        Some(KnownObject {
                            outline: Outline { shape: take_array(rest)?, contents: take_array(rest)? },
                            block: take_range(rest)?,
                            digest: take_array(rest)?,
                        })
                    })?
                    .pop(),
                })
            })?,
            lookups: Lookups {
                missing: take_list(rest, take_path)?,
                listed: take_list(rest, |rest| {
                    Some(Listed {
                        dir: take_path(rest)?,
                        lower: take_name(rest)?,
                        found: take_list(rest, take_name)?.pop(),
                    })
                })?,
            },
            toolchain: take_list(rest, |rest| {
                Some((u16::try_from(u32::take(rest)?).ok()?, take_list(rest, take_path)?))
            })?
            .pop(),
            outputs: take_list(rest, |rest| {
                Some(KnownOutput {
                    path: take_path(rest)?,
                    stamp: take_stamp(rest)?,
                    digests: take_list(rest, take_array)?,
                    name: match take_list(rest, take_bytes)?.pop() {
                        Some(name) => Some(String::from_utf8(name).ok()?),
                        None => None,
                    },
                    spare: take_list(rest, |rest| Some((take_stamp(rest)?, take_list(rest, take_range)?)))?
                        .pop(),
                    is_kept: u8::take(rest)? != 0,
                })
            })?,
            warnings: take_list(rest, KeptWarning::take)?,
            against: String::from_utf8(take_bytes(rest)?).ok()?,
            image: ImageNotes {
                machine: u16::try_from(u32::take(rest)?).ok()?,
                time_at: Field::take(rest)?,
                debug: take_range(rest)?,
                base: Field::take(rest)?,
                outs: take_list(rest, |rest| {
                    let (offset, rva, filler) = (Field::take(rest)?, Field::take(rest)?, Field::take(rest)?);
                    Some(OutNotes { offset, rva, filler })
                })?,
                yards: take_list(rest, |rest| {
                    let name = take_bytes(rest)?;
                    let mut word = || u32::take(rest);
                    let (flags, out, first, start, end) = (word()?, word()?, word()?, word()?, word()?);
                    let told = ToldYard { name, flags, out, first, start, end };
                    let used = take_list(rest, |rest| Some(u32::take(rest)?..u32::take(rest)?))?;
                    Some(YardNotes { told, used })
                })?,
                is_edited: u8::take(rest)? != 0,
                functions: take_range(rest)?,
                relocs: take_range(rest)?,
                exports: take_list(rest, Field::take)?,
                entry: Field::take(rest)?,
                overloads: take_list(rest, Field::take)?,
                names: take_range(rest)?,
                names_digest: take_array(rest)?,
                against_sizes: String::from_utf8(take_bytes(rest)?).ok()?,
                leaves: leaves::take(rest)?,
                pdb_leaves: leaves::take(rest)?,
            },
        })
    }
}

fn put_range(range: &Range<u64>, out: &mut Vec<u8>) {
    range.start.put(out);
    range.end.put(out);
}

fn take_range(rest: &mut &[u8]) -> Option<Range<u64>> {
    Some(u64::take(rest)?..u64::take(rest)?)
}

fn put_digest(digest: &Digest, out: &mut Vec<u8>) {
    out.extend_from_slice(digest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use weld_testkit::mutate::damage;

    #[test]
    fn written_and_read_back() {
        let stamp = |number| Stamp { device: 1, number, size: 5000, modified: -5, changed: 7 };
        let listed = |found: Option<&str>| Listed {
            dir: "lib".into(),
            lower: "kernel32.lib".into(),
            found: found.map(OsString::from),
        };
        let leaf = |offset| Leaf { offset, size: 100, digest: UnitDigest::of(b"leaf") };
        let object = KnownObject {
            outline: Outline { shape: [6; DIGEST], contents: [7; DIGEST] },
            block: 16..48,
            digest: [8; DIGEST],
        };
        let memo = Memo {
            build: UnitDigest::of(b"this").bytes(),
            boot: b"boot".to_vec(),
            request: [3; DIGEST],
            files: vec![
                KnownFile {
                    path: "a.obj".into(),
                    stamp: Some(stamp(4)),
                    same_as: 0,
                    digest: Some([4; DIGEST]),
                    object: None,
                },
                KnownFile {
                    path: "b.lib".into(),
                    stamp: None,
                    same_as: 1,
                    digest: None,
                    object: Some(object),
                },
            ],
            lookups: Lookups {
                missing: vec!["x/y.lib".into()],
                listed: vec![listed(None), listed(Some("Kernel32.Lib"))],
            },
            toolchain: Some((0x8664, vec!["sdk/lib".into()])),
            outputs: ["out.exe", "out.pdb"]
                .map(|path| KnownOutput {
                    path: path.into(),
                    stamp: stamp(9),
                    digests: vec![[5; DIGEST]],
                    name: Some("a".into()),
                    spare: Some((stamp(10), vec![3..4, 100..200])),
                    is_kept: true,
                })
                .into(),
            warnings: vec![KeptWarning { message: b"odd".to_vec(), ..KeptWarning::default() }],
            against: "nothing".into(),
            image: ImageNotes {
                machine: 0x8664,
                time_at: 0x88,
                debug: 100..120,
                base: 0x1_8000_0000,
                outs: vec![OutNotes { offset: 1024, rva: 4096, filler: 0xcc }, OutNotes::default()],
                yards: vec![YardNotes {
                    told: ToldYard {
                        name: b".text".to_vec(),
                        flags: 7,
                        out: 1,
                        first: 0,
                        start: 32,
                        end: 64,
                    },
                    used: vec![32..40, 48..64],
                }],
                is_edited: true,
                functions: 1100..1200,
                relocs: 1200..1200,
                exports: vec![5, u32::MAX],
                entry: 7,
                overloads: vec![1 << 40],
                names: 0..32,
                names_digest: [9; DIGEST],
                against_sizes: "sizes".into(),
                leaves: vec![vec![leaf(0)], vec![leaf(200), leaf(4900)]],
                pdb_leaves: vec![vec![leaf(3)]],
            },
        };
        let bytes = memo.encode();
        assert_eq!(Memo::decode(&bytes), Ok(memo));
        for seed in 0..500 {
            let damaged = damage(&bytes, seed);
            assert!(damaged == bytes || Memo::decode(&damaged).is_err(), "{seed}");
        }
        // Also where the digest is right.
        for seed in 0..2000 {
            let mut damaged = damage(&bytes[..bytes.len() - DIGEST], seed);
            let digest = UnitDigest::of(&damaged);
            damaged.extend_from_slice(&digest.bytes());
            _ = Memo::decode(&damaged);
        }
    }
}

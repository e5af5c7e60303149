//! The tree of resources in an object (`.rsrc$01`, or `.rsrc` of GNU tools), read back into resources.
//!
//! Three levels of tables lead to descriptions: types, names, languages. Where the data of a description is,
//! a relocation at its first word says. Source: "PE Format", The .rsrc Section.

use std::fmt;

use super::res::{Resource, ResourceId};
use super::{u16_at, u32_at};

const TABLE: usize = 16;
const ENTRY: usize = 8;

/// What leads to tables and texts, and not to descriptions and numbers.
const FLAG: u32 = 1 << 31;

/// All resources of a tree, which is in a file of `file_size` bytes. `data` gives the bytes from where the
/// relocation at an offset of the tree leads.
///
/// # Errors
/// If the tree is malformed.
pub fn parse<'a>(
    tree: &[u8],
    file_size: usize,
    data: impl Fn(u32) -> Option<&'a [u8]>,
) -> Result<Vec<Resource<'a>>, Malformed> {
    let mut room = Room { tables: tree.len(), texts: COPIES * tree.len(), data: file_size };
    let mut list = Vec::new();
    for (typ, names) in room.table(tree, 0)? {
        let typ = room.id(tree, typ)?;
        for (name, languages) in room.table(tree, below(names)?)? {
            let name = room.id(tree, name)?;
            for (language, at) in room.table(tree, below(languages)?)? {
                if at & FLAG != 0 {
                    return Err(Malformed::Tree);
                }
                let [typ, name] = [&typ, &name].map(|id| room.copy(id));
                let size = u32_at(tree, at as usize + 4).ok_or(Malformed::Tree)? as usize;
                take(&mut room.data, size)?;
                let bytes = data(at).and_then(|bytes| bytes.get(..size));
                list.push(Resource {
                    typ: typ?,
                    name: name?,
                    language: u16::try_from(language).map_err(|_| Malformed::Tree)?,
                    version: 0,
                    characteristics: 0,
                    data: bytes.ok_or(Malformed::Data)?,
                });
            }
        }
    }
    Ok(list)
}

/// What is wrong with a tree of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Its tables.
    Tree,
    /// What it leads to.
    Data,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malformed::Tree => "the tree of resources is malformed",
            Malformed::Data => "the data of a resource does not lie within a section",
        })
    }
}

impl std::error::Error for Malformed {}

/// How many bytes may still be used. Tables, texts and data that are led to again and again could make more
/// of a tree than there is memory for.
struct Room {
    tables: usize,
    texts: usize,
    data: usize,
}

/// Each resource has a copy of the text of its type, which the tree has once. All copies together are not so
/// many times the tree.
const COPIES: usize = 64;

fn take(room: &mut usize, size: usize) -> Result<(), Malformed> {
    *room = room.checked_sub(size).ok_or(Malformed::Tree)?;
    Ok(())
}

fn below(target: u32) -> Result<usize, Malformed> {
    if target & FLAG == 0 { Err(Malformed::Tree) } else { Ok((target & !FLAG) as usize) }
}

impl Room {
    /// The entries of the table at `at`: what each is called, and where it leads.
    fn table(&mut self, tree: &[u8], at: usize) -> Result<Vec<(u32, u32)>, Malformed> {
        let count = |offset| u16_at(tree, at + offset).map(usize::from).ok_or(Malformed::Tree);
        let size = (count(12)? + count(14)?) * ENTRY;
        take(&mut self.tables, TABLE + size)?;
        let entries = tree.get(at + TABLE..).and_then(|rest| rest.get(..size)).ok_or(Malformed::Tree)?;
        let entry = |entry| Some((u32_at(entry, 0)?, u32_at(entry, 4)?));
        Ok(entries.chunks_exact(ENTRY).filter_map(entry).collect())
    }

    fn id(&mut self, tree: &[u8], id: u32) -> Result<ResourceId, Malformed> {
        if id & FLAG == 0 {
            return u16::try_from(id).map(ResourceId::Number).map_err(|_| Malformed::Tree);
        }
        let at = (id & !FLAG) as usize;
        let size = 2 * usize::from(u16_at(tree, at).ok_or(Malformed::Tree)?);
        take(&mut self.texts, size)?;
        let text = tree.get(at + 2..).and_then(|rest| rest.get(..size)).ok_or(Malformed::Tree)?;
        let units = text.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        Ok(ResourceId::Text(units.collect()))
    }

    fn copy(&mut self, id: &ResourceId) -> Result<ResourceId, Malformed> {
        if let ResourceId::Text(text) = id {
            take(&mut self.texts, 2 * text.len())?;
        }
        Ok(id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One resource: type 24, name `AB`, language 0x409, five bytes.
    fn tree() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut table = |texts: u16, numbers: u16, id: u32, target: u32| {
            bytes.extend_from_slice(&[0; 12]);
            bytes.extend_from_slice(&texts.to_le_bytes());
            bytes.extend_from_slice(&numbers.to_le_bytes());
            bytes.extend_from_slice(&id.to_le_bytes());
            bytes.extend_from_slice(&target.to_le_bytes());
        };
        table(0, 1, 24, 24 | FLAG);
        table(1, 0, 88 | FLAG, 48 | FLAG);
        table(0, 1, 0x409, 72);
        [0u32, 5, 0, 0].iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        bytes.extend_from_slice(b"\x02\0A\0B\0");
        bytes
    }

    #[test]
    fn a_tree() {
        let list = parse(&tree(), 100, |at| (at == 72).then_some(&b"hello, world"[..])).unwrap();
        let want = Resource {
            typ: ResourceId::Number(24),
            name: ResourceId::Text(vec![0x41, 0x42]),
            language: 0x409,
            version: 0,
            characteristics: 0,
            data: b"hello",
        };
        assert_eq!(list, [want]);
        assert!(parse(&tree(), 100, |_| None).is_err() && parse(&tree(), 100, |_| Some(b"hell")).is_err());
    }

    #[test]
    fn damaged_trees() {
        let bytes = tree();
        for at in 0..bytes.len() {
            _ = parse(&bytes[..at], 100, |_| Some(b"hello"));
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = byte;
                _ = parse(&damaged, 100, |_| Some(b"hello"));
            }
        }
    }

    /// A tree in which all types lead to one table of names, and all names to one table of languages; all are
    /// called `text`, and have `size` bytes.
    fn shared(names: u16, languages: u16, text: &[u8], size: u32) -> Vec<u8> {
        let length = |entries: u16| (TABLE + ENTRY * usize::from(entries)) as u32;
        let description = 2 * length(names) + length(languages);
        let mut words = Vec::new();
        for (count, below) in [(names, length(names)), (names, 2 * length(names)), (languages, 0)] {
            words.extend([0, 0, 0, u32::from(count) << 16]);
            let entry =
                |i| if below == 0 { [i, description] } else { [FLAG | (description + 16), FLAG | below] };
            words.extend((0..u32::from(count)).flat_map(entry));
        }
        words.extend([0, size, 0, 0]);
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.extend_from_slice(&(text.len() as u16 / 2).to_le_bytes());
        bytes.extend_from_slice(text);
        bytes
    }

    #[test]
    fn what_is_led_to_again_and_again() {
        let big = vec![0; 1 << 20];
        let parsed = |tree: &[u8]| parse(tree, 2 << 20, |_| Some(&big[..]));
        assert_eq!(parsed(&shared(1, 5, b"A\0", 100)).unwrap().len(), 5);
        let trees = [
            // Billions of names, without a resource.
            shared(u16::MAX, 0, b"", 0),
            // Names and types that are longer than the tree.
            shared(500, 0, &[65; 60000], 0),
            shared(1, 5000, &[65; 60000], 0),
            // Three times a megabyte.
            shared(1, 3, b"A\0", 1 << 20),
        ];
        let start = std::time::Instant::now();
        trees.iter().for_each(|tree| assert_eq!(parsed(tree), Err(Malformed::Tree)));
        assert!(start.elapsed().as_secs() < 10);
    }

    #[test]
    fn languages_have_16_bits() {
        let mut tree = tree();
        assert_eq!(tree[64..68], 0x409u32.to_le_bytes());
        tree[66] = 1;
        assert!(parse(&tree, 100, |_| Some(b"hello")).is_err());
    }
}

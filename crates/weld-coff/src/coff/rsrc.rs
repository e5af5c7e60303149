//! The tree of resources in an object (`.rsrc$01`, or `.rsrc` of GNU tools), read back into resources.
//!
//! Three levels of tables lead to descriptions: types, names, languages. Where the data of a description is, a relocation at its first word
//! says. Source: "PE Format", The .rsrc Section.

use super::res::{Resource, ResourceId};
use super::{u16_at, u32_at};

const TABLE: usize = 16;
const ENTRY: usize = 8;
const DESCRIPTION: usize = 16;

/// What leads to tables and texts, and not to descriptions and numbers.
const FLAG: u32 = 1 << 31;

/// All resources of a tree. `data` gives the bytes from where the relocation at an offset of the tree leads.
///
/// # Errors
/// If the tree is malformed.
pub fn parse<'a>(tree: &[u8], data: impl Fn(u32) -> Option<&'a [u8]>) -> Result<Vec<Resource<'a>>, String> {
    // Tables that lead to the same table again and again could name more resources than there is room for.
    let most = tree.len() / DESCRIPTION;
    let mut list = Vec::new();
    for (typ, names) in table(tree, 0)? {
        let typ = id(tree, typ)?;
        for (name, languages) in table(tree, below(names)?)? {
            let name = id(tree, name)?;
            for (language, at) in table(tree, below(languages)?)? {
                if list.len() == most || at & FLAG != 0 || language & FLAG != 0 {
                    return Err(malformed());
                }
                let size = u32_at(tree, at as usize + 4).ok_or_else(malformed)? as usize;
                let bytes = data(at).and_then(|bytes| bytes.get(..size));
                list.push(Resource {
                    typ: typ.clone(),
                    name: name.clone(),
                    language: language as u16,
                    version: 0,
                    characteristics: 0,
                    data: bytes.ok_or("the data of a resource does not lie within a section")?,
                });
            }
        }
    }
    Ok(list)
}

fn malformed() -> String {
    "the tree of resources is malformed".to_owned()
}

fn below(target: u32) -> Result<usize, String> {
    if target & FLAG == 0 { Err(malformed()) } else { Ok((target & !FLAG) as usize) }
}

/// The entries of the table at `at`: what each is called, and where it leads.
fn table(tree: &[u8], at: usize) -> Result<Vec<(u32, u32)>, String> {
    let count = |offset| u16_at(tree, at + offset).map(usize::from).ok_or_else(malformed);
    let count = count(12)? + count(14)?;
    let entries = tree.get(at + TABLE..).and_then(|rest| rest.get(..count * ENTRY)).ok_or_else(malformed)?;
    Ok(entries.chunks_exact(ENTRY).filter_map(|entry| Some((u32_at(entry, 0)?, u32_at(entry, 4)?))).collect())
}

fn id(tree: &[u8], id: u32) -> Result<ResourceId, String> {
    if id & FLAG == 0 {
        return u16::try_from(id).map(ResourceId::Number).map_err(|_| malformed());
    }
    let at = (id & !FLAG) as usize;
    let len = usize::from(u16_at(tree, at).ok_or_else(malformed)?);
    let text = tree.get(at + 2..).and_then(|rest| rest.get(..2 * len)).ok_or_else(malformed)?;
    Ok(ResourceId::Text(text.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect()))
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
        let list = parse(&tree(), |at| (at == 72).then_some(&b"hello, world"[..])).unwrap();
        let want = Resource {
            typ: ResourceId::Number(24),
            name: ResourceId::Text(vec![0x41, 0x42]),
            language: 0x409,
            version: 0,
            characteristics: 0,
            data: b"hello",
        };
        assert_eq!(list, [want]);
        assert!(parse(&tree(), |_| None).is_err() && parse(&tree(), |_| Some(b"hell")).is_err());
    }

    #[test]
    fn damaged_trees() {
        let bytes = tree();
        for at in 0..bytes.len() {
            _ = parse(&bytes[..at], |_| Some(b"hello"));
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = byte;
                _ = parse(&damaged, |_| Some(b"hello"));
            }
        }
    }
}

//! Type records: their kinds, and where in each of them type indices are.
//!
//! [`each_ref`] is compiled into its callers, once into the hash and once into the writer. It allocates
//! nothing and visits indices in the order of their places. Budget: 5 ns for a record of a few indices, 4 ns
//! for each member of a list of fields.

use super::records::HEADER;
use super::{Fault, Space, numeric, string_at, u16_at, u32_at};

pub const LF_MODIFIER: u16 = 0x1001;
pub const LF_POINTER: u16 = 0x1002;
pub const LF_PROCEDURE: u16 = 0x1008;
pub const LF_MFUNCTION: u16 = 0x1009;
pub const LF_VTSHAPE: u16 = 0x000a;
pub const LF_LABEL: u16 = 0x000e;
pub const LF_ENDPRECOMP: u16 = 0x0014;
pub const LF_VFTPATH: u16 = 0x100d;
pub const LF_SKIP: u16 = 0x1200;
pub const LF_ARGLIST: u16 = 0x1201;
pub const LF_FIELDLIST: u16 = 0x1203;
pub const LF_BITFIELD: u16 = 0x1205;
pub const LF_METHODLIST: u16 = 0x1206;
pub const LF_BCLASS: u16 = 0x1400;
pub const LF_VBCLASS: u16 = 0x1401;
pub const LF_IVBCLASS: u16 = 0x1402;
pub const LF_INDEX: u16 = 0x1404;
pub const LF_VFUNCTAB: u16 = 0x1409;
pub const LF_FRIENDCLS: u16 = 0x140a;
pub const LF_VFUNCOFF: u16 = 0x140c;
pub const LF_ENUMERATE: u16 = 0x1502;
pub const LF_ARRAY: u16 = 0x1503;
pub const LF_CLASS: u16 = 0x1504;
pub const LF_STRUCTURE: u16 = 0x1505;
pub const LF_UNION: u16 = 0x1506;
pub const LF_ENUM: u16 = 0x1507;
pub const LF_PRECOMP: u16 = 0x1509;
pub const LF_ALIAS: u16 = 0x150a;
pub const LF_FRIENDFCN: u16 = 0x150c;
pub const LF_MEMBER: u16 = 0x150d;
pub const LF_STMEMBER: u16 = 0x150e;
pub const LF_METHOD: u16 = 0x150f;
pub const LF_NESTTYPE: u16 = 0x1510;
pub const LF_ONEMETHOD: u16 = 0x1511;
pub const LF_NESTTYPEEX: u16 = 0x1512;
pub const LF_MEMBERMODIFY: u16 = 0x1513;
pub const LF_TYPESERVER2: u16 = 0x1515;
pub const LF_INTERFACE: u16 = 0x1519;
pub const LF_BINTERFACE: u16 = 0x151a;
pub const LF_VFTABLE: u16 = 0x151d;
pub const LF_FUNC_ID: u16 = 0x1601;
pub const LF_MFUNC_ID: u16 = 0x1602;
pub const LF_BUILDINFO: u16 = 0x1603;
pub const LF_SUBSTR_LIST: u16 = 0x1604;
pub const LF_STRING_ID: u16 = 0x1605;
pub const LF_UDT_SRC_LINE: u16 = 0x1606;
pub const LF_UDT_MOD_SRC_LINE: u16 = 0x1607;
pub const LF_CLASS2: u16 = 0x1608;
pub const LF_STRUCTURE2: u16 = 0x1609;
pub const LF_UNION2: u16 = 0x160a;
pub const LF_INTERFACE2: u16 = 0x160b;

/// The stream that records of this kind belong to.
#[inline]
pub fn space(kind: u16) -> Space {
    match kind {
        LF_FUNC_ID..=LF_UDT_MOD_SRC_LINE => Space::Id,
        _ => Space::Type,
    }
}

/// Calls `visit` with the place (from the start of the body) and the space of each type index of a record.
///
/// # Errors
/// If the record is too short for its kind, if its kind is unknown, or if `visit` says so.
#[inline(always)]
pub fn each_ref(
    kind: u16,
    body: &[u8],
    mut visit: impl FnMut(usize, Space) -> Result<(), Fault>,
) -> Result<(), Fault> {
    use Space::{Id, Type};
    // Where they are, and how long such a record is at least; of numbers and names that end it a byte.
    let (fixed, least): (&[(usize, Space)], usize) = match kind {
        LF_MODIFIER | LF_BITFIELD => (&[(0, Type)], 6),
        LF_ALIAS => (&[(0, Type)], 5),
        LF_SKIP => (&[(0, Type)], 4),
        LF_POINTER => return pointer(body, visit),
        LF_PROCEDURE => (&[(0, Type), (8, Type)], 12),
        LF_MFUNCTION => (&[(0, Type), (4, Type), (8, Type), (16, Type)], 24),
        LF_ARRAY => (&[(0, Type), (4, Type)], 11),
        LF_VFTABLE => (&[(0, Type), (4, Type)], 16),
        LF_CLASS | LF_STRUCTURE | LF_INTERFACE | LF_CLASS2 | LF_STRUCTURE2 | LF_INTERFACE2 => {
            (&[(4, Type), (8, Type), (12, Type)], 19)
        }
        LF_UNION | LF_UNION2 => (&[(4, Type)], 11),
        LF_ENUM => (&[(4, Type), (8, Type)], 13),
        LF_FUNC_ID => (&[(0, Id), (4, Type)], 9),
        LF_MFUNC_ID => (&[(0, Type), (4, Type)], 9),
        LF_STRING_ID => (&[(0, Id)], 5),
        LF_UDT_SRC_LINE => (&[(0, Type), (4, Id)], 12),
        LF_UDT_MOD_SRC_LINE => (&[(0, Type)], 14),
        LF_ARGLIST | LF_VFTPATH => return list(body, 4, u32_at(body, 0)?, Type, visit),
        LF_SUBSTR_LIST => return list(body, 4, u32_at(body, 0)?, Id, visit),
        LF_BUILDINFO => return list(body, 2, u16_at(body, 0)?.into(), Id, visit),
        LF_METHODLIST => return method_list(body, visit),
        LF_FIELDLIST => return field_list(body, visit),
        LF_VTSHAPE | LF_LABEL => (&[], 2),
        // Those that say where types are have been taken away where a list begins and ends.
        _ => return Err(Fault::UnknownKind(kind)),
    };
    if body.len() < least {
        return Err(Fault::Truncated);
    }
    fixed.iter().try_for_each(|&(at, space)| visit(at, space))
}

#[inline(always)]
fn pointer(body: &[u8], mut visit: impl FnMut(usize, Space) -> Result<(), Fault>) -> Result<(), Fault> {
    // To members, of data (2) and functions (3), the class follows.
    let to_member = matches!(u32_at(body, 4)? >> 5 & 7, 2 | 3);
    if to_member && body.len() < 14 {
        return Err(Fault::Truncated);
    }
    visit(0, Space::Type)?;
    if to_member { visit(8, Space::Type) } else { Ok(()) }
}

#[inline(always)]
fn list(
    body: &[u8],
    start: usize,
    count: u32,
    space: Space,
    mut visit: impl FnMut(usize, Space) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if (body.len() - start) / 4 < count as usize {
        return Err(Fault::Truncated);
    }
    (0..count as usize).try_for_each(|i| visit(start + i * 4, space))
}

#[inline(always)]
fn method_list(body: &[u8], mut visit: impl FnMut(usize, Space) -> Result<(), Fault>) -> Result<(), Fault> {
    let mut at = 0;
    // Less than an entry is padding.
    while at + 8 <= body.len() {
        visit(at + 4, Space::Type)?;
        at += if introduces_virtual(u16_at(body, at)?) { 12 } else { 8 };
    }
    if at > body.len() { Err(Fault::Truncated) } else { Ok(()) }
}

/// Whether a method with these attributes has the offset of its slot after it.
fn introduces_virtual(attributes: u16) -> bool {
    matches!(attributes >> 2 & 7, 4 | 6)
}

#[inline(always)]
fn field_list(body: &[u8], mut visit: impl FnMut(usize, Space) -> Result<(), Fault>) -> Result<(), Fault> {
    let mut at = 0;
    while at < body.len() {
        if body[at] >= 0xf0 {
            at += usize::from(body[at] & 0xf).max(1);
            continue;
        }
        let kind = u16_at(body, at)?;
        let member = &body[at + 2..];
        let has_name = |offset| string_at(member, offset).map(|name| offset + name.len() + 1);
        let len = match kind {
            LF_MEMBER => has_name(6 + numeric::size(member, 6)?)?,
            LF_ENUMERATE => {
                at += 2 + has_name(2 + numeric::size(member, 2)?)?;
                continue;
            }
            LF_ONEMETHOD => has_name(if introduces_virtual(u16_at(member, 0)?) { 10 } else { 6 })?,
            LF_METHOD | LF_STMEMBER | LF_NESTTYPE | LF_NESTTYPEEX | LF_MEMBERMODIFY | LF_FRIENDFCN => {
                has_name(6)?
            }
            LF_BCLASS | LF_BINTERFACE => 6 + numeric::size(member, 6)?,
            LF_VBCLASS | LF_IVBCLASS => {
                let first = 10 + numeric::size(member, 10)?;
                first + numeric::size(member, first)?
            }
            LF_INDEX | LF_VFUNCTAB | LF_FRIENDCLS => 6,
            LF_VFUNCOFF => 10,
            _ => return Err(Fault::UnknownKind(kind)),
        };
        if len > member.len() {
            return Err(Fault::Truncated);
        }
        visit(at + 4, Space::Type)?;
        if matches!(kind, LF_VBCLASS | LF_IVBCLASS) {
            visit(at + 8, Space::Type)?;
        }
        at += 2 + len;
    }
    Ok(())
}

/// The names of a class, structure, union or enumeration, and its properties.
pub struct Names<'a> {
    pub properties: u16,
    pub name: &'a [u8],
    /// The decorated name, if it has one.
    pub unique: Option<&'a [u8]>,
}

impl Names<'_> {
    /// It is declared only.
    pub fn is_forward(&self) -> bool {
        self.properties & 0x80 != 0
    }

    /// It belongs to a function.
    pub fn is_scoped(&self) -> bool {
        self.properties & 0x100 != 0
    }
}

/// The names of a record of such a kind, given with its header; `None` for other kinds and for records that
/// end too early.
pub fn names(record: &[u8]) -> Option<Names<'_>> {
    let kind = u16_at(record, 2).ok()?;
    let body = record.get(HEADER..)?;
    let at = match kind {
        LF_CLASS | LF_STRUCTURE | LF_INTERFACE => 16 + numeric::size(body, 16).ok()?,
        LF_UNION => 8 + numeric::size(body, 8).ok()?,
        LF_ENUM => 12,
        // The later ones have more room for properties, and begin with them; a count and a size follow.
        LF_CLASS2 | LF_STRUCTURE2 | LF_INTERFACE2 => two_numbers(body, 16)?,
        LF_UNION2 => two_numbers(body, 8)?,
        _ => return None,
    };
    let properties = u16_at(body, if kind >= LF_CLASS2 { 0 } else { 2 }).ok()?;
    let name = string_at(body, at).ok()?;
    let unique = match properties & 0x200 {
        0 => None,
        _ => Some(string_at(body, at + name.len() + 1).ok()?),
    };
    Some(Names { properties, name, unique })
}

/// What follows the two numbers at `at`.
fn two_numbers(body: &[u8], at: usize) -> Option<usize> {
    let second = at + numeric::size(body, at).ok()?;
    Some(second + numeric::size(body, second).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(kind: u16, body: &[u8]) -> Result<Vec<(usize, Space)>, Fault> {
        let mut found = Vec::new();
        each_ref(kind, body, |at, space| {
            found.push((at, space));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn members_of_a_list_of_fields() {
        let mut body = Vec::new();
        let member = |body: &mut Vec<u8>, parts: &[&[u8]]| {
            let start = body.len();
            parts.iter().for_each(|part| body.extend_from_slice(part));
            while !body.len().is_multiple_of(4) {
                body.push(0xf0 + (4 - body.len() % 4) as u8);
            }
            start
        };
        let mut want = Vec::new();
        // A member at an offset of four bytes, an enumerator of eight, a virtual function that is introduced,
        // one that is not.
        let at = member(&mut body, &[&[0x0d, 0x15, 3, 0, 1, 0x10, 0, 0], &[4, 0x80, 0, 0, 1, 0], b"m\0"]);
        want.push(at + 4);
        member(&mut body, &[&[0x02, 0x15, 3, 0], &[0x0a, 0x80, 1, 2, 3, 4, 5, 6, 7, 8], b"enumerator\0"]);
        let at = member(&mut body, &[&[0x11, 0x15, 4 << 2, 0, 1, 0x10, 0, 0], &[8, 0, 0, 0], b"f\0"]);
        want.push(at + 4);
        let at = member(&mut body, &[&[0x11, 0x15, 0, 0, 1, 0x10, 0, 0], b"g\0"]);
        want.push(at + 4);
        // A virtual base with two offsets.
        let at = member(&mut body, &[&[0x01, 0x14, 3, 0, 1, 0x10, 0, 0, 2, 0x10, 0, 0], &[8, 0, 9, 0]]);
        want.extend([at + 4, at + 8]);
        let found = refs(LF_FIELDLIST, &body).unwrap();
        assert_eq!(found, want.iter().map(|&at| (at, Space::Type)).collect::<Vec<_>>());
    }

    /// Whatever is cut off or overwritten: an answer, and indices inside the record.
    #[test]
    fn hostile_records() {
        let kinds = (0..=0x20).chain(0x1000..0x1010).chain(0x1200..0x1210).chain(0x1400..0x1410);
        for kind in kinds.chain(0x1500..0x1520).chain(0x1600..0x1610) {
            for fill in [0u8, 0x0d, 0x7f, 0x80, 0xf0, 0xff] {
                for len in 0..40 {
                    let mut body = vec![fill; len];
                    for (i, byte) in body.iter_mut().enumerate().filter(|(i, _)| i % 3 == 1) {
                        *byte = [0x15, 0x14, 0x80][i % 2];
                    }
                    if let Ok(found) = refs(kind, &body) {
                        assert!(found.iter().all(|(at, _)| at + 4 <= len), "{kind:#x} {body:?}");
                    }
                }
            }
        }
        assert_eq!(refs(LF_ARGLIST, &[0xff; 8]), Err(Fault::Truncated));
        assert_eq!(refs(0x9999, &[]), Err(Fault::UnknownKind(0x9999)));
    }

    /// What is after the last index counts, too.
    #[test]
    fn records_that_end_too_early() {
        for (kind, least) in [
            (LF_MODIFIER, 6),
            (LF_PROCEDURE, 12),
            (LF_MFUNCTION, 24),
            (LF_STRUCTURE, 19),
            (LF_UDT_SRC_LINE, 12),
            (LF_UDT_MOD_SRC_LINE, 14),
        ] {
            assert_eq!(refs(kind, &vec![0; least - 1]), Err(Fault::Truncated), "{kind:#x}");
            assert!(refs(kind, &vec![0; least]).is_ok(), "{kind:#x}");
        }
        let to_member = [0x74, 0, 0, 0, 2 << 5, 0, 0, 0, 0x74, 0, 0, 0, 0, 0];
        assert_eq!(refs(LF_POINTER, &to_member).unwrap(), [(0, Space::Type), (8, Space::Type)]);
        assert_eq!(refs(LF_POINTER, &to_member[..12]), Err(Fault::Truncated));
    }
}

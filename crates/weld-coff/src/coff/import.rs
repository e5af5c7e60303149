//! The short objects of import libraries: one imported symbol each.
//!
//! A header of 20 bytes, then the symbol's name, the DLL's name, and sometimes the name under which the DLL
//! exports it, each ended by a NUL. Source: "PE Format", Import Library Format.

use std::fmt;

use super::machine::Machine;
use super::{c_string, u16_at, u32_at};

/// What an import is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportType {
    /// A function: a jump to it gets the plain name.
    Code,
    Data,
    /// The plain name is that of the address's place.
    Const,
}

/// How the DLL knows the symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameType {
    Ordinal,
    Name,
    /// Without the first `?`, `@` or `_`.
    NoPrefix,
    /// Without those, and only up to the first `@`.
    Undecorate,
    /// By another name altogether.
    ExportAs,
}

const TYPES: [ImportType; 3] = [ImportType::Code, ImportType::Data, ImportType::Const];
const NAME_TYPES: [NameType; 5] =
    [NameType::Ordinal, NameType::Name, NameType::NoPrefix, NameType::Undecorate, NameType::ExportAs];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import<'a> {
    pub machine: Machine,
    pub symbol: &'a [u8],
    pub dll: &'a [u8],
    /// What the DLL calls it; `None`: by ordinal.
    pub external: Option<&'a [u8]>,
    /// Its ordinal, or where in the DLL's table of names it probably is.
    pub ordinal: u16,
    pub kind: ImportType,
    pub name_type: NameType,
}

pub const HEADER: usize = 20;

/// What is wrong with a short import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    Short,
    /// There is no type of import with the number that it has.
    ImportType,
    NameType,
    Machine(u16),
    NoName,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malformed::Short => "the import object is shorter than it says",
            Malformed::ImportType => "unknown type of import",
            Malformed::NameType => "unknown type of import name",
            Malformed::Machine(number) => return write!(f, "unknown machine {number:#x}"),
            Malformed::NoName => "an import without a name",
        })
    }
}

impl std::error::Error for Malformed {}

impl<'a> Import<'a> {
    pub fn parse(data: &'a [u8]) -> Result<Import<'a>, Malformed> {
        let short = Malformed::Short;
        let machine = u16_at(data, 6).ok_or(short)?;
        let size = u32_at(data, 12).ok_or(short)? as usize;
        let (ordinal, bits) = (u16_at(data, 16).ok_or(short)?, u16_at(data, 18).ok_or(short)?);
        let text = data.get(HEADER..).and_then(|rest| rest.get(..size)).ok_or(short)?;
        let symbol = c_string(text).ok_or(short)?;
        let rest = &text[symbol.len() + 1..];
        let dll = c_string(rest).ok_or(short)?;
        let kind = *TYPES.get(usize::from(bits & 3)).ok_or(Malformed::ImportType)?;
        let name_type = *NAME_TYPES.get(usize::from(bits >> 2 & 7)).ok_or(Malformed::NameType)?;
        let external = match name_type {
            NameType::Ordinal => None,
            NameType::Name => Some(symbol),
            NameType::NoPrefix => Some(without_prefix(symbol)),
            NameType::Undecorate => Some(undecorated(symbol)),
            NameType::ExportAs => Some(c_string(&rest[dll.len() + 1..]).ok_or(short)?),
        };
        let machine = Machine::of_number(machine).ok_or(Malformed::Machine(machine))?;
        if symbol.is_empty() || dll.is_empty() {
            return Err(Malformed::NoName);
        }
        Ok(Import { machine, symbol, dll, external, ordinal, kind, name_type })
    }
}

fn undecorated(name: &[u8]) -> &[u8] {
    let name = without_prefix(name);
    name.split(|&b| b == b'@').next().unwrap_or(name)
}

impl NameType {
    /// The type by which `symbol` is called `external` in the DLL.
    pub fn that_makes(symbol: &[u8], external: &[u8]) -> NameType {
        match external {
            _ if external == symbol => NameType::Name,
            _ if external == without_prefix(symbol) => NameType::NoPrefix,
            _ if external == undecorated(symbol) => NameType::Undecorate,
            _ => NameType::ExportAs,
        }
    }
}

fn without_prefix(name: &[u8]) -> &[u8] {
    match name {
        [b'?' | b'@' | b'_', rest @ ..] => rest,
        name => name,
    }
}

/// The bytes of a short import object. `export_as` is given if and only if the type says so.
pub fn short_import(import: &Import) -> Vec<u8> {
    let mut text = import.symbol.to_vec();
    text.push(0);
    text.extend_from_slice(import.dll);
    text.push(0);
    if let (NameType::ExportAs, Some(name)) = (import.name_type, import.external) {
        text.extend_from_slice(name);
        text.push(0);
    }
    let mut bytes = vec![0, 0, 0xff, 0xff, 0, 0];
    bytes.extend_from_slice(&import.machine.number().to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&import.ordinal.to_le_bytes());
    let bits = import.kind as u16 | (import.name_type as u16) << 2;
    bytes.extend_from_slice(&bits.to_le_bytes());
    bytes.extend_from_slice(&text);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(symbol: &'static [u8], name_type: NameType) -> Import<'static> {
        Import {
            machine: Machine::X64,
            symbol,
            dll: b"k.dll",
            external: Some(b"other"),
            ordinal: 7,
            kind: ImportType::Data,
            name_type,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for (name_type, external) in [
            (NameType::Ordinal, None),
            (NameType::Name, Some(&b"_f@4"[..])),
            (NameType::NoPrefix, Some(b"f@4")),
            (NameType::Undecorate, Some(b"f")),
            (NameType::ExportAs, Some(b"other")),
        ] {
            let bytes = short_import(&import(b"_f@4", name_type));
            let want = Import { external, ..import(b"_f@4", name_type) };
            assert_eq!(Import::parse(&bytes), Ok(want));
            for len in 0..bytes.len() {
                assert!(Import::parse(&bytes[..len]).is_err());
            }
        }
    }

    #[test]
    fn wrong_numbers_are_refused() {
        let mut bytes = short_import(&import(b"f", NameType::Name));
        bytes[18] = 3;
        assert!(Import::parse(&bytes).is_err());
        bytes[18] = 7 << 2;
        assert!(Import::parse(&bytes).is_err());
    }
}

//! What an input is, from its first bytes.

use weld_common::archive::Archive;
use weld_lto::bitcode;
use weld_lto::triple::Triple;

use super::machine::Machine;
use super::{pe, u16_at};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Archive,
    Object,
    /// An object with sections beyond 65279.
    BigObject,
    /// A short object of an import library.
    Import,
    Resources,
    /// Code for link-time optimisation: LLVM's bitcode, or what `cl /GL` writes.
    Bitcode,
    MicrosoftBitcode,
    /// An executable or DLL.
    Image,
    Pdb,
    Unknown,
}

/// How a file of compiled resources begins: an empty resource.
const RES: [u8; 16] = [0, 0, 0, 0, 0x20, 0, 0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 0, 0];

pub fn identify(bytes: &[u8]) -> Kind {
    if Archive::is_archive(bytes) {
        return Kind::Archive;
    }
    if bytes.starts_with(&RES) {
        return Kind::Resources;
    }
    if bitcode::is_bitcode(bytes) {
        return Kind::Bitcode;
    }
    if bytes.starts_with(b"MZ") {
        return Kind::Image;
    }
    if bytes.starts_with(b"Microsoft C/C++ ") {
        return Kind::Pdb;
    }
    match (u16_at(bytes, 0), u16_at(bytes, 2)) {
        (Some(0), Some(0xffff)) => anonymous(bytes),
        (Some(machine), _) if is_machine(machine) => Kind::Object,
        _ => Kind::Unknown,
    }
}

/// Files without a machine: what they are is said by a version and a class.
fn anonymous(bytes: &[u8]) -> Kind {
    match u16_at(bytes, 4) {
        Some(0) => Kind::Import,
        Some(_) if bytes.get(12..28) == Some(&pe::ANON_OBJECT_HEADER_BIGOBJ_CLASS_ID.0) => Kind::BigObject,
        Some(_) => Kind::MicrosoftBitcode,
        None => Kind::Unknown,
    }
}

/// Objects for no machine are allowed: they hold data only.
fn is_machine(number: u16) -> bool {
    number == 0 || Machine::of_number(number).is_some()
}

/// The machine that an object, short import or file of bitcode says it is for.
pub fn machine(kind: Kind, bytes: &[u8]) -> Option<Machine> {
    let at = match kind {
        Kind::Object => 0,
        Kind::BigObject | Kind::Import => 6,
        Kind::Bitcode => return bitcode::read(bytes).ok().and_then(|code| of_triple(code.triple)),
        _ => return None,
    };
    Machine::of_number(u16_at(bytes, at)?)
}

/// The machine of objects for a target; `None` if it has no COFF objects.
pub fn of_triple(triple: &[u8]) -> Option<Machine> {
    Machine::of_number(Triple::new(triple).coff_machine()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_first_bytes() {
        assert_eq!(identify(b""), Kind::Unknown);
        assert_eq!(identify(b"!<arch>\n"), Kind::Archive);
        assert_eq!(identify(&[0x64, 0x86, 0, 0]), Kind::Object);
        assert_eq!(identify(&[0, 0, 0xff, 0xff, 0, 0]), Kind::Import);
        assert_eq!(identify(&[0, 0, 0xff, 0xff, 1, 0]), Kind::MicrosoftBitcode);
        assert_eq!(identify(&[0, 0, 0xff, 0xff]), Kind::Unknown);
        assert_eq!(identify(&[0, 0, 1, 0]), Kind::Object);
        assert_eq!(identify(b"MZ"), Kind::Image);
        assert_eq!(identify(b"\x7fELF"), Kind::Unknown);
        assert_eq!(machine(Kind::Object, &[0x4c, 1]), Some(Machine::X86));
        assert_eq!(machine(Kind::Import, &[0, 0, 0xff, 0xff, 0, 0, 0x64, 0x86]), Some(Machine::X64));
        assert_eq!(machine(Kind::Archive, b"!<arch>\n"), None);
        assert_eq!(of_triple(b"aarch64-pc-windows-msvc"), Some(Machine::Arm64));
        assert_eq!(of_triple(b"x86_64-pc-linux-gnu"), None);
    }
}

//! Source lines of an object that has not been linked, whatever its format.
//!
//! Debug information of an object is not relocated, and all its sections start at address 0. To tell places
//! apart, sections are taken to lie one after the other ([`Addresses`]), and the format relocates copies of
//! the debug sections in those terms. An object may be asked about for thousands of places, so it is read
//! once, and not before somebody asks.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use super::{Lines, Sections, of_code, of_variables};

/// Where the sections of an object are taken to lie, with a gap after each, so that the end of one is not the
/// start of the next.
pub struct Addresses(Vec<Option<Range<u64>>>);

impl Addresses {
    const GAP: u64 = 16;

    /// `sizes` are those of the sections, `None` of one that has no place, such as one of debug information.
    /// Nor has one that would end after the address `most`.
    pub fn one_after_the_other(sizes: impl Iterator<Item = Option<u64>>, most: u64) -> Addresses {
        let mut next = Self::GAP;
        let most = most - Self::GAP;
        let place = |size: Option<u64>| {
            let end = next.checked_add(size?).filter(|end| *end <= most)?;
            let place = next..end;
            next = end + Self::GAP;
            Some(place)
        };
        Addresses(sizes.map(place).collect())
    }

    /// Where a section starts; `None` if it has no place.
    pub fn start(&self, section: usize) -> Option<u64> {
        Some(self.0.get(section)?.as_ref()?.start)
    }

    /// The address that stands for a byte of a section, or for its end.
    pub fn of(&self, section: usize, offset: u64) -> Option<u64> {
        let place = self.0.get(section)?.as_ref()?;
        place.start.checked_add(offset).filter(|address| *address <= place.end)
    }
}

/// The lines that an object's DWARF tells.
pub struct UnlinkedLines<'a> {
    pub addresses: Addresses,
    /// Names and contents of debug sections, relocated as if the others lay at `addresses`.
    pub debug: Vec<(&'a [u8], Cow<'a, [u8]>)>,
    /// Their byte order.
    pub big: bool,
    code: OnceCell<Lines>,
    variables: OnceCell<Lines>,
}

impl<'a> UnlinkedLines<'a> {
    pub fn new(addresses: Addresses, debug: Vec<(&'a [u8], Cow<'a, [u8]>)>, big: bool) -> UnlinkedLines<'a> {
        UnlinkedLines { addresses, debug, big, code: OnceCell::new(), variables: OnceCell::new() }
    }

    /// `file:line` of the code at a place.
    pub fn of_code(&self, section: usize, offset: u64) -> Option<String> {
        let address = self.addresses.of(section, offset)?;
        self.code.get_or_init(|| self.read(of_code)).at(address)
    }

    /// `file:line` of the variable that begins at a place.
    pub fn of_variable(&self, section: usize, offset: u64) -> Option<String> {
        let address = self.addresses.of(section, offset)?;
        self.variables.get_or_init(|| self.read(of_variables)).at(address)
    }

    fn read(&self, lines: fn(&Sections) -> Lines) -> Lines {
        let get = |name: &str| {
            let found = self.debug.iter().find(|(known, _)| *known == name.as_bytes());
            found.map_or(&[][..], |(_, bytes)| bytes)
        };
        lines(&Sections { big: self.big, get: &get })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_apart() {
        let addresses = Addresses::one_after_the_other([Some(4), None, Some(0), Some(8)].into_iter(), 100);
        assert_eq!([0, 2, 3].map(|section| addresses.start(section)), [Some(16), Some(36), Some(52)]);
        assert_eq!((addresses.start(1), addresses.start(4)), (None, None));
        // The end of a section is a place, and what is after it is none.
        assert_eq!([4, 5].map(|offset| addresses.of(0, offset)), [Some(20), None]);
        assert_eq!(addresses.of(3, u64::MAX), None);
    }

    #[test]
    fn what_does_not_fit_has_no_place() {
        let addresses =
            Addresses::one_after_the_other([Some(u64::MAX), Some(1000), Some(4)].into_iter(), 100);
        assert_eq!([0, 1, 2].map(|section| addresses.start(section)), [None, None, Some(16)]);
    }
}

//! The name of a symbol or a section, of which the end may not have been looked for yet.
//!
//! Names of at most eight bytes stand in the record itself, longer ones in the string table, where a NUL ends
//! them. Mangled names have hundreds of bytes, and objects tens of thousands of them, so that finding where
//! each ends takes as long as hashing it: what a name begins with, and whether it is the same as another one,
//! is told without.

use weld_common::hash::same_until_nul;

use super::c_string;

#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// What begins with the name.
    start: &'a [u8],
    /// Nothing but the name; otherwise it ends with the first NUL.
    whole: bool,
}

impl<'a> Name<'a> {
    /// A name whose end is known.
    #[inline]
    pub fn known(name: &'a [u8]) -> Name<'a> {
        Name { start: name, whole: true }
    }

    /// The name that these bytes begin with.
    #[inline]
    pub fn until_nul(start: &'a [u8]) -> Name<'a> {
        Name { start, whole: false }
    }

    /// Bytes that begin with the name.
    #[inline]
    pub fn start(&self) -> &'a [u8] {
        self.start
    }

    /// The name; `None` if there is no end of it.
    #[inline]
    pub fn whole(&self) -> Option<&'a [u8]> {
        if self.whole { Some(self.start) } else { c_string(self.start) }
    }

    /// The name without what it begins with, in which there is no NUL.
    #[inline]
    pub fn strip_prefix(&self, prefix: &[u8]) -> Option<Name<'a>> {
        self.start.strip_prefix(prefix).map(|start| Name { start, whole: self.whole })
    }

    /// Whether both are the same. Those of string tables are read once, and no further than they agree.
    #[inline]
    pub fn is(&self, other: &Name) -> bool {
        let begins_with = |long: &Name, name: &[u8]| {
            long.start.strip_prefix(name).is_some_and(|behind| behind.first() == Some(&0))
        };
        match (self.whole, other.whole) {
            (true, true) => self.start == other.start,
            (true, false) => begins_with(other, self.start),
            (false, true) => begins_with(self, other.start),
            (false, false) => same_until_nul(self.start, other.start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_both_forms() {
        let forms =
            |name: &'static [u8], with_nul: &'static [u8]| [Name::known(name), Name::until_nul(with_nul)];
        let all = [
            forms(b"a", b"a\0more"),
            forms(b"ab", b"ab\0"),
            forms(b"", b"\0"),
            forms(b"_ZN4name7longer10than_eight", b"_ZN4name7longer10than_eight\0x"),
            forms(b"_ZN4name7longer10than_eighth", b"_ZN4name7longer10than_eighth\0x"),
        ];
        for (i, one) in all.iter().enumerate() {
            for (j, other) in all.iter().enumerate() {
                let mut same = one.iter().flat_map(|a| other.iter().map(move |b| a.is(b)));
                assert!(same.all(|same| same == (i == j)), "{i} {j}");
            }
            assert_eq!(one[0].whole(), one[1].whole());
        }
        let long = Name::until_nul(b".pdata$f\0rest");
        assert!(long.strip_prefix(b".pdata$").unwrap().is(&Name::known(b"f")));
        assert!(long.strip_prefix(b".xdata$").is_none());
        assert_eq!(Name::until_nul(b"no end").whole(), None);
    }
}

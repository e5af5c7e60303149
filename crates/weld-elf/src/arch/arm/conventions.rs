//! What attributes say that has to be the same in all objects, and what had better be.
//!
//! | attribute | otherwise |
//! |---|---|
//! | profile of the architecture (application, real-time, microcontroller; "classic" goes with the first two) | an error |
//! | use of `r9`, if objects say one that uses it | an error |
//! | size of `wchar_t` (bytes), if objects have such | a warning, but for `--no-wchar-size-warning` |
//! | size of enumerations, if it is seen from outside | a warning, but for `--no-enum-size-warning` |
//! | an attribute that nobody knows | an error if the standard says that it must be known, else a warning |
//!
//! Specification: "Addenda to, and Errata in, the ABI for the Arm Architecture", "Build attributes": "Coding extensibility
//! and compatibility" for those that nobody knows.

use std::collections::BTreeSet;

use super::attributes::{SECTION, Said, number, parse};
use crate::arch::attributes::{AttributesError, Wrong};
use crate::arch::facts::{Doubt, Topic};

pub const CPU_ARCH_PROFILE: u64 = 7;
pub const ABI_PCS_R9_USE: u64 = 14;
pub const ABI_PCS_WCHAR_T: u64 = 18;
pub const ABI_ENUM_SIZE: u64 = 26;

/// Values of [`CPU_ARCH_PROFILE`]: letters.
const APPLICATION: u64 = b'A' as u64;
pub const MICROCONTROLLER: u64 = b'M' as u64;
const REAL_TIME: u64 = b'R' as u64;
const CLASSIC: u64 = b'S' as u64;
/// Of [`ABI_PCS_R9_USE`]: nobody uses it.
const R9_UNUSED: u64 = 3;
/// Of [`ABI_ENUM_SIZE`]: what is seen from outside has 32 bits.
const ENUMS_FORCED: u64 = 3;

/// What the first of two values of such an attribute is replaced by, if at all: it goes with what the other one asks for.
pub fn join(tag: u64, a: u64, b: u64) -> u64 {
    let gives_way = match tag {
        CPU_ARCH_PROFILE => a == 0 || a == CLASSIC && matches!(b, APPLICATION | REAL_TIME),
        ABI_PCS_R9_USE => a == R9_UNUSED,
        ABI_PCS_WCHAR_T => a == 0,
        ABI_ENUM_SIZE => a == 0 || a == ENUMS_FORCED && b != 0,
        _ => false,
    };
    if gives_way { b } else { a }
}

/// Values of which one object has said each first.
#[derive(Default)]
struct First<'f>(Option<(u64, &'f str)>);

impl<'f> First<'f> {
    /// The value of before, and who said it, if it is another one.
    fn clash(&mut self, value: u64, name: &'f str) -> Option<(u64, String)> {
        let (before, by) = *self.0.get_or_insert((value, name));
        (before != value).then(|| (before, by.to_owned()))
    }
}

/// What has to be the same in all objects.
#[derive(Default)]
pub struct Conventions<'f> {
    profile: First<'f>,
    r9: First<'f>,
}

impl<'f> Conventions<'f> {
    /// Takes in what an object says.
    ///
    /// # Errors
    /// It does not go with what objects before have said, or nobody knows what it means.
    pub fn add(&mut self, name: &'f str, said: &Said) -> Result<(), Wrong> {
        if let Some(tag) = said.keys().find(|tag| !is_known(**tag) && must_be_known(**tag)) {
            return Err(Wrong::Tag(*tag));
        }
        let profile = number(said, CPU_ARCH_PROFILE).filter(|profile| !matches!(*profile, 0 | CLASSIC));
        if let Some(own) = profile
            && let Some((others, by)) = self.profile.clash(own, name)
        {
            let profile =
                |letter| format!("profile {}", char::from_u32(letter as u32).unwrap_or('?').escape_default());
            let [own, others] = [own, others].map(profile);
            return Err(Wrong::Clash { own, others, by });
        }
        let used = number(said, ABI_PCS_R9_USE).filter(|used| *used != R9_UNUSED);
        if let Some(value) = used
            && let Some((before, by)) = self.r9.clash(value, name)
        {
            let what =
                "the use of r9 (Tag_ABI_PCS_R9_use: 0 as other registers, 1 static base, 2 thread pointer)";
            return Err(Wrong::Differs { what, value, before, by });
        }
        Ok(())
    }
}

/// Sizes that had better be the same: the attribute, which of its values say something, and what messages call it.
struct Size {
    topic: Topic,
    tag: u64,
    counts: fn(u64) -> bool,
    what: &'static str,
}

const SIZES: [Size; 2] = [
    Size {
        topic: Topic::WideCharacters,
        tag: ABI_PCS_WCHAR_T,
        counts: |value| value != 0,
        what: "the size of wchar_t (Tag_ABI_PCS_wchar_t)",
    },
    Size {
        topic: Topic::Enumerations,
        tag: ABI_ENUM_SIZE,
        counts: |value| !matches!(value, 0 | ENUMS_FORCED),
        what: "the size of enumerations (Tag_ABI_enum_size: 1 as small as can be, 2 that of int)",
    },
];

/// As in [`crate::arch::facts::FindDoubts`].
pub fn doubts<const BIG: bool>(files: &[(String, &[u8])]) -> Vec<Doubt> {
    let mut first = SIZES.map(|_| First::default());
    let mut unknown = BTreeSet::new();
    let mut doubts = Vec::new();
    for (name, section) in files {
        // What is damaged is an error elsewhere.
        let Ok(said) = parse::<BIG>(section) else { continue };
        let mut doubt = |topic, what| {
            let what = AttributesError { object: name.clone(), section: SECTION, what };
            doubts.push(Doubt { topic, what });
        };
        for (size, first) in SIZES.iter().zip(&mut first) {
            let value = number(&said, size.tag).filter(|value| (size.counts)(*value));
            if let Some(value) = value
                && let Some((before, by)) = first.clash(value, name)
            {
                doubt(size.topic, Wrong::Differs { what: size.what, value, before, by });
            }
        }
        for tag in said.keys().filter(|tag| !is_known(**tag) && !must_be_known(**tag)) {
            if unknown.insert(*tag) {
                doubt(Topic::Unknown, Wrong::Tag(*tag));
            }
        }
    }
    doubts
}

fn is_known(tag: u64) -> bool {
    matches!(tag, 4..=38 | 42 | 44 | 46 | 48 | 50 | 52 | 64..=68 | 70 | 72 | 74 | 76)
}

/// Whether who does not know an attribute must not link the object.
fn must_be_known(tag: u64) -> bool {
    tag % 128 < 64
}

#[cfg(test)]
mod tests {
    use super::super::attributes::{merge, tests::section};
    use super::*;

    /// What is said of two objects with one attribute each: the error, or the doubts.
    fn of(a: (u64, u64), b: (u64, u64)) -> Result<Vec<String>, String> {
        let sections = [section(&[a]), section(&[b])];
        let files = [("a.o".to_owned(), &sections[0][..]), ("b.o".to_owned(), &sections[1][..])];
        merge::<false>(&files).map_err(|wrong| wrong.to_string())?;
        Ok(doubts::<false>(&files).iter().map(|doubt| doubt.what.to_string()).collect())
    }

    #[test]
    fn sizes_that_differ_are_doubtful() {
        for tag in [ABI_PCS_WCHAR_T, ABI_ENUM_SIZE] {
            let text = of((tag, 1), (tag, 2)).unwrap().remove(0);
            assert!(
                text.starts_with("b.o:(.ARM.attributes): the size of ")
                    && text.ends_with("is 2, but 1 in a.o"),
                "{text}"
            );
            for (a, b) in [((tag, 2), (tag, 2)), ((tag, 0), (tag, 2)), ((8, 1), (tag, 2))] {
                assert!(of(a, b).unwrap().is_empty());
            }
        }
        assert!(of((ABI_ENUM_SIZE, 1), (ABI_ENUM_SIZE, ENUMS_FORCED)).unwrap().is_empty());
    }

    #[test]
    fn profiles_and_r9_must_be_the_same() {
        let profile = |a, b| of((CPU_ARCH_PROFILE, u64::from(a)), (CPU_ARCH_PROFILE, u64::from(b)));
        assert!(
            profile(b'A', b'M')
                .unwrap_err()
                .ends_with("is for profile M, which does not go with profile A of a.o")
        );
        assert!([(b'A', b'A'), (b'S', b'A'), (b'R', b'S')].iter().all(|(a, b)| profile(*a, *b).is_ok()));
        let r9 = |a, b| of((ABI_PCS_R9_USE, a), (ABI_PCS_R9_USE, b));
        assert!(
            r9(1, 2).is_err() && r9(1, R9_UNUSED).is_ok() && r9(R9_UNUSED, 1).is_ok() && r9(1, 1).is_ok()
        );
        assert!(of((ABI_PCS_R9_USE, 1), (CPU_ARCH_PROFILE, 0)).is_ok());
    }

    #[test]
    fn what_nobody_knows_is_told() {
        assert_eq!(
            of((130, 1), (130, 1)).unwrap_err(),
            "a.o:(.ARM.attributes): has an attribute that nobody knows: tag 130"
        );
        let doubts = of((200, 1), (200, 1)).unwrap();
        assert_eq!(doubts, ["a.o:(.ARM.attributes): has an attribute that nobody knows: tag 200"]);
    }

    #[test]
    fn joined_is_what_somebody_asks_for() {
        assert_eq!(join(ABI_ENUM_SIZE, ENUMS_FORCED, 1), 1);
        assert_eq!(join(ABI_ENUM_SIZE, 2, ENUMS_FORCED), 2);
        assert_eq!(join(ABI_PCS_R9_USE, R9_UNUSED, 1), 1);
        assert_eq!(join(ABI_PCS_WCHAR_T, 0, 4), 4);
        assert_eq!(join(CPU_ARCH_PROFILE, CLASSIC, APPLICATION), APPLICATION);
        assert_eq!(join(CPU_ARCH_PROFILE, REAL_TIME, CLASSIC), REAL_TIME);
    }
}

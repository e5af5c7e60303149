//! Values that two instructions make, the upper half of which may not be needed. It may go only if all lower
//! halves do without it: those that name the same thing, each of which has to be marked as code that may get
//! shorter. Which lower half belongs to which upper one is not said where both name a symbol.

/// A lower half, or whatever else has to be marked for the upper half to go.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Half {
    /// What kind of value it is of; a number of the machine's.
    pub family: u8,
    /// What it names.
    pub key: u64,
    pub addend: i64,
    pub marked: bool,
}

/// The halves in a section, in order.
pub struct Halves(Vec<Half>);

impl Halves {
    pub fn new(mut halves: Vec<Half>) -> Halves {
        halves.sort_unstable();
        Halves(halves)
    }

    /// How far after the upper half's addend the lower halves of a family and key reach, if the upper half
    /// may go.
    pub fn reach(&self, family: u8, key: u64, addend: i64) -> Option<u8> {
        let start = self.0.partition_point(|half| (half.family, half.key) < (family, key));
        let own = self.0[start..].iter().take_while(|half| (half.family, half.key) == (family, key));
        let mut most = None;
        for half in own {
            let distance = half.addend.checked_sub(addend)?;
            if !half.marked {
                return None;
            }
            most = most.max(Some(u8::try_from(distance).ok()?));
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_halves_of_a_symbol_count() {
        let half = |key, addend, marked| Half { family: 0, key, addend, marked };
        let halves = Halves::new(vec![
            half(2, 8, true),
            half(1, 0, true),
            half(1, 4, true),
            half(2, 0, true),
            half(3, 0, true),
            half(3, 1, false),
            half(4, 300, true),
        ]);
        assert_eq!(halves.reach(0, 1, 0), Some(4));
        assert_eq!(halves.reach(0, 2, 0), Some(8));
        assert_eq!(halves.reach(0, 2, 1), None, "one lies before it");
        assert_eq!(halves.reach(0, 3, 0), None, "one is not marked");
        assert_eq!(halves.reach(0, 4, 0), None, "one is far after it");
        assert_eq!((halves.reach(0, 5, 0), halves.reach(1, 1, 0)), (None, None));
    }
}

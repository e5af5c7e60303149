//! Names that nobody defines, with what refers to them: what formats report of them alike.

use std::collections::HashMap;

use crate::ids::SymbolId;

/// How many references to an undefined symbol are shown.
pub const REFERRERS: usize = 3;

/// A name and the references to it, in their order.
#[derive(Debug, PartialEq, Eq)]
pub struct Undefined<R> {
    pub name: SymbolId,
    pub references: Vec<R>,
}

impl<R> Undefined<R> {
    /// The references that are shown.
    pub fn shown(&self) -> &[R] {
        &self.references[..self.references.len().min(REFERRERS)]
    }

    /// How many references are not shown.
    pub fn others(&self) -> usize {
        self.references.len() - self.shown().len()
    }
}

/// Groups references by the name that they want. Names come in the order of their first references; before
/// them those that nothing refers to, as `names` has them.
pub fn by_name<R: Ord>(
    names: impl IntoIterator<Item = SymbolId>,
    references: impl IntoIterator<Item = (SymbolId, R)>,
) -> Vec<Undefined<R>> {
    let none = |name| Undefined { name, references: Vec::new() };
    let mut list: Vec<Undefined<R>> = names.into_iter().map(none).collect();
    let mut number_of: HashMap<SymbolId, usize> =
        list.iter().enumerate().map(|(number, one)| (one.name, number)).collect();
    for (name, reference) in references {
        let number = *number_of.entry(name).or_insert_with(|| {
            list.push(none(name));
            list.len() - 1
        });
        list[number].references.push(reference);
    }
    list.sort_by(|a, b| a.references.first().cmp(&b.references.first()));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_order_of_first_references() {
        let references = [(5, 10), (3, 11), (5, 12), (5, 13), (5, 14)].map(|(id, at)| (SymbolId(id), at));
        let list = by_name([3, 9, 5, 8].map(SymbolId), references);
        let order: Vec<u32> = list.iter().map(|one| one.name.0).collect();
        assert_eq!(order, [9, 8, 5, 3]);
        assert_eq!((list[2].shown(), list[2].others()), (&[10, 12, 13][..], 1));
        assert_eq!((list[0].shown(), list[0].others()), (&[][..], 0));
    }
}

//! What the values are that a script assigns: numbers, or addresses that move with the image. The scan has to know that before
//! anything has an address.
//!
//! Each assignment is looked at once, what it names first, however they stand in the script.

use std::collections::HashMap;

use super::internal::{Internals, Target};
use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::names::Rank;
use crate::resolve::Resolved;
use crate::script::expr::{Nature, Op};
use crate::script::sections::Assignment;

/// The assignments of a script, each with whether it stands inside of an output section.
pub(super) type Assignments<'s> = [(&'s Assignment, bool)];

/// Notes of the symbols that a script computes which are numbers, and which are other symbols by another name.
pub(super) fn note(internals: &mut Internals, resolved: &Resolved, all: &Assignments) {
    let find = |name: &str| resolved.names.find(name.as_bytes());
    let mut of_symbol: HashMap<SymbolId, Vec<u32>> = HashMap::new();
    for (i, (assignment, _)) in all.iter().enumerate() {
        if let Some(id) = find(&assignment.name) {
            of_symbol.entry(id).or_default().push(i as u32);
        }
    }
    let natures = Finder { internals, resolved, all, of_symbol: &of_symbol }.all();
    let same = other_names(resolved, all);
    for internal in &mut internals.list {
        if let Target::Computed { absolute, same: other } = &mut internal.target {
            let last = of_symbol.get(&internal.id).and_then(|list| list.last());
            *absolute = last.is_some_and(|i| natures[*i as usize] != Some(Nature::Address));
            *other = same.get(&internal.id).copied();
        }
    }
}

struct Finder<'f, 's> {
    internals: &'f Internals,
    resolved: &'f Resolved<'s>,
    all: &'f Assignments<'f>,
    /// The assignments to each symbol, in order.
    of_symbol: &'f HashMap<SymbolId, Vec<u32>>,
}

impl Finder<'_, '_> {
    fn all(&self) -> Vec<Option<Nature>> {
        let mut natures = vec![None; self.all.len()];
        // Those whose value is being looked at; what they need comes on top of them.
        let mut is_open = vec![false; self.all.len()];
        let mut stack: Vec<u32> = (0..self.all.len() as u32).rev().collect();
        while let Some(top) = stack.pop() {
            let i = top as usize;
            if natures[i].is_some() {
                continue;
            }
            if is_open[i] {
                natures[i] = Some(self.nature(top, &natures));
                continue;
            }
            is_open[i] = true;
            stack.push(top);
            let needed = self.all[i].0.value.symbols().filter_map(|name| self.meant(self.find(name)?, top));
            // One that is open depends on itself.
            stack.extend(needed.filter(|need| natures[*need as usize].is_none() && !is_open[*need as usize]));
        }
        natures
    }

    fn find(&self, name: &str) -> Option<SymbolId> {
        self.resolved.names.find(name.as_bytes())
    }

    /// The assignment that gives a symbol the value which assignment `at` finds: the last one before it, or else the last of all.
    fn meant(&self, id: SymbolId, at: u32) -> Option<u32> {
        let list = self.of_symbol.get(&id)?;
        let before = list.partition_point(|other| *other < at);
        list.get(before.wrapping_sub(1)).or(list.last()).copied()
    }

    /// What an assignment assigns, once that is known of what it needs.
    fn nature(&self, at: u32, natures: &[Option<Nature>]) -> Nature {
        let (assignment, inside) = &self.all[at as usize];
        let of_symbol = |name: &str| {
            let Some(id) = self.find(name) else { return Nature::Address };
            match self.meant(id, at).and_then(|need| natures[need as usize]) {
                Some(nature) => nature,
                None if is_absolute(self.resolved, id) => Nature::Absolute,
                None => Nature::Address,
            }
        };
        match assignment.value.nature(of_symbol, |name| self.is_defined(name, at)) {
            // It counts from the start of the section.
            Nature::Number if *inside => Nature::Address,
            nature => nature,
        }
    }

    /// Whether a symbol is defined for assignment `at`: what the script defines, it defines for what comes behind. `None`: that is
    /// not known yet.
    fn is_defined(&self, name: &str, at: u32) -> Option<bool> {
        let Some(id) = self.find(name) else { return Some(false) };
        if let Some(original) = self.internals.computed(id) {
            let before = self.of_symbol.get(&id)?.first().is_some_and(|first| *first < at);
            let asks_of_itself = self.all[at as usize].0.name == name;
            return (asks_of_itself && !before).then_some(original.is_some());
        }
        match self.resolved.names.get(id).rank() {
            Rank::Provided => None,
            rank => Some(rank != Rank::Undefined),
        }
    }
}

/// Symbols that only give another name to one: to which that is in the end.
fn other_names(resolved: &Resolved, all: &Assignments) -> HashMap<SymbolId, SymbolId> {
    let mut same: HashMap<SymbolId, SymbolId> = HashMap::new();
    let find = |name: &str| resolved.names.find(name.as_bytes());
    let mut names = Vec::new();
    for (assignment, _) in all {
        let Some(id) = find(&assignment.name) else { continue };
        let other = match &assignment.value.code[..] {
            [Op::Symbol(other)] => find(other),
            _ => None,
        };
        match other {
            Some(other) => same.insert(id, other),
            None => same.remove(&id),
        };
        names.push(id);
    }
    let mut chain = Vec::new();
    for name in names {
        let mut end = name;
        while let Some(next) = same.remove(&end) {
            chain.push(end);
            end = next;
        }
        // From here each has one step to go. What ends in itself is no other's name.
        for link in chain.drain(..) {
            if link != end {
                same.insert(link, end);
            }
        }
    }
    same
}

/// Whether an object gives a name a value that is no address.
fn is_absolute(resolved: &Resolved, id: SymbolId) -> bool {
    let entry = resolved.names.get(id);
    if !matches!(entry.rank(), Rank::Strong | Rank::Weak) {
        return false;
    }
    let object = &resolved.objects[resolved.index_of_file[entry.file().index()] as usize];
    object.place(entry.sym(), &object.syms[entry.sym() as usize]) == SymbolPlace::Absolute
}

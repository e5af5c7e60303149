//! What the values are that a script assigns: numbers, or addresses that move with the image. The scan has to
//! know that before anything has an address.
//!
//! Each assignment is looked at once, what it names first, however they stand in the script. What depends on
//! sizes and addresses may come out otherwise in the end; then the second half of the link is gone through
//! again ([`Internals::correct`]).

use std::collections::HashMap;

use super::assigned::Original;
use super::internal::{Internals, Target};
use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::resolve::Resolved;
use crate::script::sections::Assignment;
use crate::script::value_kind::{self, Known, ValueKind};
use crate::symbol_names::Rank;

/// The assignments of a script, each with whether it stands inside of an output section.
pub(super) type Assignments<'s> = [(&'s Assignment, bool)];

/// Notes of the symbols that a script computes which are numbers, and which are other symbols by another
/// name.
pub(super) fn note(internals: &mut Internals, resolved: &Resolved, all: &Assignments) {
    let mut of_symbol: HashMap<SymbolId, Vec<u32>> = HashMap::new();
    for (i, (assignment, _)) in all.iter().enumerate() {
        if let Some(id) = resolved.names.find(assignment.name.as_bytes()) {
            of_symbol.entry(id).or_default().push(i as u32);
        }
    }
    let known = Finder { internals, resolved, all, of_symbol: &of_symbol }.all();
    for internal in &mut internals.list {
        if let Target::Computed { absolute, same } = &mut internal.target {
            let last = of_symbol.get(&internal.id).and_then(|list| list.last());
            let known = last.and_then(|i| known[*i as usize]).unwrap_or(Known::ADDRESS);
            (*absolute, *same) = (known.kind != ValueKind::Address, known.same);
        }
    }
}

/// What a symbol that the script computes has turned out to be.
pub struct Correction {
    /// Its number among the linker's definitions.
    pub internal: usize,
    pub absolute: bool,
    /// The symbol of which it is another name.
    pub same: Option<SymbolId>,
}

impl Internals {
    /// Takes what symbols have turned out to be for what they are.
    pub fn correct(&mut self, corrections: &[Correction]) {
        for &Correction { internal, absolute, same } in corrections {
            self.list[internal].target = Target::Computed { absolute, same };
        }
    }

    /// What to say of a symbol that is something else each time.
    pub fn not_settled(&self, correction: &Correction) -> String {
        let origin = &self.list[correction.internal].origin;
        format!(
            "{origin}: whether this is an address or a number depends on where everything lies, and where everything lies depends on it"
        )
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
    fn all(&self) -> Vec<Option<Known>> {
        let mut known = vec![None; self.all.len()];
        // Those whose value is being looked at; what they need comes on top of them.
        let mut is_open = vec![false; self.all.len()];
        let mut stack: Vec<u32> = (0..self.all.len() as u32).rev().collect();
        while let Some(top) = stack.pop() {
            let i = top as usize;
            if known[i].is_some() {
                continue;
            }
            let (assignment, inside) = &self.all[i];
            if is_open[i] {
                let found = assignment.value.known(&Seen { finder: self, at: top, known: &known }, *inside);
                // In a section a number counts from its start.
                let is_offset = found.kind == ValueKind::Number && *inside;
                known[i] = Some(if is_offset { Known::ADDRESS } else { found });
                continue;
            }
            is_open[i] = true;
            stack.push(top);
            let needed = assignment.value.symbols().filter_map(|name| self.meant(self.find(name)?, top));
            // One that is open depends on itself.
            stack.extend(needed.filter(|need| known[*need as usize].is_none() && !is_open[*need as usize]));
        }
        known
    }

    fn find(&self, name: &str) -> Option<SymbolId> {
        self.resolved.names.find(name.as_bytes())
    }

    /// The assignment that gives a symbol the value which assignment `at` finds: the last one before it, or
    /// else the last of all, unless it asks for what it assigns to.
    fn meant(&self, id: SymbolId, at: u32) -> Option<u32> {
        let list = self.of_symbol.get(&id)?;
        let before = list.partition_point(|other| *other < at);
        if before == 0 && list.binary_search(&at).is_ok() {
            return None;
        }
        list.get(before.wrapping_sub(1)).or(list.last()).copied()
    }
}

/// What an assignment sees of symbols.
struct Seen<'f> {
    finder: &'f Finder<'f, 'f>,
    /// Its number.
    at: u32,
    /// Of each assignment.
    known: &'f [Option<Known>],
}

impl value_kind::Symbols for Seen<'_> {
    fn known(&self, name: &str) -> Known {
        let Some(id) = self.finder.find(name) else { return Known::ADDRESS };
        if let Some(need) = self.finder.meant(id, self.at) {
            return self.known[need as usize].unwrap_or(Known::ADDRESS);
        }
        match self.finder.internals.computed(id) {
            // It asks for what it replaces.
            Some(Some(Original::Number(value))) => Known::absolute(value),
            Some(_) => Known::ADDRESS,
            None => {
                let known = absolute(self.finder.resolved, id).map_or(Known::ADDRESS, Known::absolute);
                Known { same: Some(id), ..known }
            }
        }
    }

    /// What the script defines, it defines for what comes after.
    fn is_defined(&self, name: &str) -> Option<bool> {
        let Some(id) = self.finder.find(name) else { return Some(false) };
        if let Some(original) = self.finder.internals.computed(id) {
            let list = self.finder.of_symbol.get(&id)?;
            let asks_of_itself = list.binary_search(&self.at).is_ok();
            let is_first = list.first().is_some_and(|first| *first >= self.at);
            return original.map(|_| true).or((asks_of_itself && is_first).then_some(false));
        }
        match self.finder.resolved.names.get(id).rank() {
            Rank::Provided => None,
            rank => Some(rank != Rank::Undefined),
        }
    }
}

/// The value that an object gives a name if that is no address.
fn absolute(resolved: &Resolved, id: SymbolId) -> Option<u64> {
    let entry = resolved.names.get(id);
    if !matches!(entry.rank(), Rank::Strong | Rank::Weak) {
        return None;
    }
    let object = &resolved.objects[resolved.index_of_file[entry.file().index()] as usize];
    let symbol = &object.syms[entry.sym() as usize];
    (object.place(entry.sym(), symbol) == SymbolPlace::Absolute).then(|| symbol.st_value())
}

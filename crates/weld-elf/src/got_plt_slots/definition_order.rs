//! Symbols in the order of their definitions: by file and symbol, and what nothing defines by name.
//!
//! Ids follow from how names were hashed; what is numbered for the output must not.

use weld_common::sort;

use crate::ids::{FileId, SymbolId};
use crate::sections::LastSlots;
use crate::symbol_names::{Entry, Names, Rank, pack};
use crate::symbols::symbol_flags;

/// A symbol with what it is put in order by.
#[derive(Clone, Copy)]
pub struct Placed {
    /// File and index of the definition, whatever its rank.
    place: u64,
    pub id: SymbolId,
    /// `symbol_flags::` bits.
    pub flags: u32,
}

const _: () = assert!(size_of::<Placed>() == 16);

/// Behind all places.
const NOWHERE: u64 = 1 << 60;

impl Placed {
    #[inline]
    pub fn new(id: SymbolId, entry: &Entry, flags: u32) -> Self {
        // What archives offer and nobody reads, or a library that is left out has, is not defined.
        let is_nowhere = flags & symbol_flags::KIND == symbol_flags::UNDEFINED || entry.best == u64::MAX;
        let place = if is_nowhere { NOWHERE } else { entry.best & (NOWHERE - 1) };
        Placed { place, id, flags }
    }
}

/// Has symbols come in the order that they had in another link, with those among them that are gone, which are none.
pub fn restore(list: &mut Vec<Placed>, last: &LastSlots) {
    if last.of_symbol.is_empty() && last.gone.is_empty() {
        return;
    }
    let place = |(file, symbol): (FileId, u32)| pack(Rank::Strong, file, symbol) & (NOWHERE - 1);
    for placed in list.iter_mut() {
        if let Some(at) = last.of_symbol.get(&placed.id) {
            placed.place = place(*at);
        }
    }
    let gone = |(at, flags): &(_, u32)| Placed { place: place(*at), id: SymbolId::NONE, flags: *flags };
    list.extend(last.gone.iter().map(gone));
    list.sort_by_key(|placed| placed.place);
}

/// Has the second of each pair come in front of the first.
pub fn swap(list: &mut [Placed], pairs: &[(SymbolId, SymbolId)]) {
    let find = |list: &[Placed], id| list.iter().position(|placed| placed.id == id);
    for &(last, first) in pairs {
        let (Some(last), Some(first)) = (find(list, last), find(list, first)) else { continue };
        let places = [list[first].place, list[last].place];
        list[first].place = places[0].min(places[1]);
        list[last].place = places[0].max(places[1]);
    }
}

pub fn sort(list: Vec<Placed>, names: &Names, parallel: bool) -> Vec<Placed> {
    let name = |of: &Placed| names.get(of.id).name;
    sort::by(list, parallel, |a, b| a.place.cmp(&b.place).then_with(|| name(a).cmp(name(b))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_come_by_file_and_the_rest_by_name() {
        let mut names = Names::new(2);
        let mut put = |name: &'static str, best: u64| {
            let id = names.insert(name.as_bytes());
            names.get_mut(id).best = best;
            id
        };
        // An archive offers the last one.
        let offered = pack(Rank::Provided, FileId(0), 1);
        let undefined = [put("b", u64::MAX), put("a", u64::MAX), put("c", offered)];
        let defined = [
            put("weak", pack(Rank::Weak, FileId(1), 7)),
            put("strong", pack(Rank::Strong, FileId(2), 3)),
            put("of a library", pack(Rank::Provided, FileId(1), 9)),
        ];
        let placed = |id: SymbolId, flags| Placed::new(id, names.get(id), flags);
        let undefined_ones = undefined.iter().map(|&id| placed(id, symbol_flags::UNDEFINED));
        let list =
            undefined_ones.chain(defined.iter().map(|&id| placed(id, symbol_flags::DEFINED))).collect();
        let sorted: Vec<SymbolId> = sort(list, &names, false).iter().map(|p| p.id).collect();
        let by_name = [undefined[1], undefined[0], undefined[2]];
        assert_eq!(sorted, [&[defined[0], defined[2], defined[1]][..], &by_name].concat());
    }
}

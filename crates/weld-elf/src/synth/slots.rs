//! Which symbols have GOT slots, PLT entries, copies and TLS descriptors, and where.
//!
//! Few symbols need any of these, so what they need lies in a dense side table; a symbol finds its
//! record through one sparse array. Numbers follow the order of files and symbols.

use std::collections::HashMap;

use crate::ids::*;
use crate::live::{Live, fact};
use crate::resolve::names::Names;
use crate::resolve::symbols::{Symbols, sym};

pub const NONE: u32 = u32::MAX;

/// A symbol with needs. Indices count 8-byte words of `.got`, or entries of the PLT.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// A global symbol, or `NONE` with `local` set.
    pub id: SymbolId,
    pub local: Option<(ObjectId, u32)>,
    pub got: u32,
    pub got_tp: u32,
    pub tls_gd: u32,
    pub tls_desc: u32,
    pub plt: u32,
    /// Address of a global's definition itself, before a PLT entry stands for it; known after layout.
    pub definition: u64,
}

/// What lies in a word (or two) of `.got`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GotEntry {
    /// The symbol's address.
    Address(u32),
    /// Its offset from the thread pointer.
    TpOff(u32),
    /// Two words: module and offset.
    TlsGd(u32),
    /// Two words: a descriptor for the loader to fill.
    TlsDesc(u32),
    /// Two words: this module and 0.
    TlsLd,
}

impl GotEntry {
    fn words(self) -> u32 {
        match self {
            GotEntry::Address(_) | GotEntry::TpOff(_) => 1,
            _ => 2,
        }
    }
}

#[derive(Default)]
pub struct Slots {
    pub list: Vec<Slot>,
    of_symbol: Vec<u32>,
    of_local: HashMap<(ObjectId, u32), u32>,
    /// Entries of `.got` with the word they start at.
    pub got: Vec<(u32, GotEntry)>,
    pub got_words: u32,
    pub tls_ld: Option<u32>,
    /// Slots with PLT entries: those bound by name first, then those of IFUNCs of this output.
    pub plt: Vec<u32>,
    /// How many of `plt` are bound by name.
    pub jump_slots: u32,
    /// Symbols of shared objects that get a copy here.
    pub copies: Vec<SymbolId>,
}

impl Slots {
    pub fn allocate(live: &Live, symbols: &Symbols, names: &Names) -> Slots {
        let mut slots = Slots { of_symbol: vec![0; symbols.list.len()], ..Slots::default() };
        let mut ifuncs = Vec::new();
        for id in ids_with_needs(symbols, names) {
            let flags = symbols[id].flags();
            if flags & sym::NEEDS_COPY != 0 {
                slots.copies.push(id);
            }
            let index = slots.add(id, None, flags);
            slots.of_symbol[id.index()] = index + 1;
            if flags & sym::NEEDS_PLT != 0 {
                if flags & sym::PREEMPTIBLE != 0 { slots.plt.push(index) } else { ifuncs.push(index) }
            }
        }
        for need in &live.locals {
            let index = slots.add(SymbolId::NONE, Some((need.object, need.sym)), need.needs);
            slots.of_local.insert((need.object, need.sym), index);
            if need.needs & sym::NEEDS_PLT != 0 {
                ifuncs.push(index);
            }
        }
        if live.has(fact::TLS_LD) {
            slots.tls_ld = Some(slots.put(GotEntry::TlsLd));
        }
        slots.jump_slots = slots.plt.len() as u32;
        slots.plt.extend(ifuncs);
        for i in 0..slots.plt.len() {
            let slot = slots.plt[i] as usize;
            slots.list[slot].plt = i as u32;
        }
        slots
    }

    fn add(&mut self, id: SymbolId, local: Option<(ObjectId, u32)>, needs: u32) -> u32 {
        let index = self.list.len() as u32;
        let mut slot = Slot {
            id,
            local,
            got: NONE,
            got_tp: NONE,
            tls_gd: NONE,
            tls_desc: NONE,
            plt: NONE,
            definition: 0,
        };
        if needs & sym::NEEDS_GOT != 0 {
            slot.got = self.put(GotEntry::Address(index));
        }
        if needs & sym::NEEDS_GOTTP != 0 {
            slot.got_tp = self.put(GotEntry::TpOff(index));
        }
        if needs & sym::NEEDS_TLSGD != 0 {
            slot.tls_gd = self.put(GotEntry::TlsGd(index));
        }
        if needs & sym::NEEDS_TLSDESC != 0 {
            slot.tls_desc = self.put(GotEntry::TlsDesc(index));
        }
        self.list.push(slot);
        index
    }

    fn put(&mut self, entry: GotEntry) -> u32 {
        let word = self.got_words;
        self.got.push((word, entry));
        self.got_words += entry.words();
        word
    }

    #[inline]
    pub fn of_symbol(&self, id: SymbolId) -> Option<&Slot> {
        match self.of_symbol.get(id.index()) {
            None | Some(0) => None,
            Some(&index) => Some(&self.list[index as usize - 1]),
        }
    }

    #[inline]
    pub fn of_local(&self, object: ObjectId, symbol: u32) -> Option<&Slot> {
        self.of_local.get(&(object, symbol)).map(|&i| &self.list[i as usize])
    }

    /// Slots with IFUNC entries, in PLT order.
    pub fn ifuncs(&self) -> &[u32] {
        &self.plt[self.jump_slots as usize..]
    }
}

/// Symbols that need anything, in the order of their definitions' files; undefined ones last, by name.
fn ids_with_needs(symbols: &Symbols, names: &Names) -> Vec<SymbolId> {
    let mut ids: Vec<SymbolId> = symbols
        .list
        .iter()
        .enumerate()
        .filter(|(_, s)| s.has(sym::NEEDS))
        .map(|(i, _)| SymbolId(i as u32))
        .collect();
    ids.sort_unstable_by_key(|&id| {
        let entry = names.get(id);
        (entry.best & ((1 << 60) - 1) | u64::from(entry.best == u64::MAX) << 60, entry.name)
    });
    ids
}

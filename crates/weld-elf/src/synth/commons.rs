//! Common symbols: space in `.bss` (or a relative of it) that they get.
//!
//! A common symbol is as large and as aligned as the largest of its definitions, those of shared objects
//! included; one name, one place.
//!
//! Specification: gABI chapter 4 (`SHN_COMMON`).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use super::section::{At, Sizes, Spec, Synthetic};
use crate::elf::*;
use crate::ids::*;
use crate::options::SortCommon;
use crate::resolve::Resolved;
use crate::sections::bins::bin;
use crate::sections::scripted::{COMMONS, Found, OfFile, Rules};
use crate::symbols::{COMMON_KINDS as KINDS, IN_BSS, IN_LBSS, IN_TBSS, Symbols, symbol_flags};

/// Why common symbols cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommonError {
    /// The alignment is no power of two.
    Alignment { object: Box<str>, symbol: Box<str>, align: u64 },
    /// The script discards those of an object that are for `section`.
    PlaceDiscarded { section: Box<str>, object: Box<str> },
    /// The script discards all that are for `section`, and something refers to `symbol`.
    Discarded { section: Box<str>, symbol: Box<str> },
    /// Together they are larger than the address space.
    NoRoom,
}

impl fmt::Display for CommonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommonError::Alignment { object, symbol, align } => {
                write!(f, "{object}: common symbol '{symbol}' has a bad alignment: {align}")
            }
            CommonError::PlaceDiscarded { section, object } => {
                write!(f, "the script discards {section} of {object}, which the output cannot do without")
            }
            CommonError::Discarded { section, symbol } => write!(
                f,
                "the script discards {section}, and with it the common symbol {symbol}, which is referred to"
            ),
            CommonError::NoRoom => f.write_str("common symbols do not fit the address space"),
        }
    }
}

impl std::error::Error for CommonError {}

fn text(name: &[u8]) -> Box<str> {
    String::from_utf8_lossy(name).into()
}

/// A block of zeroed memory that symbols lie in.
#[derive(Clone, Copy)]
pub struct Block {
    pub size: u64,
    pub align: u64,
}

impl Default for Block {
    fn default() -> Block {
        Block::EMPTY
    }
}

impl Block {
    const EMPTY: Block = Block { size: 0, align: 1 };

    /// The block as a part of `bin`.
    pub fn spec(&self, bin: PlacementId) -> Option<Spec> {
        Spec::joined(bin, self.align, self.size)
    }

    /// Makes room for something more. Its offset; `None` if the address space is too small.
    pub fn put(&mut self, size: u64, align: u64) -> Option<u64> {
        let at = self.size.checked_next_multiple_of(align)?;
        self.size = at.checked_add(size)?;
        self.align = self.align.max(align);
        Some(at)
    }
}

/// Common symbols by where they go: a block for each of the three kinds, and where a script takes those of
/// some files elsewhere three more for each of its places. The number of a block is in the symbols'
/// `Symbol::section`.
pub struct Commons {
    blocks: Vec<Block>,
    /// The places of the script, which the fourth block and those after it are for.
    bins: Vec<PlacementId>,
}

impl Default for Commons {
    fn default() -> Commons {
        Commons { blocks: vec![Block::EMPTY; KINDS as usize], bins: Vec::new() }
    }
}

impl Commons {
    /// The number of the block for a kind at a place of the script.
    fn block_at(&mut self, bin: PlacementId, kind: u32) -> u32 {
        let known = self.bins.iter().position(|known| *known == bin);
        let place = known.unwrap_or_else(|| {
            self.bins.push(bin);
            self.blocks.extend([Block::EMPTY; KINDS as usize]);
            self.bins.len() - 1
        });
        KINDS * (place as u32 + 1) + kind
    }
}

/// What the patterns of a script say of common symbols, by the files that they are of.
struct ByFile<'r, 'a> {
    rules: &'r Rules,
    resolved: &'r Resolved<'a>,
    /// Which patterns hold for each object that has been asked about.
    known: HashMap<usize, OfFile>,
}

impl ByFile<'_, '_> {
    fn of_file(&mut self, id: SymbolId) -> (&OfFile, usize) {
        let index = self.resolved.index_of_file[self.resolved.names.get(id).file().index()] as usize;
        let name = &self.resolved.objects[index].name;
        (self.known.entry(index).or_insert_with(|| self.rules.of_file(Some(name))), index)
    }

    /// The place of the script for a common symbol; `None`: that of all others.
    fn place(&mut self, id: SymbolId, kind: u32) -> Result<Option<PlacementId>, CommonError> {
        let (rules, resolved) = (self.rules, self.resolved);
        if !rules.parts_commons {
            return Ok(None);
        }
        let (file, index) = self.of_file(id);
        let name = COMMONS[kind as usize];
        match rules.find(file, name, SHF_ALLOC | SHF_WRITE) {
            Found::Bin(bin) => Ok(Some(bin)),
            Found::Orphan => Ok(None),
            Found::Discarded => {
                let object = resolved.objects[index].name.to_string().into();
                Err(CommonError::PlaceDiscarded { section: text(name), object })
            }
        }
    }

    /// Which kinds the script discards altogether.
    fn discarded(&self) -> [bool; KINDS as usize] {
        let file = self.rules.of_file(None);
        let find = |name: &[u8]| self.rules.find(&file, name, SHF_ALLOC | SHF_WRITE);
        COMMONS.map(|name| !self.rules.parts_commons && find(name) == Found::Discarded)
    }

    /// Whether the script wants one kept that nothing refers to.
    fn keeps(&mut self, id: SymbolId, kind: u32) -> bool {
        let rules = self.rules;
        rules.keeps(self.of_file(id).0, COMMONS[kind as usize], SHF_ALLOC | SHF_WRITE)
    }
}

/// All definitions of one common symbol.
#[derive(Clone, Copy)]
pub struct Common {
    pub size: u64,
    pub align: u64,
    large: bool,
}

/// Each common name: as large and as aligned as any of its definitions, and as what shared objects define
/// under that name. In order of files.
pub fn merged_commons(resolved: &Resolved) -> Result<Vec<(SymbolId, Common)>, CommonError> {
    let mut known: HashMap<SymbolId, usize> = HashMap::new();
    let mut list: Vec<(SymbolId, Common)> = Vec::new();
    for rival in &resolved.commons {
        let index = resolved.index_of_file[rival.file.index()] as usize;
        let object = &resolved.objects[index];
        let s = &object.syms[rival.sym as usize];
        let align = s.st_value().max(1);
        if !align.is_power_of_two() {
            let symbol = text(object.symbol_name(rival.sym));
            return Err(CommonError::Alignment { object: object.name.to_string().into(), symbol, align });
        }
        let at = *known.entry(rival.id).or_insert_with(|| {
            list.push((rival.id, Common { size: 0, align: 1, large: true }));
            list.len() - 1
        });
        let common = &mut list[at].1;
        common.size = common.size.max(s.st_size());
        common.align = common.align.max(align);
        // Code that counts on a near symbol decides.
        common.large &= Some(s.st_shndx()) == object.machine.large_common();
    }
    for (id, grown) in &resolved.grown {
        let common = &mut list[known[id]].1;
        common.size = common.size.max(grown.size);
        common.align = common.align.max(grown.align);
    }
    Ok(list)
}

/// Gives each live common symbol its offset (in `Symbol::offset`) and its block (in
/// `Symbol::section`). `resolved` names the largest definition of each; alignments are joined here. `rules`
/// are those of a script that lays out.
pub fn allocate_commons(
    resolved: &Resolved,
    symbols: &mut Symbols,
    gc: bool,
    order: Option<SortCommon>,
    rules: Option<&Rules>,
) -> Result<Commons, CommonError> {
    let mut commons = Commons::default();
    let mut by_file = rules.map(|rules| ByFile { rules, resolved, known: HashMap::new() });
    let discarded = by_file.as_ref().map_or([false; KINDS as usize], ByFile::discarded);
    let mut list = merged_commons(resolved)?;
    if rules.is_some_and(|rules| COMMONS.iter().any(|name| rules.sorts_by_alignment(name))) {
        list.sort_by_key(|(_, common)| Reverse(common.align));
    }
    match order {
        None => {}
        Some(SortCommon::Ascending) => list.sort_by_key(|(_, common)| common.align),
        Some(SortCommon::Descending) => list.sort_by_key(|(_, common)| Reverse(common.align)),
    }
    for (id, common) in list {
        let symbol = &mut symbols.list[id.index()];
        if symbol.kind() != symbol_flags::COMMON {
            continue;
        }
        let kind = match symbol.has(symbol_flags::TLS) {
            true => IN_TBSS,
            false if common.large => IN_LBSS,
            false => IN_BSS,
        };
        let is_asked_for = symbol.has(symbol_flags::USED | symbol_flags::EXPORTED | symbol_flags::NEEDS);
        if discarded[kind as usize] {
            if is_asked_for {
                let (section, symbol) = (text(COMMONS[kind as usize]), text(resolved.names.get(id).name));
                return Err(CommonError::Discarded { section, symbol });
            }
            continue;
        }
        if gc && !is_asked_for {
            if !by_file.as_mut().is_some_and(|by_file| by_file.keeps(id, kind)) {
                continue;
            }
            symbol.add(symbol_flags::USED);
        }
        let place = by_file.as_mut().map_or(Ok(None), |by_file| by_file.place(id, kind))?;
        symbol.section = place.map_or(kind, |bin| commons.block_at(bin, kind));
        let block = &mut commons.blocks[symbol.section as usize];
        let offset = block.put(common.size, common.align).ok_or(CommonError::NoRoom)?;
        symbol.set_offset(offset);
    }
    Ok(commons)
}

/// Common symbols that go to the block with this number.
pub struct Part(pub u32);

impl Part {
    pub fn count(sizes: &Sizes) -> u32 {
        sizes.commons.blocks.len() as u32
    }
}

impl Synthetic for Part {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let bin = match self.0 {
            IN_BSS => bin::BSS,
            IN_TBSS => bin::TBSS,
            IN_LBSS => bin::LBSS,
            other => sizes.commons.bins[(other / KINDS - 1) as usize],
        };
        sizes.commons.blocks[self.0 as usize].spec(bin)
    }

    fn write(&self, _: &At, out: &mut [u8]) {
        out.fill(0);
    }
}

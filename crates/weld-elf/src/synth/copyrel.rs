//! Copy relocations: variables of shared objects that move into the executable.
//!
//! A copied variable gets space in `.bss`, with all names that its library gives to the same address, so that
//! every module sees one object; if it was read-only there after relocation, its copy lies in `.bss.rel.ro`.
//! Which variables are copied the scan says (`live::reloc_scan`), and `got_plt_slots` lists them.
//!
//! Specification: copy relocations of the psABIs (`R_X86_64_COPY` and its like).

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use super::commons::Block;
use super::section::{At, Sizes, Spec, Synthetic};
use crate::elf::*;
use crate::got_plt_slots::Slots;
use crate::ids::*;
use crate::input::shared::{Shared, alignment};
use crate::resolve::Resolved;
use crate::sections::bins::bin;
use crate::symbol_names::Rank;
use crate::symbols::{Symbols, symbol_flags};

/// Copied variables.
#[derive(Default)]
pub struct Copies {
    pub bss: Block,
    pub relro: Block,
    /// The symbol each copy relocation names, and whether its copy lies in `relro`; offsets are in
    /// `Symbol::offset`.
    pub list: Vec<(SymbolId, bool)>,
    /// Symbols whose copies lie in `relro`: those of `list` and their aliases.
    pub in_relro: Vec<SymbolId>,
}

/// Why variables cannot be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyError {
    /// Of the variable nothing is known but where it is.
    Empty { symbol: Box<str>, library: Box<str> },
    /// Together they are larger than the address space.
    NoRoom,
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CopyError::Empty { symbol, library } => {
                write!(f, "cannot copy '{symbol}' from {library}: its size is 0")
            }
            CopyError::NoRoom => f.write_str("copied variables do not fit the address space"),
        }
    }
}

impl std::error::Error for CopyError {}

/// Gives each copied symbol, and all aliases of it, an offset (in `Symbol::offset`). Aliases may differ in
/// size: the copy is as large and as aligned as any of them, and its relocation names the largest, for the
/// loader copies no more than that symbol's size.
pub fn allocate_copies(
    resolved: &Resolved,
    symbols: &mut Symbols,
    slots: &Slots,
) -> Result<Copies, CopyError> {
    let mut copies = Copies::default();
    let mut names = names_by_address(resolved, &slots.copies);
    for &id in &slots.copies {
        let (index, own) = definition(resolved, id);
        let dso = &resolved.shared[index as usize];
        // An alias may have taken it along.
        let Some(aliases) = names.remove(&(index, dso.syms[own as usize].st_value())) else { continue };
        check_copy(dso, own)?;
        let mut size = dso.syms[own as usize].st_size();
        let mut largest = id;
        let (mut align, mut read_only) = (1, false);
        for &sym in &aliases {
            let s = &dso.syms[sym as usize];
            if s.st_size() > size {
                (size, largest) = (s.st_size(), dso.global(sym));
            }
            let section = section_of(dso, s);
            align = align.max(section.0);
            read_only |= section.1;
        }
        let block = if read_only { &mut copies.relro } else { &mut copies.bss };
        let offset = block.put(size, align).ok_or(CopyError::NoRoom)?;
        for alias in aliases.into_iter().map(|sym| dso.global(sym)) {
            let symbol = &mut symbols.list[alias.index()];
            symbol.set_offset(offset);
            symbol.add(symbol_flags::NEEDS_COPY);
            if read_only {
                copies.in_relro.push(alias);
            }
        }
        copies.list.push((largest, read_only));
    }
    Ok(copies)
}

/// The shared object that defines `id`, and the index of its symbol there.
fn definition(resolved: &Resolved, id: SymbolId) -> (u32, u32) {
    let entry = resolved.names.get(id);
    (resolved.index_of_file[entry.file().index()], entry.sym())
}

fn check_copy(dso: &Shared, sym: u32) -> Result<(), CopyError> {
    if dso.syms[sym as usize].st_size() > 0 {
        return Ok(());
    }
    let symbol = String::from_utf8_lossy(dso.symbol_name(sym)).into();
    Err(CopyError::Empty { symbol, library: dso.name.to_string().into() })
}

/// The alignment that a copy of the variable needs, and whether its memory is read-only at run time.
fn section_of(dso: &Shared, s: &Sym) -> (u64, bool) {
    let align = alignment(dso, s);
    match dso.shdrs.get(s.st_shndx() as usize) {
        Some(shdr) if s.st_shndx() < SHN_LORESERVE => {
            (align, shdr.sh_flags() & SHF_WRITE == 0 || dso.is_relro(s.st_value()))
        }
        _ => (align, false),
    }
}

/// Of each address of a shared object that is copied, the symbols that name the variable there and are bound
/// to it, in the order of its table. One pass over the symbols of each such object.
fn names_by_address(resolved: &Resolved, copied: &[SymbolId]) -> HashMap<(u32, u64), Vec<u32>> {
    let mut names: HashMap<(u32, u64), Vec<u32>> = HashMap::new();
    let mut objects = BTreeSet::new();
    for &id in copied {
        let (index, sym) = definition(resolved, id);
        objects.insert(index);
        names.insert((index, resolved.shared[index as usize].syms[sym as usize].st_value()), Vec::new());
    }
    for index in objects {
        let dso = &resolved.shared[index as usize];
        for (i, s) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
            // What says nothing of itself (`__stop_X`, `_end`) ends what lies in front: it is no name of what
            // comes next.
            let is_bound = s.kind() == STT_NOTYPE && s.st_size() == 0;
            if s.st_shndx() == SHN_UNDEF || s.kind() == STT_TLS || is_bound {
                continue;
            }
            let id = dso.global(i as u32);
            if id.is_some()
                && definition(resolved, id) == (index, i as u32)
                && resolved.names.get(id).rank() == Rank::Provided
                && let Some(list) = names.get_mut(&(index, s.st_value()))
            {
                list.push(i as u32);
            }
        }
    }
    names
}

/// Copies of variables.
pub struct CopyBss;

impl Synthetic for CopyBss {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        sizes.plan.copies.bss.spec(bin::BSS)
    }

    fn write(&self, _: &At, out: &mut [u8]) {
        out.fill(0);
    }
}

/// Copies of variables that are read-only once they are relocated.
pub struct CopyRelro;

impl Synthetic for CopyRelro {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        sizes.plan.copies.relro.spec(bin::BSS_REL_RO)
    }

    fn write(&self, _: &At, out: &mut [u8]) {
        out.fill(0);
    }
}

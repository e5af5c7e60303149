//! Room for functions of shared objects that nobody called when a link was made, so that a later one that relinks
//! ([`crate::relink`]) finds place for them: spare entries of the PLT, of `.got.plt`, of `.rela.plt` and of the
//! tables of symbols, with room for names.
//!
//! A spare entry of the PLT is like any other, and so is its word. Its relocation names a spare symbol, which is a
//! local one that stands for a section: loaders look nothing up for that, and leave an address in the word which
//! nobody jumps to. Local symbols come first in `.dynsym`, so spare ones are its first, and are taken from the last
//! one on: spare entry `i` of `n` has symbol `n - i`, for good, and what is taken is global, and so is all behind
//! it. (A relocation of the type that does nothing would be simpler, but loaders that bind functions when they are
//! called first take it for an error among these.) In `.symtab` they are the last, without names while they are spare.
//!
//! What is taken stays so until a full link, also if nobody calls it any more, and so does all else that is called
//! through the PLT, found by a slot of the GOT, or whose address the loader is asked for ([`LastCall`]). Names lie one behind the other at the
//! end of `.dynstr` and `.strtab`.
//!
//! Here is what the bytes of all these are, for who makes the whole image and for who relinks.

use crate::elf::*;
use crate::ids::{FileId, SymbolId};
use crate::options::{Bsymbolic, Options, OutputKind};

/// How many spare entries there are, and bytes for the names of what takes them.
const COUNT: u32 = 32;
const NAMES: u64 = 4 << 10;

/// How many a library has whose functions others may put theirs in the place of: it calls its own by such entries, so an
/// instance of a class template takes some dozens.
const COUNT_OF_LIBRARY: u32 = 256;

/// How many spare entries a link has.
pub fn count(options: &Options) -> u32 {
    let may_be_others = matches!(options.symbols.bsymbolic, Bsymbolic::None);
    match options.kind == OutputKind::Shared && may_be_others {
        true => COUNT_OF_LIBRARY,
        false => COUNT,
    }
}

/// A function that has taken the place of a spare entry: its name and the index of its version. It may be the output's
/// own, if others may replace it: then its entry leads to its own symbol, and what was spare is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    pub name: Vec<u8>,
    pub version: u16,
    pub is_own: bool,
}

/// What of a shared object has an entry of the PLT, a slot, or its address in data, in a link that is to be made once more:
/// whoever asks for it, it has that there, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastCall {
    /// The shared object, and the number of the symbol there.
    pub file: FileId,
    pub symbol: u32,
    /// What others ask of it (bits of [`crate::symbol_flags`]).
    pub flags: u32,
}

/// The spare entries of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpareImports {
    /// As [`count`] says, or 0.
    pub count: u32,
    /// What has taken the first ones.
    pub taken: Vec<Import>,
    /// Of each of these the symbol that is nothing else but called; [`SymbolId::NONE`] if there is none.
    pub ids: Vec<SymbolId>,
}

impl SpareImports {
    /// Whether one more with a name of so many bytes has room.
    pub fn have_room(&self, name: usize) -> bool {
        let bytes: usize = self.named().map(|import| import.name.len() + 1).sum();
        self.taken.len() < self.count as usize && (bytes + name + 1) as u64 <= self.names()
    }

    /// Those that are of other modules.
    fn named(&self) -> impl Iterator<Item = &Import> {
        self.taken.iter().filter(|import| !import.is_own)
    }

    /// The symbol that spare entry `number` leads to, if it is the output's own.
    pub fn own(&self, number: u32) -> Option<SymbolId> {
        self.taken.get(number as usize).filter(|import| import.is_own)?;
        self.ids.get(number as usize).copied()
    }

    /// Bytes of names, with those that are free.
    pub fn names(&self) -> u64 {
        if self.count == 0 { 0 } else { NAMES }
    }

    /// How many local symbols `.dynsym` has, with the null symbol.
    pub fn locals(&self) -> u32 {
        1 + self.count.saturating_sub(self.taken.len() as u32)
    }

    /// The number in `.dynsym` of that of spare entry `number`.
    pub fn symbol(&self, number: u32) -> u32 {
        self.count - number
    }

    /// Whether a symbol has taken a spare entry.
    pub fn have(&self, id: SymbolId) -> bool {
        self.ids.contains(&id)
    }

    /// What names of a table are at its end, with zeroes behind them.
    pub fn strings(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::with_capacity(self.names() as usize);
        for import in self.named() {
            bytes.extend_from_slice(&import.name);
            bytes.push(0);
        }
        bytes.resize(self.names() as usize, 0);
        bytes
    }

    /// Symbols 1 to [`Self::count`] of `.dynsym`. `spare` is one that is not taken; names start at `names`.
    pub fn dynamic(&self, spare: Sym, names: u32) -> Vec<Sym> {
        let mut symbols = self.symbols(spare, names);
        symbols.reverse();
        symbols
    }

    /// The last symbols of `.symtab`, in the same way.
    pub fn symbols(&self, spare: Sym, names: u32) -> Vec<Sym> {
        let mut at = names;
        let taken = self.taken.iter().map(|import| {
            if import.is_own {
                return Sym::make(0, STB_GLOBAL << 4 | STT_FILE, STV_DEFAULT, SHN_ABS, 0, 0);
            }
            let name = at;
            at += import.name.len() as u32 + 1;
            Sym::make(name, STB_GLOBAL << 4 | STT_FUNC, STV_DEFAULT, SHN_UNDEF, 0, 0)
        });
        taken.chain(std::iter::repeat(spare)).take(self.count as usize).collect()
    }

    /// The version indices of symbols 1 to [`Self::count`] of `.dynsym`.
    pub fn versions(&self) -> Vec<u16> {
        let taken = self.taken.iter().map(|import| import.version);
        let mut all: Vec<u16> =
            taken.chain(std::iter::repeat(VER_NDX_LOCAL)).take(self.count as usize).collect();
        all.reverse();
        all
    }
}

/// Whether the loader of this path takes local symbols of relocations for what they are.
pub fn are_for(loader: &str) -> bool {
    let name = loader.rsplit('/').next().unwrap_or(loader);
    name.starts_with("ld-linux-") || name.starts_with("ld-musl-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_taken_from_the_last_symbol_on() {
        let import = |name: &[u8], version| Import { name: name.to_vec(), version, is_own: false };
        let taken = vec![import(b"strlen", 3), import(b"memset", 4)];
        let spares = SpareImports { count: COUNT, taken, ids: vec![SymbolId(7), SymbolId::NONE] };
        assert!(spares.strings().starts_with(b"strlen\0memset\0\0"));
        assert_eq!((spares.strings().len() as u64, spares.locals()), (NAMES, COUNT - 1));
        let spare = Sym::make(0, STT_SECTION, 0, 1, 0x300, 0);
        let symbols = spares.dynamic(spare, 100);
        let names: Vec<u32> = (0..2).map(|i| symbols[spares.symbol(i) as usize - 1].st_name()).collect();
        assert_eq!(names, [100, 107]);
        assert_eq!(spares.versions()[COUNT as usize - 3..], [VER_NDX_LOCAL, 4, 3]);
        let is_local = |symbol: &&Sym| symbol.binding() == STB_LOCAL;
        assert_eq!(symbols.iter().take_while(is_local).count() as u32 + 1, spares.locals());
        let last = spares.symbols(spare, 100);
        assert!((0..COUNT as usize).all(|i| last[i].0 == symbols[COUNT as usize - 1 - i].0));
        assert!(spares.have(SymbolId(7)) && !spares.have(SymbolId(8)));
        assert!(spares.have_room(100) && !spares.have_room(NAMES as usize - 14));
        assert_eq!(SpareImports::default().strings(), []);
        assert!(!SpareImports::default().have_room(1));
    }

    #[test]
    fn own_functions_have_their_own_symbols() {
        let import = |name: &[u8], is_own| Import { name: name.to_vec(), version: VER_NDX_LOCAL, is_own };
        let taken = vec![import(b"own", true), import(b"strlen", false)];
        let spares = SpareImports { count: COUNT, taken, ids: vec![SymbolId(7), SymbolId(8)] };
        assert_eq!((spares.own(0), spares.own(1), spares.own(2)), (Some(SymbolId(7)), None, None));
        assert!(spares.strings().starts_with(b"strlen\0\0"));
        let symbols = spares.dynamic(Sym::make(0, STT_SECTION, 0, 1, 0x300, 0), 100);
        let last = [symbols[COUNT as usize - 1], symbols[COUNT as usize - 2]];
        assert_eq!(
            last.map(|symbol| (symbol.st_name(), symbol.binding())),
            [(0, STB_GLOBAL), (100, STB_GLOBAL)]
        );
        assert_eq!((last[0].kind(), spares.locals()), (STT_FILE, COUNT - 1));
    }

    #[test]
    fn loaders_that_look_local_symbols_up_get_none() {
        assert!(are_for("/lib64/ld-linux-x86-64.so.2") && are_for("/lib/ld-musl-aarch64.so.1"));
        assert!(!are_for("/system/bin/linker64") && !are_for("/libexec/ld-elf.so.1"));
    }
}

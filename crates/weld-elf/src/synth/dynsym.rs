//! `.dynsym`, `.dynstr`, the hash tables and the version tables: one plan for all, because the order
//! of the first decides the bytes of the others.
//!
//! Order: the null symbol; spare ones, if a later link may relink ([`crate::sections::spare_imports`]);
//! imports; then everything that other modules may find here (exports, copies, canonical PLT entries), grouped
//! by bucket of the GNU hash table, with spare ones if a later link may relink
//! ([`crate::sections::export_rows`]). Before they are grouped, symbols are put in the order of their definitions,
//! so that nothing depends on how names were hashed inside the linker.
//!
//! A shared object may export millions of names, so every step over them is a parallel loop, and each looks
//! at a name's text once: to measure and hash it here, to write it there.
//!
//! Specification: gABI chapter 5 ("Hash Table", "Dynamic Section"), LSB "Symbol Versioning".

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::prefetch::prefetch;
use weld_common::zeroed;
use weld_common::{par, sort};

use super::dynamic;
use super::dynstr::DynStr;
use super::error::PlanError;
use super::gnu_hash::{GnuHash, Hashed, bucket, gnu_hash};
use super::plan::Plan;
use super::section::{At, Cuts, Header, Info, Links, Sizes, Source, Spec, Synthetic};
use super::sysv_hash::{self, SysvHash, sysv_hash};
use super::versions::{Verdef, Verneed, VersionNeed, build_verdef, build_verneed};
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::got_plt_slots::definition_order::{self, Placed};
use crate::ids::*;
use crate::input::versions::VersionError;
use crate::layout::ChunkKind;
use crate::options::{HashStyle, Options};
use crate::resolve::Resolved;
use crate::sections::export_rows::{self, LastRows, Room, Rows};
use crate::sections::spare_imports::SpareImports;
use crate::symbol_names::symver::plain;
use crate::symbols::exports::Exports;
use crate::symbols::{Symbols, strong_use, symbol_flags};
use weld_common::string_table::StringTable;

/// glibc's loader refuses `DT_RELR` in a file that does not need this version of its C library, so
/// that older ones, which do not know packed relocations, refuse the file by its version.
const PACKED: &[u8] = b"GLIBC_ABI_DT_RELR";
/// The first version whose loader does not add what the relocation of a PLT entry has for an addend.
const MARKED_PLT: &[u8] = b"GLIBC_2.36";

/// Has the C library needed in this version, too, if it is glibc's.
fn require(needs: &mut [VersionNeed], version: &'static [u8]) {
    let glibc = |need: &&mut VersionNeed| {
        need.file.starts_with(b"libc.so.") && need.versions.iter().any(|v| v.0.starts_with(b"GLIBC_2."))
    };
    if let Some(libc) = needs.iter_mut().find(glibc)
        && !libc.versions.iter().any(|v| v.0 == version)
    {
        libc.versions.push((version, false));
    }
}

/// So many versions are not listed for what may be called later: they have indices of 15 bits.
const MANY_VERSIONS: usize = 4096;

/// Names looked at by one task: of all there are, and of those in `.dynsym`.
const ALL_RUN: usize = 1 << 15;
const RUN: usize = 1 << 13;
/// How many names ahead the table of names is asked for, and the text of a name.
const ENTRY_AHEAD: usize = 16;
const TEXT_AHEAD: usize = 8;

/// Everything the dynamic sections are written from.
pub struct DynSym {
    /// `.dynsym` entry `i + 1`, or as much later as there are spare ones; [`SymbolId::NONE`] if it is spare itself.
    pub symbols: Vec<SymbolId>,
    pub spares: SpareImports,
    /// Where exported names are, if there is room for more.
    pub rows: Option<Rows>,
    index_of: Vec<AtomicU32>,
    /// The number of the first of those that loaders look up for the GOT.
    pub first_in_got: usize,
    /// With the names of `symbols`.
    pub dynstr: DynStr,
    /// `.gnu.version`, the null symbol's included; empty if nothing has a version.
    pub versym: Vec<u16>,
    pub verdef: Option<Verdef>,
    pub verneed: Option<Verneed>,
    pub gnu_hash: Option<GnuHash>,
    pub sysv_hash: Option<SysvHash>,
    /// Indices of the shared objects that are needed, in command-line order.
    pub needed: Vec<u32>,
    /// Offsets in `.dynstr` of what `.dynamic` names, by tag, in order.
    pub strings: Vec<(u64, u32)>,
}

impl DynSym {
    /// Index of the symbol in `.dynsym`; 0 if it is not there.
    #[inline]
    pub fn index(&self, id: SymbolId) -> u32 {
        self.index_of.get(id.index()).map_or(0, |index| index.load(Ordering::Relaxed))
    }

    /// The table is not in the output: its symbols have no numbers.
    pub fn forget_numbers(&mut self) {
        self.index_of = Vec::new();
    }

    pub fn count(&self) -> usize {
        self.symbols.len() + self.spares.count as usize + 1
    }
}

pub struct Planner<'c, 'a> {
    pub machine: &'static Facts,
    pub resolved: &'c Resolved<'a>,
    pub symbols: &'c Symbols,
    pub exports: &'c Exports<'a>,
    pub options: &'c Options,
    /// Indices of the shared objects that are needed, in command-line order.
    pub needed: Vec<u32>,
    /// What loaders look up for the GOT: these come last.
    pub looked_up: Vec<SymbolId>,
    /// Room in front of imports.
    pub spares: &'c SpareImports,
    /// Whether there is room for more exported names, and where they are to be.
    pub room: &'c Room,
    pub shared: bool,
    pub parallel: bool,
}

/// What goes into `.dynsym`.
#[derive(Default)]
struct Chosen {
    imports: Vec<Placed>,
    found: Vec<Placed>,
    /// Those of `found` that are another module's: copies, and functions known by their PLT entries.
    foreign: Vec<SymbolId>,
}

/// A symbol, and what its name without a version is like.
#[derive(Clone, Copy)]
struct Named {
    id: SymbolId,
    length: u32,
    hashed: Hashed,
}

/// Names with the spare rows between them, and where the runs of buckets start.
struct InRows {
    rows: Vec<Named>,
    runs: Vec<u32>,
}

/// What is spare.
const SPARE: Named = Named { id: SymbolId::NONE, length: 0, hashed: Hashed { hash: 0, bucket: 0 } };

/// Symbols in the order of `.dynsym`.
struct Ordered {
    symbols: Vec<SymbolId>,
    /// Of their names.
    lengths: Vec<u32>,
    index_of: Vec<AtomicU32>,
}

impl Ordered {
    /// Has these come last, in this order.
    fn put_last(&mut self, last: &[SymbolId]) {
        let is_last: HashSet<SymbolId> = last.iter().copied().collect();
        let length: HashMap<SymbolId, u32> =
            self.symbols.iter().copied().zip(self.lengths.iter().copied()).collect();
        self.symbols.retain(|id| !is_last.contains(id));
        self.symbols.extend(last);
        self.lengths = self.symbols.iter().map(|id| length.get(id).copied().unwrap_or(0)).collect();
        for (position, id) in self.symbols.iter().enumerate() {
            self.index_of[id.index()].store(position as u32 + 1, Ordering::Relaxed);
        }
    }
}

impl<'a> Planner<'_, 'a> {
    pub fn plan(&self) -> Result<DynSym, PlanError> {
        let mut chosen = self.choose();
        if !self.spares.ids.is_empty() {
            chosen.imports.retain(|placed| !self.spares.have(placed.id));
        }
        definition_order::swap(&mut chosen.found, &self.resolved.unversioned);
        let needed = self.needed.clone();
        let mut head = StringTable::new();
        let strings = self.dynamic_strings(&needed, &mut head);
        let style = match self.options.dynamic.hash_style {
            // The order of symbols is taken.
            HashStyle::Usual if self.machine.loader_got.is_some() => HashStyle::Sysv,
            HashStyle::Usual => HashStyle::Both,
            style => style,
        };
        let is_hashed = matches!(style, HashStyle::Gnu | HashStyle::Both);
        let room = if is_hashed && self.looked_up.is_empty() { self.room } else { &Room::None };
        let (buckets, last) = match room {
            Room::None => (GnuHash::buckets(chosen.found.len()), None),
            Room::New => (export_rows::runs(chosen.found.len()), None),
            Room::Last(last) => (last.runs.len().max(1) as u32, Some(last)),
        };
        let imports = self.measure(chosen.imports, buckets);
        let mut found = self.measure(chosen.found, buckets);
        let mut gnu_hash = None;
        let mut runs = None;
        if is_hashed {
            found = sort::by_bucket(found, buckets, self.parallel, |named| named.hashed.bucket);
            let first = imports.len() as u32 + self.spares.count + 1;
            let format = self.machine.target.format;
            gnu_hash = Some(match room {
                Room::None => GnuHash::plan(format, &found, first, self.parallel, |named| named.hashed),
                Room::New | Room::Last(_) => {
                    let placed = self.in_rows(&found, buckets, last);
                    found = placed.rows;
                    let hash = |named: &Named| named.id.is_some().then_some(named.hashed.hash);
                    let hashes: Vec<Option<u32>> = found.iter().map(hash).collect();
                    let table = GnuHash::of_rows(format, &hashes, &placed.runs, first);
                    runs = Some(first);
                    table
                }
            });
        }
        let mut ordered = self.join(&imports, &found);
        // Positions of the symbols that may be bound to a version of another module.
        let mut foreign: Vec<u32> = (0..imports.len() as u32).collect();
        let position =
            |ordered: &Ordered, id: SymbolId| ordered.index_of[id.index()].load(Ordering::Relaxed) - 1;
        foreign.extend(chosen.foreign.iter().map(|id| position(&ordered, *id)));
        foreign[imports.len()..].sort_unstable();
        if !self.looked_up.is_empty() {
            let ids: Vec<SymbolId> =
                foreign.iter().map(|position| ordered.symbols[*position as usize]).collect();
            ordered.put_last(&self.looked_up);
            foreign = ids.into_iter().map(|id| position(&ordered, id)).collect();
            foreign.sort_unstable();
        }
        let first_in_got = ordered.symbols.len() + 1 - self.looked_up.len();
        let Ordered { symbols, lengths, index_of } = ordered;
        let count = found.len() as u32;
        drop((imports, found));
        let sysv = matches!(style, HashStyle::Sysv | HashStyle::Both);
        let sysv_hash = sysv.then(|| {
            SysvHash::plan(
                self.machine.target.format,
                self.machine.hash_word,
                (self.sysv_hashes(&symbols, &lengths), self.spares.count),
            )
        });
        let (versym, verdef, verneed) = self.versions(&symbols, &foreign, &needed, &mut head)?;
        let tail = self.spares.strings();
        let (dynstr, rows) = match runs {
            None => (DynStr::plan(head, &lengths, tail, self.parallel)?, None),
            Some(first) => {
                let start = head.size() as u32;
                let dynstr = self.with_places(head, (&symbols, &lengths), (count, last), tail)?;
                let names = start..dynstr.tail();
                (dynstr, Some(Rows { first, count, names }))
            }
        };
        self.number_spares(&symbols, &index_of);
        Ok(DynSym {
            symbols,
            spares: self.spares.clone(),
            rows,
            index_of,
            first_in_got,
            dynstr,
            versym,
            verdef,
            verneed,
            gnu_hash,
            sysv_hash,
            needed,
            strings,
        })
    }

    /// Names in their rows, with spare ones; those of another link are where they were.
    fn in_rows(&self, found: &[Named], buckets: u32, last: Option<&LastRows>) -> InRows {
        let Some(last) = last else {
            let spare = export_rows::spare(buckets) as usize;
            let (mut rows, mut runs, mut next) = (Vec::new(), Vec::with_capacity(buckets as usize), 0);
            for bucket in 0..buckets {
                runs.push(rows.len() as u32);
                let mine = found[next..].iter().take_while(|named| named.hashed.bucket == bucket);
                rows.extend(mine.copied());
                next = rows.len() - spare * bucket as usize;
                rows.extend(std::iter::repeat_n(SPARE, spare));
            }
            return InRows { rows, runs };
        };
        let mut known = last.by_name();
        let mut rows = vec![SPARE; last.rows.len()];
        // What had no row has none where it is to be, and is seen.
        for named in found {
            let name = &self.resolved.names.get(named.id).name[..named.length as usize];
            match known.get_mut(name).and_then(Vec::pop) {
                Some(row) => rows[row as usize] = *named,
                None => rows.push(*named),
            }
        }
        InRows { rows, runs: last.runs.clone() }
    }

    /// The names of symbols, of which the last ones are in so many rows: one behind the other, or where another link
    /// had them, with room for more.
    fn with_places(
        &self,
        head: StringTable,
        (symbols, lengths): (&[SymbolId], &[u32]),
        (count, last): (u32, Option<&LastRows>),
        tail: Vec<u8>,
    ) -> Result<DynStr, PlanError> {
        let mut at = head.size();
        let mut offsets = Vec::with_capacity(symbols.len() + 1);
        let first = symbols.len() - count as usize;
        for (i, (id, length)) in symbols.iter().zip(lengths).enumerate() {
            let was = i.checked_sub(first).and_then(|row| last?.rows.get(row)?.as_ref());
            match was {
                _ if id.is_none() => offsets.push(0),
                Some((_, place)) => offsets.push(*place),
                None => {
                    offsets.push(u32::try_from(at).unwrap_or(u32::MAX));
                    at += u64::from(*length) + 1;
                }
            }
        }
        let end = match last {
            Some(last) => last.names_end.into(),
            None => at + export_rows::room_for_names(at),
        };
        Ok(DynStr::with_places(head, (offsets, lengths), end, tail)?)
    }

    /// Imports and what can be found here, in no particular order, from all names.
    fn choose(&self) -> Chosen {
        let n = self.symbols.list.len();
        let parts = par::runs("choose dynamic symbols", self.parallel, n, ALL_RUN, |run| {
            let mut chosen = Chosen::default();
            run.for_each(|i| self.choose_one(SymbolId(i as u32), &mut chosen));
            chosen
        });
        let mut all = Chosen::default();
        let (mut imports, mut found) = (Vec::with_capacity(parts.len()), Vec::with_capacity(parts.len()));
        for mut part in parts {
            imports.push(part.imports);
            found.push(part.found);
            all.foreign.append(&mut part.foreign);
        }
        all.imports = par::concat("join imports", self.parallel, imports);
        all.found = par::concat("join exports", self.parallel, found);
        all
    }

    #[inline]
    fn choose_one(&self, id: SymbolId, chosen: &mut Chosen) {
        let flags = self.symbols[id].flags();
        if flags & (symbol_flags::EXPORTED | symbol_flags::PREEMPTIBLE) == 0 {
            return;
        }
        if flags
            & (symbol_flags::EXPORTED | symbol_flags::NEEDS | symbol_flags::USED | symbol_flags::STRONG_REF)
            == 0
        {
            return;
        }
        let entry = self.resolved.names.get(id);
        let shared = flags & symbol_flags::KIND == symbol_flags::SHARED;
        let here = flags & (symbol_flags::NEEDS_COPY | symbol_flags::NEEDS_CANONICAL_PLT) != 0
            && flags & symbol_flags::PREEMPTIBLE != 0;
        if flags & symbol_flags::EXPORTED != 0 || here {
            chosen.found.push(Placed::new(id, entry, flags));
            if shared {
                chosen.foreign.push(id);
            }
        } else if flags & symbol_flags::NEEDS != 0 || flags & self.used() != 0 && (shared || self.shared) {
            chosen.imports.push(Placed::new(id, entry, flags));
        }
    }

    /// Flags of which any says that a reference counts, also if it needs nothing.
    fn used(&self) -> u32 {
        symbol_flags::USED | strong_use(self.options.sections.gc_sections)
    }

    /// Puts symbols in the order of their definitions, and looks at their names. The hashes are for so many
    /// buckets.
    fn measure(&self, list: Vec<Placed>, buckets: u32) -> Vec<Named> {
        let names = &self.resolved.names;
        let list = definition_order::sort(list, names, self.parallel);
        par::list("measure and hash names", self.parallel, list.len(), RUN, |run| {
            run.map(|i| {
                if let Some(next) = list.get(i + ENTRY_AHEAD) {
                    names.prefetch(next.id);
                }
                if let Some(next) = list.get(i + TEXT_AHEAD) {
                    prefetch(names.get(next.id).name, 0);
                }
                let id = list[i].id;
                let name = plain(names.get(id).name);
                let hash = gnu_hash(name);
                let hashed = Hashed { hash, bucket: bucket(hash, buckets) };
                Named { id, length: name.len() as u32, hashed }
            })
        })
    }

    /// Makes the numbers of symbols those that they have behind spare ones, and gives what has taken these its own.
    fn number_spares(&self, symbols: &[SymbolId], index_of: &[AtomicU32]) {
        if self.spares.count == 0 {
            return;
        }
        for id in symbols.iter().filter(|id| id.is_some()) {
            index_of[id.index()].fetch_add(self.spares.count, Ordering::Relaxed);
        }
        let ids = (0..).zip(&self.spares.ids).filter(|(_, id)| id.is_some());
        for (number, id) in ids.filter(|(number, _)| self.spares.own(*number).is_none()) {
            index_of[id.index()].store(self.spares.symbol(number), Ordering::Relaxed);
        }
    }

    fn join(&self, imports: &[Named], found: &[Named]) -> Ordered {
        let index_of: Vec<AtomicU32> = zeroed::sparse(self.symbols.list.len());
        let n = imports.len() + found.len();
        let at = |i: usize| imports.get(i).unwrap_or_else(|| &found[i - imports.len()]);
        let number = |i: usize| {
            let id = at(i).id;
            if id.is_some() {
                index_of[id.index()].store(i as u32 + 1, Ordering::Relaxed);
            }
            id
        };
        let symbols = par::list("number dynamic symbols", self.parallel, n, RUN, |run| run.map(number));
        let length = |i: usize| at(i).length;
        let lengths = par::list("lengths of names", self.parallel, n, RUN, |run| run.map(length));
        Ordered { symbols, lengths, index_of }
    }

    /// Of all of `.dynsym`, the null symbol included.
    fn sysv_hashes(&self, symbols: &[SymbolId], lengths: &[u32]) -> Vec<u32> {
        let names = &self.resolved.names;
        let hash = |i: usize| {
            // The null symbol comes first.
            let Some(i) = i.checked_sub(1) else { return sysv_hash(b"") };
            if symbols[i].is_none() {
                return sysv_hash::SPARE;
            }
            if let Some(&next) = symbols.get(i + TEXT_AHEAD).filter(|next| next.is_some()) {
                prefetch(names.get(next).name, 0);
            }
            sysv_hash(&names.get(symbols[i]).name[..lengths[i] as usize])
        };
        let mut hashes =
            par::list("hash names for .hash", self.parallel, symbols.len() + 1, RUN, |run| run.map(hash));
        // Nobody looks for them.
        hashes.splice(1..1, std::iter::repeat_n(0, self.spares.count as usize));
        hashes
    }

    fn dynamic_strings(&self, needed: &[u32], strtab: &mut StringTable) -> Vec<(u64, u32)> {
        let options = self.options;
        let mut strings: Vec<(u64, u32)> = Vec::new();
        for name in &options.dynamic.filter {
            strings.push((DT_FILTER, strtab.add(name.as_bytes())));
        }
        for name in &options.dynamic.auxiliary {
            strings.push((DT_AUXILIARY, strtab.add(name.as_bytes())));
        }
        if !options.dynamic.rpath.is_empty() {
            let tag = if options.dynamic.disable_new_dtags { DT_RPATH } else { DT_RUNPATH };
            strings.push((tag, strtab.add(options.dynamic.rpath.join(":").as_bytes())));
        }
        for &dso in needed {
            strings.push((DT_NEEDED, strtab.add(self.resolved.shared[dso as usize].soname)));
        }
        if let Some(soname) = &options.dynamic.soname {
            strings.push((DT_SONAME, strtab.add(soname.as_bytes())));
        }
        // Libraries that audit themselves are audited as dependencies of the output.
        let mut depaudit: Vec<&[u8]> = options.dynamic.depaudit.iter().map(|name| name.as_bytes()).collect();
        depaudit.extend(needed.iter().filter_map(|&dso| self.resolved.shared[dso as usize].audit));
        let audit: Vec<&[u8]> = options.dynamic.audit.iter().map(|name| name.as_bytes()).collect();
        for (tag, list) in [(DT_AUDIT, audit), (DT_DEPAUDIT, depaudit)] {
            if !list.is_empty() {
                strings.push((tag, strtab.add(&list.join(&b':'))));
            }
        }
        strings
    }

    /// `foreign` are positions in `symbols`, ascending.
    #[allow(clippy::type_complexity)]
    fn versions(
        &self,
        symbols: &[SymbolId],
        foreign: &[u32],
        needed: &[u32],
        head: &mut StringTable,
    ) -> Result<(Vec<u16>, Option<Verdef>, Option<Verneed>), VersionError> {
        let verdef = if self.exports.definitions.is_empty() {
            None
        } else {
            let output = self.options.output.path.file_name().map(|n| n.as_encoded_bytes()).unwrap_or(b"");
            let base = self.options.dynamic.soname.as_ref().map_or(output, |s| s.as_bytes());
            Some(build_verdef(base, &self.exports.definitions, head, self.machine.target.format)?)
        };
        let first = verdef.as_ref().map_or(2, |v| v.count as u16 + 1);
        let (bound, needs) = self.needed_versions(symbols, foreign, needed, first);
        let verneed = build_verneed(&needs, first, head, self.machine.target.format)?;
        let verneed = (verneed.count > 0).then_some(verneed);
        if verdef.is_none() && verneed.is_none() {
            return Ok((Vec::new(), None, None));
        }
        let version = |i: usize| match i.checked_sub(1) {
            Some(i) if symbols[i].is_none() => VER_NDX_LOCAL,
            Some(i) => self.exports.version(symbols[i]),
            None => VER_NDX_LOCAL,
        };
        let n = symbols.len() + 1;
        let mut versym = par::list("version indices", self.parallel, n, RUN, |run| run.map(version));
        for (position, version) in bound {
            versym[position as usize + 1] = version;
        }
        self.hide_unversioned(symbols, &mut versym);
        versym.splice(1..1, self.spares.versions());
        Ok((versym, verdef, verneed))
    }

    /// `foo@` beside `foo@@V` is for code that was linked before there were versions; who asks for a version
    /// does not mean it.
    fn hide_unversioned(&self, symbols: &[SymbolId], versym: &mut [u16]) {
        if self.resolved.unversioned.is_empty() {
            return;
        }
        let bare: HashSet<SymbolId> = self.resolved.unversioned.iter().map(|pair| pair.0).collect();
        for (id, version) in symbols.iter().zip(&mut versym[1..]) {
            if bare.contains(id) && *version == VER_NDX_GLOBAL {
                *version |= VERSYM_HIDDEN;
            }
        }
    }

    /// The version index of each symbol that is bound to a version of another module, and those versions.
    fn needed_versions(
        &self,
        symbols: &[SymbolId],
        foreign: &[u32],
        needed: &[u32],
        first: u16,
    ) -> (Vec<(u32, u16)>, Vec<VersionNeed<'a>>) {
        let mut needs: Vec<VersionNeed> = needed
            .iter()
            .map(|&dso| VersionNeed { file: self.resolved.shared[dso as usize].soname, versions: Vec::new() })
            .collect();
        let mut places: HashMap<(usize, &[u8]), usize> = HashMap::new();
        // The position of each symbol that needs a version, that in needs, and that in its versions.
        let mut wanted: Vec<(u32, usize, usize)> = Vec::new();
        for &position in foreign {
            let id = symbols[position as usize];
            let Some((dso, version)) = self.import_version(id) else { continue };
            let Ok(need) = needed.binary_search(&dso) else { continue };
            let versions = &mut needs[need].versions;
            let weak = !self.symbols[id].has(strong_use(self.options.sections.gc_sections));
            let at = *places.entry((need, version)).or_insert_with(|| {
                versions.push((version, true));
                versions.len() - 1
            });
            versions[at].1 &= weak;
            wanted.push((position, need, at));
        }
        if self.options.relocs.relr_glibc_dep {
            require(&mut needs, PACKED);
        }
        if self.options.dynamic.mark_plt {
            require(&mut needs, MARKED_PLT);
        }
        let count = |dso: &u32| self.resolved.shared[*dso as usize].versions.len();
        if self.spares.count > 0 && needed.iter().map(count).sum::<usize>() < MANY_VERSIONS {
            // What is called later may be of any version; who has taken a spare entry asks for none here.
            for (need, dso) in needs.iter_mut().zip(needed) {
                let offered = self.resolved.shared[*dso as usize].versions.iter().skip(2).flatten();
                let known: HashSet<&[u8]> = need.versions.iter().map(|version| version.0).collect();
                need.versions.extend(offered.filter(|name| !known.contains(*name)).map(|name| (*name, true)));
            }
        }
        let mut start = vec![first];
        for need in &needs {
            start.push(start[start.len() - 1] + need.versions.len() as u16);
        }
        let bound = wanted.into_iter().map(|(position, need, at)| (position, start[need] + at as u16));
        (bound.collect(), needs)
    }

    /// The shared object and the version by which symbol `id` is bound.
    fn import_version(&self, id: SymbolId) -> Option<(u32, &'a [u8])> {
        if self.symbols[id].kind() != symbol_flags::SHARED {
            return None;
        }
        let entry = self.resolved.names.get(id);
        let index = self.resolved.index_of_file[entry.file().index()];
        Some((index, self.resolved.shared[index as usize].version_name(entry.sym())?))
    }
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let count = sizes.plan.dynsym.as_ref()?.count();
        let format = sizes.format();
        let entsize = format.size::<Sym>();
        let header = Header { name: b".dynsym", kind: SHT_DYNSYM, flags: SHF_ALLOC, entsize };
        Spec::own(header, format.word(), count as u64 * entsize).map(Spec::dispensable)
    }

    /// The null symbol and those that are spare are local.
    fn links(&self, plan: &Plan) -> Option<Links> {
        let locals = plan.dynsym.as_ref().map_or(1, |dynsym| dynsym.spares.locals());
        Links::with(ChunkKind::DynStr, Info::Number(locals))
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let dynsym = at.contents().dynsym.into_iter();
        dynsym.for_each(|d| dynamic::write_dynsym(at.image(), d, at.entry(at.format().size::<Sym>()), out));
    }
}

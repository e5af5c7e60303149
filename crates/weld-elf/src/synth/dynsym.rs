//! `.dynsym`, `.dynstr`, the hash tables and the version tables: one plan for all, because the order
//! of the first decides the bytes of the others.
//!
//! Order: the null symbol; imports; then everything that other modules may find here (exports,
//! copies, canonical PLT entries), grouped by bucket of the GNU hash table.
//!
//! Specification: gABI chapter 5 ("Hash Table", "Dynamic Section"), LSB "Symbol Versioning".

use std::collections::HashMap;

use super::gnu_hash::{GnuHash, gnu_hash};
use super::strtab::StringTable;
use super::sysv_hash::SysvHash;
use super::versions::{Verdef, Verneed, VersionNeed, build_verdef, build_verneed};
use crate::elf::*;
use crate::ids::*;
use crate::options::{HashStyle, Options};
use crate::resolve::Resolved;
use crate::resolve::exports::Exports;
use crate::resolve::names::{Entry, Rank};
use crate::resolve::symbols::{Symbols, sym};

/// glibc's loader refuses `DT_RELR` in a file that does not need this version of its C library, so
/// that older ones, which do not know packed relocations, refuse the file by its version.
fn require_relr(needs: &mut [VersionNeed]) {
    const MARK: &[u8] = b"GLIBC_ABI_DT_RELR";
    let glibc = |need: &&mut VersionNeed| {
        need.file.starts_with(b"libc.so.") && need.versions.iter().any(|v| v.0.starts_with(b"GLIBC_2."))
    };
    if let Some(libc) = needs.iter_mut().find(glibc)
        && !libc.versions.iter().any(|v| v.0 == MARK)
    {
        libc.versions.push((MARK, false));
    }
}

/// Where a symbol is defined: file and index, whatever its rank.
fn place(entry: &Entry) -> u64 {
    entry.best & ((1 << 60) - 1) | u64::from(entry.best == u64::MAX) << 60
}

/// Everything the dynamic sections are written from.
pub struct DynSym {
    /// `.dynsym` entry `i + 1`.
    pub symbols: Vec<SymbolId>,
    /// Offset of each name in `.dynstr`.
    pub names: Vec<u32>,
    index_of: Vec<u32>,
    pub strtab: StringTable,
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
        self.index_of.get(id.index()).copied().unwrap_or(0)
    }

    pub fn count(&self) -> usize {
        self.symbols.len() + 1
    }
}

pub struct Planner<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub symbols: &'c Symbols,
    pub exports: &'c Exports<'a>,
    pub options: &'c Options,
    pub gc: bool,
}

impl<'a> Planner<'_, 'a> {
    pub fn plan(&self) -> Result<DynSym, String> {
        let needed = self.needed();
        let (imports, mut found) = self.collect();
        let mut strtab = StringTable::new();
        let strings = self.dynamic_strings(&needed, &mut strtab);
        let hashes: Vec<u32> = found.iter().map(|&id| gnu_hash(self.name(id))).collect();
        let gnu = matches!(self.options.hash_style, HashStyle::Gnu | HashStyle::Both);
        let (gnu_plan, order) = GnuHash::plan(&hashes, imports.len() as u32 + 1);
        if gnu {
            found = order.into_iter().map(|i| found[i as usize]).collect();
        }
        let mut symbols = imports;
        symbols.append(&mut found);
        let mut index_of = vec![0; self.symbols.list.len()];
        for (i, id) in symbols.iter().enumerate() {
            index_of[id.index()] = i as u32 + 1;
        }
        strtab.reserve(symbols.iter().map(|&id| self.name(id).len() + 1).sum());
        let names: Vec<u32> = symbols.iter().map(|&id| strtab.append(self.name(id))).collect();
        let sysv = matches!(self.options.hash_style, HashStyle::Sysv | HashStyle::Both);
        let all_names = || std::iter::once(&b""[..]).chain(symbols.iter().map(|&id| self.name(id)));
        let sysv_hash = sysv.then(|| SysvHash::plan(all_names()));
        let (versym, verdef, verneed) = self.versions(&symbols, &needed, &mut strtab)?;
        if strtab.too_large() {
            return Err(".dynstr is larger than 4 GiB".into());
        }
        let gnu_hash = gnu.then_some(gnu_plan);
        Ok(DynSym {
            symbols,
            names,
            index_of,
            strtab,
            versym,
            verdef,
            verneed,
            gnu_hash,
            sysv_hash,
            needed,
            strings,
        })
    }

    /// The name without a version.
    fn name(&self, id: SymbolId) -> &'a [u8] {
        let name = self.resolved.names.get(id).name;
        match memchr::memchr(b'@', name) {
            Some(at) if at > 0 => &name[..at],
            _ => name,
        }
    }

    /// A library named under `--as-needed` is needed if a live relocation refers to it, not weakly.
    fn needed(&self) -> Vec<u32> {
        let mut used = vec![false; self.resolved.shared.len()];
        for (id, entry) in self.resolved.names.iter() {
            let symbol = &self.symbols[id];
            if symbol.kind() == sym::SHARED && symbol.has(sym::USED_STRONG) && entry.rank() == Rank::Provided
            {
                used[self.resolved.index_of_file[entry.file().index()] as usize] = true;
            }
        }
        let mut needed: Vec<u32> = Vec::new();
        for (i, dso) in self.resolved.shared.iter().enumerate() {
            // A library that was found under two paths is one library.
            let twice = || needed.iter().any(|&n| self.resolved.shared[n as usize].soname == dso.soname);
            if (!dso.as_needed || used[i]) && !twice() {
                needed.push(i as u32);
            }
        }
        needed
    }

    /// Imports, and what can be found here, each in the order of files.
    fn collect(&self) -> (Vec<SymbolId>, Vec<SymbolId>) {
        let (mut imports, mut found) = (Vec::new(), Vec::new());
        for (id, entry) in self.resolved.names.iter() {
            let flags = self.symbols[id].flags();
            let here =
                flags & (sym::NEEDS_COPY | sym::NEEDS_CANONICAL_PLT) != 0 && flags & sym::PREEMPTIBLE != 0;
            if flags & sym::EXPORTED != 0 || here {
                found.push((place(entry), id));
            } else if flags & sym::PREEMPTIBLE != 0 && flags & sym::NEEDS != 0 {
                imports.push((place(entry), id));
            }
        }
        (self.in_order(imports), self.in_order(found))
    }

    /// In the order of their definitions; what nothing defines by name.
    fn in_order(&self, mut list: Vec<(u64, SymbolId)>) -> Vec<SymbolId> {
        let name = |id: SymbolId| self.resolved.names.get(id).name;
        list.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| name(a.1).cmp(name(b.1))));
        list.into_iter().map(|(_, id)| id).collect()
    }

    fn dynamic_strings(&self, needed: &[u32], strtab: &mut StringTable) -> Vec<(u64, u32)> {
        let options = self.options;
        let mut strings: Vec<(u64, u32)> = Vec::new();
        for name in &options.auxiliary {
            strings.push((DT_AUXILIARY, strtab.add(name.as_bytes())));
        }
        for name in &options.filter {
            strings.push((DT_FILTER, strtab.add(name.as_bytes())));
        }
        for &dso in needed {
            strings.push((DT_NEEDED, strtab.add(self.resolved.shared[dso as usize].soname)));
        }
        if let Some(soname) = &options.soname {
            strings.push((DT_SONAME, strtab.add(soname.as_bytes())));
        }
        if !options.rpath.is_empty() {
            let tag = if options.disable_new_dtags { DT_RPATH } else { DT_RUNPATH };
            strings.push((tag, strtab.add(options.rpath.join(":").as_bytes())));
        }
        for (tag, list) in [(DT_AUDIT, &options.audit), (DT_DEPAUDIT, &options.depaudit)] {
            if !list.is_empty() {
                strings.push((tag, strtab.add(list.join(":").as_bytes())));
            }
        }
        strings
    }

    #[allow(clippy::type_complexity)]
    fn versions(
        &self,
        symbols: &[SymbolId],
        needed: &[u32],
        strtab: &mut StringTable,
    ) -> Result<(Vec<u16>, Option<Verdef>, Option<Verneed>), String> {
        let verdef = if self.exports.definitions.is_empty() {
            None
        } else {
            let output = self.options.output.file_name().map(|n| n.as_encoded_bytes()).unwrap_or(b"");
            let base = self.options.soname.as_ref().map_or(output, |s| s.as_bytes());
            Some(build_verdef(base, &self.exports.definitions, strtab).map_err(|e| e.to_string())?)
        };
        let first = verdef.as_ref().map_or(2, |v| v.count as u16 + 1);
        let (versym, needs) = self.needed_versions(symbols, needed, first);
        let verneed = build_verneed(&needs, first, strtab).map_err(|e| e.to_string())?;
        let verneed = (verneed.count > 0).then_some(verneed);
        if verdef.is_none() && verneed.is_none() {
            return Ok((Vec::new(), None, None));
        }
        Ok((versym, verdef, verneed))
    }

    fn needed_versions(
        &self,
        symbols: &[SymbolId],
        needed: &[u32],
        first: u16,
    ) -> (Vec<u16>, Vec<VersionNeed<'a>>) {
        let mut needs: Vec<VersionNeed> = needed
            .iter()
            .map(|&dso| VersionNeed { file: self.resolved.shared[dso as usize].soname, versions: Vec::new() })
            .collect();
        let mut places: HashMap<(usize, &[u8]), usize> = HashMap::new();
        // (position in needs, position in its versions) of each symbol that needs a version.
        let mut wanted: Vec<Option<(usize, usize)>> = Vec::with_capacity(symbols.len());
        for &id in symbols {
            let symbol = &self.symbols[id];
            let place = self.import_version(id).and_then(|(dso, version)| {
                let need = needed.binary_search(&dso).ok()?;
                let versions = &mut needs[need].versions;
                let weak = !symbol.has(sym::USED_STRONG);
                let at = *places.entry((need, version)).or_insert_with(|| {
                    versions.push((version, true));
                    versions.len() - 1
                });
                versions[at].1 &= weak;
                Some((need, at))
            });
            wanted.push(place);
        }
        if self.options.relr_glibc_dep {
            require_relr(&mut needs);
        }
        let mut start = vec![first];
        for need in &needs {
            start.push(start[start.len() - 1] + need.versions.len() as u16);
        }
        let mut versym = vec![VER_NDX_LOCAL];
        versym.extend(symbols.iter().zip(&wanted).map(|(&id, place)| match place {
            Some((need, at)) => start[*need] + *at as u16,
            None => self.exports.version(id),
        }));
        (versym, needs)
    }

    /// The shared object and the version by which symbol `id` is bound.
    fn import_version(&self, id: SymbolId) -> Option<(u32, &'a [u8])> {
        if self.symbols[id].kind() != sym::SHARED {
            return None;
        }
        let entry = self.resolved.names.get(id);
        let index = self.resolved.index_of_file[entry.file().index()];
        Some((index, self.resolved.shared[index as usize].version_name(entry.sym())?))
    }
}

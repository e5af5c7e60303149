//! Names that other modules see: rows of `.dynsym`, and what of other tables leads to them.
//!
//! Names that come take rows that a full link has left ([`crate::sections::export_rows`]), those that go leave their
//! own, and no name gets the row of another one before the next full link. If any comes or goes, both hash tables are
//! made anew from the rows; else only values and sizes are written.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use weld_common::diag::DiagSink;
use weld_common::io::spare;

use super::{LastLink, Left, Patch, View, format};
use crate::arch::{self, Machine};
use crate::elf::*;
use crate::input::object::Object;
use crate::job::Job;
use crate::mode::Mode;
use crate::options::{Options, UndefinedVersion};
use crate::relink::full_link_reason::{Changed, Why};
use crate::relink_state::excerpt::Common;
use crate::relink_state::keys;
use crate::relink_state::mentions::{manner, visibility};
use crate::relink_state::new_names::NewNames;
use crate::relink_state::outline::exports_by_itself;
use crate::relink_state::rewrite_section::{self, Missing};
use crate::relink_state::rows::{AddedName, OutputRow};
use crate::symbols::exports::{Rules, Said};
use crate::symbols::symbol_flags;
use crate::symbols::version_scripts::Scripts;
use crate::synth::gnu_hash::{GnuHash, bucket, buckets_in, gnu_hash};
use crate::synth::symbol_record::Record;
use crate::synth::sysv_hash::{self, SysvHash};

/// A definition that other modules see.
pub struct Exported {
    dynamic: u32,
    text: Vec<u8>,
    symbol: Sym,
}

impl From<rewrite_section::Exported<'_>> for Exported {
    fn from(one: rewrite_section::Exported) -> Exported {
        Exported { dynamic: one.dynamic, text: one.text.to_vec(), symbol: one.symbol }
    }
}

/// What options and scripts say of new names.
pub struct Seen<'s> {
    options: &'s Options,
    mode: Mode,
    scripts: Scripts,
    /// They cannot be read.
    is_wrong: bool,
}

impl<'s> Seen<'s> {
    pub fn new(job: &'s Job, common: &Common, machine: Machine) -> Seen<'s> {
        let sink = DiagSink::new();
        let mode = Mode::new(job.options, machine, common.has_shared());
        let scripts = match exports_by_itself(job.options) {
            true => Scripts::read(job.options, job.store, Vec::new(), &sink),
            false => Scripts::default(),
        };
        Seen { options: job.options, mode, scripts, is_wrong: !sink.finish().is_empty() }
    }

    pub fn rules(&self) -> NewRules<'_> {
        let sink = DiagSink::new();
        let (rules, _) = self.scripts.rules(&sink, |_| false);
        let is_wrong = self.is_wrong || !sink.finish().is_empty();
        NewRules { seen: self, rules, is_wrong }
    }

    /// Whether a script misses a name that is not defined any more.
    fn misses(&self, name: &[u8]) -> bool {
        self.options.symbols.undefined_version != UndefinedVersion::Allow
            && self.scripts.versions.exact_globals().any(|(_, pattern)| pattern.text == name)
    }
}

pub struct NewRules<'r> {
    seen: &'r Seen<'r>,
    rules: Rules<'r>,
    is_wrong: bool,
}

impl NewRules<'_> {
    /// Who sees a name that is defined in a manner, in bits.
    pub fn of(&self, name: &[u8], said: u8) -> Option<u32> {
        let options = self.seen.options;
        let symbols = &options.symbols;
        let is_function = [&symbols.init, &symbols.fini].iter().any(|known| known.as_bytes() == name);
        if self.is_wrong || is_function || name.is_empty() {
            return None;
        }
        if visibility(said) == STV_HIDDEN || !exports_by_itself(options) {
            return Some(0);
        }
        let is_function = said >> manner::TYPE & 7 == STT_FUNC;
        let kind = if is_function { symbol_flags::FUNC } else { symbol_flags::OBJECT };
        let is_weak = said & manner::BINDING == manner::WEAK;
        let said = Said { name, flags: symbol_flags::DEFINED | kind, is_weak };
        Some(self.rules.of_new(options, &self.seen.mode, &said).0)
    }

    fn version(&self, name: &[u8]) -> u16 {
        (self.rules.version_of)(name).unwrap_or(VER_NDX_GLOBAL)
    }
}

/// Where the tables are.
struct Tables<'t> {
    symbols: &'t OutputRow,
    names: &'t OutputRow,
    gnu_hash: &'t OutputRow,
    hash: Option<&'t OutputRow>,
    versions: Option<&'t OutputRow>,
}

impl<'t> Tables<'t> {
    fn find(common: &'t Common) -> Option<Tables<'t>> {
        let of_kind = |kind: u32| common.outputs().iter().find(|out| out.kind == kind);
        Some(Tables {
            symbols: of_kind(SHT_DYNSYM)?,
            names: common.output(b".dynstr")?,
            gnu_hash: of_kind(SHT_GNU_HASH)?,
            hash: of_kind(SHT_HASH),
            versions: of_kind(SHT_GNU_VERSYM),
        })
    }

    fn symbol(&self, left: &View, row: u32) -> Option<Sym> {
        let at = u64::from(row) * Sym::SIZE as u64;
        let bytes = left.read(self.symbols.offset + at, Sym::SIZE).filter(|_| at < self.symbols.size)?;
        bytes.first_chunk().map(|bytes| Sym(*bytes))
    }
}

/// Where a symbol has its name.
const NAME: std::ops::Range<usize> = 0..4;

/// A symbol with its name at `name`.
fn named(symbol: Sym, name: u32) -> Sym {
    let mut bytes = symbol.0;
    bytes[NAME].copy_from_slice(&name.to_le_bytes());
    Sym(bytes)
}

/// Gives rows to new names that others see: to those of `objects`, which have changed, by their rows. A row is not taken
/// from a name that is gone.
///
/// # Errors
/// If the image is not what it was; or the row of the object whose name has none.
pub fn give_rows(
    left: &View,
    common: &Common,
    objects: &[(u32, Object)],
    names: &mut NewNames,
) -> Result<Result<(), u32>, Why> {
    let is_without = |name: &AddedName| name.seen & symbol_flags::EXPORTED != 0 && name.dynamic == 0;
    let rows = common.export_rows();
    if rows.is_empty() || !names.added.iter().any(is_without) {
        return Ok(Ok(()));
    }
    let tables = Tables::find(common).ok_or(Why::Image)?;
    let hash = tables.gnu_hash;
    let size = usize::try_from(hash.size).map_err(|_| Why::Image)?;
    let table = left.read(hash.offset, size).ok_or(Why::Image)?;
    let runs = buckets_in(&table, rows.start).ok_or(Why::Image)?;
    let mut texts: HashMap<u128, &[u8]> = HashMap::new();
    for (_, object) in objects {
        let text = |symbol| object.symbol_name(symbol);
        let texts_of = (object.first_global..object.syms.len() as u32).map(text);
        texts.extend(texts_of.map(|text| (keys::hash(text), text)));
    }
    let mut taken: HashSet<u32> = names.added.iter().map(|name| name.dynamic).collect();
    for number in &names.gone {
        taken.insert(common.name(left.tables, *number)?.dynamic);
    }
    let count = u32::try_from(runs.len()).map_err(|_| Why::Image)?;
    for name in names.added.iter_mut().filter(|name| is_without(name)) {
        let Some(text) = texts.get(&name.hash) else { return Ok(Err(name.input)) };
        let run = bucket(gnu_hash(text), count) as usize;
        let start = *runs.get(run).ok_or(Why::Image)?;
        let end = runs.get(run + 1).copied().unwrap_or(rows.len() as u32);
        let mut found = None;
        for row in (start..end).map(|row| rows.start + row) {
            if !taken.contains(&row) && tables.symbol(left, row).ok_or(Why::Image)?.st_name() == 0 {
                found = Some(row);
                break;
            }
        }
        let Some(row) = found else { return Ok(Err(name.input)) };
        taken.insert(row);
        name.dynamic = row;
    }
    Ok(Ok(()))
}

/// Adds what tables for the loader have otherwise.
///
/// # Errors
/// Why a full link is needed.
pub fn write(job: &Job, last: &LastLink, names: &NewNames, patch: &mut Patch) -> Result<(), Why> {
    let exports = std::mem::take(&mut patch.exports);
    let (left, common) = last.view(job)?;
    let rows = common.export_rows();
    if rows.is_empty() {
        return Ok(());
    }
    let tables = Tables::find(&common).ok_or(Why::Image)?;
    let unknown = |path: &Path, missing| Why::Object(path.to_owned(), Changed::Unknown(missing));
    let mut gone = Vec::new();
    for number in &names.gone {
        let row = common.name(left.tables, *number)?.dynamic;
        if rows.contains(&row) && tables.symbol(&left, row).ok_or(Why::Image)?.st_name() != 0 {
            gone.push(row);
        }
    }
    let mut come = Vec::new();
    for (path, one) in exports.iter().flat_map(|(path, list)| list.iter().map(move |one| (path, one))) {
        if !rows.contains(&one.dynamic) {
            return Err(unknown(path, Missing::Place));
        }
        let there = tables.symbol(&left, one.dynamic).ok_or(Why::Image)?;
        if there.st_name() == 0 {
            come.push((path, one));
            continue;
        }
        let name = [&one.text[..], &[0]].concat();
        if !left.has(tables.names.offset + u64::from(there.st_name()), &name) {
            return Err(unknown(path, Missing::Place));
        }
        let symbol = named(one.symbol, there.st_name());
        if symbol.0 != there.0 {
            let at = tables.symbols.offset + u64::from(one.dynamic) * Sym::SIZE as u64;
            patch.writes.push((at, symbol.0.to_vec()));
        }
    }
    if gone.is_empty() && come.is_empty() {
        return Ok(());
    }
    let header = left.read(0, Ehdr::SIZE).ok_or(Why::Image)?;
    let machine = arch::of_file(&header).ok_or(Why::Image)?;
    let seen = Seen::new(job, &common, machine);
    let rules = seen.rules();
    let mut whole = Whole::read(&left, &common, &tables).ok_or(Why::Image)?;
    // What is known to have other values is in the patch already.
    for (path, list) in &exports {
        for one in list.iter().filter(|one| one.dynamic != 0) {
            let row = (one.dynamic - rows.start) as usize;
            let there = whole.rows.get_mut(row).ok_or_else(|| unknown(path, Missing::Place))?;
            if there.st_name() != 0 {
                *there = named(one.symbol, there.st_name());
            }
        }
    }
    let any = || exports.first().map_or(PathBuf::new(), |(path, _)| path.clone());
    for row in gone {
        let name = whole.leave(row).ok_or(Why::Image)?;
        if seen.misses(&name) {
            return Err(Why::Object(any(), Changed::Names));
        }
    }
    for (path, one) in come {
        let version = rules.version(&one.text);
        let is_taken = whole.take(one.dynamic, (&one.text, one.symbol, version));
        is_taken.ok_or_else(|| unknown(path, Missing::Exports))?;
    }
    patch.writes.retain(|(offset, _)| {
        !(tables.symbols.offset..tables.symbols.offset + tables.symbols.size).contains(offset)
    });
    let writes = whole.writes(&left, (&common, &tables), machine).ok_or(Why::Image)?;
    let image = last.image;
    for (offset, bytes) in writes {
        let mut there = vec![0; bytes.len()];
        spare::read_exact_at(image, &mut there, offset).map_err(|_| Why::Image)?;
        let parts = (0u64..).zip(bytes.chunks(PART).zip(there.chunks(PART)));
        parts.for_each(|(part, (new, was))| _ = patch.add(offset + part * PART as u64, new, was));
    }
    Ok(())
}

/// Bytes of a table that are compared in one go: what is between two that differ is written, too.
const PART: usize = 256;

/// The tables that are made anew.
struct Whole {
    /// The number of the first row.
    first: u32,
    rows: Vec<Sym>,
    /// Their version indices, if there are any.
    versions: Vec<u16>,
    /// Where runs start among the rows.
    runs: Vec<u32>,
    /// What `.dynstr` has from one byte before the names on, and where that is.
    names: Vec<u8>,
    names_at: u32,
}

impl Whole {
    fn read(left: &View, common: &Common, tables: &Tables) -> Option<Whole> {
        let (rows, names) = (common.export_rows(), common.dynamic_names());
        let size = |count: u64, each: usize| usize::try_from(count).ok()?.checked_mul(each);
        let is_in = |out: &OutputRow, end: u64| (end <= out.size).then_some(());
        is_in(tables.symbols, u64::from(rows.end) * Sym::SIZE as u64)?;
        let at = tables.symbols.offset + u64::from(rows.start) * Sym::SIZE as u64;
        let bytes = left.read(at, size(rows.len() as u64, Sym::SIZE)?)?;
        let symbols = bytes.as_chunks::<{ Sym::SIZE }>().0.iter().map(|bytes| Sym(*bytes)).collect();
        let mut versions = Vec::new();
        if let Some(out) = tables.versions {
            is_in(out, u64::from(rows.end) * 2)?;
            let bytes = left.read(out.offset + u64::from(rows.start) * 2, size(rows.len() as u64, 2)?)?;
            versions = bytes.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect();
        }
        is_in(tables.names, names.end.into())?;
        let names_at = names.start.checked_sub(1)?;
        let text = left.read(
            tables.names.offset + u64::from(names_at),
            size(u64::from(names.end.checked_sub(names_at)?), 1)?,
        )?;
        let hash = tables.gnu_hash;
        Some(Whole {
            first: rows.start,
            rows: symbols,
            versions,
            runs: buckets_in(&left.read(hash.offset, size(hash.size, 1)?)?, rows.start)?,
            names: text,
            names_at,
        })
    }

    /// The name of a row, if it is not spare.
    fn name(&self, row: usize) -> Option<&[u8]> {
        let at = self.rows.get(row)?.st_name().checked_sub(self.names_at).filter(|at| *at > 0)?;
        let rest = self.names.get(at as usize..)?;
        rest.get(..memchr::memchr(0, rest)?)
    }

    /// Has a row be spare, and returns its name.
    fn leave(&mut self, row: u32) -> Option<Vec<u8>> {
        let row = row.checked_sub(self.first)? as usize;
        let name = self.name(row)?.to_vec();
        let at = (self.rows[row].st_name() - self.names_at) as usize;
        self.names[at..at + name.len()].fill(0);
        self.rows[row] = Record::nothing().make(0).0;
        if let Some(version) = self.versions.get_mut(row) {
            *version = VER_NDX_LOCAL;
        }
        Some(name)
    }

    /// Has a row be a name's.
    fn take(&mut self, row: u32, (name, symbol, version): (&[u8], Sym, u16)) -> Option<()> {
        let row = row.checked_sub(self.first)? as usize;
        let at = gap(&self.names, name.len())?;
        self.names[at..at + name.len()].copy_from_slice(name);
        *self.rows.get_mut(row)? = named(symbol, self.names_at + at as u32);
        if let Some(known) = self.versions.get_mut(row) {
            *known = version;
        }
        Some(())
    }

    /// All tables.
    fn writes(
        &self,
        left: &View,
        (common, tables): (&Common, &Tables),
        machine: Machine,
    ) -> Option<Vec<(u64, Vec<u8>)>> {
        let format = format(left).ok()?;
        let mut writes = Vec::new();
        let row = |size: u64| u64::from(self.first) * size;
        let symbols = self.rows.iter().flat_map(|symbol| symbol.0).collect();
        writes.push((tables.symbols.offset + row(Sym::SIZE as u64), symbols));
        writes.push((tables.names.offset + u64::from(self.names_at), self.names.clone()));
        if let Some(out) = tables.versions {
            let bytes = self.versions.iter().flat_map(|version| version.to_le_bytes()).collect();
            writes.push((out.offset + row(2), bytes));
        }
        let names: Vec<Option<&[u8]>> = (0..self.rows.len()).map(|row| self.name(row)).collect();
        let hashes: Vec<Option<u32>> = names.iter().map(|name| name.map(gnu_hash)).collect();
        let table = GnuHash::of_rows(format, &hashes, &self.runs, self.first);
        let mut bytes = vec![0; usize::try_from(tables.gnu_hash.size).ok()?];
        (table.size() == tables.gnu_hash.size).then_some(())?;
        table.write(0, &mut bytes);
        writes.push((tables.gnu_hash.offset, bytes));
        if let Some(out) = tables.hash {
            let mut hashes = vec![0; 1 + common.spares() as usize];
            for row in hashes.len() as u32..self.first {
                let at = tables.symbol(left, row)?.st_name().checked_sub(self.names_at)?;
                let rest = self.names.get(at as usize..)?;
                hashes.push(sysv_hash::sysv_hash(rest.get(..memchr::memchr(0, rest)?)?));
            }
            hashes.extend(names.iter().map(|name| name.map_or(sysv_hash::SPARE, sysv_hash::sysv_hash)));
            let table = SysvHash::plan(format, machine.facts().hash_word, (hashes, common.spares()));
            let mut bytes = vec![0; usize::try_from(out.size).ok()?];
            (table.size() == out.size).then_some(())?;
            table.write(&mut bytes);
            writes.push((out.offset, bytes));
        }
        Some(writes)
    }
}

/// Where a name of so many bytes may go among others, each of which ends with a zero.
fn gap(names: &[u8], length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(zero) = memchr::memchr(0, names.get(at..)?) {
        let start = at + zero;
        let end = names[start..].iter().position(|byte| *byte != 0).map_or(names.len(), |end| start + end);
        if end - start >= length + 2 {
            return Some(start + 1);
        }
        at = end;
    }
    None
}

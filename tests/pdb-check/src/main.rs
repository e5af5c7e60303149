//! Whether PDBs hold together, said by `ms-pdb`, which Microsoft keeps and which shares nothing with weld's writer:
//!
//! - streams with names, `/names` with the table of its strings' hashes, source files, the linker's module and its section groups;
//! - types and ids: all records can be read, refer only to records before them, are in the buckets that their contents ask for, and the list of
//!   offsets that debuggers jump by is right;
//! - global symbols and publics: all are found by name through their hash tables, publics by address, too;
//! - modules: symbols can be read and their scopes are closed, lines are about files and code that there are;
//! - contributions: in order, apart, and found by binary search.
//!
//! `pdb-check FILE...` prints a line for each file that is right, and ends with the first thing that is not.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use ms_pdb::codeview::types::visitor::{IndexVisitor, visit_type_indexes_in_record_slice};
use ms_pdb::dbi::section_contrib::SectionContributionsSubstream;
use ms_pdb::lines::{LinesSubsection, SubsectionKind};
use ms_pdb::names::NameIndex;
use ms_pdb::syms::{SymIter, SymKind};
use ms_pdb::tpi::hash::{hash_type_record, is_udt_anon_name};
use ms_pdb::types::{ItemId, TypeIndex, TypesIter};
use ms_pdb::{Pdb, Stream};

fn main() -> Result<()> {
    for path in std::env::args_os().skip(1) {
        let shown = Path::new(&path).display().to_string();
        let said = check(Path::new(&path)).with_context(|| shown.clone())?;
        println!("{shown}: {said}");
    }
    Ok(())
}

fn check(path: &Path) -> Result<String> {
    let pdb = Pdb::open(path)?;
    for (name, stream) in pdb.named_streams().iter() {
        pdb.read_stream_to_vec(*stream).with_context(|| format!("stream {name}"))?;
    }
    let names = names(&pdb)?;
    let types = types(&pdb, Stream::TPI).context("types")?;
    let ids = types_of_ids(&pdb, types).context("ids")?;
    let (globals, publics) = globals(&pdb)?;
    let (modules, symbols, lines) = modules(&pdb)?;
    pdb.linker_module()?;
    ensure!(!pdb.section_headers()?.is_empty(), "there are no section headers");
    pdb.coff_groups()?;
    Ok(format!(
        "{types} types, {ids} ids, {globals} globals, {publics} publics, {modules} modules with {symbols} symbols and {lines} lines, {names} names"
    ))
}

/// Strings of `/names`, each of which is found by its hash.
fn names(pdb: &Pdb) -> Result<usize> {
    let names = pdb.names()?;
    let hashes = names.hashes();
    let mut found = 0;
    for (at, index) in hashes.iter().enumerate().filter(|(_, index)| index.get() != 0) {
        let text = names.get_string(NameIndex(index.get()))?;
        let mut place = ms_pdb::hash::hash_mod_u32(text, hashes.len() as u32) as usize;
        // Whoever looks a string up goes on until a place is free.
        while place != at {
            ensure!(hashes[place].get() != 0, "the string {text} is not found by its hash");
            place = (place + 1) % hashes.len();
        }
        found += 1;
    }
    Ok(found)
}

/// Each index that a record refers to.
struct Before {
    own: u32,
    /// Where the other list of records ends, if it comes first.
    others: Option<u32>,
    wrong: Option<u32>,
}

impl IndexVisitor for &mut Before {
    fn type_index(
        &mut self,
        _: usize,
        value: TypeIndex,
    ) -> Result<(), ms_pdb::codeview::parser::ParserError> {
        if value.0 >= self.others.unwrap_or(self.own) {
            self.wrong = Some(value.0);
        }
        Ok(())
    }

    fn item_id(&mut self, _: usize, value: ItemId) -> Result<(), ms_pdb::codeview::parser::ParserError> {
        if value >= self.own {
            self.wrong = Some(value);
        }
        Ok(())
    }
}

fn types(pdb: &Pdb, stream: Stream) -> Result<u32> {
    records(pdb, stream, None)
}

fn types_of_ids(pdb: &Pdb, types: u32) -> Result<u32> {
    records(pdb, Stream::IPI, Some(0x1000 + types))
}

fn records(pdb: &Pdb, stream: Stream, others: Option<u32>) -> Result<u32> {
    let list = pdb.read_tpi_or_ipi_stream(stream)?;
    let Some(header) = list.header() else { bail!("there is no header") };
    let of_hashes = header.hash_stream_index.get().context("there are no hashes")?;
    let of_hashes = pdb.read_stream_to_vec(of_hashes)?;
    let part = |start: i32, len: u32| {
        let start = usize::try_from(start)?;
        of_hashes.get(start..start + len as usize).context("a table of hashes lies outside its stream")
    };
    let hashes = part(header.hash_value_buffer_offset.get(), header.hash_value_buffer_length.get())?;
    let offsets = part(header.index_offset_buffer_offset.get(), header.index_offset_buffer_length.get())?;
    let buckets = header.num_hash_buckets.get();
    let bytes = list.type_records_bytes();
    let first = list.type_index_begin().0;
    let mut starts = Vec::new();
    let mut iter = TypesIter::new(bytes);
    loop {
        let at = bytes.len() - iter.rest().len();
        let Some(record) = iter.next() else { break };
        let own = first + starts.len() as u32;
        starts.push(at as u32);
        let whole = &bytes[at..bytes.len() - iter.rest().len()];
        let parsed = record.parse().with_context(|| format!("record {own:#x}"))?;
        let mut before = Before { own, others, wrong: None };
        visit_type_indexes_in_record_slice(record.kind, record.data, &mut before)?;
        if let Some(wrong) = before.wrong {
            bail!("record {own:#x} refers to {wrong:#x}");
        }
        // LLVM, which weld follows, and this reader disagree about what has no name at all.
        if parsed.name().is_some_and(is_udt_anon_name) {
            continue;
        }
        let hash = hash_type_record(record.kind, whole, record.data)? % buckets;
        let said = hashes.chunks_exact(4).nth((own - first) as usize).context("a hash is missing")?;
        let said = u32::from_le_bytes(said.try_into()?);
        ensure!(
            said == hash,
            "record {own:#x} ({:?}) has the hash {said:#x} instead of {hash:#x}",
            record.kind
        );
    }
    ensure!(iter.rest().is_empty(), "{} bytes behind record {} are none", iter.rest().len(), starts.len());
    ensure!(
        starts.len() as u32 == list.num_types(),
        "{} records instead of {}",
        starts.len(),
        list.num_types()
    );
    for pair in offsets.chunks_exact(8) {
        let number = u32::from_le_bytes(pair[..4].try_into()?);
        let at = u32::from_le_bytes(pair[4..].try_into()?);
        ensure!(starts.get((number - first) as usize) == Some(&at), "record {number:#x} is not at {at:#x}");
    }
    Ok(starts.len() as u32)
}

fn globals(pdb: &Pdb) -> Result<(usize, usize)> {
    let (gss, gsi, psi) = (pdb.gss()?, pdb.gsi()?, pdb.psi()?);
    psi.check_consistency(gss).context("addresses of publics")?;
    let (mut globals, mut publics) = (0, 0);
    for symbol in gss.iter_syms() {
        symbol.parse()?;
        let Some(name) = ms_pdb::globals::get_global_symbol_name(symbol.kind, symbol.data)? else { continue };
        if symbol.kind == SymKind::S_PUB32 {
            publics += 1;
            let public = symbol.parse_as::<ms_pdb::syms::Pub>()?;
            ensure!(
                psi.find_symbol_by_name(gss, name)?.is_some(),
                "the public {name} is not found by its name"
            );
            let at = public.offset_segment();
            let found = psi.find_symbol_by_addr(gss, at.segment(), at.offset())?;
            let is_it = found.is_some_and(|(found, beyond)| beyond == 0 && found.offset_segment() == at);
            ensure!(is_it, "the public {name} is not found at its address");
        } else {
            globals += 1;
            ensure!(gsi.find_symbol(gss, name)?.is_some(), "the symbol {name} is not found by its name");
        }
    }
    let in_tables: usize = [gsi.names(), psi.names()].map(|table| table.iter(gss).count()).iter().sum();
    ensure!(in_tables == globals + publics, "{in_tables} symbols in the tables, of {}", globals + publics);
    Ok((globals, publics))
}

/// Counts modules, symbols and lines.
fn modules(pdb: &Pdb) -> Result<(usize, usize, usize)> {
    let dbi = pdb.read_dbi_stream()?;
    let contributions = dbi.section_contributions()?;
    contributions_in_order(&contributions)?;
    let sources = dbi.sources()?;
    ensure!(sources.iter_sources().count() > 0, "there are no source files");
    let (mut count, mut symbols, mut lines) = (0, 0, 0);
    for module in pdb.modules()?.iter() {
        count += 1;
        let name = module.module_name();
        let Some(stream) = pdb.read_module_stream(&module)? else { continue };
        symbols += scopes(stream.full_sym_data()?).with_context(|| format!("symbols of {name}"))?;
        let data = stream.c13_line_data();
        let files = data.find_checksums();
        for part in data.subsections().filter(|part| part.kind == SubsectionKind::LINES) {
            let part = LinesSubsection::parse(part.data)?;
            let (section, at) = (part.contribution.segment.get(), part.contribution.offset.get());
            // Whose it is says nothing: compilers also tell lines of functions of which another object's copy is kept.
            contributions.find(section, at as i32).context("lines are outside all contributions")?;
            for block in part.blocks() {
                let file = files.as_ref().context("there are lines and no files")?;
                let file = file.get_file(block.header.file_index.get())?;
                ensure!(!pdb.get_name(file.name())?.is_empty(), "a source file of {name} has no name");
                lines += block.lines().len();
            }
        }
    }
    Ok((count, symbols, lines))
}

/// Counts symbols, of which those that begin a scope say where it ends.
fn scopes(bytes: &[u8]) -> Result<usize> {
    let mut open: Vec<(usize, u32)> = Vec::new();
    let mut count = 0;
    let mut iter = SymIter::for_module_syms(bytes);
    loop {
        let at = bytes.len() - iter.rest().len();
        let Some(symbol) = iter.next() else { break };
        count += 1;
        symbol.parse().with_context(|| format!("{:?} at {at:#x}", symbol.kind))?;
        if symbol.kind.starts_scope() {
            let word = |at: usize| {
                symbol.data.get(at..at + 4).map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            };
            let (parent, end) = word(0).zip(word(4)).context("a scope is too short")?;
            let outer = open.last().map_or(0, |(at, _)| *at as u32);
            ensure!(parent == outer, "{:?} at {at:#x} is in {parent:#x} instead of {outer:#x}", symbol.kind);
            open.push((at, end));
        } else if symbol.kind.ends_scope() {
            let (start, end) = open.pop().context("a scope ends that has not begun")?;
            ensure!(end as usize == at, "the scope at {start:#x} ends at {at:#x}, not {end:#x}");
        }
    }
    ensure!(open.is_empty() && iter.rest().is_empty(), "scopes are open, or bytes are left");
    Ok(count)
}

fn contributions_in_order(list: &SectionContributionsSubstream) -> Result<()> {
    for pair in list.contribs.windows(2) {
        let place = |i: usize| (pair[i].section.get(), i64::from(pair[i].offset.get()));
        let (section, end) = (place(0).0, place(0).1 + i64::from(pair[0].size.get()));
        ensure!((section, end) <= place(1), "contributions lie on one another at {:?}", place(1));
    }
    for one in list.contribs.iter().filter(|one| one.size.get() > 0) {
        let last = one.offset.get() + one.size.get() - 1;
        let found = list.find(one.section.get(), last).map(|found| found.offset.get());
        ensure!(found == Some(one.offset.get()), "a contribution is not found");
    }
    Ok(())
}

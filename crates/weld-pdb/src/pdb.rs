//! The whole file: which streams there are, how long each is, what fills them.
//!
//! [`Pdb::plan`] knows every length before a byte is written, so the file is laid out once ([`crate::msf`])
//! and written by units in any order ([`crate::write`]).

use std::borrow::Cow;

use weld_common::diag::{Cause, DiagSink, Diagnostic};

use crate::codeview::Space;
use crate::dbi::{self, Dbi};
use crate::gsi::{self, Publics, Table};
use crate::input::Image;
use crate::msf::{self, Layout};
use crate::stream;
use crate::symbols::Symbols;
use crate::symbols::frames::ENTRY;
use crate::types::Types;
use crate::{info, injected};

/// Numbers of the other streams.
#[derive(Clone)]
pub struct Streams {
    pub globals: usize,
    pub publics: usize,
    pub records: usize,
    /// Hashes of types and of ids, if there are any.
    pub tpi_hash: Option<usize>,
    pub ipi_hash: Option<usize>,
    /// How many streams there are.
    count: usize,
    pub section_headers: usize,
    pub names: usize,
    /// Frames of functions, in the old format and the new one.
    pub fpo: Option<usize>,
    pub new_fpo: Option<usize>,
    /// The first of those that the image names, in its order.
    pub named: usize,
    /// Of each module; [`dbi::NO_STREAM`] if it has none.
    pub modules: Vec<u16>,
}

/// A PDB that can be written.
pub struct Pdb<'a> {
    pub(crate) types: &'a Types<'a>,
    pub(crate) symbols: &'a Symbols<'a>,
    pub(crate) image: &'a Image<'a>,
    pub(crate) streams: Streams,
    pub(crate) publics: Publics<'a>,
    pub(crate) globals: Table,
    pub(crate) dbi: Dbi,
    /// The info stream, `/names` before and after the names, the section table.
    pub(crate) info: Vec<u8>,
    pub(crate) names_frame: (Vec<u8>, Vec<u8>),
    pub(crate) section_headers: Vec<u8>,
    /// Streams with names: those of the image, then source files and their list.
    pub(crate) named: Vec<(String, Cow<'a, [u8]>)>,
    pub(crate) layout: Layout,
}

impl<'a> Pdb<'a> {
    /// Lays out the PDB of an image.
    ///
    /// # Errors
    /// If something is larger than the format allows. Pages that grow for the file to fit are a warning in
    /// `sink`.
    pub fn plan(
        types: &'a Types<'a>,
        symbols: &'a Symbols<'a>,
        image: &'a Image<'a>,
        parallel: bool,
        sink: &DiagSink,
    ) -> Result<Pdb<'a>, Diagnostic> {
        let named = named_streams(symbols, image);
        let streams = number_streams(types, symbols, image, named.len())?;
        let publics = Publics::new(image.publics, parallel)?;
        let globals = gsi::globals(symbols, publics.record_bytes(), parallel);
        let dbi_streams = dbi::Streams {
            globals: streams.globals as u16,
            publics: streams.publics as u16,
            records: streams.records as u16,
            section_headers: streams.section_headers as u16,
            fpo: streams.fpo.map_or(dbi::NO_STREAM, |stream| stream as u16),
            new_fpo: streams.new_fpo.map_or(dbi::NO_STREAM, |stream| stream as u16),
        };
        let dbi = Dbi::new(image, symbols, dbi_streams, &streams.modules, parallel)?;
        let mut names = vec![("/LinkInfo", LINK_INFO as u32), ("/names", streams.names as u32)];
        names.extend(
            named.iter().enumerate().map(|(i, (name, _))| (name.as_str(), (streams.named + i) as u32)),
        );
        let info = info::stream(&names);
        let mut pdb = Pdb {
            types,
            symbols,
            image,
            publics,
            globals,
            dbi,
            info,
            named,
            names_frame: symbols.strings.frame(),
            section_headers: dbi::section_headers(image),
            streams,
            layout: Layout::new(&[], msf::PAGE_SIZES[0]).expect("a file without streams"),
        };
        // Streams have room to grow in if symbols were read for it.
        let modules = &pdb.streams.modules;
        let first = modules.iter().filter(|&&stream| stream != dbi::NO_STREAM).min().copied();
        let last = modules.iter().filter(|&&stream| stream != dbi::NO_STREAM).max().copied();
        let of_modules = first.zip(last);
        let Streams { globals, publics, records, tpi_hash, ipi_hash, .. } = pdb.streams;
        let lists = [stream::TPI, stream::IPI, stream::DBI, globals, publics, records];
        let may_grow = |stream: usize| {
            let is_module = |(first, last): (u16, u16)| (first.into()..=last.into()).contains(&stream);
            let is_hash = [tpi_hash, ipi_hash].contains(&Some(stream));
            symbols.keeps && (lists.contains(&stream) || is_hash || of_modules.is_some_and(is_module))
        };
        pdb.layout = lay_out(&pdb.stream_lens()?, may_grow, image.page_size, sink)?;
        Ok(pdb)
    }

    /// Bytes of the file.
    pub fn file_len(&self) -> u64 {
        self.layout.file_len()
    }

    fn stream_lens(&self) -> Result<Vec<u32>, Diagnostic> {
        let Streams { globals, publics, records, tpi_hash, ipi_hash, section_headers, names, named, .. } =
            self.streams;
        let mut lens = vec![0u64; self.streams.count];
        lens[stream::INFO] = self.info.len() as u64;
        for (space, number, hash) in
            [(Space::Type, stream::TPI, tpi_hash), (Space::Id, stream::IPI, ipi_hash)]
        {
            lens[number] = self.types.stream_len(space).into();
            if let Some(hash) = hash {
                lens[hash] = self.types.hash_stream_len(space);
            }
        }
        lens[stream::DBI] = self.dbi.stream_len();
        lens[globals] = self.globals.len();
        lens[publics] = self.publics.stream_len();
        lens[records] = u64::from(self.publics.record_bytes()) + u64::from(self.symbols.global_bytes);
        lens[section_headers] = self.section_headers.len() as u64;
        let (header, table) = &self.names_frame;
        lens[names] = header.len() as u64 + u64::from(self.symbols.strings.len()) + table.len() as u64;
        if let Some(stream) = self.streams.fpo {
            lens[stream] = self.image.fpo.len() as u64;
        }
        if let Some(stream) = self.streams.new_fpo {
            lens[stream] = self.symbols.frame_count() * ENTRY as u64;
        }
        for (i, (_, bytes)) in self.named.iter().enumerate() {
            lens[named + i] = bytes.len() as u64;
        }
        for (module, &number) in self.symbols.scanned.iter().zip(&self.streams.modules) {
            if number != dbi::NO_STREAM {
                lens[usize::from(number)] = module.stream_len().into();
            }
        }
        let fits = |(i, len): (usize, u64)| {
            // The last value means that there is no such stream.
            u32::try_from(len).ok().filter(|&len| len < u32::MAX - 0xffff).ok_or_else(|| {
                Diagnostic::error(
                    Cause::PdbLimit,
                    format!("stream {i} of the PDB would have {len} bytes, of which 4 GiB fit"),
                )
            })
        };
        lens.into_iter().enumerate().map(fits).collect()
    }
}

/// A stream without contents that programs look for.
const LINK_INFO: usize = 5;

fn named_streams<'a>(symbols: &'a Symbols<'a>, image: &'a Image<'a>) -> Vec<(String, Cow<'a, [u8]>)> {
    let streams = image.streams.iter().map(|&(name, bytes)| (name.to_string(), Cow::Borrowed(bytes)));
    let mut named: Vec<_> = streams.collect();
    if !symbols.injected.is_empty() {
        named.push((injected::LIST.to_string(), injected::list(&symbols.injected).into()));
        named.extend(symbols.injected.iter().map(|file| (file.stream_name(), file.contents.into())));
    }
    named
}

fn number_streams(
    types: &Types,
    symbols: &Symbols<'_>,
    image: &Image<'_>,
    named_count: usize,
) -> Result<Streams, Diagnostic> {
    let first = LINK_INFO + 1;
    let mut next = first + 3;
    let mut number = |count: usize| {
        next += count;
        next - count
    };
    let has = |space: Space| types.count(space) > 0;
    let tpi_hash = has(Space::Type).then(|| number(1));
    let fpo = (!image.fpo.is_empty()).then(|| number(1));
    let section_headers = number(1);
    let new_fpo = (symbols.frame_count() > 0).then(|| number(1));
    let mut modules = Vec::with_capacity(symbols.scanned.len());
    for module in &symbols.scanned {
        // It is checked below that there are not too many.
        modules.push(if module.stream_len() == 0 { dbi::NO_STREAM } else { number(1) as u16 });
    }
    let (names, named) = (number(1), number(named_count));
    let ipi_hash = has(Space::Id).then(|| number(1));
    let count = number(0);
    if count > usize::from(dbi::NO_STREAM) {
        return Err(Diagnostic::error(
            Cause::PdbLimit,
            "a PDB has room for 65535 streams, and there are more modules",
        ));
    }
    Ok(Streams {
        globals: first,
        publics: first + 1,
        records: first + 2,
        tpi_hash,
        ipi_hash,
        count,
        section_headers,
        names,
        fpo,
        new_fpo,
        named,
        modules,
    })
}

fn lay_out(
    lens: &[u32],
    may_grow: impl Fn(usize) -> bool,
    wanted: u32,
    sink: &DiagSink,
) -> Result<Layout, Diagnostic> {
    let smallest = wanted.max(msf::PAGE_SIZES[0]);
    let layout = Layout::fit(lens, may_grow, smallest).map_err(|_| {
        let total: u64 = lens.iter().map(|&len| u64::from(len)).sum();
        Diagnostic::error(
            Cause::PdbLimit,
            format!("the PDB would have {total} bytes, which is more than the format allows"),
        )
    })?;
    let page = layout.page_size();
    if page > smallest {
        sink.warn(
            Cause::DebugInfo,
            format!("the PDB does not fit into pages of {smallest} bytes; it has pages of {page}"),
        );
    }
    Ok(layout)
}

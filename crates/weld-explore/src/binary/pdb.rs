//! What the PDB of a PE image tells: which object each run of bytes came with, what it was compiled from, and
//! the symbols, which an image of clang or MSVC does not have.
//!
//! An image names its PDB with a number that both have, so a PDB of another link is told apart. Objects are the
//! PDB's modules, and their bytes its section contributions. Functions have sizes there; anything else goes on
//! to the next symbol, or to the end of what its object brought there.
//!
//! PDBs are read by a library, through a [`Source`] that never gives more than the file has a few times over:
//! tables of damaged files may name the same page without end.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;

use object::read::Object as _;
use pdb2::{
    FallibleIterator, IdData, IdFinder, IdIndex, PdbInternalSectionOffset, Source, SourceLanguage,
    SourceSlice, SourceView, StreamIndex, SymbolData, SymbolTable,
};

use super::BinaryError;
use super::container::Container;
use super::origins::{Origin, Origins};
use crate::cover::{Claim, give_sizes};
use crate::model::Language;
use crate::unit;

/// How often over a file's bytes may be read. Streams share no pages; some are read more than once.
const MOST_READ: u64 = 8;

/// The place of the source file's name, and of its directory, among what a compiler says of a compilation
/// (LF_BUILDINFO).
const BUILD_DIRECTORY: usize = 0;
const BUILD_SOURCE: usize = 2;

/// The kinds of symbol records that are looked into (CodeView): functions, thunks, data and thread-local data of
/// modules, public names, and what they were compiled by and from. The others take no room, and the library is
/// not asked what they say: it trusts the lists in some of them.
mod kind {
    pub const THUNK32: u16 = 0x1102;
    pub const LDATA32: u16 = 0x110c;
    pub const GDATA32: u16 = 0x110d;
    pub const PUB32: u16 = 0x110e;
    pub const LPROC32: u16 = 0x110f;
    pub const GPROC32: u16 = 0x1110;
    pub const LTHREAD32: u16 = 0x1112;
    pub const GTHREAD32: u16 = 0x1113;
    pub const COMPILE2: u16 = 0x1116;
    pub const COMPILE3: u16 = 0x113c;
    pub const LPROC32_ID: u16 = 0x1146;
    pub const GPROC32_ID: u16 = 0x1147;
    pub const BUILDINFO: u16 = 0x114c;
    pub const LPROC32_DPC: u16 = 0x1155;
    pub const LPROC32_DPC_ID: u16 = 0x1156;

    pub const ALL: [u16; 15] = [
        THUNK32,
        LDATA32,
        GDATA32,
        PUB32,
        LPROC32,
        GPROC32,
        LTHREAD32,
        GTHREAD32,
        COMPILE2,
        COMPILE3,
        LPROC32_ID,
        GPROC32_ID,
        BUILDINFO,
        LPROC32_DPC,
        LPROC32_DPC_ID,
    ];
}

/// What a symbol record says, if it is of such a kind.
fn parse<'s>(symbol: &pdb2::Symbol<'s>) -> Option<SymbolData<'s>> {
    let is_meant = symbol.raw_bytes().len() > 2 && kind::ALL.contains(&symbol.raw_kind());
    is_meant.then(|| symbol.parse().ok()).flatten()
}

/// The PDB that an image names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Where it was when the image was linked.
    pub path: String,
    guid: [u8; 16],
    age: u32,
}

impl Named {
    /// The PDB that `image` names, if it is an image that names one.
    pub fn of(image: &[u8]) -> Option<Named> {
        let file = object::File::parse(image).ok()?;
        let info = file.pdb_info().ok()??;
        let path = String::from_utf8_lossy(info.path()).into_owned();
        Some(Named { path, guid: info.guid(), age: info.age() })
    }

    /// Whether `pdb` is that file.
    pub fn is(&self, pdb: &[u8]) -> bool {
        let matches = || {
            let mut pdb = pdb2::PDB::open(Bytes::new(pdb)).ok()?;
            let own = pdb.pdb_information().ok()?;
            let age = pdb.debug_information().ok()?.age().unwrap_or(own.age);
            // Without an age of its own the number is enough.
            Some(own.guid.to_bytes_le() == self.guid && (age == self.age || self.age == 0))
        };
        matches().unwrap_or(false)
    }
}

/// The DBI stream and its header: where the lengths of its parts stand, in the order of the parts. The last has the
/// numbers of other streams, of two bytes each.
const DBI_STREAM: StreamIndex = StreamIndex(3);
const DBI_HEADER: u64 = 64;
const DBI_PARTS: [usize; 7] = [24, 28, 32, 36, 40, 52, 48];

/// Among those numbers: the stream that says where code was before a tool moved it, after the link (OMAP).
const OMAP_TO_SOURCE: u64 = 3;

/// Looks at what the library relies on: that the parts of the DBI stream are in it.
fn check(dbi: &[u8]) -> Result<(), BinaryError> {
    let number = |at: usize| Some(u64::from(u32::from_le_bytes(*dbi.get(at..)?.first_chunk()?)));
    let lengths: Option<Vec<u64>> = DBI_PARTS.iter().map(|at| number(*at)).collect();
    let inside = |lengths: &Vec<u64>| DBI_HEADER + lengths.iter().sum::<u64>() <= dbi.len() as u64;
    let Some(lengths) = lengths.filter(inside) else {
        return Err(BinaryError::Pdb("its DBI stream is cut off".to_owned()));
    };
    let streams = DBI_HEADER + lengths[..6].iter().sum::<u64>();
    let omap = dbi[streams as usize..].get(OMAP_TO_SOURCE as usize * 2..).and_then(<[u8]>::first_chunk);
    let has_omap = lengths[6] >= (OMAP_TO_SOURCE + 1) * 2 && omap.is_some_and(|omap| *omap != [0xff; 2]);
    match has_omap {
        true => Err(BinaryError::Pdb("it is of an image that was rearranged after the link".to_owned())),
        false => Ok(()),
    }
}

/// The stream of texts and of what was compiled from what, and where the number of its first record stands.
const IDS_STREAM: StreamIndex = StreamIndex(4);
const IDS_FIRST: usize = 8;

/// Looks at what the library relies on: that numbers of records do not end in the middle of them.
fn check_ids(ids: &[u8]) -> Result<(), BinaryError> {
    let Some(first) = ids.get(IDS_FIRST..).and_then(<[u8]>::first_chunk) else { return Ok(()) };
    // No record has fewer than four bytes.
    match u32::from_le_bytes(*first).checked_add(ids.len() as u32 / 4) {
        Some(_) => Ok(()),
        None => Err(BinaryError::Pdb("its records have no numbers".to_owned())),
    }
}

/// What is read of a PDB.
pub struct Pdb {
    pub origins: Origins,
    /// The names of the symbols, one behind the other.
    names: Vec<u8>,
    /// Of each section, at which offset in it; a symbol is a range of the names.
    symbols: Vec<Vec<Claim<(usize, usize)>>>,
}

impl Pdb {
    /// Reads the PDB of an image.
    ///
    /// # Errors
    /// If it cannot be read, or the image names another one, or none.
    pub fn parse(pdb: &[u8], image: &[u8], container: &Container) -> Result<Pdb, BinaryError> {
        if !Named::of(image).is_some_and(|named| named.is(pdb)) {
            return Err(BinaryError::OtherPdb);
        }
        let damaged = |e: pdb2::Error| BinaryError::Pdb(e.to_string());
        let mut reader = Reader {
            container,
            pdb: pdb2::PDB::open(Bytes::new(pdb)).map_err(damaged)?,
            origins: Origins::default(),
            symbols: Found::default(),
        };
        let dbi = reader.pdb.raw_stream(DBI_STREAM).map_err(damaged)?;
        check(dbi.as_ref().map_or(&[], |dbi| dbi.as_slice()))?;
        if let Ok(Some(ids)) = reader.pdb.raw_stream(IDS_STREAM) {
            check_ids(ids.as_slice())?;
        }
        reader.read().map_err(damaged)?;
        let Reader { mut origins, symbols, .. } = reader;
        origins.sort();
        Ok(Pdb { symbols: symbols.by_section(container, &origins), names: symbols.names, origins })
    }

    /// The symbols of a section.
    pub fn symbols_of(&self, section: usize) -> impl Iterator<Item = Claim<&[u8]>> {
        self.symbols[section].iter().map(|claim| Claim {
            offset: claim.offset,
            size: claim.size,
            what: &self.names[claim.what.0..claim.what.1],
        })
    }
}

/// A place in an image: a section, by its number in the container, and an offset in it.
type Place = (usize, u64);

/// The symbols that were found.
#[derive(Default)]
struct Found {
    names: Vec<u8>,
    /// Where, how large (0: not known), and the name. Those that others can see go first.
    public: Vec<(Place, Range<usize>)>,
    own: Vec<(Place, u64, Range<usize>)>,
}

impl Found {
    fn name(&mut self, name: &[u8]) -> Range<usize> {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        start..self.names.len()
    }

    /// Public names are mangled, which says more; sizes are those of the functions in the modules.
    fn by_section(&self, container: &Container, origins: &Origins) -> Vec<Vec<Claim<(usize, usize)>>> {
        let mut lists: Vec<Vec<Claim<(usize, usize)>>> = vec![Vec::new(); container.sections.len()];
        let mut sizes: HashMap<Place, u64> = HashMap::new();
        for (place, size, _) in &self.own {
            let known = sizes.entry(*place).or_default();
            *known = (*known).max(*size);
        }
        let public: HashSet<Place> = self.public.iter().map(|(place, _)| *place).collect();
        for (place, name) in &self.public {
            let size = sizes.get(place).copied().unwrap_or(0);
            lists[place.0].push(Claim { offset: place.1, size, what: (name.start, name.end) });
        }
        for (place, size, name) in self.own.iter().filter(|(place, ..)| !public.contains(place)) {
            lists[place.0].push(Claim { offset: place.1, size: *size, what: (name.start, name.end) });
        }
        for (index, list) in lists.iter_mut().enumerate() {
            let section = &container.sections[index];
            list.sort_by_key(|claim| (claim.offset, std::cmp::Reverse(claim.size)));
            let open: Vec<bool> = list.iter().map(|claim| claim.size == 0).collect();
            give_sizes(list, section.memory.max(section.size));
            for (claim, _) in list.iter_mut().zip(open).filter(|(_, open)| *open) {
                let start = section.address.wrapping_add(claim.offset);
                if let Some(end) = origins.end_of(index, start) {
                    claim.size = claim.size.min(end.saturating_sub(start));
                }
            }
        }
        lists
    }
}

struct Reader<'c, 'f, 'p> {
    container: &'c Container<'f>,
    pdb: pdb2::PDB<'p, Bytes<'p>>,
    origins: Origins,
    symbols: Found,
}

/// What a module says of its compilation.
#[derive(Default)]
struct Compilation {
    language: Language,
    build: Option<IdIndex>,
}

impl Reader<'_, '_, '_> {
    fn read(&mut self) -> pdb2::Result<()> {
        let debug = self.pdb.debug_information()?;
        // Not there in stripped PDBs.
        let ids = self.pdb.id_information();
        let mut finder = ids.as_ref().ok().map(|ids| ids.finder());
        if let (Ok(ids), Some(finder)) = (&ids, &mut finder) {
            let mut all = ids.iter();
            while let Ok(Some(_)) = all.next() {
                finder.update(&all);
            }
        }
        let mut modules = debug.modules()?;
        while let Some(module) = modules.next()? {
            let compilation = self.module(&module)?;
            let (name, file) = (module.module_name(), module.object_file_name());
            let source = compilation.build.zip(finder.as_ref()).and_then(|(id, ids)| source(ids, id));
            self.origins.list.push(Origin {
                object: self.origins.list.len() as u32,
                archive: (!file.is_empty() && file != name).then(|| file.into_owned()),
                name: name.into_owned(),
                section: String::new(),
                source: source.unwrap_or_default(),
                language: compilation.language,
            });
        }
        let mut contributions = debug.section_contributions()?;
        while let Some(part) = contributions.next()? {
            let Some((section, offset)) = self.place(part.offset) else { continue };
            if part.module < self.origins.list.len() {
                let start = self.container.sections[section].address.wrapping_add(offset);
                self.origins.add(section, start, u64::from(part.size), part.module as u32);
            }
        }
        let globals = self.pdb.global_symbols()?;
        self.public(&globals)
    }

    fn public(&mut self, globals: &SymbolTable) -> pdb2::Result<()> {
        let mut symbols = globals.iter();
        while let Some(symbol) = symbols.next()? {
            if let Some(SymbolData::Public(public)) = parse(&symbol)
                && let Some(place) = self.place(public.offset)
            {
                let name = self.symbols.name(public.name.as_bytes());
                self.symbols.public.push((place, name));
            }
        }
        Ok(())
    }

    /// Takes the symbols of a module.
    fn module(&mut self, module: &pdb2::Module) -> pdb2::Result<Compilation> {
        let mut compilation = Compilation::default();
        let Some(info) = self.pdb.module_info(module)? else { return Ok(compilation) };
        let mut symbols = info.symbols()?;
        while let Some(symbol) = symbols.next()? {
            let Some(data) = parse(&symbol) else { continue };
            let (offset, size, name) = match data {
                SymbolData::Procedure(function) => (function.offset, function.len, function.name),
                SymbolData::Thunk(thunk) => (thunk.offset, u32::from(thunk.len), thunk.name),
                SymbolData::Data(data) => (data.offset, 0, data.name),
                SymbolData::ThreadStorage(data) => (data.offset, 0, data.name),
                SymbolData::CompileFlags(flags) => {
                    compilation.language = language(flags.language);
                    continue;
                }
                SymbolData::BuildInfo(build) => {
                    compilation.build = Some(build.id);
                    continue;
                }
                _ => continue,
            };
            if let Some(place) = self.place(offset).filter(|_| !name.is_empty()) {
                let name = self.symbols.name(name.as_bytes());
                self.symbols.own.push((place, u64::from(size), name));
            }
        }
        Ok(compilation)
    }

    /// Where that is in the image.
    fn place(&self, offset: PdbInternalSectionOffset) -> Option<Place> {
        let section = self.container.of_index.get(usize::from(offset.section)).copied().flatten()?;
        Some((section, u64::from(offset.offset)))
    }
}

/// The source file that a module was compiled from.
fn source(ids: &IdFinder, build: IdIndex) -> Option<String> {
    let IdData::BuildInfo(build) = ids.find(build).ok()?.parse().ok()? else { return None };
    let text = |at: usize| match ids.find(*build.arguments.get(at)?).ok()?.parse().ok()? {
        IdData::String(text) => Some(text.name.to_string().into_owned()),
        _ => None,
    };
    let name = text(BUILD_SOURCE).filter(|name| !name.is_empty())?;
    Some(unit::join(&text(BUILD_DIRECTORY).unwrap_or_default(), &name))
}

fn language(language: SourceLanguage) -> Language {
    match language {
        SourceLanguage::C => Language::C,
        SourceLanguage::Cpp => Language::Cpp,
        SourceLanguage::Fortran => Language::Fortran,
        SourceLanguage::Masm => Language::Assembly,
        SourceLanguage::ObjC | SourceLanguage::ObjCXX => Language::ObjectiveC,
        SourceLanguage::Swift => Language::Swift,
        SourceLanguage::Rust => Language::Rust,
        SourceLanguage::Go => Language::Go,
        SourceLanguage::D => Language::D,
        _ => Language::Unknown,
    }
}

/// A PDB in memory, for the library.
#[derive(Debug)]
struct Bytes<'p> {
    bytes: &'p [u8],
    /// How many more may be read.
    left: u64,
}

impl<'p> Bytes<'p> {
    fn new(bytes: &'p [u8]) -> Bytes<'p> {
        Bytes { bytes, left: (bytes.len() as u64).saturating_mul(MOST_READ) }
    }

    fn slice(&self, slice: &SourceSlice) -> Option<&'p [u8]> {
        let start = usize::try_from(slice.offset).ok()?;
        self.bytes.get(start..start.checked_add(slice.size)?)
    }
}

impl<'p> Source<'p> for Bytes<'p> {
    fn view(&mut self, slices: &[SourceSlice]) -> io::Result<Box<dyn SourceView<'p> + Send + Sync>> {
        let asked = slices.iter().fold(0u64, |sum, slice| sum.saturating_add(slice.size as u64));
        self.left = self.left.checked_sub(asked).ok_or(io::ErrorKind::InvalidData)?;
        let mut joined = Vec::with_capacity(asked as usize);
        for slice in slices {
            joined.extend_from_slice(self.slice(slice).ok_or(io::ErrorKind::UnexpectedEof)?);
        }
        Ok(Box::new(Stream(joined)))
    }
}

/// The pages of a stream, one behind the other. The library wants them to be nobody else's.
struct Stream(Vec<u8>);

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({} bytes)", self.0.len())
    }
}

impl SourceView<'_> for Stream {
    fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

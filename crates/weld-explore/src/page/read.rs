//! Reads what [`super::write`] has written: for comparisons, which may begin with a page.

use std::fmt;

use super::{FORMAT, order};
use crate::json::Value;
use crate::leb::{self, Encoding};
use crate::model::*;
use crate::names::{Name, Names};
use crate::words::Packed;
use crate::{gzip, septets};

/// Why a page cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageError {
    /// An element is missing, or is not closed.
    Absent(String),
    /// The description is no JSON, or lacks what must be there.
    Description,
    /// Another version of the format.
    Format(u64),
    /// A part that is not the text of data, no gzip stream, or too large.
    Packed(String),
    /// The list of names is none.
    Names,
    /// A column is missing, cut off, or refers to what is not there.
    Column(String),
    /// The pieces are not the whole file.
    Sum,
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageError::Absent(what) => write!(f, "the page has no element weld-{what}"),
            PageError::Description => f.write_str("the page's description is damaged"),
            PageError::Format(number) => {
                write!(f, "the page has format {number}, and this version of weld reads {FORMAT}")
            }
            PageError::Packed(what) => write!(f, "the page's part '{what}' is damaged"),
            PageError::Names => f.write_str("the page's list of names is damaged"),
            PageError::Column(what) => write!(f, "the page's column {what} is damaged"),
            PageError::Sum => f.write_str("the page is damaged: its pieces are not the whole file"),
        }
    }
}

impl std::error::Error for PageError {}

/// Whether a file is a page. A program may have the text of one in it.
pub fn is_page(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"<") && memchr::memmem::find(bytes, b"id=\"weld-meta\">").is_some()
}

/// The text of an element.
fn element<'p>(page: &'p [u8], name: &str) -> Result<&'p [u8], PageError> {
    let absent = || PageError::Absent(name.to_owned());
    let tag = format!("id=\"weld-{name}\">");
    let start = memchr::memmem::find(page, tag.as_bytes()).ok_or_else(absent)? + tag.len();
    let rest = &page[start..];
    Ok(&rest[..memchr::memmem::find(rest, b"</script>").ok_or_else(absent)?])
}

fn blob(page: &[u8], name: &str) -> Result<Vec<u8>, PageError> {
    let damaged = || PageError::Packed(name.to_owned());
    let packed = septets::get(element(page, name)?).ok_or_else(damaged)?;
    gzip::unpack(&packed).ok_or_else(damaged)
}

struct Reader<'m> {
    meta: &'m Value,
    blobs: Vec<(&'static str, Vec<u8>)>,
    names: usize,
}

/// A reader's answer.
type Column = Result<Vec<u64>, PageError>;

impl Reader<'_> {
    fn place(&self, name: &str) -> Option<&Value> {
        let (table, column) = name.split_once('.')?;
        let is = |entry: &&Value, key: &str, text: &str| entry.get(key).and_then(Value::text) == Some(text);
        let list = self.meta.get("columns")?.list();
        list.iter().find(|entry| is(entry, "table", table) && is(entry, "column", column))
    }

    /// `None` if the page has no such column.
    fn optional(&self, name: &str) -> Option<Column> {
        let place = self.place(name)?;
        Some(self.decode(place).ok_or_else(|| PageError::Column(name.to_owned())))
    }

    fn decode(&self, place: &Value) -> Option<Vec<u64>> {
        let number = |key| usize::try_from(place.get(key)?.number()?).ok();
        let blob = place.get("blob")?.text()?;
        let (_, bytes) = self.blobs.iter().find(|(name, _)| *name == blob)?;
        let offset = number("offset")?;
        let bytes = bytes.get(offset..offset.checked_add(number("bytes")?)?)?;
        leb::get(bytes, Encoding::find(place.get("encoding")?.text()?)?, number("count")?)
    }

    fn column(&self, name: &str) -> Column {
        self.optional(name).unwrap_or_else(|| Err(PageError::Column(name.to_owned())))
    }

    /// A column with a value for each of `rows` rows.
    fn rows(&self, name: &str, rows: usize) -> Column {
        self.column(name).and_then(|values| same(name, values, rows))
    }

    fn rows_or_zero(&self, name: &str, rows: usize) -> Column {
        self.optional(name).unwrap_or_else(|| Ok(vec![0; rows])).and_then(|values| same(name, values, rows))
    }

    /// The same, with numbers of names.
    fn of_names(&self, name: &str, values: Vec<u64>) -> Result<Vec<Name>, PageError> {
        let known = |value: u64| (value < self.names as u64).then_some(Name(value as u32));
        let list: Option<Vec<Name>> = values.into_iter().map(known).collect();
        list.ok_or_else(|| PageError::Column(name.to_owned()))
    }

    fn names_of(&self, name: &str, rows: usize) -> Result<Vec<Name>, PageError> {
        self.of_names(name, self.rows(name, rows)?)
    }
}

fn same(name: &str, values: Vec<u64>, rows: usize) -> Column {
    if values.len() == rows { Ok(values) } else { Err(PageError::Column(name.to_owned())) }
}

/// References to a table of `rows` rows.
fn refs(name: &str, values: Vec<u64>, rows: usize) -> Result<Vec<Ref>, PageError> {
    let list: Option<Vec<Ref>> = values.into_iter().map(|value| Ref::from_stored(value, rows)).collect();
    list.ok_or_else(|| PageError::Column(name.to_owned()))
}

/// Row numbers of a table of `rows` rows.
fn below(name: &str, values: Vec<u64>, rows: usize) -> Result<Vec<u32>, PageError> {
    let list: Option<Vec<u32>> =
        values.into_iter().map(|value| (value < rows as u64).then_some(value as u32)).collect();
    list.ok_or_else(|| PageError::Column(name.to_owned()))
}

/// The model that a page holds.
///
/// # Errors
/// If the page is damaged, or of another format.
pub fn read(page: &[u8]) -> Result<Model, PageError> {
    let meta = std::str::from_utf8(element(page, "meta")?).ok().and_then(Value::parse);
    let meta = meta.ok_or(PageError::Description)?;
    match meta.get("format").and_then(Value::number) {
        Some(FORMAT) => {}
        Some(other) => return Err(PageError::Format(other)),
        None => return Err(PageError::Description),
    }
    let about = about(&meta).ok_or(PageError::Description)?;
    let numbered = meta.get("words").and_then(Value::number).and_then(|count| usize::try_from(count).ok());
    let packed = Packed {
        words: blob(page, "words")?,
        numbered: numbered.ok_or(PageError::Description)?,
        codes: blob(page, "names")?,
    };
    let names = Names::parse(&packed, gzip::LARGEST as usize).ok_or(PageError::Names)?;
    let mut blobs = vec![("tables", blob(page, "tables")?)];
    match blob(page, "graph") {
        Ok(graph) => blobs.push(("graph", graph)),
        Err(PageError::Absent(_)) => {}
        Err(error) => return Err(error),
    }
    let reader = Reader { meta: &meta, blobs, names: names.count() };
    let mut model = Model { about, names, ..Model::default() };
    outputs(&reader, &mut model)?;
    objects(&reader, &mut model)?;
    pieces(&reader, &mut model)?;
    symbols(&reader, &mut model)?;
    libraries(&reader, &mut model)?;
    if reader.place("references.step").is_some() {
        model.graph = Some(graph(&reader, model.inputs.len())?);
    }
    let text = |value: &Value| value.get("output")?.text().map(str::to_owned);
    model.old = meta
        .get("old")
        .and_then(|old| Some(Old { output: text(old)?, file_size: old.get("file_size")?.number()? }));
    if model.covered() != model.about.file_size { Err(PageError::Sum) } else { Ok(model) }
}

fn about(meta: &Value) -> Option<About> {
    let text = |key| meta.get(key)?.text().map(str::to_owned);
    let saved = |key| meta.get("savings")?.get(key)?.number();
    Some(About {
        output: text("output")?,
        file_size: meta.get("file_size")?.number()?,
        format: if text("kind")? == "pe" { Format::Pe } else { Format::Elf },
        machine: text("machine")?,
        savings: Savings {
            comdat: saved("comdat"),
            icf: saved("icf"),
            merged_strings: saved("merged_strings"),
        },
    })
}

fn outputs(reader: &Reader, model: &mut Model) -> Result<(), PageError> {
    let rows = reader.column("output_sections.name")?.len();
    let names = reader.names_of("output_sections.name", rows)?;
    let [kinds, addresses, offsets, sizes] = ["kind", "address", "file_offset", "size"]
        .map(|column| reader.rows(&format!("output_sections.{column}"), rows));
    let (kinds, addresses, offsets, sizes) = (kinds?, addresses?, offsets?, sizes?);
    model.outputs = (0..rows)
        .map(|i| OutputSection {
            name: names[i],
            kind: Kind::ALL.get(kinds[i] as usize).copied().unwrap_or_default(),
            address: addresses[i],
            file_offset: offsets[i],
            size: sizes[i],
        })
        .collect();
    let archives = reader.column("archives.name")?;
    model.archives = reader.of_names("archives.name", archives)?;
    Ok(())
}

fn objects(reader: &Reader, model: &mut Model) -> Result<(), PageError> {
    let rows = reader.column("objects.name")?.len();
    let names = reader.names_of("objects.name", rows)?;
    let archives = refs("objects.archive", reader.rows("objects.archive", rows)?, model.archives.len())?;
    let sources = reader.names_of("objects.source", rows)?;
    let languages = reader.rows("objects.language", rows)?;
    let asked_by = refs("objects.asked_by", reader.rows_or_zero("objects.asked_by", rows)?, rows)?;
    let asked_for = reader.of_names("objects.asked_for", reader.rows_or_zero("objects.asked_for", rows)?)?;
    model.objects = (0..rows)
        .map(|i| Object {
            name: names[i],
            archive: archives[i],
            source: sources[i],
            language: Language::ALL.get(languages[i] as usize).copied().unwrap_or_default(),
            asked_by: asked_by[i],
            asked_for: asked_for[i],
        })
        .collect();
    let rows = reader.column("input_sections.name")?.len();
    let names = reader.names_of("input_sections.name", rows)?;
    let of = refs("input_sections.object", reader.rows("input_sections.object", rows)?, model.objects.len())?;
    let outputs = reader.rows("input_sections.output_section", rows)?;
    let outputs = below("input_sections.output_section", outputs, model.outputs.len())?;
    model.inputs = (0..rows)
        .map(|i| InputSection { name: names[i], symbol: Name::NONE, object: of[i], output: outputs[i] })
        .collect();
    Ok(())
}

/// For which symbols input sections are called: see [`super::symbol`].
fn symbols(reader: &Reader, model: &mut Model) -> Result<(), PageError> {
    const COLUMN: &str = "input_sections.symbol";
    let firsts = super::firsts(model);
    let symbols = reader.rows(COLUMN, model.inputs.len())?.into_iter().zip(firsts);
    let symbols = symbols
        .map(|(symbol, first)| if symbol == 1 { u64::from(first.0) } else { symbol.saturating_sub(1) });
    let symbols = reader.of_names(COLUMN, symbols.collect())?;
    model.inputs.iter_mut().zip(symbols).for_each(|(input, symbol)| input.symbol = symbol);
    Ok(())
}

fn pieces(reader: &Reader, model: &mut Model) -> Result<(), PageError> {
    let rows = reader.column("pieces.size")?.len();
    let column = |name: &str| reader.rows(&format!("pieces.{name}"), rows);
    let inputs = refs("pieces.input_section", column("input_section")?, model.inputs.len())?;
    let outputs = refs("pieces.output_section", column("output_section")?, model.outputs.len())?;
    let names = reader.names_of("pieces.name", rows)?;
    let sizes = column("size")?;
    let steps = column("memory_step")?;
    let memory: Vec<u64> = sizes.iter().zip(steps).map(|(size, step)| leb::unzigzag(*size, step)).collect();
    let sources = reader.names_of("pieces.source", rows)?;
    let instances = reader.names_of("pieces.instance", rows)?;
    let roles = column("role")?;
    let old_sizes = reader.rows_or_zero("pieces.old_size", rows)?;
    let old_memory = reader.rows_or_zero("pieces.old_memory", rows)?;
    model.pieces = (0..rows)
        .map(|i| Piece {
            input: inputs[i],
            output: outputs[i],
            name: names[i],
            size: sizes[i],
            memory: memory[i],
            source: sources[i],
            instance: instances[i],
            role: Role::ALL.get(roles[i] as usize).copied().unwrap_or_default(),
            old_size: old_sizes[i],
            old_memory: old_memory[i],
        })
        .collect();
    Ok(())
}

fn libraries(reader: &Reader, model: &mut Model) -> Result<(), PageError> {
    let Some(names) = reader.optional("libraries.name") else { return Ok(()) };
    let names = reader.of_names("libraries.name", names?)?;
    model.libraries = names.into_iter().map(|name| Library { name }).collect();
    let of = reader.column("imports.library")?;
    let rows = of.len();
    let of = refs("imports.library", of, model.libraries.len())?;
    let symbols = reader.names_of("imports.symbol", rows)?;
    let sections = reader.rows("imports.input_section", rows)?;
    let sections = refs("imports.input_section", sections, model.inputs.len())?;
    model.imports =
        (0..rows).map(|i| Import { library: of[i], symbol: symbols[i], section: sections[i] }).collect();
    Ok(())
}

fn graph(reader: &Reader, inputs: usize) -> Result<Graph, PageError> {
    let damaged = |name: &str| PageError::Column(name.to_owned());
    let counts = reader.rows("input_sections.references", inputs)?;
    let (start, to) = order::references(&counts, &reader.column("references.step")?)
        .filter(|(_, to)| to.iter().all(|to| (*to as usize) < inputs))
        .ok_or_else(|| damaged("references.step"))?;
    let sections = below("roots.input_section", reader.column("roots.input_section")?, inputs)?;
    let reasons = reader.names_of("roots.reason", sections.len())?;
    let symbols = reader.rows_or_zero("roots.symbol", sections.len())?;
    let symbols = reader.of_names("roots.symbol", symbols)?;
    let root = |((section, reason), symbol)| Root { section, reason, symbol };
    let roots = sections.into_iter().zip(reasons).zip(symbols).map(root).collect();
    Ok(Graph { start, to, roots })
}

#[cfg(test)]
mod tests;

//! A [`Model`] as a page: the template with the data in the place of its marker.
//!
//! The data are elements that browsers neither show nor run: a description in JSON, and blobs, each a gzip stream as
//! text ([`crate::septets`]). Nothing that a file names is anywhere else, so no name can become markup or a script.

mod order;
pub mod read;

use weld_common::{par, trace};

use crate::leb::{self, Encoding};
use crate::model::{Kind, Language, Model, Ref, Role};
use crate::names::Name;
use crate::{gzip, json, septets};

use order::Order;

/// What the template has where the data belong.
pub const MARKER: &str = "<!-- weld-data -->";

/// The version of the format, which a page can be read by.
pub const FORMAT: u64 = 4;

/// The page without data.
pub const TEMPLATE: &str = include_str!("../page/dist/explorer.html");

/// The parts that a page is in, so that the first picture need not wait for all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blob {
    Tables,
    Graph,
}

/// Columns of numbers, and what the description says of them.
#[derive(Default)]
struct Columns {
    tables: Vec<u8>,
    graph: Vec<u8>,
    /// Where in each of them columns end.
    ends: [Vec<usize>; 2],
    described: Vec<String>,
}

/// Appends a column; how it is stored, and the number of rows.
type Put<'m> = dyn Fn(&mut Vec<u8>) -> (Encoding, usize) + Sync + 'm;

/// A column that is to be written.
struct Column<'m> {
    blob: Blob,
    /// The table's and its own.
    name: &'static str,
    put: Box<Put<'m>>,
}

/// All columns, in their order.
#[derive(Default)]
struct Wanted<'m>(Vec<Column<'m>>);

impl<'m> Wanted<'m> {
    fn put<T: Sync>(
        &mut self,
        (blob, name): (Blob, &'static str),
        encoding: Encoding,
        rows: &'m [T],
        of: impl Fn(&T) -> u64 + Sync + 'm,
    ) {
        let put = Box::new(move |out: &mut Vec<u8>| leb::put(out, encoding, rows.iter().map(&of)));
        self.0.push(Column { blob, name, put });
    }

    /// A column of the tables.
    fn table<T: Sync>(
        &mut self,
        name: &'static str,
        encoding: Encoding,
        rows: &'m [T],
        of: impl Fn(&T) -> u64 + Sync + 'm,
    ) {
        self.put((Blob::Tables, name), encoding, rows, of);
    }

    fn graph<T: Sync>(
        &mut self,
        name: &'static str,
        encoding: Encoding,
        rows: &'m [T],
        of: impl Fn(&T) -> u64 + Sync + 'm,
    ) {
        self.put((Blob::Graph, name), encoding, rows, of);
    }

    /// A column of the graph that is no list of rows.
    fn graph_list(
        &mut self,
        name: &'static str,
        put: impl Fn(&mut Vec<u8>) -> (Encoding, usize) + Sync + 'm,
    ) {
        self.0.push(Column { blob: Blob::Graph, name, put: Box::new(put) });
    }

    fn write(&self, parallel: bool) -> Columns {
        let written = par::runs("write columns", parallel, self.0.len(), 1, |run| {
            let write = |column: &Column| {
                let mut bytes = Vec::new();
                let (encoding, count) = (column.put)(&mut bytes);
                (bytes, encoding, count)
            };
            self.0[run].iter().map(write).collect::<Vec<_>>()
        });
        let mut columns = Columns::default();
        let (mut tables, mut graph) = (Vec::new(), Vec::new());
        for (Column { blob, name, .. }, (column, encoding, count)) in
            self.0.iter().zip(written.into_iter().flatten())
        {
            let (list, blob) = match blob {
                Blob::Tables => (&mut tables, "tables"),
                Blob::Graph => (&mut graph, "graph"),
            };
            let (table, name) = name.split_once('.').unwrap_or((name, ""));
            columns.described.push(format!(
                "{{\"table\":\"{table}\",\"column\":\"{name}\",\"blob\":\"{blob}\",\"encoding\":\"{}\",\
                 \"offset\":{},\"bytes\":{},\"count\":{count}}}",
                encoding.word(),
                list.iter().map(Vec::len).sum::<usize>(),
                column.len()
            ));
            list.push(column);
        }
        let ends = |list: &Vec<Vec<u8>>| {
            let end = |end: &mut usize, column: &Vec<u8>| {
                *end += column.len();
                Some(*end)
            };
            list.iter().scan(0, end).collect()
        };
        columns.ends = [ends(&tables), ends(&graph)];
        columns.tables = par::concat("join columns", parallel, tables);
        columns.graph = par::concat("join columns", parallel, graph);
        columns
    }
}

fn number(name: Name) -> u64 {
    u64::from(name.0)
}

/// The names of the first pieces of input sections, by the model's rows.
fn firsts(model: &Model) -> Vec<Name> {
    let mut firsts = vec![Name::NONE; model.inputs.len()];
    for piece in model.pieces.iter().rev() {
        if let Some(row) = piece.input.row() {
            firsts[row] = piece.name;
        }
    }
    firsts
}

/// The symbol that an input section is called for, as a page has it: 0 for none, 1 for the name of its first piece, all
/// others are one more than their number.
fn symbol(name: Name, first: Name) -> u32 {
    match name {
        Name::NONE => 0,
        name if name == first => 1,
        Name(number) => number + 1,
    }
}

fn columns(model: &Model, parallel: bool) -> Columns {
    use Encoding::{Delta, DeltaRuns, Planes, Sparse, SparseRuns, Uleb, UlebRuns};
    let ordering = trace::stretch("order sections of the page");
    let order = &Order::new(model);
    let (inputs, references) =
        (order.sorted(&model.inputs), model.graph.as_ref().map(|graph| order.references(graph)));
    drop(ordering);
    let symbols: Vec<u32> =
        model.inputs.iter().zip(firsts(model)).map(|(row, first)| symbol(row.symbol, first)).collect();
    let symbols = &*order.sorted(&symbols);
    let mut columns = Wanted::default();
    let outputs = &model.outputs;
    columns.table("output_sections.name", Delta, outputs, |row| number(row.name));
    columns.table("output_sections.kind", Uleb, outputs, |row| row.kind as u64);
    columns.table("output_sections.address", Delta, outputs, |row| row.address);
    columns.table("output_sections.file_offset", Delta, outputs, |row| row.file_offset);
    columns.table("output_sections.size", Uleb, outputs, |row| row.size);
    columns.table("archives.name", Delta, &model.archives, |row| number(*row));
    let objects = &model.objects;
    columns.table("objects.name", Delta, objects, |row| number(row.name));
    columns.table("objects.archive", Sparse, objects, |row| row.archive.stored());
    columns.table("objects.source", Sparse, objects, |row| number(row.source));
    columns.table("objects.language", Uleb, objects, |row| row.language as u64);
    if objects.iter().any(|row| row.asked_by != Ref::NONE || !row.asked_for.is_none()) {
        columns.graph("objects.asked_by", Sparse, objects, |row| row.asked_by.stored());
        columns.graph("objects.asked_for", Sparse, objects, |row| number(row.asked_for));
    }
    let inputs = &*inputs;
    columns.table("input_sections.name", DeltaRuns, inputs, |row| number(row.name));
    columns.table("input_sections.symbol", UlebRuns, symbols, |number| u64::from(*number));
    columns.table("input_sections.object", SparseRuns, inputs, |row| row.object.stored());
    columns.table("input_sections.output_section", DeltaRuns, inputs, |row| u64::from(row.output));
    let pieces = &model.pieces;
    columns.table("pieces.input_section", SparseRuns, pieces, |row| order.reference(row.input).stored());
    columns.table("pieces.output_section", SparseRuns, pieces, |row| row.output.stored());
    columns.table("pieces.name", Sparse, pieces, |row| number(row.name));
    columns.table("pieces.size", Planes, pieces, |row| row.size);
    columns.table("pieces.memory_step", UlebRuns, pieces, |row| leb::zigzag(row.size, row.memory));
    columns.table("pieces.source", SparseRuns, pieces, |row| number(row.source));
    columns.table("pieces.instance", Sparse, pieces, |row| number(row.instance));
    columns.table("pieces.role", UlebRuns, pieces, |row| row.role as u64);
    if model.old.is_some() {
        columns.table("pieces.old_size", UlebRuns, pieces, |row| row.old_size);
        columns.table("pieces.old_memory", UlebRuns, pieces, |row| row.old_memory);
    }
    let (libraries, imports) = (&model.libraries, &model.imports);
    if !libraries.is_empty() || !imports.is_empty() {
        columns.graph("libraries.name", Delta, libraries, |row| number(row.name));
        columns.graph("imports.library", SparseRuns, imports, |row| row.library.stored());
        columns.graph("imports.symbol", Delta, imports, |row| number(row.symbol));
        columns.graph("imports.input_section", Sparse, imports, |row| order.reference(row.section).stored());
    }
    if let Some((graph, references)) = model.graph.as_ref().zip(references.as_ref()) {
        columns.graph_list("input_sections.references", |out| leb::put(out, Uleb, references.counts()));
        columns.graph_list("references.step", |out| {
            out.reserve(4 * references.len());
            leb::put(out, Planes, references.steps())
        });
        columns.graph("roots.input_section", Delta, &graph.roots, |row| u64::from(order.place(row.section)));
        columns.graph("roots.reason", DeltaRuns, &graph.roots, |row| number(row.reason));
        columns.graph("roots.symbol", SparseRuns, &graph.roots, |row| number(row.symbol));
    }
    columns.write(parallel)
}

/// The description.
fn meta(model: &Model, columns: &Columns, numbered: usize) -> String {
    let about = &model.about;
    let mut out = format!("{{\"format\":{FORMAT},\"weld\":\"{}\",\"output\":", env!("CARGO_PKG_VERSION"));
    json::string(&mut out, &about.output);
    out += &format!(",\"file_size\":{},\"kind\":\"{}\",\"machine\":", about.file_size, about.format.word());
    json::string(&mut out, &about.machine);
    out += &format!(",\"names\":{},\"words\":{numbered}", model.names.count());
    let mut words = |key: &str, words: &mut dyn Iterator<Item = &str>| {
        out += &format!(",\"{key}\":[");
        for (i, word) in words.enumerate() {
            out += if i > 0 { "," } else { "" };
            json::string(&mut out, word);
        }
        out.push(']');
    };
    words("kinds", &mut Kind::ALL.iter().map(|kind| kind.word()));
    words("roles", &mut Role::ALL.iter().map(|role| role.word()));
    words("languages", &mut Language::ALL.iter().map(|language| language.word()));
    let savings = [
        ("comdat", about.savings.comdat),
        ("icf", about.savings.icf),
        ("merged_strings", about.savings.merged_strings),
    ];
    let savings = savings.iter().filter_map(|(key, bytes)| Some(format!("\"{key}\":{}", (*bytes)?)));
    out += &format!(",\"savings\":{{{}}}", savings.collect::<Vec<_>>().join(","));
    if let Some(old) = &model.old {
        out += ",\"old\":{\"output\":";
        json::string(&mut out, &old.output);
        out += &format!(",\"file_size\":{}}}", old.file_size);
    }
    out += &format!(",\"columns\":[{}]}}", columns.described.join(","));
    out
}

/// The page; by several threads if `parallel`.
pub fn write(model: &Model, parallel: bool) -> Vec<u8> {
    write_to(TEMPLATE, model, parallel)
}

/// The same with another template, which has a [`MARKER`].
pub(crate) fn write_to(template: &str, model: &Model, parallel: bool) -> Vec<u8> {
    let (columns, names) = par::both(parallel, || columns(model, parallel), || model.names.packed(parallel));
    let (before, after) = template.split_once(MARKER).unwrap_or((template, ""));
    let meta = meta(model, &columns, names.numbered);
    let meta = format!("<script type=\"application/json\" id=\"weld-meta\">{meta}</script>\n").into_bytes();
    let blobs = [
        ("words", &names.words, &[][..]),
        ("names", &names.codes, &[]),
        ("tables", &columns.tables, &columns.ends[0]),
        ("graph", &columns.graph, &columns.ends[1]),
    ];
    let element = |(name, bytes, cuts): &(&str, &Vec<u8>, &[usize])| {
        // There need not be a graph.
        if bytes.is_empty() && *name == "graph" {
            return Vec::new();
        }
        let mut text = format!("<script type=\"application/octet-stream\" id=\"weld-{name}\">").into_bytes();
        septets::put(&mut text, &gzip::pack(bytes, cuts, parallel));
        text.extend(b"</script>\n");
        text
    };
    let elements = par::runs("parts of the page", parallel, blobs.len(), 1, |run| {
        blobs[run].iter().map(element).collect::<Vec<_>>()
    });
    let elements = elements.into_iter().flatten();
    let parts: Vec<Vec<u8>> =
        [before.into(), meta].into_iter().chain(elements).chain([after.into()]).collect();
    par::concat("join page", parallel, parts)
}

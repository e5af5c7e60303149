//! Bitcode: what its symbol table says, without a look at the modules.
//!
//! A file is a magic number and blocks: one that says who wrote it, modules, a symbol table that LLVM writes
//! for linkers ([`symtab`]) and a table of strings. The modules are passed over by their length, so of a file
//! of 30 KB a few cache lines are touched besides the two tables. There may be a header in front, and several
//! modules with one symbol table; files that were put one after the other have a table each. Then the symbols
//! of all follow each other.
//!
//! What a symbol table says is taken whoever wrote it. LLVM itself makes it anew from the modules if it is of
//! another version of LLVM, since the order of its symbols may be another there; weld tells symbols by name.
//!
//! Source: "LLVM Bitcode File Format", Bitcode Wrapper Format and LLVM IR Blocks.

mod mode;
mod symtab;
#[cfg(test)]
mod tests;

pub use mode::{Mode, has_merged_part, mode};

use crate::bitstream::{Blob, Cursor, Entry, Header, Record};
use crate::ir::{Compiler, IrFile, ReadError, major};

const MAGIC: &[u8] = b"BC\xc0\xde";
const WRAPPER_MAGIC: &[u8] = &0x0b17_c0deu32.to_le_bytes();

/// Blocks of a file, by their ids.
const MODULE_BLOCK: u64 = 8;
const IDENTIFICATION_BLOCK: u64 = 13;
const STRTAB_BLOCK: u64 = 23;
const SYMTAB_BLOCK: u64 = 25;

/// The records that have the tables, and the one that says who wrote the file.
const STRTAB_BLOB: u64 = 1;
const SYMTAB_BLOB: u64 = 1;
const IDENTIFICATION_STRING: u64 = 1;

/// No more is kept of who wrote the file, for messages.
const LONGEST_PRODUCER: usize = 80;

/// A block of this many bytes is the smallest. What is left when there are fewer is what some archivers pad
/// members with.
const SMALLEST_BLOCK: u64 = 8;

/// Whether a file that begins with these bytes is bitcode.
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(WRAPPER_MAGIC)
}

/// Reads the symbol table of bitcode.
///
/// # Errors
/// If there is no symbol table of all modules, or one of an unknown version ([`ReadError::can_ask_engine`]),
/// or if something is not as the format has it.
pub fn read(bytes: &[u8]) -> Result<IrFile<'_>, ReadError> {
    let stream = stream(bytes)?;
    let blocks = Blocks::find(stream.clone())?;
    let mut file = IrFile::new(Compiler::Llvm);
    let mut modules = 0;
    for table in &blocks.tables {
        let table = symtab::Table::new(table.symtab, table.strtab)?;
        if !symtab::VERSIONS.contains(&table.version()) {
            return Err(ReadError::UnknownVersion { version: table.version(), producer: producer(stream) });
        }
        modules += table.add_to(&mut file)?;
    }
    if modules != blocks.modules {
        return Err(ReadError::NoSymbolTable { producer: producer(stream) });
    }
    file.major = major(file.producer);
    Ok(file)
}

/// The same of bitcode that has no symbol table, with one that an engine has made of it: the table, and the
/// strings that it refers to. Names lie in these.
///
/// # Errors
/// If it is not one of this bitcode.
pub fn read_with<'a>(bytes: &[u8], symtab: &'a [u8], strtab: &'a [u8]) -> Result<IrFile<'a>, ReadError> {
    let blocks = Blocks::find(stream(bytes)?)?;
    let blob = |bytes| Blob { bytes, offset: 0 };
    let table = symtab::Table::new(blob(symtab), blob(strtab))?;
    if !symtab::VERSIONS.contains(&table.version()) {
        return Err(ReadError::UnknownVersion { version: table.version(), producer: Vec::new() });
    }
    let mut file = IrFile::new(Compiler::Llvm);
    if table.add_to(&mut file)? != blocks.modules {
        return Err(ReadError::Malformed { offset: 0, what: "a symbol table of other modules" });
    }
    file.major = major(file.producer);
    Ok(file)
}

/// The blocks' stream, behind the magic number.
fn stream(bytes: &[u8]) -> Result<Cursor<'_>, ReadError> {
    let malformed = |what| ReadError::Malformed { offset: 0, what };
    let mut offset = 0;
    let mut inner = bytes;
    if bytes.starts_with(WRAPPER_MAGIC) {
        // Magic number, version, offset, size, machine: 32 bits each.
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let (Some(start), Some(size)) = (word(8), word(12)) else {
            return Err(malformed("a header that is cut short"));
        };
        offset = start as usize;
        inner = bytes
            .get(offset..)
            .and_then(|rest| rest.get(..size as usize))
            .ok_or_else(|| malformed("a header in front of less bitcode than it says"))?;
    }
    if !inner.starts_with(MAGIC) {
        return Err(ReadError::Malformed { offset: offset as u64, what: "no bitcode" });
    }
    let mut stream = Cursor::new(inner, offset as u64);
    stream.fixed(32)?;
    Ok(stream)
}

/// A symbol table and the strings that it refers to.
struct Tables<'a> {
    symtab: Blob<'a>,
    strtab: Blob<'a>,
}

/// What was found outside of modules.
struct Blocks<'a> {
    modules: usize,
    tables: Vec<Tables<'a>>,
}

impl<'a> Blocks<'a> {
    fn find(mut stream: Cursor<'a>) -> Result<Blocks<'a>, ReadError> {
        let mut blocks = Blocks { modules: 0, tables: Vec::new() };
        // A table of strings is that of all symbol tables in front that have none.
        let mut waiting = Vec::new();
        while stream.bytes_left() >= SMALLEST_BLOCK {
            if stream.rest().starts_with(MAGIC) {
                return Err(
                    stream.malformed("another file of bitcode, as where objects have been joined by -r")
                );
            }
            let header = stream.top_level_block()?;
            match header.id {
                MODULE_BLOCK => blocks.modules += 1,
                SYMTAB_BLOCK => waiting.push(blob_of(&stream, header, SYMTAB_BLOB)?),
                STRTAB_BLOCK if !waiting.is_empty() => {
                    let strtab = blob_of(&stream, header, STRTAB_BLOB)?;
                    blocks.tables.extend(waiting.drain(..).map(|symtab| Tables { symtab, strtab }));
                }
                _ => {}
            }
            stream.skip(header);
        }
        if !waiting.is_empty() {
            return Err(stream.malformed("a symbol table without a table of strings"));
        }
        Ok(blocks)
    }
}

/// The blob of a block that has nothing else to say, in its record `code`.
fn blob_of<'a>(stream: &Cursor<'a>, header: Header, code: u64) -> Result<Blob<'a>, ReadError> {
    let (mut cursor, mut block) = stream.enter(header);
    loop {
        match cursor.entry(&mut block)? {
            Entry::End => return Err(cursor.malformed("a table that is not there")),
            Entry::Block(inner) => cursor.skip(inner),
            Entry::Record(id) => match cursor.record(&block, id, |_| ())? {
                Record { code: found, blob: Some(blob) } if found == code => return Ok(blob),
                _ => {}
            },
        }
    }
}

/// Who wrote the file, as it says in front of its first module: what is known of a file whose symbol table
/// cannot be read. Empty if it does not say so.
fn producer(mut stream: Cursor<'_>) -> Vec<u8> {
    while let Ok(header) = stream.top_level_block() {
        if header.id == IDENTIFICATION_BLOCK {
            return identification(&stream, header).unwrap_or_default();
        }
        stream.skip(header);
    }
    Vec::new()
}

fn identification(stream: &Cursor<'_>, header: Header) -> Result<Vec<u8>, ReadError> {
    let (mut cursor, mut block) = stream.enter(header);
    loop {
        match cursor.entry(&mut block)? {
            Entry::End => return Ok(Vec::new()),
            Entry::Block(inner) => cursor.skip(inner),
            Entry::Record(id) => {
                let mut text = Vec::new();
                let record = cursor.record(&block, id, |letter| {
                    if text.len() < LONGEST_PRODUCER {
                        text.push(letter as u8);
                    }
                })?;
                if record.code == IDENTIFICATION_STRING {
                    return Ok(text);
                }
            }
        }
    }
}

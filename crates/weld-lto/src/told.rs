//! Symbols of bitcode that has no symbol table, or one of a version that weld does not read.
//!
//! Compilers write one. `llvm-as` and `llvm-link` do not if there is module assembly, whose symbols take an
//! assembler to be found; nor did LLVM before version 5. An engine is asked then, once for each file, and what
//! it has told stays with the files' bytes ([`InputStore::note`]).

use weld_common::io::input::InputStore;

use crate::bitcode;
use crate::engine;
use crate::ir::{IrFile, ReadError};
use crate::options::Options;

/// Reads bitcode; if it takes an engine, one that has been asked before ([`read_or_ask`]).
///
/// # Errors
/// If its symbols cannot be read.
pub fn read<'a>(bytes: &'a [u8], store: &'a InputStore<'_>) -> Result<IrFile<'a>, ReadError> {
    match bitcode::read(bytes) {
        Err(error) if error.can_ask_engine() => match store.noted(bytes) {
            Some(told) => read_told(bytes, told),
            None => Err(error),
        },
        done => done,
    }
}

/// Reads bitcode, and asks an engine if that is what it takes.
///
/// # Errors
/// If its symbols cannot be read, or no engine knows them.
pub fn read_or_ask<'a>(
    bytes: &'a [u8],
    options: &Options,
    store: &'a InputStore<'_>,
) -> Result<IrFile<'a>, ReadError> {
    let error = match read(bytes, store) {
        Err(error) if error.can_ask_engine() => error,
        done => return done,
    };
    match engine::tables(bytes, error.major(), options, store.host()) {
        Ok([symtab, strtab]) => {
            let length = (symtab.len() as u64).to_le_bytes();
            read_told(bytes, store.note(bytes, [&length[..], &symtab, &strtab].concat()))
        }
        Err(why) => Err(ReadError::NotTold { error: Box::new(error), why }),
    }
}

/// `told` is the size of the table, the table, and its strings.
fn read_told<'a>(bytes: &[u8], told: &'a [u8]) -> Result<IrFile<'a>, ReadError> {
    let split = || {
        let (length, rest) = told.split_first_chunk()?;
        rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
    };
    let malformed = ReadError::Malformed { offset: 0, what: "a symbol table that an engine has made" };
    let (symtab, strtab) = split().ok_or(malformed)?;
    bitcode::read_with(bytes, symtab, strtab)
}

//! How a file of bitcode wants to be optimised: as a whole, or module by module with summaries.
//!
//! Symbol tables do not say that, the modules do: a module for ThinLTO has a block of summaries, whose flags
//! say whether it can take part in either ("unified"). The block stands behind the functions, so this goes
//! through the records of each module; it is asked only where the answer matters.
//!
//! Source: LLVM's `llvm/Bitcode/LLVMBitCodes.h`.

use super::{MODULE_BLOCK, SMALLEST_BLOCK, stream};
use crate::bitstream::{Cursor, Entry, Header};
use crate::ir::ReadError;

/// Blocks of a module.
const SUMMARY_BLOCK: u64 = 20;

/// The record of a block of summaries that has its flags, and the flag of code for either way.
const FLAGS: u64 = 20;
const UNIFIED: u64 = 0x200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// All modules become one (`-flto=full`).
    Full,
    /// Each module is compiled by itself, and takes from others what their summaries recommend
    /// (`-flto=thin`).
    Thin,
    /// Either (`-funified-lto`): the link decides.
    Unified,
}

/// How the file wants to be optimised. Of several modules, the first with a summary decides.
///
/// # Errors
/// If something is not as the format has it.
pub fn mode(bytes: &[u8]) -> Result<Mode, ReadError> {
    let mut stream = stream(bytes)?;
    while stream.bytes_left() >= SMALLEST_BLOCK {
        let header = stream.top_level_block()?;
        if header.id == MODULE_BLOCK {
            let mode = of_module(&stream, header)?;
            if mode != Mode::Full {
                return Ok(mode);
            }
        }
        stream.skip(header);
    }
    Ok(Mode::Full)
}

/// Whether something of a file becomes part of the one merged module: all of it, or what was split off for
/// that (`-fsplit-lto-unit`).
///
/// # Errors
/// If something is not as the format has it.
pub fn has_merged_part(bytes: &[u8]) -> Result<bool, ReadError> {
    let mut stream = stream(bytes)?;
    while stream.bytes_left() >= SMALLEST_BLOCK {
        let header = stream.top_level_block()?;
        if header.id == MODULE_BLOCK && of_module(&stream, header)? == Mode::Full {
            return Ok(true);
        }
        stream.skip(header);
    }
    Ok(false)
}

fn of_module(stream: &Cursor<'_>, header: Header) -> Result<Mode, ReadError> {
    let (mut cursor, mut block) = stream.enter(header);
    loop {
        match cursor.entry(&mut block)? {
            Entry::End => return Ok(Mode::Full),
            Entry::Block(inner) if inner.id == SUMMARY_BLOCK => return of_summary(&cursor, inner),
            Entry::Block(inner) => cursor.skip(inner),
            Entry::Record(id) => {
                cursor.skip_record(&block, id)?;
            }
        }
    }
}

fn of_summary(stream: &Cursor<'_>, header: Header) -> Result<Mode, ReadError> {
    let (mut cursor, mut block) = stream.enter(header);
    loop {
        match cursor.entry(&mut block)? {
            Entry::End => return Ok(Mode::Thin),
            Entry::Block(inner) => cursor.skip(inner),
            Entry::Record(id) => {
                let mut flags = None;
                let record = cursor.record(&block, id, |operand| flags = flags.or(Some(operand)))?;
                if record.code == FLAGS {
                    let unified = flags.is_some_and(|flags| flags & UNIFIED != 0);
                    return Ok(if unified { Mode::Unified } else { Mode::Thin });
                }
            }
        }
    }
}

//! PDBs of the compiler's, in which objects leave their types (`/Zi`): a stream of types and one of ids,
//! shared by many objects.

use std::borrow::Cow;

use crate::codeview::leaf::LF_TYPESERVER2;
use crate::codeview::records::{self, Record};
use crate::codeview::{FIRST_INDEX, string_at, u32_at};
use crate::msf::read::Msf;
use crate::stream;

/// What an object says of the PDB that has its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerName<'a> {
    pub guid: [u8; 16],
    pub age: u32,
    /// The path that it had where the object was compiled.
    pub path: &'a [u8],
}

/// The PDB that an object's `.debug$T` names, if its types are not there but in one.
pub fn server_of(types: &[u8]) -> Option<ServerName<'_>> {
    let record = Record::at(records::after_signature(types).ok()?, 0).ok()?;
    let body = record.body();
    let is_server = record.kind == LF_TYPESERVER2;
    let guid = *body.first_chunk::<16>().filter(|_| is_server)?;
    Some(ServerName { guid, age: u32_at(body, 16).ok()?, path: string_at(body, 20).ok()? })
}

/// A PDB that a linker has found for one or more objects.
#[derive(Clone, Copy)]
pub struct TypeServer<'a> {
    /// Its path, for messages.
    pub name: &'a str,
    /// All of the file.
    pub file: &'a [u8],
}

/// What is needed of such a PDB.
pub struct Server<'a> {
    pub guid: [u8; 16],
    pub types: Cow<'a, [u8]>,
    pub ids: Cow<'a, [u8]>,
}

/// Where the info stream has the GUID.
const GUID_AT: usize = 12;

impl<'a> Server<'a> {
    /// # Errors
    /// What is wrong with it.
    pub fn parse(file: &'a [u8]) -> Result<Server<'a>, &'static str> {
        let msf = Msf::parse(file)?;
        let info = msf.stream(stream::INFO)?;
        let guid = info.get(GUID_AT..).and_then(|rest| rest.first_chunk::<16>());
        let guid = *guid.ok_or("It has an info stream that ends too early")?;
        Ok(Server { guid, types: records_of(&msf, stream::TPI)?, ids: records_of(&msf, stream::IPI)? })
    }
}

/// The records of a stream of types or ids.
fn records_of<'a>(msf: &Msf<'a>, stream: usize) -> Result<Cow<'a, [u8]>, &'static str> {
    let bytes = msf.stream(stream)?;
    let word = |i: usize| u32_at(&bytes, 4 * i).map_err(|_| "It has a stream of types that ends too early");
    let (start, first, len) = (word(1)? as usize, word(2)?, word(4)? as usize);
    if first != FIRST_INDEX {
        return Err("It numbers its types in an unknown way");
    }
    let end = start
        .checked_add(len)
        .filter(|&end| end <= bytes.len())
        .ok_or("It has a stream of types that ends too early")?;
    Ok(match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[start..end]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(end);
            bytes.drain(..start);
            Cow::Owned(bytes)
        }
    })
}

//! Whether two PDBs tell the same: one that was written at once, and one of which parts were changed
//! ([`crate::patch`]).
//!
//! Streams must have the same bytes, wherever in the file they are, but for two things. The identity is made of parts of
//! the file. And records of global symbols and publics may lie in any order; the tables must list the same ones. Of names
//! of types and constants the changed one may list some that no module has any more.

use crate::codeview::{symbol, u16_at};
use crate::dbi::{GLOBALS_AT, PUBLICS_AT, RECORDS_AT};
use crate::edit::{Error, SHORT};
use crate::info;
use crate::lists::Lists;
use crate::msf::read::Msf;
use crate::stream;

/// What differs, in words that go after the PDB's name.
///
/// # Errors
/// If one of them is malformed.
pub fn difference(whole: &[u8], changed: &[u8]) -> Result<Option<String>, Error> {
    let (whole, changed) = (Msf::parse(whole)?, Msf::parse(changed)?);
    if whole.stream_count() != changed.stream_count() {
        return Ok(Some("has other streams".to_owned()));
    }
    let dbi = whole.stream(stream::DBI)?;
    let number = |at: usize| u16_at(&dbi, at).map(usize::from).map_err(|_| SHORT);
    let lists = [number(GLOBALS_AT)?, number(PUBLICS_AT)?, number(RECORDS_AT)?];
    for stream in 0..whole.stream_count() {
        if lists.contains(&stream) {
            continue;
        }
        let (mut a, mut b) = (whole.stream(stream)?.into_owned(), changed.stream(stream)?.into_owned());
        if stream == stream::INFO {
            let id = info::IDENTITY.start as usize..info::IDENTITY.end as usize;
            [&mut a, &mut b]
                .into_iter()
                .filter_map(|bytes| bytes.get_mut(id.clone()))
                .for_each(|id| id.fill(0));
        }
        if a != b {
            let at = a.iter().zip(&b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
            return Ok(Some(format!("has other bytes in stream {stream} at {at:#x}")));
        }
    }
    let (whole, changed) = (Lists::read(&whole, lists)?, Lists::read(&changed, lists)?);
    let ([globals, publics, addresses], [other_globals, other_publics, other_addresses]) =
        (whole.listed()?, changed.listed()?);
    let sorted = |mut list: Vec<&[u8]>| -> Vec<Vec<u8>> {
        list.sort_unstable();
        list.into_iter().map(<[u8]>::to_vec).collect()
    };
    if addresses != other_addresses {
        return Ok(Some("has other publics, or in another order of addresses".to_owned()));
    }
    if sorted(publics) != sorted(other_publics) {
        return Ok(Some("lists other publics".to_owned()));
    }
    let (globals, others) = (sorted(globals), sorted(other_globals));
    let mut rest = others.iter().peekable();
    for one in &globals {
        while let Some(other) = rest.next_if(|other| *other < one) {
            if !may_be_old(other) {
                return Ok(Some(format!("lists more global symbols: {}", shown(other))));
            }
        }
        if rest.next_if(|other| *other == one).is_none() {
            return Ok(Some(format!("does not list a global symbol: {}", shown(one))));
        }
    }
    let more = rest.find(|other| !may_be_old(other));
    Ok(more.map(|other| format!("lists more global symbols: {}", shown(other))))
}

/// Whether a record may be listed though no module has it.
fn may_be_old(record: &[u8]) -> bool {
    u16_at(record, 2).is_ok_and(symbol::has_equals)
}

fn shown(record: &[u8]) -> String {
    String::from_utf8_lossy(record.get(4..).unwrap_or_default()).escape_default().to_string()
}

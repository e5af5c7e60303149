//! Global symbols: which of equal ones is kept, and where each is among the records of all.

use weld_common::diag::{Cause, Diagnostic};
use weld_common::par;

use super::scan::Scanned;
use crate::codeview::records::HEADER;
use crate::hash;
use crate::unique;

/// A record that goes to the global symbols, of which there are tens of millions.
#[derive(Clone, Copy)]
pub struct Global {
    /// The record that it is made from: a section of the module, and a place in it.
    pub section: u32,
    pub at: u32,
    /// Where in the record its name is, and how long.
    name_at: u16,
    name_len: u16,
    /// Its bucket in the table of names.
    pub bucket: u16,
    /// Bytes of the record that it becomes, by 4.
    size: u16,
    /// What it is.
    what: u32,
    /// Where it is among all global records. `NOWHERE` if an equal one is there for it.
    pub place: u32,
}

const _: () = assert!(size_of::<Global>() == 24);

const NOWHERE: u32 = u32::MAX;

/// Values of [`Global::what`] that are no places of procedures, which are above the signature of a module's
/// stream.
const COPY: u32 = 0;
const ONE_OF_EQUALS: u32 = 1;

/// Bytes of a reference to a procedure, without its name: length and kind, checksum of the name, place,
/// module.
pub const REFERENCE: usize = HEADER + 10;

impl Global {
    pub fn new(section: usize, at: usize, name_at: usize, name: &[u8]) -> Global {
        Global {
            section: section as u32,
            at: at as u32,
            name_at: name_at as u16,
            name_len: name.len() as u16,
            bucket: hash::bucket(name),
            size: 0,
            what: COPY,
            place: NOWHERE,
        }
    }

    /// It becomes a copy, of that many bytes.
    pub fn copy(&mut self, size: usize) {
        self.size = (size / 4) as u16;
    }

    /// It becomes a copy, unless there is an equal one before it.
    pub fn take_one_of_equals(&mut self, size: usize) {
        self.copy(size);
        self.what = ONE_OF_EQUALS;
    }

    /// It becomes a reference to the procedure at this place of the module's stream.
    pub fn refer_to(&mut self, place: u32, name_len: usize) {
        self.copy((REFERENCE + name_len + 1).next_multiple_of(4));
        self.what = place;
    }

    /// Other modules may have an equal one.
    pub fn is_one_of_equals(&self) -> bool {
        self.what == ONE_OF_EQUALS
    }

    /// Where the procedure is that it refers to.
    pub fn procedure(&self) -> Option<u32> {
        (self.what > ONE_OF_EQUALS).then_some(self.what)
    }

    pub fn is_kept(&self) -> bool {
        self.place != NOWHERE
    }

    pub fn size(&self) -> usize {
        // The longest record has 0x10000 bytes.
        4 * usize::from(self.size)
    }

    /// Its name, in the sections of its module.
    #[inline]
    pub fn name<'a>(&self, sections: &[&'a [u8]]) -> &'a [u8] {
        let start = self.at as usize + usize::from(self.name_at);
        &sections[self.section as usize][start..start + usize::from(self.name_len)]
    }
}

/// Finds which global symbols are kept, and places them one after the other, module by module. Returns the
/// bytes of all.
pub fn place(scanned: &mut [Scanned<'_>], parallel: bool) -> Result<u32, Diagnostic> {
    let hashes: Vec<Vec<u64>> = scanned.iter_mut().map(|module| std::mem::take(&mut module.hashes)).collect();
    let (unique, entered) = unique::enter_all("enter global symbols", hashes, parallel)?;
    let mut sizes = vec![0u64; scanned.len()];
    let keep = |first: usize, modules: &mut [Scanned<'_>]| -> Vec<(usize, u64)> {
        let one = |(i, module): (usize, &mut Scanned<'_>)| {
            let is_first =
                |(n, &cell): (usize, &u32)| unique.first(cell) == ((first + i) as u64) << 32 | n as u64;
            (first + i, keep(module, entered[first + i].cells.iter().enumerate().map(is_first)))
        };
        modules.iter_mut().enumerate().map(one).collect()
    };
    par::in_pieces("place global symbols", parallel, (scanned, 1), keep, |made| {
        made.into_iter().for_each(|(i, size)| sizes[i] = size);
    });
    let mut sum = 0;
    for size in &mut sizes {
        sum += std::mem::replace(size, sum);
    }
    if sum > 1 << 31 {
        return Err(Diagnostic::error(
            Cause::PdbLimit,
            format!("too many global symbols for a PDB: their records have {sum} bytes"),
        ));
    }
    let shift = |first: usize, modules: &mut [Scanned<'_>]| {
        for (module, &start) in modules.iter_mut().zip(&sizes[first..]) {
            let kept = module.globals.iter_mut().filter(|global| global.is_kept());
            kept.for_each(|global| global.place += start as u32);
        }
    };
    par::in_pieces("place global symbols", parallel, (scanned, 1), shift, |()| ());
    Ok(sum as u32)
}

/// Places a module's global symbols among themselves. `is_first` tells of each candidate whether it is the
/// first of its equals.
fn keep(module: &mut Scanned<'_>, mut is_first: impl Iterator<Item = bool>) -> u64 {
    let mut bytes = 0u64;
    for global in &mut module.globals {
        if global.what != ONE_OF_EQUALS || is_first.next() == Some(true) {
            global.place = bytes as u32;
            bytes += global.size() as u64;
        }
    }
    bytes
}

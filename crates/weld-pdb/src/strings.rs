//! Names of source files, each once, and the stream `/names` that has them.
//!
//! Modules refer to names by their offsets in `/names`. Which names there are is found like types are
//! ([`crate::unique`]): the first module that has a name places it, in order of modules; its offset is the
//! sum of what is before it.
//!
//! Facts: LLVM's documentation of the PDB format ("The PDB String Table").

use std::borrow::Cow;
use std::ops::Range;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::{hash, par};

use crate::paths::absolute;
use crate::put::Writer;
use crate::unique::{self, Entered};

const SIGNATURE: u32 = 0xeffe_effe;
const VERSION: u32 = 1;

/// Bytes before the names: signature, version, size.
const HEADER: u32 = 12;

/// A module's use of a name: where in the module's own table it is, and where in `/names`.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub local: u32,
    pub offset: u32,
    /// It is the path of a file.
    pub file: bool,
}

/// Names that a module uses, once each, in order of their places in the module's table.
pub type Uses<'a> = Vec<(Use, &'a [u8])>;

#[derive(Default)]
pub struct Strings<'a> {
    names: Vec<Cow<'a, [u8]>>,
    /// Where each name is, and where the last one ends.
    offsets: Vec<u32>,
}

impl<'a> Strings<'a> {
    /// Gives each name an offset, and tells all its uses. Relative paths are put after `root`.
    pub fn collect(
        uses: &mut [&mut Uses<'a>],
        root: &[u8],
        parallel: bool,
    ) -> Result<Strings<'a>, Diagnostic> {
        let hashed = par::runs("hash names", parallel, uses.len(), 16, |range| {
            let hashes = |uses: &&mut Uses<'_>| {
                uses.iter()
                    .map(|(place, name)| hash::join(hash::hash_bytes(name), place.file.into()))
                    .collect()
            };
            uses[range].iter().map(hashes).collect::<Vec<Vec<u64>>>()
        });
        let hashes: Vec<Vec<u64>> = hashed.into_iter().flatten().collect();
        let (unique, entered) = unique::enter_all("enter names", hashes, parallel)?;
        let mut strings = Strings { names: vec![Cow::Borrowed(b"")], offsets: vec![0, 1] };
        for (module, Entered { cells, candidates }) in entered.iter().enumerate() {
            for &i in candidates {
                let cell = cells[i as usize];
                if unique.first(cell) == (module as u64) << 32 | u64::from(i) {
                    let (place, name) = uses[module][i as usize];
                    let name = if place.file { absolute(name, root) } else { Cow::Borrowed(name) };
                    unique.set_number(cell, strings.add(name)?);
                }
            }
        }
        let tell = |first: usize, uses: &mut [&mut Uses<'a>]| {
            for (uses, Entered { cells, .. }) in uses.iter_mut().zip(&entered[first..]) {
                uses.iter_mut().zip(cells).for_each(|((place, _), &cell)| place.offset = unique.number(cell));
            }
        };
        par::in_pieces("tell offsets of names", parallel, (uses, 16), tell, |()| ());
        Ok(strings)
    }

    /// Adds a name that is not there yet.
    pub fn add(&mut self, name: Cow<'a, [u8]>) -> Result<u32, Diagnostic> {
        if name.is_empty() {
            return Ok(0);
        }
        let offset = self.len();
        let end = offset.checked_add(name.len() as u32 + 1).filter(|&end| end < 1 << 31);
        self.offsets.push(end.ok_or_else(|| {
            Diagnostic::error(Cause::PdbLimit, "names of source files have more than 2 GiB")
        })?);
        self.names.push(name);
        Ok(offset)
    }

    /// Bytes of all names.
    pub fn len(&self) -> u32 {
        *self.offsets.last().unwrap()
    }

    /// How many names there are, with the empty one.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Where the names with these numbers are.
    pub fn range(&self, names: Range<usize>) -> Range<u32> {
        self.offsets[names.start]..self.offsets[names.end]
    }

    pub fn write_names(&self, names: Range<usize>, out: &mut [u8]) {
        let mut out = Writer::new(out);
        self.names[names].iter().for_each(|name| out.string(name));
    }

    /// What is before the names in `/names`, and what is after them.
    pub fn frame(&self) -> (Vec<u8>, Vec<u8>) {
        let mut header = vec![0; HEADER as usize];
        let mut out = Writer::new(&mut header);
        [SIGNATURE, VERSION, self.len()].into_iter().for_each(|word| out.u32(word));
        let buckets = self.buckets();
        let mut table = vec![0; 4 * buckets.len() + 8];
        let mut out = Writer::new(&mut table);
        out.u32(buckets.len() as u32);
        buckets.iter().for_each(|&offset| out.u32(offset));
        out.u32(self.count() as u32 - 1);
        (header, table)
    }

    /// Offsets of names, by open addressing. The empty name has no place among them, for an empty place looks
    /// like it.
    fn buckets(&self) -> Vec<u32> {
        let mut size = 1;
        while self.count() > size * 3 / 4 {
            size = size * 3 / 2 + 1;
        }
        let mut buckets = vec![0; size];
        for (name, &offset) in self.names.iter().zip(&self.offsets).skip(1) {
            let mut bucket = crate::hash::name(name) as usize % size;
            while buckets[bucket] != 0 {
                bucket = (bucket + 1) % size;
            }
            buckets[bucket] = offset;
        }
        buckets
    }
}

/// A table of one name besides the empty one.
pub fn table_of(name: &[u8]) -> Vec<u8> {
    let mut strings = Strings { names: vec![Cow::Borrowed(b"")], offsets: vec![0, 1] };
    let _ = strings.add(Cow::Borrowed(name));
    let (mut table, behind) = strings.frame();
    let start = table.len();
    table.resize(start + strings.len() as usize, 0);
    strings.write_names(0..strings.count(), &mut table[start..]);
    table.extend(behind);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_once_in_the_order_of_modules() {
        let uses = |names: &[&'static str]| -> Uses<'static> {
            let with_place = |(i, name): (usize, &&'static str)| {
                (Use { local: i as u32, offset: 9, file: !name.starts_with('$') }, name.as_bytes())
            };
            names.iter().enumerate().map(with_place).collect()
        };
        let (mut a, mut b) = (uses(&["/x/a.h", "b.h"]), uses(&["", "./c.h", "/x/a.h", "<stdin>", "$esp"]));
        let strings = Strings::collect(&mut [&mut a, &mut b], b"/root", false).unwrap();
        let offsets = |uses: &Uses<'_>| uses.iter().map(|(place, _)| place.offset).collect::<Vec<_>>();
        assert_eq!((offsets(&a), offsets(&b)), (vec![1, 8], vec![0, 18, 1, 28, 36]));
        let mut bytes = vec![7; strings.len() as usize];
        let cut = strings.range(0..2).end as usize;
        strings.write_names(0..2, &mut bytes[..cut]);
        strings.write_names(2..strings.count(), &mut bytes[cut..]);
        assert_eq!(bytes, b"\0/x/a.h\0/root/b.h\0/root/c.h\0<stdin>\0$esp\0");
    }

    #[test]
    fn tables_grow_as_the_format_wants() {
        let size = |count: usize| {
            let names = vec![Cow::Borrowed(&b"x"[..]); count];
            Strings { names, offsets: (0..=count as u32).map(|i| 1 + 2 * i).collect() }.buckets().len()
        };
        assert_eq!([1, 2, 3, 4, 6, 9, 13, 20, 31, 46].map(size), [2, 4, 4, 7, 11, 17, 26, 40, 61, 92]);
    }
}

//! What the linker knows of a table that it makes: [`Synthetic`], one implementation a table.
//!
//! A link asks these questions one after the other. Once it is known what the image needs: is there such a
//! table, where does it belong, how large is it ([`Synthetic::spec`])? Which symbols lead to it
//! ([`Synthetic::names`])? Once the sections are in order: is it larger now ([`Synthetic::resize`])? When
//! there are addresses: which of its places hold some ([`Synthetic::addresses`])? At the end: what are its
//! bytes ([`Synthetic::write`])?
//!
//! The tables are listed in [`super::all`].

use super::Table;
use super::image::Image;
use super::tables::Tables;
use crate::address::Rva;
use crate::ids::SectionId;
use crate::layout::Order;
use crate::live::Live;
use crate::options::Options;
use crate::sections::{READ_ONLY, Sections};

/// A table that the linker makes, which is a section of its own.
pub trait Synthetic: Sync {
    /// What there is of it in this image; `None` if nothing.
    fn spec(&self, sizes: &Sizes) -> Option<Spec>;

    /// Symbols by which objects find it.
    fn names(&self, _tables: &Tables) -> Vec<Name> {
        Vec::new()
    }

    /// The size in bytes once the sections are in order; `None` if that changes nothing.
    fn resize(&self, _order: &Arranged) -> Option<u32> {
        None
    }

    /// Offsets of the addresses in it, ascending: a loader that puts the image elsewhere changes them.
    fn addresses(&self, _tables: &Tables) -> Vec<u32> {
        Vec::new()
    }

    /// The type of the debug directory's entry that leads to it (`IMAGE_DEBUG_TYPE_*`), if it is one that has
    /// such an entry and options ask for it: then there is a [`Synthetic::spec`], too.
    fn debug_type(&self, _options: &Options) -> Option<u16> {
        None
    }

    /// Writes every byte of `out`, which is as large as was said.
    fn write(&self, at: &At, out: &mut [u8]);
}

/// What sizes depend on.
pub struct Sizes<'s, 'a> {
    pub tables: &'s Tables<'a>,
    pub options: &'s Options,
    pub sections: &'s Sections,
    pub live: &'s Live,
    /// Bytes of an address.
    pub address: u32,
}

impl Sizes<'_, '_> {
    /// Logarithm of the alignment of addresses.
    pub fn address_align(&self) -> u8 {
        self.address.trailing_zeros() as u8
    }
}

/// Where a table belongs, and how much room it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The part that it lies in, by name and flags.
    pub part: &'static [u8],
    pub flags: u32,
    /// Logarithm of its alignment.
    pub align: u8,
    /// In bytes.
    pub size: u32,
}

impl Spec {
    /// A table that is only read.
    pub fn read_only(part: &'static [u8], align: u8, size: u32) -> Spec {
        Spec { part, flags: READ_ONLY, align, size }
    }

    /// The table, if anything is in it.
    pub fn unless_empty(self) -> Option<Spec> {
        Some(self).filter(|spec| spec.size != 0)
    }
}

/// A symbol that leads to a table, or says something of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// Without what the machine puts in front of names.
    pub name: &'static str,
    pub value: Value,
    /// It stands for this even if an object defines it.
    pub is_forced: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// The place so many bytes into the table.
    Offset(u32),
    Number(u64),
}

impl Name {
    pub fn at(name: &'static str, offset: u32) -> Name {
        Name { name, value: Value::Offset(offset), is_forced: false }
    }

    pub fn number(name: &'static str, number: u64) -> Name {
        Name { name, value: Value::Number(number), is_forced: false }
    }
}

/// The sections of the image in their order, before there are addresses.
pub struct Arranged<'o> {
    pub sections: &'o Sections,
    pub order: &'o Order,
}

/// The table that is to be written: the image has its addresses.
pub struct At<'t, 'i, 'a> {
    pub image: &'t Image<'i, 'a>,
    pub id: SectionId,
}

impl<'t, 'a> At<'t, '_, 'a> {
    pub fn tables(&self) -> &'t Tables<'a> {
        self.image.tables
    }

    /// Where the table lies.
    pub fn rva(&self) -> Rva {
        self.image.layout.rva(self.id)
    }

    /// Where another one lies; 0 if there is none.
    pub fn rva_of(&self, table: Table) -> Rva {
        self.image.table(table).unwrap_or_default()
    }
}

/// Writes numbers one after the other; `out` has room for exactly these.
pub fn put_words(out: &mut [u8], words: impl IntoIterator<Item = u32>) {
    let mut places = out.as_chunks_mut::<4>().0.iter_mut();
    for word in words {
        let place = places.next();
        debug_assert!(place.is_some(), "a table has less room than entries");
        if let Some(place) = place {
            *place = word.to_le_bytes();
        }
    }
}

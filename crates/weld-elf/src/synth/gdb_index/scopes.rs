//! What a unit's names are made of: scopes (`ns::Class::`) and leaves behind them.
//!
//! A scope has its text once, however many names it has, and the hash of it, from which that of each name
//! goes on.

use weld_common::hash::Prefix;

/// The last part of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf<'a> {
    InFile(&'a [u8]),
    /// Start and length in a text that is known from elsewhere.
    Copied(u32, u32),
}

impl<'a> Leaf<'a> {
    pub fn size(self) -> usize {
        match self {
            Leaf::InFile(bytes) => bytes.len(),
            Leaf::Copied(_, length) => length as usize,
        }
    }

    #[inline(always)]
    pub fn bytes<'x>(self, text: &'x [u8]) -> &'x [u8]
    where
        'a: 'x,
    {
        match self {
            Leaf::InFile(bytes) => bytes,
            Leaf::Copied(start, length) => &text[start as usize..][..length as usize],
        }
    }
}

/// A name that a unit has.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// [`weld_common::hash::hash_bytes`] of the whole name.
    pub hash: u64,
    /// Its number in [`Scopes`].
    pub scope: u32,
    /// In a file, or in the text of the [`Scopes`].
    pub leaf: Leaf<'a>,
    /// What it names: the upper byte of a [`super::names::Use`].
    pub what: u8,
}

/// The number of the scope of names that are in none.
pub const NOWHERE: u32 = 0;

#[derive(Clone, Copy)]
struct Scope {
    start: u32,
    length: u32,
    prefix: Prefix,
}

/// The scopes of a unit, and leaves that are in no file.
pub struct Scopes {
    pub text: Vec<u8>,
    list: Vec<Scope>,
    /// How many bytes of text there may be.
    room: usize,
}

impl Default for Scopes {
    fn default() -> Self {
        let mut scopes = Scopes { text: Vec::new(), list: Vec::new(), room: 0 };
        scopes.clear(0);
        scopes
    }
}

impl Scopes {
    /// Forgets all but [`NOWHERE`]. From here on there may be `room` bytes of text, but no more than 2 GiB.
    pub fn clear(&mut self, room: u64) {
        self.text.clear();
        self.list.clear();
        self.list.push(Scope { start: 0, length: 0, prefix: Prefix::EMPTY });
        self.room = room.min(1 << 31) as usize;
    }

    /// The text of a scope, with the separator after it.
    #[inline(always)]
    pub fn get(&self, scope: u32) -> &[u8] {
        let Scope { start, length, .. } = self.list[scope as usize];
        &self.text[start as usize..][..length as usize]
    }

    /// How many scopes there are.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// The hash of the scope, to which that of a leaf can be added.
    #[inline(always)]
    pub fn prefix(&self, scope: u32) -> &Prefix {
        &self.list[scope as usize].prefix
    }

    /// Adds the scope of what is inside something called `leaf`, which is in the scope `around`. `None` if
    /// there is no room.
    pub fn add(&mut self, around: u32, leaf: Leaf, separator: &[u8]) -> Option<u32> {
        let Scope { start, length, prefix } = self.list[around as usize];
        let more = length as usize + leaf.size() + separator.len();
        self.has_room(more).then_some(())?;
        let here = self.text.len();
        self.text.extend_from_within(start as usize..(start + length) as usize);
        match leaf {
            Leaf::InFile(leaf) => self.text.extend_from_slice(leaf),
            Leaf::Copied(start, length) => {
                self.text.extend_from_within(start as usize..(start + length) as usize);
            }
        }
        self.text.extend_from_slice(separator);
        let prefix = prefix.and(&self.text[here + length as usize..]);
        self.list.push(Scope { start: here as u32, length: more as u32, prefix });
        Some(self.list.len() as u32 - 1)
    }

    /// Copies a leaf that is in no file. `None` if there is no room.
    pub fn copy<'a>(&mut self, leaf: &[u8]) -> Option<Leaf<'a>> {
        self.has_room(leaf.len()).then_some(())?;
        let start = self.text.len();
        self.text.extend_from_slice(leaf);
        Some(Leaf::Copied(start as u32, leaf.len() as u32))
    }

    fn has_room(&self, more: usize) -> bool {
        self.text.len() + more <= self.room
    }
}

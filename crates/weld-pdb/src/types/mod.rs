//! Types of all objects, each once.
//!
//! An object has its own list of type records, which refer to each other by their places in it. In a PDB
//! there is one list, so every record gets a new number, equal ones the same. The phases, each parallel over
//! the lists (`source`):
//!
//! 1. *Hash* (`source`): records are found and hashed once. Where a record refers to another one, that one's
//!    hash stands in for its number, so that equal types have equal hashes in all objects. What refers to
//!    itself or to what comes later is malformed.
//! 2. *Enter* (`unique`): each hash goes into one table that is sized by an estimate of how many there are.
//!    The first record in the order of (list, record) wins.
//! 3. *Number* ([`number`]): winners are counted list by list; sums of the counts are the numbers. So what a
//!    winner refers to has a smaller number, and nothing was sorted.
//! 4. *Look up* ([`number`]): each record's cell gives its number. From here on hashes and table are gone,
//!    and a record costs 4 bytes.
//!
//! Winners are copied straight into the PDB when it is written (`stream`).

pub mod known;
pub mod number;
mod plan;
pub mod server;
pub(crate) mod source;
pub(crate) mod stream;
#[cfg(test)]
mod tests;
mod tpi_hash;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::par;

use crate::codeview::{FIRST_INDEX, Fault, Space};
use crate::unique::{self, Entered};
use number::Numbered;
use plan::Plan;
use server::TypeServer;
use source::{Hashed, Source, Unread};

/// What an object has of types. Sections that it does not have are empty.
#[derive(Clone, Copy, Default)]
pub struct ObjectTypes<'a> {
    /// The object's name, for messages.
    pub name: &'a str,
    /// `.debug$T`
    pub types: &'a [u8],
    /// `.debug$P`: types that other objects refer to, of a precompiled header.
    pub precompiled: &'a [u8],
    /// Which of the compilers' PDBs has its types: the one that [`server_of`](server::server_of) names.
    pub server: Option<u32>,
}

/// The types of all objects, merged and numbered.
pub struct Types<'a> {
    pub(crate) sources: Vec<Source<'a>>,
    /// Of each object.
    objects: Vec<ObjectState>,
    pub(crate) numbered: Numbered,
}

/// What came of an object's types.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ObjectState {
    /// It has none, so it can refer only to basic types.
    None,
    Source(u32),
    /// They are malformed or missing: nothing of its debug information can be used.
    Dropped,
}

/// Where an object's type indices lead.
#[derive(Clone, Copy, Default)]
pub struct Lookup<'t> {
    prefix: &'t [u32],
    own: &'t [u32],
    /// Where types are, if not with the ids.
    types: Option<&'t [u32]>,
}

/// Beside a record's number: it is an id.
pub(crate) const ID: u32 = 1 << 30;

impl Lookup<'_> {
    /// The number in the PDB of the type or id that the object calls `index`; `None` if it has no such
    /// record.
    #[inline(always)]
    pub fn get(&self, index: u32, space: Space) -> Option<u32> {
        if index < FIRST_INDEX {
            return Some(index);
        }
        let i = (index - FIRST_INDEX) as usize;
        let number = match self.types {
            Some(types) if space == Space::Type => types.get(i),
            _ => match i.checked_sub(self.prefix.len()) {
                None => self.prefix.get(i),
                Some(i) => self.own.get(i),
            },
        };
        let number = *number?;
        ((number & ID != 0) == (space == Space::Id)).then_some(number & !ID)
    }
}

impl<'a> Types<'a> {
    /// Merges the types of all objects. `servers` are the PDBs that compilers have left types in. An object
    /// whose types are malformed or missing gets a warning in `sink`.
    ///
    /// # Errors
    /// If there are more types than a PDB can have.
    pub fn merge(
        objects: &[ObjectTypes<'a>],
        servers: &[TypeServer<'a>],
        parallel: bool,
        sink: &DiagSink,
    ) -> Result<Types<'a>, Diagnostic> {
        Types::merge_and_tell(objects, servers, parallel, sink, &|_| ())
    }

    /// The same. `hashed` is told of the records of each object when all have been looked at: only those that
    /// are the first of their equals will be read again, which are few in most objects.
    ///
    /// # Errors
    /// If there are more types than a PDB can have.
    pub fn merge_and_tell(
        objects: &[ObjectTypes<'a>],
        servers: &[TypeServer<'a>],
        parallel: bool,
        sink: &DiagSink,
        hashed: &(dyn Fn(&[u8]) + Sync),
    ) -> Result<Types<'a>, Diagnostic> {
        let mut plan = Plan::of(objects, servers, sink);
        let (mut sources, hashes) = hash_all(&mut plan, parallel, hashed);
        for (i, (source, name)) in sources.iter().zip(&plan.names).enumerate() {
            if let Some((record, fault)) = source.fault {
                sink.push(dropped(name, record, fault).at(i as u64));
            }
        }
        let (unique, entered) = unique::enter_all("enter types", hashes, parallel)?;
        for (source, Entered { cells, candidates }) in sources.iter_mut().zip(entered) {
            (source.indices, source.candidates) = (cells, candidates);
        }
        let numbered = number::number(&mut sources, &unique, parallel)?;
        let mut objects = plan.objects;
        for object in &mut objects {
            if let ObjectState::Source(source) = *object
                && !sources[source as usize].is_usable(&sources)
            {
                *object = ObjectState::Dropped;
            }
        }
        Ok(Types { sources, objects, numbered })
    }

    /// The types of one object, of which the numbers in a PDB are known: those of its records, and of ids the types of
    /// their functions.
    pub(crate) fn of_known(indices: Vec<u32>, function_types: Vec<u32>) -> Types<'a> {
        let numbered = Numbered { streams: Default::default(), function_types };
        Types { sources: vec![Source::of_known(indices)], objects: vec![ObjectState::Source(0)], numbered }
    }

    /// Where the type indices of an object lead; `None` if its debug information cannot be used.
    pub fn lookup(&self, object: usize) -> Option<Lookup<'_>> {
        match self.objects[object] {
            ObjectState::None => Some(Lookup::default()),
            ObjectState::Source(source) => Some(self.lookup_in(source)),
            ObjectState::Dropped => None,
        }
    }

    pub(crate) fn lookup_in(&self, source: u32) -> Lookup<'_> {
        source::lookup(&self.sources, source)
    }

    /// How many records of a kind of stream there are in the end.
    pub fn count(&self, space: Space) -> u32 {
        self.numbered.streams[space as usize].count
    }

    /// How many records objects and compilers' PDBs have.
    pub fn record_count(&self) -> u64 {
        self.sources.iter().map(|source| source.indices.len() as u64).sum()
    }

    /// The type of a function, by the number of its id.
    pub fn function_type(&self, id: u32) -> Option<u32> {
        let number = self.numbered.function_types.get(id.checked_sub(FIRST_INDEX)? as usize)?;
        (*number != 0).then_some(*number)
    }
}

fn dropped(name: &str, record: u32, fault: Fault) -> Diagnostic {
    let index = FIRST_INDEX.saturating_add(record);
    Diagnostic::warning(Cause::DebugInfo, format!("Cannot use debug info for '{name}'"))
        .note(format!("type record {index:#x} {fault}"))
}

/// Hashes the records of all sources; those that depend on others after them.
fn hash_all<'a>(
    plan: &mut Plan<'a>,
    parallel: bool,
    tell: &(dyn Fn(&[u8]) + Sync),
) -> (Vec<Source<'a>>, Vec<Vec<u64>>) {
    let mut hashed: Vec<Hashed<'a>> = Vec::with_capacity(plan.sources.len());
    for round in plan.rounds() {
        let lists = &mut plan.sources[round];
        let mut made: Vec<Hashed<'a>> = Vec::with_capacity(lists.len());
        let hash = |_, lists: &mut [Unread<'a>]| -> Vec<Hashed<'a>> {
            let one = |unread| {
                let hashed = source::hash(unread, &hashed);
                tell(&hashed.source.data);
                hashed
            };
            lists.iter_mut().map(one).collect()
        };
        par::in_pieces("hash types", parallel, (lists, 1), hash, |some| made.extend(some));
        hashed.extend(made);
    }
    hashed.into_iter().map(|one| (one.source, one.hashes)).unzip()
}

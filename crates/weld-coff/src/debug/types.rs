//! Types of all objects, merged: all that a PDB needs before there are addresses.

use std::collections::HashMap;
use std::path::PathBuf;

use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::{par, text};
use weld_pdb::types::server::TypeServer;
use weld_pdb::{ObjectTypes, Types};

use crate::input::type_servers::{PRECOMPILED, Servers, TYPES, section};
use crate::resolve::Resolved;

/// Objects of a run.
const RUN: usize = 64;

/// What objects say of types, in their order.
pub struct Objects<'a> {
    objects: Vec<Found<'a>>,
    servers: Vec<(String, &'a [u8])>,
}

struct Found<'a> {
    name: String,
    types: &'a [u8],
    precompiled: &'a [u8],
    /// Number of the compilers' PDB that has the types.
    server: Option<u32>,
}

impl<'a> Objects<'a> {
    /// Finds the sections with types.
    pub fn of(
        resolved: &Resolved<'a>,
        servers: &Servers<'a>,
        store: &'a InputStore<'a>,
        parallel: bool,
    ) -> Objects<'a> {
        let runs = par::runs("sections with types", parallel, resolved.objects.len(), RUN, |run| {
            let one = |object: &crate::input::object::Object<'a>| {
                let types = section(&object.coff, TYPES);
                let server = servers.find(store, &object.name, types);
                let precompiled = section(&object.coff, PRECOMPILED);
                (Found { name: object.name.to_string(), types, precompiled, server: None }, server)
            };
            resolved.objects[run].iter().map(one).collect::<Vec<_>>()
        });
        let mut found = Objects { objects: Vec::new(), servers: Vec::new() };
        let mut numbers: HashMap<PathBuf, u32> = HashMap::new();
        for (mut object, server) in runs.into_iter().flatten() {
            if let Some((path, bytes)) = server {
                let number = numbers.entry(path).or_insert_with_key(|path| {
                    found.servers.push((text::path(path).into_owned(), bytes));
                    found.servers.len() as u32 - 1
                });
                object.server = Some(*number);
            }
            found.objects.push(object);
        }
        found
    }

    /// PDBs of compilers.
    pub fn server_count(&self) -> u64 {
        self.servers.len() as u64
    }

    /// Objects of precompiled headers.
    pub fn header_count(&self) -> u64 {
        self.objects.iter().filter(|object| !object.precompiled.is_empty()).count() as u64
    }

    /// Makes them one list. What is in the PDB `first` keeps its numbers.
    ///
    /// # Errors
    /// If there are more than a PDB can have.
    pub fn merge<'s>(
        &'s self,
        store: &InputStore,
        first: Option<&'s [u8]>,
        parallel: bool,
        sink: &DiagSink,
    ) -> Result<Types<'s>, Diagnostic> {
        let mut objects: Vec<ObjectTypes<'_>> = self.objects.iter().map(Found::told).collect();
        let first = first.map(|file| TypeServer { name: "", file });
        let own = self.servers.iter().map(|(name, file)| TypeServer { name, file });
        let servers: Vec<TypeServer<'_>> = first.into_iter().chain(own).collect();
        if servers.len() > self.servers.len() {
            objects.iter_mut().flat_map(|object| &mut object.server).for_each(|server| *server += 1);
        }
        // Types are most of what there is to read, and nearly all of them are in other objects, too.
        Types::merge_and_tell(&objects, &servers, parallel, sink, &|read| store.give_back(read))
    }
}

impl Found<'_> {
    fn told(&self) -> ObjectTypes<'_> {
        let Found { name, types, precompiled, server } = self;
        ObjectTypes { name, types, precompiled, server: *server }
    }
}

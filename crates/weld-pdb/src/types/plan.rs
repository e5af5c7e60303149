//! Which lists of type records a link has, and in which order: those that others refer to come first.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use weld_common::diag::{Cause, DiagSink, Diagnostic};

use super::server::{Server, TypeServer, server_of};
use super::source::{Refers, Unread};
use super::{ObjectState, ObjectTypes};
use crate::codeview::leaf::{LF_ENDPRECOMP, LF_PRECOMP, LF_TYPESERVER2};
use crate::codeview::records::{self, Record};
use crate::codeview::{FIRST_INDEX, Fault, u32_at};

pub struct Plan<'a> {
    pub sources: Vec<Unread<'a>>,
    /// The first so many are those that others may refer to.
    first_round: usize,
    /// Whose each list is, for messages.
    pub names: Vec<&'a str>,
    /// Where each object's types are to be.
    pub objects: Vec<ObjectState>,
}

/// A compiler's PDB of which the types have been added, but not the ids.
struct Half<'a> {
    name: &'a str,
    guid: [u8; 16],
    types: u32,
    ids: Cow<'a, [u8]>,
}

/// The GUID of a compiler's PDB and the list of its ids, or what is wrong with it.
type Ids = Result<([u8; 16], u32), &'static str>;

/// Where an object's types are.
enum Found<'a> {
    List(Unread<'a>),
    /// In this list, which is in a PDB.
    Server(u32),
}

impl<'a> Plan<'a> {
    pub fn of(objects: &[ObjectTypes<'a>], servers: &[TypeServer<'a>], sink: &DiagSink) -> Plan<'a> {
        let mut plan = Plan {
            sources: Vec::new(),
            first_round: 0,
            names: Vec::new(),
            objects: vec![ObjectState::None; objects.len()],
        };
        let halves: Vec<_> = servers.iter().map(|server| plan.add_server(server)).collect();
        let headers = plan.add_headers(objects, sink);
        plan.first_round = plan.sources.len();
        let ids: Vec<_> = halves.into_iter().map(|half| half.map(|half| plan.add_ids(half))).collect();
        for (i, object) in objects.iter().enumerate() {
            if object.types.is_empty() || !object.precompiled.is_empty() {
                continue;
            }
            plan.objects[i] = match find(object, &headers, &ids) {
                Ok(Found::List(unread)) => ObjectState::Source(plan.add(object.name, unread)),
                Ok(Found::Server(source)) => ObjectState::Source(source),
                Err(why) => {
                    let text = format!("Cannot use debug info for '{}' [LNK4099]", object.name);
                    sink.push(Diagnostic::warning(Cause::DebugInfo, text).note(why.to_string()).at(i as u64));
                    ObjectState::Dropped
                }
            };
        }
        plan
    }

    /// Lists by whether others may depend on them, in the order in which they have to be hashed.
    pub fn rounds(&self) -> [Range<usize>; 2] {
        [0..self.first_round, self.first_round..self.sources.len()]
    }

    fn add(&mut self, name: &'a str, unread: Unread<'a>) -> u32 {
        self.names.push(name);
        self.sources.push(unread);
        self.sources.len() as u32 - 1
    }

    /// Adds the types of a compiler's PDB.
    fn add_server(&mut self, server: &TypeServer<'a>) -> Result<Half<'a>, &'static str> {
        let Server { guid, types, ids } = Server::parse(server.file)?;
        let types = self.add(server.name, Unread { data: types, refers: Refers::Itself, any_order: true });
        Ok(Half { name: server.name, guid, types, ids })
    }

    /// Adds the ids of a compiler's PDB.
    fn add_ids(&mut self, half: Half<'a>) -> ([u8; 16], u32) {
        let unread = Unread { data: half.ids, refers: Refers::Types(half.types), any_order: true };
        (half.guid, self.add(half.name, unread))
    }

    /// Adds the lists of precompiled headers; they are found by their signatures.
    fn add_headers(&mut self, objects: &[ObjectTypes<'a>], sink: &DiagSink) -> HashMap<u32, u32> {
        let mut headers = HashMap::new();
        for (i, object) in objects.iter().enumerate().filter(|(_, object)| !object.precompiled.is_empty()) {
            let Ok(data) = records::after_signature(object.precompiled) else {
                sink.push(super::dropped(object.name, 0, Fault::Signature).at(i as u64));
                self.objects[i] = ObjectState::Dropped;
                continue;
            };
            let signature = signature_of_header(data);
            let source = self.add(object.name, Unread::new(data));
            self.objects[i] = ObjectState::Source(source);
            if let Some(signature) = signature {
                headers.entry(signature).or_insert(source);
            }
        }
        headers
    }
}

/// Why the types of an object are nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NoTypes {
    /// Its section `.debug$T` has no signature.
    Section(Fault),
    /// The record that says where they are is damaged.
    FirstRecord(Fault),
    /// Types of a precompiled header begin with another number than such have.
    HeaderStart(u32),
    /// The precompiled header with this signature is in no object.
    NoHeader(u32),
    /// The name of the PDB with its types is truncated.
    ServerName,
    Server {
        path: String,
        why: ServerFault,
    },
}

/// Why a compiler's PDB has no types for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ServerFault {
    /// It is the PDB of other objects, or of these at another time.
    Signature,
    Corrupt(&'static str),
    Missing,
}

impl fmt::Display for NoTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoTypes::Section(fault) => write!(f, ".debug$T {fault}"),
            NoTypes::FirstRecord(fault) => write!(f, "its first type record {fault}"),
            NoTypes::HeaderStart(start) => {
                write!(f, "types of its precompiled header begin at {start:#x}")
            }
            NoTypes::NoHeader(signature) => {
                write!(f, "no object has the precompiled header {signature:#010x}")
            }
            NoTypes::ServerName => f.write_str("the record that names the PDB with its types is truncated"),
            NoTypes::Server { path, why } => {
                write!(f, "failed to load reference '{path}': ")?;
                match why {
                    ServerFault::Signature => {
                        f.write_str("The signature does not match; the file(s) might be out of date")
                    }
                    ServerFault::Corrupt(why) => write!(f, "The PDB file is corrupt. {why}"),
                    ServerFault::Missing => f.write_str("No such file or directory"),
                }
            }
        }
    }
}

impl std::error::Error for NoTypes {}

/// Where the types of an object are that is no precompiled header, or why they are nowhere.
fn find<'a>(
    object: &ObjectTypes<'a>,
    headers: &HashMap<u32, u32>,
    ids: &[Ids],
) -> Result<Found<'a>, NoTypes> {
    let data = records::after_signature(object.types).map_err(NoTypes::Section)?;
    let Ok(first) = Record::at(data, 0) else { return Ok(Found::List(Unread::new(data))) };
    match first.kind {
        LF_PRECOMP => {
            let (source, count) = in_header(&first, headers)?;
            let unread = Unread::new(&data[first.bytes.len()..]);
            Ok(Found::List(Unread { refers: Refers::Prefix(source, count), ..unread }))
        }
        LF_TYPESERVER2 => in_server(object, ids).map(Found::Server),
        _ => Ok(Found::List(Unread::new(data))),
    }
}

/// The list that an object's list continues, and how many of its records count, from the record that says so.
fn in_header(record: &Record<'_>, headers: &HashMap<u32, u32>) -> Result<(u32, u32), NoTypes> {
    let word = |at| u32_at(record.body(), at).map_err(NoTypes::FirstRecord);
    let (start, count, signature) = (word(0)?, word(4)?, word(8)?);
    if start != FIRST_INDEX {
        return Err(NoTypes::HeaderStart(start));
    }
    match headers.get(&signature) {
        Some(&source) => Ok((source, count)),
        None => Err(NoTypes::NoHeader(signature)),
    }
}

/// The list of an object whose types are in a compiler's PDB.
fn in_server(object: &ObjectTypes<'_>, ids: &[Ids]) -> Result<u32, NoTypes> {
    let name = server_of(object.types).ok_or(NoTypes::ServerName)?;
    let path = String::from_utf8_lossy(name.path);
    let failed = |why| Err(NoTypes::Server { path: path.into_owned(), why });
    match object.server.and_then(|server| ids.get(server as usize)) {
        Some(Ok((guid, source))) if *guid == name.guid => Ok(*source),
        Some(Ok(_)) => failed(ServerFault::Signature),
        Some(Err(why)) => failed(ServerFault::Corrupt(why)),
        None => failed(ServerFault::Missing),
    }
}

/// The signature by which users of a precompiled header find its records, which stands at their end. After it
/// the object that makes the header has records of its own.
fn signature_of_header(data: &[u8]) -> Option<u32> {
    let mut at = 0;
    while let Ok(record) = Record::at(data, at) {
        if record.kind == LF_ENDPRECOMP {
            return u32_at(record.body(), 0).ok();
        }
        at += record.bytes.len();
    }
    None
}

//! Files and inputs: who they are, apart from where the command line has them.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use weld_common::text;

use super::super::keys::{Numbers, hash, hash_of, normalised};
use super::super::rows::*;
use super::Link;
use crate::ids::*;
use crate::input::FileName;
use crate::input::load::Input;

/// Paths and names, each once.
#[derive(Default)]
pub struct Texts {
    pub bytes: Vec<u8>,
    known: HashMap<Vec<u8>, Text>,
}

impl Texts {
    pub fn add(&mut self, text: &[u8]) -> Text {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let added = Text { start: self.bytes.len() as u32, size: text.len() as u32 };
        self.bytes.extend_from_slice(text);
        self.known.insert(text.to_owned(), added);
        added
    }
}

pub struct Inputs {
    pub files: Vec<FileRow>,
    pub inputs: Vec<InputRow>,
    /// By [`FileId`].
    pub of_file: Vec<u32>,
}

/// What an input is, and how large its tables are.
struct Facts<'a> {
    name: &'a FileName<'a>,
    data: &'a [u8],
    kind: u8,
    headers: usize,
    symbols: usize,
    first_global: u32,
}

impl Link<'_, '_, '_> {
    /// Rows of all files and inputs. Of inputs it is not yet known which other rows are theirs.
    pub fn inputs(&self, texts: &mut Texts) -> Inputs {
        let all = &self.context.inputs.files;
        let mut of_file = vec![NONE; all.len()];
        let mut numbers = Numbers::default();
        let (mut inputs, mut data) = (Vec::new(), Vec::new());
        for id in (0..all.len() as u32).map(FileId) {
            let Some(facts) = self.facts(id) else { continue };
            let path = normalised(&facts.name.path);
            let member = facts.name.member.unwrap_or_default();
            let key = hash_of(&[path.as_bytes(), member, &[u8::from(facts.name.member.is_some())]]);
            of_file[id.index()] = inputs.len() as u32;
            // Where it was read, if another one stands for it.
            let read = self.original(id).unwrap_or(facts.data);
            data.push(read);
            inputs.push(InputRow {
                key: numbers.key(key),
                path: texts.add(path.as_bytes()),
                member: texts.add(member),
                file: NONE,
                size: read.len() as u64,
                precedence: id.0,
                kind: facts.kind,
                headers: facts.headers as u32,
                symbols: facts.symbols as u32,
                first_global: facts.first_global,
                first_mention: 0,
                first_section: 0,
                sections: 0,
                frames: NONE,
                frames_size: 0,
                locals: 0,
                globals: 0,
                strings: 0,
                locals_room: 0,
                globals_room: 0,
                strings_room: 0,
            });
        }
        let files = self.files(&mut inputs, &data, texts);
        Inputs { files, inputs, of_file }
    }

    /// Notes in each input where records and symbols of it are that lie among those of others.
    pub fn note_places(&self, inputs: &mut [InputRow], of_file: &[u32]) {
        let row = |object: usize| of_file[self.image.resolved.objects[object].file.index()] as usize;
        for (object, run) in self.frames.runs() {
            let input = &mut inputs[row(object.index())];
            (input.frames, input.frames_size) = (run.start as u32, (run.end - run.start) as u32);
        }
        let Some(symtab) = self.symtab else { return };
        for object in 0..self.image.resolved.objects.len() {
            let (start, end) = (symtab.start_of(object), symtab.start_of(object + 1));
            let input = &mut inputs[row(object)];
            (input.locals, input.locals_room) = (start.locals, end.locals - start.locals);
            (input.globals, input.globals_room) = (start.globals, end.globals - start.globals);
            (input.strings, input.strings_room) =
                (start.strings as u32, (end.strings - start.strings) as u32);
        }
    }

    /// The bytes of an object, which its row is of.
    pub fn data(&self, input: &InputRow) -> &[u8] {
        let resolved = self.image.resolved;
        let index = resolved.index_of_file.get(input.precedence as usize);
        index.and_then(|index| resolved.objects.get(*index as usize)).map_or(&[], |object| object.data)
    }

    /// The bytes of an input as it was read.
    pub fn original(&self, id: FileId) -> Option<&[u8]> {
        self.context.inputs.bytes(id).ok().filter(|bytes| !bytes.is_empty())
    }

    /// `None` for what is no input: members that were not read, and the linker itself.
    fn facts(&self, id: FileId) -> Option<Facts<'_>> {
        let resolved = self.image.resolved;
        let index = resolved.index_of_file[id.index()] as usize;
        match &self.context.inputs.files[id.index()] {
            Input::Internal => None,
            Input::Shared { .. } => resolved.shared.get(index).map(|shared| Facts {
                name: &shared.name,
                data: shared.data,
                kind: input_kind::SHARED,
                headers: shared.shdrs.len(),
                symbols: shared.syms.len(),
                first_global: shared.first_global,
            }),
            other => match (resolved.objects.get(index), other) {
                (Some(object), _) => Some(Facts {
                    name: &object.name,
                    data: object.data,
                    kind: input_kind::OBJECT,
                    headers: object.shdrs.len(),
                    symbols: object.syms.len(),
                    first_global: object.first_global,
                }),
                (None, Input::Object { name, data, .. }) => {
                    let kind = input_kind::UNREAD;
                    Some(Facts { name, data, kind, headers: 0, symbols: 0, first_global: 0 })
                }
                (None, _) => None,
            },
        }
    }

    /// Rows of files, each of which is noted in the inputs whose `data` lies in it.
    fn files(&self, inputs: &mut [InputRow], data: &[&[u8]], texts: &mut Texts) -> Vec<FileRow> {
        // Where the bytes of a file lie in memory says what lies in the file.
        let mut places: Vec<_> = self.files.iter().map(|f| (f.bytes.as_ptr().addr(), f)).collect();
        places.sort_unstable_by_key(|(start, file)| (*start, &file.path));
        let mut first_input = HashMap::new();
        let mut of_input = Vec::with_capacity(inputs.len());
        for (row, bytes) in data.iter().enumerate() {
            let start = bytes.as_ptr().addr();
            let before = places.partition_point(|(at, _)| *at <= start).checked_sub(1).map(|i| &places[i]);
            let around = before.filter(|(at, file)| start + bytes.len() <= at + file.bytes.len());
            of_input.push(around.map(|(_, file)| &*file.path));
            if let Some((_, file)) = around {
                first_input.entry(&*file.path).or_insert(row);
            }
        }
        let mut known: Vec<_> = self.files.iter().collect();
        known.sort_by_key(|file| (first_input.get(&*file.path).unwrap_or(&usize::MAX), &file.path));
        known.dedup_by_key(|file| &file.path);
        let mut numbers = Numbers::default();
        let mut row_of = HashMap::new();
        let mut rows = Vec::with_capacity(known.len());
        for file in known {
            let path = normalised(&text::path(&file.path));
            row_of.insert(&*file.path, rows.len() as u32);
            rows.push(FileRow {
                key: numbers.key(hash(path.as_bytes())),
                path: texts.add(path.as_bytes()),
                given: texts.add(file.path.as_os_str().as_encoded_bytes()),
                size: file.bytes.len() as u64,
                modified: file.modified.map_or(0, since_1970),
            });
        }
        for (input, path) in inputs.iter_mut().zip(of_input) {
            input.file = path.and_then(|path| row_of.get(path).copied()).unwrap_or(NONE);
        }
        rows
    }
}

/// In nanoseconds.
fn since_1970(time: SystemTime) -> u64 {
    let passed = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX)
}

/// Notes in each input where its rows are among mentions and sections.
pub fn note_first_rows(inputs: &mut [InputRow], sections: &[SectionRow]) {
    let (mut mention, mut section) = (0, 0);
    for (row, input) in (0..).zip(inputs) {
        (input.first_mention, input.first_section) = (mention, section);
        if input.kind == input_kind::OBJECT {
            mention += input.symbols - input.first_global;
        }
        let mine = sections[section as usize..].iter().take_while(|kept| kept.input == row);
        input.sections = mine.count() as u32;
        section += input.sections;
    }
}

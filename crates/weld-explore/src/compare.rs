//! Two files side by side: the pieces of the new one, each with what it was in the old one, and what is gone.
//!
//! Pieces are the same if output section, archive, object, input section, symbol and role have the same names.
//! Compilers put hashes into the names of objects, and binaries do not tell who brought what; so what is left is
//! looked for once more by output section, symbol and role. Pieces without symbols are then those of one section.

use std::collections::{HashMap, VecDeque};

use crate::model::{Graph, InputSection, Model, Object, Old, OutputSection, Piece, Ref};
use crate::names::Name;

/// What a piece is called: names of the new model, which has those of the old one, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    output: Name,
    archive: Name,
    object: Name,
    /// A number of [`Called`].
    input: u32,
    name: Name,
    role: u8,
}

impl Key {
    /// Without who brought it.
    fn loose(self) -> Key {
        Key { archive: Name::NONE, object: Name::NONE, input: 0, ..self }
    }
}

/// The numbers that names of the old model have in the new one.
struct Translation(Vec<Name>);

impl Translation {
    fn new(old: &Model, new: &mut Model) -> Translation {
        Translation((0..old.names.count() as u32).map(|i| new.names.add(old.names.get(Name(i)))).collect())
    }

    fn of(&self, name: Name) -> Name {
        self.0.get(name.0 as usize).copied().unwrap_or_default()
    }
}

/// What input sections are called, by row: the same number for the same, whatever it is put together of; none is 0.
struct Called {
    new: Vec<u32>,
    old: Vec<u32>,
}

impl Called {
    fn of(new: &Model, old: &Model) -> Called {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut called = |model: &Model| -> Vec<u32> {
            let number = |row| {
                let next = numbers.len() as u32 + 1;
                *numbers.entry(model.section_name(row).into_owned()).or_insert(next)
            };
            (0..model.inputs.len()).map(number).collect()
        };
        let new = called(new);
        Called { new, old: called(old) }
    }
}

fn key(model: &Model, piece: &Piece, called: &[u32], name: impl Fn(Name) -> Name) -> Key {
    let output = piece.output.row().map_or(Name::NONE, |row| model.outputs[row].name);
    let object = model.object_of(piece).copied().unwrap_or_default();
    let archive = object.archive.row().map_or(Name::NONE, |row| model.archives[row]);
    Key {
        output: name(output),
        archive: name(archive),
        object: name(object.name),
        input: piece.input.row().map_or(0, |row| called[row]),
        name: name(piece.name),
        role: piece.role as u8,
    }
}

/// `new` with what it was in `old`. The sizes of its pieces are still the new file, the old sizes the old one.
pub fn compare(old: &Model, mut new: Model) -> Model {
    let translation = Translation::new(old, &mut new);
    let called = Called::of(&new, old);
    let keys: Vec<Key> = new.pieces.iter().map(|piece| key(&new, piece, &called.new, |name| name)).collect();
    let mut left: Vec<(Key, &Piece)> = old
        .pieces
        .iter()
        .map(|piece| (key(old, piece, &called.old, |name| translation.of(name)), piece))
        .collect();
    // Many pieces may have the same key, such as those that have no names: each is one of the old file's, in
    // their order.
    let mut taken = vec![false; new.pieces.len()];
    for loosely in [false, true] {
        let of = |key: Key| if loosely { key.loose() } else { key };
        let mut rows: HashMap<Key, VecDeque<usize>> = HashMap::new();
        for (row, key) in keys.iter().enumerate().filter(|(row, _)| !taken[*row]) {
            rows.entry(of(*key)).or_default().push_back(row);
        }
        left.retain(|(key, piece)| {
            let Some(row) = rows.get_mut(&of(*key)).and_then(VecDeque::pop_front) else { return true };
            let same = &mut new.pieces[row];
            (same.old_size, same.old_memory) = (piece.size, piece.memory);
            taken[row] = true;
            false
        });
    }
    let mut rows = Rows::of(&new, called);
    for (_, piece) in left {
        let piece = rows.gone(&mut new, old, piece, &translation);
        new.pieces.push(piece);
    }
    rows.complete_graph(&mut new);
    new.old = Some(Old { output: old.about.output.clone(), file_size: old.about.file_size });
    new
}

/// Rows of the new model by name, for what only the old one has.
struct Rows {
    outputs: HashMap<Name, usize>,
    archives: HashMap<Name, usize>,
    objects: HashMap<(Name, Ref), usize>,
    inputs: HashMap<(u32, Ref, u32), usize>,
    /// What sections of the old model are called.
    called: Vec<u32>,
}

impl Rows {
    fn of(new: &Model, called: Called) -> Rows {
        let rows = |i: usize| i;
        Rows {
            outputs: new.outputs.iter().enumerate().map(|(i, row)| (row.name, rows(i))).collect(),
            archives: new.archives.iter().enumerate().map(|(i, row)| (*row, i)).collect(),
            objects: new.objects.iter().enumerate().map(|(i, row)| ((row.name, row.archive), i)).collect(),
            inputs: new
                .inputs
                .iter()
                .enumerate()
                .map(|(i, row)| ((called.new[i], row.object, row.output), i))
                .collect(),
            called: called.old,
        }
    }

    /// A piece that is no more.
    fn gone(&mut self, new: &mut Model, old: &Model, piece: &Piece, names: &Translation) -> Piece {
        let output = piece.output.row().map(|row| self.output(new, &old.outputs[row], names));
        let input = piece.input.row().zip(output).map(|(row, output)| {
            let input = &old.inputs[row];
            let object = input.object.row().map(|row| self.object(new, old, &old.objects[row], names));
            let object = object.map_or(Ref::NONE, Ref::to);
            let (name, symbol) = (names.of(input.name), names.of(input.symbol));
            *self.inputs.entry((self.called[row], object, output as u32)).or_insert_with(|| {
                new.inputs.push(InputSection { name, symbol, object, output: output as u32 });
                new.inputs.len() - 1
            })
        });
        Piece {
            input: input.map_or(Ref::NONE, Ref::to),
            output: output.map_or(Ref::NONE, Ref::to),
            name: names.of(piece.name),
            size: 0,
            memory: 0,
            source: names.of(piece.source),
            instance: names.of(piece.instance),
            role: piece.role,
            old_size: piece.size,
            old_memory: piece.memory,
        }
    }

    fn output(&mut self, new: &mut Model, section: &OutputSection, names: &Translation) -> usize {
        let name = names.of(section.name);
        *self.outputs.entry(name).or_insert_with(|| {
            new.outputs.push(OutputSection { name, kind: section.kind, ..OutputSection::default() });
            new.outputs.len() - 1
        })
    }

    fn object(&mut self, new: &mut Model, old: &Model, object: &Object, names: &Translation) -> usize {
        let archive = object.archive.row().map(|row| {
            let name = names.of(old.archives[row]);
            *self.archives.entry(name).or_insert_with(|| {
                new.archives.push(name);
                new.archives.len() - 1
            })
        });
        let archive = archive.map_or(Ref::NONE, Ref::to);
        let name = names.of(object.name);
        *self.objects.entry((name, archive)).or_insert_with(|| {
            let source = names.of(object.source);
            new.objects.push(Object {
                name,
                archive,
                source,
                language: object.language,
                ..Object::default()
            });
            new.objects.len() - 1
        })
    }

    /// Sections that are gone refer to nobody.
    fn complete_graph(&self, new: &mut Model) {
        let count = new.inputs.len();
        if let Some(Graph { start, to, .. }) = &mut new.graph {
            start.resize(count + 1, to.len() as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::References;
    use crate::model::Root;

    /// A file of symbols in sections of objects.
    pub fn model(pieces: &[(&str, &str, u64)]) -> Model {
        let mut model = Model::default();
        let text = model.names.add(".text");
        model.outputs = vec![OutputSection { name: text, ..OutputSection::default() }];
        for (object, symbol, size) in pieces {
            let (object, name) = (model.names.add(object), model.names.add(symbol));
            model.objects.push(Object { name: object, ..Object::default() });
            let of = Ref::to(model.objects.len() - 1);
            model.inputs.push(InputSection { name: text, object: of, ..InputSection::default() });
            let input = Ref::to(model.inputs.len() - 1);
            model.pieces.push(Piece {
                input,
                output: Ref::to(0),
                name,
                size: *size,
                memory: *size,
                ..Piece::default()
            });
        }
        model.about.file_size = model.covered();
        model
    }

    #[test]
    fn pieces_of_one_name_are_one_each() {
        let old =
            model(&[("a.o", "", 10), ("a.o", "", 20), ("a.o", "", 30), ("b.o", "f", 5), ("c.o", "f", 6)]);
        let new =
            model(&[("a.o", "", 10), ("a.o", "", 21), ("b.o", "f", 5), ("d.o", "f", 6), ("e.o", "f", 7)]);
        let both = compare(&old, new);
        let sizes: Vec<(u64, u64)> = both.pieces.iter().map(|piece| (piece.size, piece.old_size)).collect();
        assert_eq!(sizes, [(10, 10), (21, 20), (5, 5), (6, 6), (7, 0), (0, 30)]);
    }

    #[test]
    fn sections_are_called_the_same_whatever_their_names_are_put_together_of() {
        let mut old = model(&[("a.o", "f", 10), ("a.o", "f", 20)]);
        let mut new = model(&[("a.o", "f", 21), ("a.o", "f", 11)]);
        let of_old = [".text.f", ".text.g"].map(|text| old.names.add(text));
        old.inputs.iter_mut().zip(of_old).for_each(|(input, name)| input.name = name);
        let front = new.names.add(".text.");
        new.inputs[0].name = new.names.add(".text.g");
        new.inputs[1] = InputSection { name: front, symbol: new.pieces[1].name, ..new.inputs[1] };
        for inputs in [&mut old.inputs, &mut new.inputs] {
            inputs.iter_mut().for_each(|input| input.object = Ref::to(0));
        }
        let both = compare(&old, new);
        let sizes: Vec<(u64, u64)> = both.pieces.iter().map(|piece| (piece.size, piece.old_size)).collect();
        assert_eq!(sizes, [(21, 20), (11, 10)]);
    }

    #[test]
    fn the_same_the_changed_and_the_gone() {
        let old = model(&[("a.o", "f", 10), ("a.o", "g", 20), ("x-1234.o", "h", 30), ("y.o", "gone", 40)]);
        let new = model(&[("a.o", "f", 10), ("a.o", "g", 25), ("x-5678.o", "h", 30), ("z.o", "new", 7)]);
        let both = compare(&old, new);
        let rows: Vec<(&str, u64, u64)> = both
            .pieces
            .iter()
            .map(|piece| (both.names.get(piece.name), piece.size, piece.old_size))
            .collect();
        assert_eq!(rows, [("f", 10, 10), ("g", 25, 20), ("h", 30, 30), ("new", 7, 0), ("gone", 0, 40)]);
        assert_eq!(both.covered(), both.about.file_size);
        assert_eq!(both.pieces.iter().map(|piece| piece.old_size).sum::<u64>(), old.about.file_size);
        let gone = both.object_of(&both.pieces[4]).expect("an object");
        assert_eq!(both.names.get(gone.name), "y.o");
    }

    #[test]
    fn graphs_stay_whole() {
        let old = model(&[("a.o", "f", 10)]);
        let mut new = model(&[("b.o", "g", 10), ("b.o", "h", 5)]);
        let roots = vec![Root::default()];
        new.graph = Some(Graph::new(References::new(2, vec![vec![(0, 1)]]), roots));
        let both = compare(&old, new);
        let graph = both.graph.as_ref().expect("a graph");
        assert_eq!(graph.start.len(), both.inputs.len() + 1);
        assert_eq!((graph.references(0), graph.references(2)), (&[1][..], &[][..]));
    }
}

//! Pages that are written and read again, and damaged ones.

use super::super::{MARKER, TEMPLATE, write_to};
use super::*;
use crate::graph::References;

/// What a page has around its data.
const BARE: &str = "<!doctype html>\n<!-- weld-data -->\n<p>end\n";

const HOSTILE: &str = "</script><script>alert(1)</script><!-- <img onerror=x>";

fn model() -> Model {
    let mut model = Model::default();
    let name = |model: &mut Model, text: &str| model.names.add(text);
    model.about = About {
        output: HOSTILE.to_owned(),
        file_size: 30,
        format: Format::Pe,
        machine: "x86-64".to_owned(),
        savings: Savings { comdat: Some(5), ..Savings::default() },
    };
    let text = name(&mut model, ".text");
    model.outputs =
        vec![OutputSection { name: text, kind: Kind::Code, address: 0x1000, file_offset: 10, size: 20 }];
    let archive = name(&mut model, "lib.a");
    model.archives = vec![archive];
    let (a, b) = (name(&mut model, "a.o"), name(&mut model, HOSTILE));
    model.objects = vec![
        Object { name: a, language: Language::Cpp, ..Object::default() },
        Object { name: b, archive: Ref::to(0), asked_by: Ref::to(0), asked_for: a, ..Object::default() },
    ];
    model.inputs = [0, 1]
        .map(|object| InputSection { name: text, symbol: a, object: Ref::to(object), output: 0 })
        .to_vec();
    model.pieces = vec![
        Piece { size: 10, role: Role::Header, ..Piece::default() },
        Piece { input: Ref::to(0), output: Ref::to(0), name: a, size: 8, memory: 8, ..Piece::default() },
        Piece {
            input: Ref::to(1),
            output: Ref::to(0),
            name: b,
            size: 12,
            memory: 12,
            source: a,
            ..Piece::default()
        },
    ];
    let roots = vec![Root { section: 0, reason: text, symbol: b }];
    model.libraries = vec![Library { name: a }, Library { name: b }];
    model.imports = vec![
        Import { library: Ref::NONE, symbol: b, section: Ref::NONE },
        Import { library: Ref::to(1), symbol: a, section: Ref::to(1) },
    ];
    model.graph = Some(Graph::new(References::new(2, vec![vec![(0, 1)]]), roots));
    model
}

#[test]
fn there_and_back() {
    let model = model();
    let page = write_to(BARE, &model, false);
    assert!(is_page(&page) && !is_page(BARE.as_bytes()));
    let again = read(&page).expect("a page");
    assert_eq!(again.about, model.about);
    assert_eq!(
        (&again.outputs, &again.archives, &again.objects),
        (&model.outputs, &model.archives, &model.objects)
    );
    assert_eq!((&again.inputs, &again.pieces, &again.graph), (&model.inputs, &model.pieces, &model.graph));
    assert_eq!([0, 1, 2].map(|row| again.section_name(row)), [".texta.o", ".texta.o", ""]);
    assert_eq!((&again.libraries, &again.imports), (&model.libraries, &model.imports));
    let texts = |model: &Model| {
        (0..model.names.count() as u32)
            .map(|number| model.names.get(Name(number)).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&again), texts(&model));
    assert_eq!(write_to(BARE, &again, true), page, "the same page again, by any number of threads");
}

/// Input sections that a model has by object, and the file has otherwise; with one that has no pieces.
#[test]
fn sections_in_the_order_of_the_file() {
    let mut model = Model::default();
    let names = ["a", "b", "c", "d"].map(|name| model.names.add(name));
    model.outputs = vec![OutputSection::default()];
    model.inputs = names.map(|name| InputSection { name, ..InputSection::default() }).to_vec();
    let of = |row: usize| Piece { input: Ref::to(row), size: 1, ..Piece::default() };
    model.pieces = vec![of(3), Piece::default(), of(1), of(3), of(0)];
    model.about.file_size = 4;
    let pairs = vec![(3, 0), (3, 1), (0, 2), (1, 0), (2, 3)];
    let root = Root { section: 3, reason: names[0], ..Root::default() };
    model.graph = Some(Graph::new(References::new(4, vec![pairs.clone()]), vec![root]));
    model.imports = vec![Import { library: Ref::NONE, symbol: names[0], section: Ref::to(1) }];
    let again = read(&write_to(BARE, &model, false)).expect("a page");
    let name = |row: usize| again.names.get(again.inputs[row].name);
    assert_eq!([0, 1, 2, 3].map(name), ["d", "b", "a", "c"]);
    let of_pieces: Vec<_> = again.pieces.iter().map(|piece| piece.input.row().map(name)).collect();
    assert_eq!(of_pieces, [Some("d"), None, Some("b"), Some("d"), Some("a")]);
    let graph = again.graph.as_ref().expect("a graph");
    let mut found: Vec<(&str, &str)> = Vec::new();
    for from in 0..4 {
        found.extend(graph.references(from).iter().map(|to| (name(from), name(*to as usize))));
    }
    found.sort_unstable();
    let mut expected: Vec<(&str, &str)> = pairs
        .iter()
        .map(|(from, to)| (["a", "b", "c", "d"][*from as usize], ["a", "b", "c", "d"][*to as usize]))
        .collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(name(graph.roots[0].section as usize), "d");
    assert_eq!(again.imports[0].section.row().map(name), Some("b"));
}

/// Nothing is moved where first pieces are in the order of the model, whatever lies between them.
#[test]
fn sections_that_are_in_order_stay() {
    let rows = |pieces: &[usize]| {
        let mut model = Model::default();
        let names = ["a", "b", "c", "d"].map(|name| model.names.add(name));
        model.outputs = vec![OutputSection::default()];
        model.inputs = names.map(|name| InputSection { name, ..InputSection::default() }).to_vec();
        model.pieces = pieces.iter().map(|row| Piece { input: Ref::to(*row), ..Piece::default() }).collect();
        let again = read(&write_to(BARE, &model, false)).expect("a page");
        (0..4).map(|row| again.section_name(row).into_owned()).collect::<String>()
    };
    assert_eq!(rows(&[0, 2, 0, 3, 2]), "abcd");
    assert_eq!(rows(&[0, 3, 0, 2]), "adcb");
}

#[test]
fn names_cannot_become_markup() {
    let page = String::from_utf8(write_to(BARE, &model(), false)).expect("UTF-8");
    let elements: Vec<&str> = page.split('<').skip(1).collect();
    let expected = ["!doctype html", "script type", "/script", "p>"];
    assert!(elements.iter().all(|element| expected.iter().any(|start| element.starts_with(start))), "{page}");
    assert!(!page.contains("<script>alert"), "{page}");
}

#[test]
fn the_template_has_a_place_for_data() {
    assert_eq!(TEMPLATE.matches(MARKER).count(), 1);
    assert!(!is_page(TEMPLATE.as_bytes()));
}

#[test]
fn damaged_pages_are_errors() {
    let page = write_to(BARE, &model(), false);
    for end in 0..page.len() - 10 {
        assert!(read(&page[..end]).is_err() || end > page.len() - 40, "{end}");
    }
    for at in 0..page.len() {
        for byte in [0, b'9', b'0', b'A', b'<'] {
            let mut page = page.clone();
            page[at] = byte;
            // It may still be a page, but not make anything panic.
            _ = read(&page);
        }
    }
    let other = String::from_utf8(page).expect("UTF-8").replace("\"format\":4", "\"format\":9");
    assert_eq!(read(other.as_bytes()).err(), Some(PageError::Format(9)));
}

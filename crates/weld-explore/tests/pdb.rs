//! An image and its PDB, whole and damaged, and what `weld explore` reads of them.

mod sample;

use weld_explore::binary::pdb::Named;
use weld_explore::binary::{Beside, BinaryError, read};
use weld_explore::drafts::Spelling;
use weld_explore::model::{Piece, Role};
use weld_pdb::Identity;

use sample::{image, pdb};

const SPELLING: Spelling<'static> =
    Spelling { shown: &|name| weld_common::text::text(name), parallel: false };

#[test]
fn symbols_and_objects() {
    let (pdb, identity) = pdb();
    let image = image(&identity);
    let named = Named::of(&image).expect("it names its PDB");
    assert_eq!((named.path.as_str(), named.is(&pdb), named.is(b"")), ("C:\\out\\x.pdb", true, false));
    let beside = Beside { pdb: Some(&pdb), ..Beside::default() };
    let model = read("x.exe", &image, beside, SPELLING).expect("an image");
    assert_eq!(model.covered(), image.len() as u64);
    let of = |piece: &Piece| {
        let object = model.object_of(piece).map_or("", |object| model.names.get(object.name));
        (piece.size, model.names.get(piece.name), object, piece.role)
    };
    let inside: Vec<_> = model.pieces.iter().filter(|piece| piece.memory > 0).map(of).collect();
    let want = [
        (12, "?f@@YAXXZ", "a.obj", Role::Contents),
        (4, "", "a.obj", Role::Contents),
        (20, "hidden", "m.obj", Role::Contents),
        (12, "", "m.obj", Role::Contents),
        (0x1d0, "", "(not known)", Role::Contents),
        (24, "v", "a.obj", Role::Contents),
        (0x68, "", "(not known)", Role::Contents),
    ];
    assert_eq!(inside, want);
    let archives: Vec<&str> = model.archives.iter().map(|name| model.names.get(*name)).collect();
    assert_eq!(archives, ["lib.lib"]);
}

#[test]
fn the_pdb_of_another_link() {
    let (pdb, identity) = pdb();
    let other = image(&Identity { guid: [8; 16], ..identity });
    let beside = Beside { pdb: Some(&pdb), ..Beside::default() };
    assert_eq!(read("x.exe", &other, beside, SPELLING).err(), Some(BinaryError::OtherPdb));
    let beside = Beside { pdb: Some(b"no PDB"), ..Beside::default() };
    assert_eq!(read("x.exe", &image(&identity), beside, SPELLING).err(), Some(BinaryError::OtherPdb));
}

/// An error or a picture of the file, no panic, and no more memory than the file has a few times over.
#[test]
fn damaged_pdbs() {
    let (pdb, identity) = pdb();
    let image = image(&identity);
    let check = |pdb: &[u8]| {
        let beside = Beside { pdb: Some(pdb), ..Beside::default() };
        if let Ok(model) = read("x.exe", &image, beside, SPELLING) {
            assert_eq!(model.covered(), image.len() as u64);
        }
    };
    (0..pdb.len()).step_by(61).for_each(|end| check(&pdb[..end]));
    let used: Vec<usize> = (0..pdb.len()).filter(|at| pdb[*at] != 0).collect();
    for at in used {
        for byte in [0u8, 1, 0x7f, 0xff] {
            let mut damaged = pdb.clone();
            damaged[at] = byte;
            check(&damaged);
        }
    }
}

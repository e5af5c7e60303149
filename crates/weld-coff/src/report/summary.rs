//! `/summary`: how much was read, and how much of it is in the PDB.

use std::fmt::Write;

use object::LittleEndian as LE;
use weld_pdb::Types;

use crate::debug::InPdb;
use crate::debug::types::Objects;
use crate::synth::image::Image;

/// The text: a line for each number.
pub fn text(image: &Image, read: Option<(&Objects, &Types)>, pdb: Option<InPdb>) -> String {
    let objects = &image.resolved.objects;
    let debug = |name: &[u8; 8]| -> u64 {
        let of_object = objects.iter().flat_map(|object| object.coff.sections);
        let all = of_object.filter(|header| header.name == *name);
        all.map(|header| u64::from(header.size_of_raw_data.get(LE))).sum()
    };
    let mut rows = vec![
        (objects.len() as u64, "objects, members of libraries among them"),
        (objects.iter().map(|object| object.coff.data.len() as u64).sum(), "bytes of objects"),
        (image.resolved.imports.len() as u64, "imports by way of import libraries"),
    ];
    if let (Some((objects, types)), Some(pdb)) = (read, pdb) {
        rows.extend([
            (objects.server_count(), "PDBs of compilers that types come from"),
            (objects.header_count(), "objects of precompiled headers"),
            (types.record_count(), "type records read"),
            (debug(b".debug$T") + debug(b".debug$P"), "bytes of type records in objects"),
            (pdb.types, "types in the PDB"),
            (pdb.ids, "ids in the PDB"),
            (pdb.strings, "names of files in the PDB"),
            (pdb.globals, "global symbols in the PDB"),
            (pdb.symbol_bytes, "bytes of modules' symbols in the PDB"),
            (pdb.publics, "public symbols in the PDB"),
        ]);
    }
    let mut text = "Summary\n".to_owned();
    for (number, what) in rows {
        let _ = writeln!(text, "{number:>15} {what}");
    }
    text
}

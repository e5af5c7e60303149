//! CodeView of some objects: whatever it says, a PDB that holds together.
#![no_main]

use weld_fuzz::{MemFile};

#[path = "../../crates/weld-pdb/tests/whole/mod.rs"]
mod whole;
use whole::{Object, verify, write};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let objects = objects(data);
    let file = MemFile::new(&[]);
    write(&objects, file.path().as_ref()).unwrap();
    verify(&std::fs::read(file.path()).unwrap());
});

/// Sections one behind the other, each with its length and what it is. The signature stands before each, for
/// it would take the fuzzer long to find.
fn objects(mut data: &[u8]) -> Vec<Object> {
    let mut objects = vec![Object::default()];
    while let Some((&[what, low, high], rest)) = data.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (contents, behind) = rest.split_at(len);
        data = behind;
        if what & 4 != 0 {
            objects.push(Object::default());
        }
        let section = [&4u32.to_le_bytes()[..], contents].concat();
        let object = objects.last_mut().unwrap();
        match what & 3 {
            0 => object.types = section,
            1 => object.precompiled = section,
            _ => object.sections.push(section),
        }
    }
    objects
}

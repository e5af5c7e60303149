//! The readers of what comes with COFF objects: short imports, directives, module-definition files, compiled
//! resources as files and as trees, DLLs. The first byte says which; what is written from what was read is
//! read back where there is a writer.
#![no_main]

use weld_coff::coff::dll::Dll;
use weld_coff::coff::import::{Import, short_import};
use weld_coff::args::def;
use weld_coff::coff::{directives, identify, res, rsrc};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&which, data)) = data.split_first() else { return };
    let _ = identify::identify(data);
    match which % 6 {
        0 => {
            if let Ok(import) = Import::parse(data) {
                let again = short_import(&import);
                assert_eq!(Import::parse(&again), Ok(import), "what is written is read");
            }
        }
        1 => {
            let mut count = 0;
            directives::parse(data, |_| count += 1);
            assert!(count <= data.len());
        }
        2 => {
            let _ = def::parse(&String::from_utf8_lossy(data));
        }
        3 => {
            if let Ok(list) = res::parse(data) {
                assert!(list.len() <= data.len() / 24, "each has a header of its own");
            }
        }
        4 => {
            let data_of = |at: u32| data.get(at as usize..);
            if let Ok(list) = rsrc::parse(data, data.len(), data_of) {
                assert!(list.len() <= data.len() / 16, "each has a description");
            }
        }
        _ => {
            if let Ok(dll) = Dll::parse(data) {
                assert!(dll.exports.len() <= data.len() / 4, "each has a place in the table of names");
            }
        }
    }
});

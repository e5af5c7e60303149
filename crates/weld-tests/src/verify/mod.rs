//! Checks that hold for every file a linker writes, whatever the test is about.
//!
//! Each module covers one part of the file and returns what is wrong as text; an empty list is a
//! pass. The rules are those a loader, a debugger or the next linker relies on (gABI, the GNU
//! extensions), and hold for the output of lld, mold and GNU ld as well, against which they were
//! written.

mod dynamic;
mod emitted;
mod frames;
mod hashes;
mod layout;
mod notes;
pub mod pe;
mod relocatable;
mod sframe;
mod symbols;

use crate::elf::Image;
use object::elf;

/// What is wrong with a file, in no particular order.
#[derive(Default)]
pub struct Problems(pub Vec<String>);

impl Problems {
    fn add(&mut self, text: impl Into<String>) {
        self.0.push(text.into());
    }

    fn check(&mut self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.0.push(text());
        }
    }

    /// Notes the error of a part that could not be read.
    fn part(&mut self, what: &str, result: Result<(), String>) {
        if let Err(e) = result {
            self.0.push(format!("{what}: {e}"));
        }
    }
}

/// Everything that is wrong with `image`.
pub fn verify(image: &Image) -> Vec<String> {
    let mut p = Problems::default();
    layout::sections(image, &mut p);
    symbols::symtab(image, &mut p);
    if image.e_type == elf::ET_REL.0 {
        let part = relocatable::verify(image, &mut p);
        p.part("relocatable file", part);
        return p.0;
    }
    layout::segments(image, &mut p);
    layout::relro(image, &mut p);
    dynamic::tags(image, &mut p);
    dynamic::relocations(image, &mut p);
    let part = emitted::verify(image, &mut p);
    p.part("relocations that are kept", part);
    let part = hashes::gnu(image, &mut p);
    p.part(".gnu.hash", part);
    let part = hashes::sysv(image, &mut p);
    p.part(".hash", part);
    hashes::versions(image, &mut p);
    let part = frames::verify(image, &mut p);
    p.part(".eh_frame", part);
    let part = sframe::verify(image, &mut p);
    p.part(".sframe", part);
    let part = notes::verify(image, &mut p);
    p.part("notes", part);
    p.0
}

/// Whether another linker is known to break this rule. Tests run against others only to check the
/// tests; weld itself has no entry here.
pub fn known_deviation(linker: &str, problem: &str) -> bool {
    let marks: &[&str] = match linker {
        // GNU ld hashes undefined symbols, puts symbols into the section before theirs.
        "bfd" => &[".gnu.hash covers", "symbol __TMC_END__", "symbol _TLS_MODULE_BASE_", "DT_RELA is 0x0"],
        // mold 1.10 pads notes of different alignment as one, knows no PT_GNU_PROPERTY, and may
        // start PT_GNU_RELRO at .tbss.
        "mold" => &["PT_NOTE: ", ".note.gnu.property has no segment", "PT_GNU_RELRO at"],
        // lld counts segments it drops later.
        "lld" => &["PT_PHDR has the wrong size"],
        _ => &[],
    };
    marks.iter().any(|m| problem.contains(m))
}

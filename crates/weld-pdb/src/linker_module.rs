//! Symbol records that a linker makes itself: of its own module and of imported functions.

use crate::codeview::SIGNATURE_C13;
use crate::codeview::symbol::{S_COFFGROUP, S_COMPILE3, S_END, S_ENVBLOCK, S_OBJNAME, S_SECTION, S_THUNK32};
use crate::input::{CoffGroup, OutputSection};

/// The name of the linker's own module.
pub const LINKER_MODULE: &str = "* Linker *";

/// `CV_CFL_LINK` among the languages of S_COMPILE3.
const LANGUAGE_LINK: u32 = 7;

/// Some debuggers do not show locals unless the linker is at least as new as this one of Microsoft's.
const BACKEND_VERSION: [u16; 4] = [14, 10, 25019, 0];

/// The longest text in a record: what is longer is cut.
const LONGEST_TEXT: usize = 0xf000;

/// Records, one after the other, as [`Module::records`](crate::Module::records) wants them.
#[derive(Default)]
pub struct Records(Vec<u8>);

impl Records {
    pub fn new() -> Records {
        Records::default()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn begin(&mut self, kind: u16) -> usize {
        let start = self.0.len();
        self.u16(0);
        self.u16(kind);
        start
    }

    fn end(&mut self, start: usize) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        let len = (self.0.len() - start - 2) as u16;
        self.0[start..start + 2].copy_from_slice(&len.to_le_bytes());
    }

    fn u16(&mut self, value: u16) {
        self.0.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.0.extend(&text[..text.len().min(LONGEST_TEXT)]);
        self.0.push(0);
    }

    /// The module's name.
    pub fn object_name(&mut self, name: &[u8]) {
        let start = self.begin(S_OBJNAME);
        self.u32(0);
        self.text(name);
        self.end(start);
    }

    /// The program that made the module.
    pub fn compiler(&mut self, machine: u16, producer: &str) {
        let start = self.begin(S_COMPILE3);
        self.u32(LANGUAGE_LINK);
        self.u16(codeview_machine(machine));
        (0..4).for_each(|_| self.u16(0));
        BACKEND_VERSION.iter().for_each(|&part| self.u16(part));
        self.text(producer.as_bytes());
        self.end(start);
    }

    /// Names and values.
    pub fn environment(&mut self, pairs: &[(&str, &[u8])]) {
        let start = self.begin(S_ENVBLOCK);
        self.0.push(0);
        // All of them have to fit into one record.
        let most = LONGEST_TEXT / pairs.len().max(1);
        for (name, value) in pairs {
            self.text(name.as_bytes());
            self.text(&value[..value.len().min(most - name.len().min(most))]);
        }
        self.0.push(0);
        self.end(start);
    }

    /// A section of the image, with its number, and the groups of input sections in it.
    pub fn section(
        &mut self,
        number: u16,
        section: &OutputSection,
        alignment: u32,
        groups: &[CoffGroup<'_>],
    ) {
        let start = self.begin(S_SECTION);
        self.u16(number);
        self.0.extend([alignment.max(1).ilog2() as u8, 0]);
        self.u32(section.virtual_address);
        self.u32(section.virtual_size);
        self.u32(section.characteristics);
        let name_len = section.name.iter().position(|&byte| byte == 0).unwrap_or(8);
        self.text(&section.name[..name_len]);
        self.end(start);
        for group in groups {
            let start = self.begin(S_COFFGROUP);
            [group.size, group.characteristics, group.offset].iter().for_each(|&word| self.u32(word));
            self.u16(group.section);
            self.text(group.name);
            self.end(start);
        }
    }

    /// The few instructions that jump to an imported function.
    pub fn thunk(&mut self, name: &[u8], section: u16, offset: u32, size: u16) {
        let start = self.begin(S_THUNK32);
        let end_field = self.0.len() + 4;
        (0..3).for_each(|_| self.u32(0));
        self.u32(offset);
        self.u16(section);
        self.u16(size);
        // The kind of thunk: no special one.
        self.0.push(0);
        self.text(name);
        self.end(start);
        // In the module's stream a signature stands before the records.
        let end = (self.0.len() + size_of_val(&SIGNATURE_C13)) as u32;
        self.0[end_field..end_field + 4].copy_from_slice(&end.to_le_bytes());
        let start = self.begin(S_END);
        self.end(start);
    }
}

/// CodeView's number for a machine of COFF's: the processor that compilers name who mean no special one.
fn codeview_machine(machine: u16) -> u16 {
    match machine {
        0x014c => 0x07,
        0x01c4 => 0xf4,
        0xaa64 => 0xf6,
        _ => 0xd0,
    }
}

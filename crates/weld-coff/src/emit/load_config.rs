//! The load configuration, `_load_config_used`: start-up code brings it, and the linker writes what
//! `/dependentloadflag` says and looks whether it leads to the tables of `/guard:cf`. A loader that does not
//! find them does not guard, so that is said.
//!
//! Its first word is its size; what lies after that end it does not have.
//!
//! Source: "PE Format", Load Configuration Directory.

use std::mem::{offset_of, size_of};

use object::pe::{ImageLoadConfigDirectory32 as Config32, ImageLoadConfigDirectory64 as Config64};
use weld_common::diag::{Cause, DiagSink};

use crate::ids::SectionId;
use crate::symbols::Symbol;
use crate::synth::Table;
use crate::synth::image::Image;

/// Fields that lead to a table of guards: an address, and after it a count.
struct Row {
    table: Table,
    name: &'static str,
    /// Where the address is with 32 and with 64 bits.
    at: [usize; 2],
}

const ROWS: [Row; 4] = [
    Row {
        table: Table::GuardFunctions,
        name: "GuardCFFunction",
        at: [offset_of!(Config32, guard_cf_function_table), offset_of!(Config64, guard_cf_function_table)],
    },
    Row {
        table: Table::GuardImports,
        name: "GuardAddressTakenIatEntry",
        at: [
            offset_of!(Config32, guard_address_taken_iat_entry_table),
            offset_of!(Config64, guard_address_taken_iat_entry_table),
        ],
    },
    Row {
        table: Table::GuardLongjmp,
        name: "GuardLongJumpTarget",
        at: [
            offset_of!(Config32, guard_long_jump_target_table),
            offset_of!(Config64, guard_long_jump_target_table),
        ],
    },
    Row {
        table: Table::GuardEhCont,
        name: "GuardEHContinuation",
        // The next fields after those that the crate knows.
        at: [size_of::<Config32>(), size_of::<Config64>()],
    },
];

const FLAGS: [usize; 2] = [offset_of!(Config32, guard_flags), offset_of!(Config64, guard_flags)];
const LOAD_FLAGS: [usize; 2] =
    [offset_of!(Config32, dependent_load_flags), offset_of!(Config64, dependent_load_flags)];

/// What the linker has to do with the load configuration.
fn is_wanted(image: &Image) -> bool {
    image.options.loading.dependent_load_flags != 0 || image.options.guard.functions
}

/// Says that there is none where options ask for one.
pub fn check(image: &Image, sink: &DiagSink) {
    if let Some(name) = image.resolved.program.load_config {
        let bytes = image.bytes_at(image.symbols.get(name)).unwrap_or_default();
        let size = bytes.first_chunk().map(|size| u32::from_le_bytes(*size));
        match size {
            None => sink.warn(
                Cause::LoadConfiguration,
                "_load_config_used has no bytes in an object: the image has no load configuration",
            ),
            Some(size) if size as usize > bytes.len() => sink.warn(
                Cause::LoadConfiguration,
                format!(
                    "_load_config_used says that it has {size} bytes, and its section has {} from there",
                    bytes.len()
                ),
            ),
            Some(_) => {}
        }
        return;
    }
    if image.options.guard.functions {
        sink.warn(
            Cause::LoadConfiguration,
            "Control Flow Guard is enabled but '_load_config_used' is missing",
        );
    }
    if image.options.loading.dependent_load_flags != 0 {
        sink.warn(
            Cause::LoadConfiguration,
            "/dependentloadflag has no effect: '_load_config_used' is missing",
        );
    }
}

/// Completes a section with the load configuration, whose relocations have been applied.
pub fn finish(image: &Image, id: SectionId, bytes: &mut [u8], sink: &DiagSink) {
    let Some(name) = image.resolved.program.load_config.filter(|_| is_wanted(image)) else { return };
    let symbol = image.symbols.get(name);
    if symbol != Symbol::in_section(id, symbol.value) {
        return;
    }
    let Some(rest) = bytes.get_mut(symbol.value as usize..) else { return };
    let Some(size) = rest.first_chunk().map(|size| u32::from_le_bytes(*size) as usize) else { return };
    let size = size.min(rest.len());
    let config = Config { bytes: &mut rest[..size], wide: usize::from(image.resolved.machine.is_64()), sink };
    let flags = image.options.loading.dependent_load_flags;
    let at = LOAD_FLAGS[config.wide];
    if flags != 0 && config.has("DependentLoadFlags", at + 2, "/dependentloadflag") {
        config.bytes[at..at + 2].copy_from_slice(&flags.to_le_bytes());
    }
    if image.options.guard.functions {
        config.check_guards(image);
        let align = if config.wide == 1 { 8 } else { 4 };
        let rva = image.layout.rva(id) + symbol.value as u32;
        if !rva.get().is_multiple_of(align) {
            sink.warn(
                Cause::LoadConfiguration,
                format!("_load_config_used is at {rva:#x}, which is no multiple of {align} bytes"),
            );
        }
    }
}

struct Config<'c> {
    bytes: &'c mut [u8],
    /// 1 with 64-bit addresses.
    wide: usize,
    sink: &'c DiagSink,
}

impl Config<'_> {
    /// Whether the structure reaches to the end of a field; says it otherwise.
    fn has(&self, field: &str, end: usize, option: &str) -> bool {
        let size = self.bytes.len();
        if size < end {
            self.sink.warn(
                Cause::LoadConfiguration,
                format!("{option}: _load_config_used ends before {field}, after {size} bytes"),
            );
        }
        size >= end
    }

    fn number(&self, at: usize, size: usize) -> u64 {
        let mut number = [0; 8];
        number[..size].copy_from_slice(&self.bytes[at..at + size]);
        u64::from_le_bytes(number)
    }

    /// Every table that there is, and the flags, have to be told.
    fn check_guards(&self, image: &Image) {
        let expected = image.tables.guards.flags();
        let at = FLAGS[self.wide];
        let word = 4 << self.wide;
        if self.has("GuardFlags", at + 4, "/guard:cf") {
            // What the image's author adds is nobody else's business.
            let found = self.number(at, 4);
            if found & expected != expected {
                self.sink.warn(
                    Cause::LoadConfiguration,
                    format!(
                        "/guard:cf: GuardFlags in _load_config_used is {found:#x}, without {:#x}",
                        expected & !found
                    ),
                );
            }
        }
        for row in &ROWS {
            let Some(section) = image.tables.section(row.table) else { continue };
            let place = image.layout.rva(section).in_memory(image.base);
            let count = u64::from(image.sections.get(section).size / 4);
            let at = row.at[self.wide];
            let (table, number) = (format!("{}Table", row.name), format!("{}Count", row.name));
            for (field, at, expected) in [(table, at, place), (number, at + word, count)] {
                if !self.has(&field, at + word, "/guard:cf") {
                    break;
                }
                let found = self.number(at, word);
                if found != expected {
                    self.sink.warn(
                        Cause::LoadConfiguration,
                        format!(
                            "/guard:cf: {field} in _load_config_used is {found:#x} instead of {expected:#x}"
                        ),
                    );
                }
            }
        }
    }
}

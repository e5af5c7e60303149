//! `/functionpadmin`: room in front of functions, where a patch can put a jump while the program runs.
//! Functions get it that are compiled for it, which their objects' debug information says; and jumps to
//! imports.

use weld_common::diag::{Cause, DiagSink};
use weld_pdb::codeview::records::Record;
use weld_pdb::codeview::subsection::{self, Subsections};

use crate::coff::machine::Machine;
use crate::coff::pe;
use crate::input::object::Object;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{Kind, Section};

/// Symbol records that say how an object was compiled, and the bit in their flags.
const COMPILED: [u16; 2] = [0x1116, 0x113c];
const CAN_BE_PATCHED: u32 = 1 << 14;

pub struct PatchSpace {
    bytes: u64,
    /// Of each object.
    can_be_patched: Vec<bool>,
}

impl PatchSpace {
    /// `None` if none is asked for.
    pub fn find(resolved: &Resolved, options: &Options, sink: &DiagSink) -> Option<PatchSpace> {
        let default = match resolved.machine {
            Machine::X64 => Some(6),
            Machine::X86 => Some(5),
            _ => None,
        };
        let Some(bytes) = options.layout.function_pad?.or(default) else {
            let name = resolved.machine.name();
            sink.error(
                Cause::BadOption,
                format!("/functionpadmin: how many bytes has to be given for this machine: {name}"),
            );
            return None;
        };
        // There an instruction is replaced as a whole.
        let is_any = resolved.machine == Machine::Arm64;
        let can_be_patched = resolved.objects.iter().map(|object| is_any || can_be_patched(object)).collect();
        Some(PatchSpace { bytes: bytes.into(), can_be_patched })
    }

    /// Bytes in front of a section.
    #[inline]
    pub fn before(&self, section: &Section) -> u64 {
        let is_function = section.flags & pe::IMAGE_SCN_CNT_CODE.0 != 0
            && (section.kind == Kind::SyntheticSection || self.can_be_patched[section.object.index()]);
        if is_function { self.bytes } else { 0 }
    }
}

fn can_be_patched(object: &Object) -> bool {
    let all = object.coff.sections.iter().filter(|header| header.name == *b".debug$S");
    let all = all.filter_map(|header| object.coff.contents(header).ok());
    let mut parts = all.flat_map(|contents| Subsections::new(contents).into_iter().flatten().flatten());
    parts.any(|part| part.kind == subsection::SYMBOLS && says_so(part.contents))
}

fn says_so(symbols: &[u8]) -> bool {
    let mut at = 0;
    while let Ok(record) = Record::at(symbols, at) {
        if COMPILED.contains(&record.kind) {
            let flags = record.bytes.get(4..8).and_then(|bytes| bytes.first_chunk());
            return flags.is_some_and(|flags| u32::from_le_bytes(*flags) & CAN_BE_PATCHED != 0);
        }
        at += record.bytes.len();
    }
    false
}

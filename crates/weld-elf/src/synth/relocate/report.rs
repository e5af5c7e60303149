//! What is wrong with a relocation, in words.

use weld_common::diag::{Cause, Diagnostic};

use super::Site;
use crate::arch::class::Class;
use crate::arch::rules::Failure;
use crate::elf::*;
use crate::input::location::InputLocation;
use crate::wording::place;

impl Site<'_, '_, '_> {
    fn location(&self, reloc: &Rela) -> InputLocation<'_, '_> {
        self.object.at_byte(self.shndx, reloc.r_offset())
    }

    #[cold]
    fn push(&self, reloc: &Rela, diagnostic: Diagnostic) {
        let diagnostic = match self.object.symbol_name(reloc.sym()) {
            b"" => diagnostic,
            name => diagnostic.of_symbol(name),
        };
        self.image.sink.push(self.location(reloc).order(diagnostic));
    }

    /// Reports `what` is wrong with a relocation.
    #[cold]
    pub(super) fn refuse(&self, cause: Cause, reloc: &Rela, what: &str) {
        let text =
            format!("{}: {} {what}", self.location(reloc), self.object.machine.type_name(reloc.kind()));
        self.push(reloc, Diagnostic::error(cause, text));
    }

    #[cold]
    pub(super) fn out_of_bounds(&self, reloc: &Rela) {
        self.refuse(Cause::MalformedRelocation, reloc, "lies outside its section");
    }

    /// Reports a reference to a merge section that leads to none of its pieces.
    #[cold]
    pub(super) fn outside_pieces(&self, reloc: &Rela) {
        let name = self.image.describe_symbol(self.object, reloc.sym());
        let what = format!(
            "refers to an offset outside a section that is merged: '{name}' + {:#x}",
            reloc.r_addend()
        );
        self.refuse(Cause::MalformedRelocation, reloc, &what);
    }

    #[cold]
    pub(super) fn report(&self, reloc: &Rela, failure: Failure) {
        let name = self.image.describe_symbol(self.object, reloc.sym());
        let kind = self.object.machine.type_name(reloc.kind());
        let cause = cause_of(&failure);
        let text = match failure {
            Failure::TooFar => {
                format!("{}: {kind} is out of range; it refers to '{name}'", self.location(reloc))
            }
            Failure::Overflow(value) => {
                let range = self.object.machine.types[reloc.kind() as usize].range();
                let value =
                    if value < 0 { format!("-{:#x}", value.unsigned_abs()) } else { format!("{value:#x}") };
                format!(
                    "{}: {kind} is out of range: {value} is not in {range}; it refers to '{name}'",
                    self.location(reloc)
                )
            }
            Failure::Unencodable(value) => {
                let value =
                    if value < 0 { format!("-{:#x}", value.unsigned_abs()) } else { format!("{value:#x}") };
                let location = self.location(reloc);
                format!("{location}: {kind}: the instruction cannot hold {value}; it refers to '{name}'")
            }
            Failure::Odd(value) => {
                let location = self.location(reloc);
                format!("{location}: {kind} is stored halved, but {value:#x} is odd; it refers to '{name}'")
            }
            Failure::Unaligned(value) => {
                let align = self.object.machine.types[reloc.kind() as usize].align;
                let location = self.location(reloc);
                format!("{location}: {kind}: {value:#x} is not a multiple of {align}; it refers to '{name}'")
            }
            Failure::Addend(addend) => format!(
                "{}: {kind} against '{name}' has the addend {addend:#x}, but a slot is for the symbol itself",
                self.location(reloc)
            ),
            Failure::Signing => format!(
                "{}: {kind} against '{name}': its slot has a signed pointer for others, or for this alone",
                self.location(reloc)
            ),
            Failure::NoSlot => format!("{}: {kind} against '{name}' has no GOT slot", self.location(reloc)),
            Failure::InstructionSet => {
                let location = self.location(reloc);
                format!("{location}: {kind} does not change to the instruction set of '{name}'")
            }
            Failure::Region(target) => format!(
                "{}: {kind} is out of range: '{name}' at {target:#x} is not in the 256 MiB that the jump is in",
                self.location(reloc)
            ),
            Failure::NoNop => format!(
                "{}: {kind}: the call of '{name}' may change r2, but no nop follows that could restore it",
                self.location(reloc)
            ),
            Failure::Form => {
                format!("{}: {kind} against '{name}' is in an unknown code sequence", self.location(reloc))
            }
        };
        let place = place::of(self.object_id, self.shndx, reloc.r_offset());
        let mut diagnostic = Diagnostic::error(cause, text).place(place).tell_owner().tolerable();
        if let Some(definer) = self.image.definer(self.object, reloc.sym()) {
            diagnostic = diagnostic.note(format!("'{name}' is defined in {definer}"));
        }
        if let (Failure::InstructionSet, Some(second)) = (&failure, self.object.machine.second_set()) {
            diagnostic = diagnostic.note(second.advice.to_owned());
        }
        if matches!(failure, Failure::Overflow(_)) && self.is_beyond_got(reloc) {
            let text = "the GOT of this object alone is larger than its code reaches; compile with -mxgot";
            diagnostic = diagnostic.note(text.to_owned());
        }
        self.push(reloc, diagnostic);
    }

    /// Whether a relocation asks for a slot of a GOT that is larger than 16 bits reach around its base.
    fn is_beyond_got(&self, reloc: &Rela) -> bool {
        let machine = self.object.machine;
        let slots = matches!(
            machine.class(reloc.kind()),
            Class::Got | Class::GotPage | Class::GotTp | Class::TlsGd | Class::TlsLd
        );
        let size = self.image.got_size(self.object_id);
        slots && machine.loader_got.as_ref().is_some_and(|got| size > got.bias + 0x8000)
    }

    #[cold]
    pub(super) fn frame_not_pic(&self, reloc: &Rela) {
        let name = self.image.describe_symbol(self.object, reloc.sym());
        let text = format!(
            "{}: {} against '{name}' would need a dynamic relocation; recompile with -fPIC",
            self.location(reloc),
            self.object.machine.type_name(reloc.kind())
        );
        self.push(reloc, Diagnostic::error(Cause::NeedsPic, text));
    }
}

fn cause_of(failure: &Failure) -> Cause {
    match failure {
        Failure::TooFar | Failure::Overflow(_) | Failure::Unencodable(_) | Failure::Region(_) => {
            Cause::RelocationOutOfRange
        }
        Failure::Odd(_) | Failure::Unaligned(_) => Cause::RelocationMisaligned,
        Failure::Addend(_)
        | Failure::Signing
        | Failure::NoSlot
        | Failure::Form
        | Failure::InstructionSet
        | Failure::NoNop => Cause::UnsupportedRelocation,
    }
}

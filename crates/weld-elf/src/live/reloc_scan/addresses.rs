//! Addresses and distances: whether they are known at link time, the loader has to fill them in, or something
//! stands in for a symbol of another module.

use weld_common::diag::Cause;

use super::{Section, Target};
use crate::arch::rules::Rules;
use crate::ids::SectionId;
use crate::live::dyn_relocs::{DynKind, DynReloc};
use crate::live::{ScanResult, fact};
use crate::mode::Mode;
use crate::sections::SectionKind;
use crate::symbols::symbol_flags;

impl Section<'_, '_, '_> {
    pub(super) fn absolute<R: Rules>(&self, i: usize, target: Target, found: &mut ScanResult) {
        if target.is(symbol_flags::PREEMPTIBLE) {
            let writable = self.scanner.is_writable(self.object, self.at.1);
            if writable || self.scanner.mode.pic || self.may_become_writable() {
                return self.dynamic(i, target, DynKind::Symbolic, found);
            }
            return self.stand_in(i, target, found);
        }
        let fixed = matches!(target.kind(), symbol_flags::ABSOLUTE | symbol_flags::UNDEFINED);
        if self.scanner.mode.pic && !fixed {
            let kind = if self.is_tagged::<R>(i) { DynKind::Tagged } else { DynKind::Relative };
            self.dynamic(i, target, kind, found);
        }
    }

    pub(super) fn absolute_narrow(&self, i: usize, target: Target, found: &mut ScanResult) {
        if target.is(symbol_flags::PREEMPTIBLE) && !self.scanner.mode.pic {
            return self.stand_in(i, target, found);
        }
        let fixed = matches!(target.kind(), symbol_flags::ABSOLUTE | symbol_flags::UNDEFINED)
            && !target.is(symbol_flags::PREEMPTIBLE);
        let weak_null = target.is(symbol_flags::WEAK_UNDEFINED) && !self.scanner.mode.shared;
        if self.scanner.mode.pic && !fixed && !weak_null {
            self.error(Cause::NeedsPic, i, self.not_pic(i));
        }
    }

    /// An address that the loader signs, whether or not it has to find it out.
    pub(super) fn signed(&self, i: usize, target: Target, found: &mut ScanResult) {
        let mode = &self.scanner.mode;
        if target.is(symbol_flags::PREEMPTIBLE) {
            return self.dynamic(i, target, DynKind::Same, found);
        }
        match target.kind() {
            // Null is not signed.
            symbol_flags::UNDEFINED => {}
            symbol_flags::ABSOLUTE if mode.pic => {
                self.error(Cause::AbsoluteSymbol, i, self.absolute_in_pic(i))
            }
            _ => self.dynamic(i, target, DynKind::Signed, found),
        }
    }

    /// What a function returns.
    pub(super) fn initial(&self, i: usize, target: Target, found: &mut ScanResult) {
        match target.kind() {
            _ if target.is(symbol_flags::PREEMPTIBLE) => {
                let text = format!("needs '{}' to be defined in this output for good", self.name(i));
                self.error_about(Cause::UnsupportedRelocation, i, target, text);
            }
            _ if target.is(symbol_flags::IFUNC) => {
                let text = format!("calls '{}', which is an IFUNC and so called by itself", self.name(i));
                self.error_about(Cause::UnsupportedRelocation, i, target, text);
            }
            // What is not there is not called.
            symbol_flags::UNDEFINED => {}
            symbol_flags::ABSOLUTE if self.scanner.mode.pic => {
                self.error(Cause::AbsoluteSymbol, i, self.absolute_in_pic(i))
            }
            _ => self.dynamic(i, target, DynKind::Called, found),
        }
    }

    /// An instruction that is the value of a symbol. If nothing defines the symbol, the one that stands there
    /// stays.
    pub(super) fn instruction(&self, i: usize, target: Target) {
        if !matches!(target.kind(), symbol_flags::ABSOLUTE | symbol_flags::UNDEFINED) {
            let text = format!("stores an instruction, but '{}' is no number", self.name(i));
            self.error_about(Cause::UnsupportedRelocation, i, target, text);
        }
    }

    /// Whether a distance is that of a function of a shared object, which is only called.
    pub(super) fn is_call_of_shared<R: Rules>(&self, i: usize, target: Target) -> bool {
        let entry =
            !self.scanner.mode.pic && target.kind() == symbol_flags::SHARED && target.is(symbol_flags::FUNC);
        entry && target.is(symbol_flags::PREEMPTIBLE) && self.code(i).is_some_and(R::is_call)
    }

    /// Whether a part of an address in a library is that of a function which another module may define, and which
    /// is only called.
    pub(super) fn is_part_of_call<R: Rules>(&self, i: usize, target: Target) -> bool {
        self.scanner.mode.shared
            && target.is(symbol_flags::PREEMPTIBLE)
            && R::is_part_of_call(self.data(), self.relocs, i)
    }

    /// A symbol's address, not a call.
    pub(super) fn address(&self, i: usize, target: Target, found: &mut ScanResult) {
        // A call of what is not there does not happen; its address is compared with null.
        let pic =
            self.scanner.mode.pic && (!self.scanner.mode.shared || !target.is(symbol_flags::PREEMPTIBLE));
        if pic && target.kind() == symbol_flags::UNDEFINED && target.is(symbol_flags::WEAK_UNDEFINED) {
            let text = format!(
                "cannot give '{}', which is undefined and weak, the address 0 in position-independent output; \
                 recompile with -fPIC",
                self.name(i)
            );
            return self.error(Cause::NeedsPic, i, text);
        }
        self.pc_relative(i, target, found);
    }

    pub(super) fn pc_relative(&self, i: usize, target: Target, found: &mut ScanResult) {
        if !target.is(symbol_flags::PREEMPTIBLE) {
            // Symbol 0 stands for none. A value that `--defsym` or a script gives is meant as an address in
            // the image as it is linked, which moves with it.
            let fixed = target.kind() == symbol_flags::ABSOLUTE && !target.is(symbol_flags::ASSIGNED);
            if self.scanner.mode.pic && fixed && self.relocs[i].sym() != 0 {
                self.error(Cause::AbsoluteSymbol, i, self.absolute_in_pic(i));
            }
            return;
        }
        if self.scanner.mode.shared {
            return self.distance_by_loader(i, target, found);
        }
        self.stand_in(i, target, found);
    }

    /// The distance of what another module may define.
    pub(super) fn distance_by_loader(&self, i: usize, target: Target, found: &mut ScanResult) {
        let known = self.object.machine.dynamic.distance == Some(self.relocs[i].kind());
        let writable =
            || self.scanner.is_writable(self.object, self.at.1) || !self.scanner.options.relocs.text;
        match known && writable() {
            true => self.dynamic(i, target, DynKind::Same, found),
            false => self.error(Cause::NeedsPic, i, self.not_pic(i)),
        }
    }

    /// The address of what a jump goes to.
    pub(super) fn jump(&self, i: usize, target: Target, found: &mut ScanResult) {
        let null = target.kind() == symbol_flags::UNDEFINED && !target.is(symbol_flags::PREEMPTIBLE);
        if self.scanner.mode.pic && !null {
            return self.error(Cause::NeedsPic, i, self.not_pic(i));
        }
        if target.is(symbol_flags::PREEMPTIBLE) {
            if target.kind() == symbol_flags::SHARED {
                self.need(i, target, symbol_flags::NEEDS_PLT, found);
            }
        } else if matches!(target.kind(), symbol_flags::ABSOLUTE | symbol_flags::INTERNAL) {
            found.facts |= fact::CALLS_OUTSIDE;
        }
    }

    /// The low bits of an address.
    pub(super) fn low(&self, i: usize, target: Target, found: &mut ScanResult) {
        if target.is(symbol_flags::PREEMPTIBLE) {
            if self.scanner.mode.shared {
                return self.error(Cause::NeedsPic, i, self.not_pic(i));
            }
            self.stand_in(i, target, found);
        }
    }

    /// The address of a symbol of a shared object is needed at link time: a function's PLT entry
    /// or a copy of the variable stands for it.
    pub(super) fn stand_in(&self, i: usize, target: Target, found: &mut ScanResult) {
        if target.kind() != symbol_flags::SHARED {
            // Undefined and weak: null, now and at run time.
            return;
        }
        if !self.object.machine.dynamic.has_copies() {
            return self.error(Cause::NeedsPic, i, self.not_pic(i));
        }
        let ignored = match target.is(symbol_flags::FUNC) {
            true => self.scanner.options.sections.ignore_function_address_equality,
            false => self.scanner.options.sections.ignore_data_address_equality,
        };
        if target.is(symbol_flags::PROTECTED) && !ignored {
            // Its own library goes on using the original.
            let text = format!(
                "needs a fixed address of '{}', which its shared object protects; recompile with -fPIE",
                self.name(i)
            );
            return self.error(Cause::CopyRelocation, i, text);
        }
        if target.is(symbol_flags::FUNC) {
            // Loaders take no entry's address for a function's whose descriptor a library has.
            if self.object.machine.descriptors.is_some() && !ignored {
                return self.error(Cause::NeedsPic, i, self.not_pic(i));
            }
            if self.scanner.options.notes.indirect_extern_access == Some(true) {
                return self.error(
                    Cause::NeedsPic,
                    i,
                    self.not_pic(i) + ", or without -z indirect-extern-access",
                );
            }
            return self.need(i, target, symbol_flags::NEEDS_PLT | symbol_flags::NEEDS_CANONICAL_PLT, found);
        }
        if !self.scanner.options.relocs.copyreloc {
            return self.error(Cause::CopyRelocation, i, self.not_pic(i) + ", or allow copy relocations");
        }
        self.need(i, target, symbol_flags::NEEDS_COPY, found);
    }

    /// A dynamic relocation at the place of relocation `i`, if the section may have one.
    pub(super) fn dynamic(&self, i: usize, target: Target, kind: DynKind, found: &mut ScanResult) {
        let section = SectionId(self.object.section_base + self.at.1);
        if self.scanner.sections.get(section).kind() == SectionKind::EhFrame {
            if kind == DynKind::Relative && self.object.machine.frames_become_distances {
                return;
            }
            let text = format!(
                "needs a dynamic relocation against '{}', but exception frames take none; recompile with -fPIC",
                self.name(i)
            );
            return self.error(Cause::NeedsPic, i, text);
        }
        if !self.scanner.is_writable(self.object, self.at.1) {
            if self.scanner.options.relocs.text {
                let hint = "recompile with -fPIC, or allow text relocations with '-z notext'";
                let text = format!(
                    "in a read-only section needs a dynamic relocation against '{}'; {hint}",
                    self.name(i)
                );
                return self.error(Cause::TextRelocation, i, text);
            }
            found.facts |= fact::TEXT_REL;
        }
        if kind != DynKind::Relative && target.id.is_some() && target.is(symbol_flags::PREEMPTIBLE) {
            // Loaders that fill the GOT by `.dynsym` look there for a symbol's address.
            let slot = match self.object.machine.loader_got {
                Some(_) if kind == DynKind::Symbolic => symbol_flags::NEEDS_GOT,
                _ => 0,
            };
            self.scanner.symbols[target.id].add(symbol_flags::NEEDS_DYNSYM | slot);
        }
        found.dyn_relocs.push(DynReloc::new(section, i, kind));
    }

    /// Whether the loader may change the section though it is read-only. Exception frames it may not.
    pub(super) fn may_become_writable(&self) -> bool {
        let section = SectionId(self.object.section_base + self.at.1);
        !self.scanner.options.relocs.text && self.scanner.sections.get(section).kind() != SectionKind::EhFrame
    }
}

/// Whether the loader fills in the symbol's size. A program's read-only sections get the size that a variable
/// of a shared object has today, as copied variables do.
pub fn is_size_of_loader(mode: &Mode, flags: u32, writable: bool) -> bool {
    let known = !mode.shared && flags & symbol_flags::KIND == symbol_flags::SHARED && !writable;
    flags & symbol_flags::PREEMPTIBLE != 0 && !known
}

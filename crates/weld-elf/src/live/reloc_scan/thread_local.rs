//! Relocations for thread-local storage: whether their symbols are in it, and which slots the models of
//! access need, if the instructions cannot be rewritten to a cheaper one.

use weld_common::diag::Cause;

use super::{Section, Target};
use crate::arch::class::Class;
use crate::arch::rules::Rules;
use crate::elf::*;
use crate::ids::SectionId;
use crate::input::object::SymbolPlace;
use crate::live::dyn_relocs::DynKind;
use crate::live::{ScanResult, fact};
use crate::symbols::symbol_flags;

impl Section<'_, '_, '_> {
    /// Whether a relocation for thread-local storage has a symbol that it can be for.
    pub(super) fn is_thread_local(&self, i: usize, class: Class, target: Target) -> bool {
        if target.is(symbol_flags::IFUNC) {
            return false;
        }
        let in_section = target.id.is_none() && {
            let index = self.relocs[i].sym();
            let symbol = self.object.syms.get(index as usize);
            symbol.is_some_and(|s| matches!(self.object.place(index, s), SymbolPlace::Section(_)))
        };
        let unknown = !in_section || class == Class::TlsLd;
        unknown && self.tls_mismatch_is_fine(i, class, target) || self.is_in_template(i, target)
    }

    /// An offset from the thread pointer, which another module's variable has only when it is loaded.
    #[inline(always)]
    pub(super) fn thread_offset(&self, i: usize, class: Class, target: Target, found: &mut ScanResult) {
        let mode = &self.scanner.mode;
        // What is undefined and weak has no offset; code that asks for it does not run.
        let none = !mode.shared && target.kind() == symbol_flags::UNDEFINED;
        if class == Class::TpOff {
            if !none && (mode.shared || target.is(symbol_flags::PREEMPTIBLE)) {
                self.error(Cause::NeedsPic, i, self.not_pic(i));
            }
            return;
        }
        // The same where code has the word.
        let none = none && !self.scanner.is_writable(self.object, self.at.1);
        if !none && (mode.shared || target.is(symbol_flags::PREEMPTIBLE)) {
            found.facts |= fact::STATIC_TLS;
            self.dynamic(i, target, DynKind::TpOff, found);
        }
    }

    /// LD names the module, not a symbol; an undefined symbol, one of the linker's or one without a
    /// type stands for any kind.
    pub(super) fn tls_mismatch_is_fine(&self, i: usize, class: Class, target: Target) -> bool {
        let untyped = || {
            let symbol = self.object.syms.get(self.relocs[i].sym() as usize);
            symbol.is_none_or(|s| matches!(s.kind(), STT_NOTYPE | STT_SECTION))
        };
        matches!(
            class,
            Class::TlsLd
                | Class::TlsDescCall
                | Class::TlsMark
                | Class::Size
                | Class::Term
                | Class::OtherHalf
                | Class::None
                | Class::GotBase
                | Class::Unknown
        ) || matches!(target.kind(), symbol_flags::UNDEFINED | symbol_flags::INTERNAL)
            || target.id.is_none() && untyped()
    }

    /// Whether the definition lies in thread-local storage; of what other modules define, and of
    /// commons, the type says it.
    pub(super) fn is_in_template(&self, i: usize, target: Target) -> bool {
        let index = self.relocs[i].sym();
        let (object, shndx) = if target.kind() != symbol_flags::DEFINED {
            return target.is(symbol_flags::TLS);
        } else if target.id.is_some() {
            let section = SectionId(self.scanner.symbols[target.id].section);
            let object = &self.scanner.objects[self.scanner.owners.object(section).index()];
            (object, section.0 - object.section_base)
        } else {
            match self.object.syms.get(index as usize).map(|s| self.object.place(index, s)) {
                Some(SymbolPlace::Section(shndx)) => (self.object, shndx),
                _ => return false,
            }
        };
        object.shdrs.get(shndx as usize).is_some_and(|s| s.sh_flags() & SHF_TLS != 0)
    }

    pub(super) fn general_dynamic<R: Rules>(
        &self,
        i: usize,
        target: Target,
        found: &mut ScanResult,
    ) -> usize {
        if self.scanner.mode.shared || R::tls_call(self.data(), self.relocs, i).is_none() {
            self.slot_from::<R>(i, found);
            self.need(i, target, symbol_flags::NEEDS_TLSGD, found);
            return 0;
        }
        if target.is(symbol_flags::PREEMPTIBLE) {
            self.need(i, target, symbol_flags::NEEDS_GOTTP, found);
        }
        // The relocation of the call goes away with it.
        R::TLS_CALL_RELOCS
    }

    pub(super) fn local_dynamic<R: Rules>(&self, i: usize, found: &mut ScanResult) -> usize {
        if self.scanner.mode.shared || R::tls_call(self.data(), self.relocs, i).is_none() {
            self.slot_from::<R>(i, found);
            found.facts |= fact::TLS_LD;
            return 0;
        }
        R::TLS_CALL_RELOCS
    }

    pub(super) fn initial_exec<R: Rules>(&self, i: usize, target: Target, found: &mut ScanResult) {
        if self.scanner.mode.shared {
            found.facts |= fact::STATIC_TLS;
        } else if !target.is(symbol_flags::PREEMPTIBLE)
            && self.scanner.options.relocs.relax
            && self.code(i).is_some_and(R::is_initial_exec)
            && !self.is_slot_of_loader::<R>(i)
        {
            return;
        }
        if R::counts_backward(self.relocs[i].kind()) {
            found.facts |= fact::BACKWARD_OFFSETS;
        }
        self.slot_from::<R>(i, found);
        self.need(i, target, symbol_flags::NEEDS_GOTTP, found);
    }

    pub(super) fn descriptor<R: Rules>(&self, i: usize, target: Target, found: &mut ScanResult) {
        let rewritable = self.code(i).is_some_and(R::is_descriptor);
        if !rewritable && !self.scanner.mode.dynamic {
            let text = "is not in a TLS descriptor sequence that can be rewritten, and without a loader nobody \
                        fills descriptors";
            self.error(Cause::ThreadLocalModel, i, text.into());
        } else if self.scanner.mode.shared || !rewritable {
            // Calls through a symbol's descriptor are all rewritten or none.
            self.slot_from::<R>(i, found);
            let signed = self.signed_slot::<R>(i, target, found);
            self.need(i, target, symbol_flags::NEEDS_TLSDESC | signed, found);
        } else if target.is(symbol_flags::PREEMPTIBLE) {
            self.need(i, target, symbol_flags::NEEDS_GOTTP, found);
        }
    }
}

//! What the scan complains of, in terms of the relocation and the symbol.

use weld_common::diag::{Cause, Diagnostic};

use super::{Section, Target};
use crate::elf::STB_WEAK;
use crate::ids::SectionId;
use crate::input::location::InputLocation;
use crate::input::object::SymbolPlace;
use crate::live::{ScanResult, UndefinedRef};
use crate::symbols::symbol_flags;
use crate::wording::{discarded, place, shown};

impl Section<'_, '_, '_> {
    pub(super) fn name(&self, i: usize) -> String {
        let index = self.relocs[i].sym();
        let name = self.object.symbol_name(index);
        if !name.is_empty() {
            return shown(self.scanner.options, name).into_owned();
        }
        match self.object.syms.get(index as usize).map(|s| self.object.place(index, s)) {
            Some(SymbolPlace::Section(shndx)) => self.object.section_label(shndx as usize),
            _ => "(no symbol)".into(),
        }
    }

    pub(super) fn location(&self, i: usize) -> InputLocation<'_, '_> {
        self.object.at_byte(self.at.1, self.relocs[i].r_offset())
    }

    #[cold]
    pub(super) fn error(&self, cause: Cause, i: usize, what: String) {
        self.scanner.sink.push(self.wrong(cause, i, what));
    }

    /// Complains of a relocation for thread-local storage (`tls`) whose symbol is not in it, or the other way round.
    #[cold]
    pub(super) fn thread_local_mismatch(&self, i: usize, tls: bool, target: Target) {
        let name = self.name(i);
        let what = if tls {
            format!("needs a TLS symbol, which '{name}' is not")
        } else {
            format!("cannot be used with TLS symbol '{name}'")
        };
        self.error_about(Cause::ThreadLocalMismatch, i, target, what);
    }

    /// Complains of an offset in this output's thread-local storage of what is another module's.
    #[cold]
    pub(super) fn offset_elsewhere(&self, i: usize) {
        let text = format!(
            "is an offset in the thread-local storage of this output, but '{}' is another module's",
            self.name(i)
        );
        self.error(Cause::ThreadLocalModel, i, text);
    }

    /// An error that also says where the symbol is defined.
    #[cold]
    pub(super) fn error_about(&self, cause: Cause, i: usize, target: Target, what: String) {
        let mut diagnostic = self.wrong(cause, i, what);
        if target.id.is_some() && target.kind() == symbol_flags::DEFINED {
            let section = SectionId(self.scanner.symbols[target.id].section);
            let definer = &self.scanner.objects[self.scanner.owners.object(section).index()];
            diagnostic = diagnostic.note(format!("defined in {}", definer.name));
        }
        self.scanner.sink.push(diagnostic);
    }

    pub(super) fn wrong(&self, cause: Cause, i: usize, what: String) -> Diagnostic {
        let reloc = &self.relocs[i];
        let text = format!("{} {what}", self.object.machine.type_name(reloc.kind()));
        let problem =
            self.location(i).error(cause, text).place(place::of(self.at.0, self.at.1, reloc.r_offset()));
        let problem = match self.object.symbol_name(reloc.sym()) {
            b"" => problem,
            name => problem.of_symbol(name),
        };
        match cause {
            Cause::NeedsPic | Cause::TextRelocation => problem.told_hint("recompile with -fPIC"),
            _ => problem,
        }
    }

    #[cold]
    pub(super) fn discarded(&self, i: usize, index: u32) {
        let name = self.object.section_label(self.at.1 as usize);
        // Tables of exception ranges for functions of a lost group are dead weight, not an error.
        if name.starts_with(".gcc_except_table") || name.starts_with(".debug") {
            return;
        }
        // So are words in tables of addresses that only such functions use.
        if self.object.machine.keeps_words(name.as_bytes()) {
            return;
        }
        let SymbolPlace::Section(shndx) = self.object.place(index, &self.object.syms[index as usize]) else {
            return;
        };
        let scanner = self.scanner;
        let text = format!("relocation refers to a symbol in a discarded section: {}", self.name(i));
        let offset = self.relocs[i].r_offset();
        let diagnostic = Diagnostic::error(Cause::DiscardedSymbol, text)
            .note(format!("referenced by {}", place::text(self.object, self.at.1, offset)))
            .place(place::of(self.at.0, self.at.1, offset))
            .tell_owner()
            .tolerable();
        let notes = discarded::notes(scanner.options, scanner.objects, scanner.sections, self.object, shndx);
        let diagnostic = notes.into_iter().fold(diagnostic, Diagnostic::note);
        scanner.sink.push(self.location(i).order(diagnostic));
    }

    pub(super) fn not_pic(&self, i: usize) -> String {
        let mode = self.scanner.mode;
        let output = if mode.shared {
            "-shared"
        } else if mode.pic {
            "-pie"
        } else {
            "-no-pie"
        };
        format!("cannot be used against symbol '{}' with {output}; recompile with -fPIC", self.name(i))
    }

    pub(super) fn absolute_in_pic(&self, i: usize) -> String {
        format!("cannot refer to absolute symbol '{}' in position-independent output", self.name(i))
    }

    pub(super) fn check_undefined(&self, i: usize, target: Target, found: &mut ScanResult) {
        if target.is(symbol_flags::WEAK_UNDEFINED) {
            return;
        }
        let index = self.relocs[i].sym();
        let symbol = &self.object.syms[index as usize];
        // A weak definition that was discarded is no reference that could do without one.
        let refers = self.object.place(index, symbol) == SymbolPlace::Undefined;
        if symbol.binding() == STB_WEAK && refers {
            return;
        }
        let allowed = self.scanner.mode.shared
            && target.is(symbol_flags::PREEMPTIBLE)
            && !self.scanner.options.symbols.report_undefined_in_shared;
        if !allowed {
            let (object, shndx) = self.at;
            found.undefined.push(UndefinedRef { object, shndx, reloc: i as u32, symbol: target.id });
        }
    }
}

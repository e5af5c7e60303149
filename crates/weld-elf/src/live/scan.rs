//! The relocation scan: what each relocation needs from its symbol.
//!
//! Hot loop, compiled for each machine. Most relocations are PC-relative or PLT references to a symbol of
//! this output: they take the early exit after one table load, one symbol load and the mark, about 20
//! instructions. What a class needs is the same on all machines; whether an instruction may be rewritten, so
//! that it needs less, the machine says.

use std::ops::Range;

use weld_common::diag::Diagnostic;

use super::dyn_relocs::{DynKind, DynReloc};
use super::{LocalNeed, ScanResult, Scanner, UndefinedRef, fact};
use crate::arch::Visitor;
use crate::arch::class::{Class, From};
use crate::arch::rules::{Code, Rules};
use crate::elf::*;
use crate::ids::*;
use crate::input::location::InputLocation;
use crate::input::object::{Object, SymbolPlace};
use crate::mode::Mode;
use crate::sections::SectionKind;
use crate::symbols::{Symbol, sym};
use crate::wording::{discarded, place, shown};

/// A symbol as one relocation sees it.
#[derive(Clone, Copy)]
struct Target {
    /// `sym::` bits; local symbols get those that fit.
    flags: u32,
    /// `SymbolId` of a global symbol, `NONE` for a local one.
    id: SymbolId,
}

impl Target {
    fn kind(self) -> u32 {
        self.flags & sym::KIND
    }
    fn is(self, bits: u32) -> bool {
        self.flags & bits != 0
    }
    /// Another module defines it.
    fn is_elsewhere(self) -> bool {
        let there =
            self.kind() == sym::SHARED || self.kind() == sym::UNDEFINED && !self.is(sym::WEAK_UNDEFINED);
        self.is(sym::PREEMPTIBLE) && there
    }
}

struct Section<'s, 'c, 'a> {
    scanner: &'s Scanner<'c, 'a>,
    object: &'s Object<'a>,
    at: (ObjectId, u32),
    relocs: &'s [Rela],
}

/// How many relocations ahead their symbols are asked for.
const TARGET_AHEAD: usize = 6;

/// Some relocations of a section that are to be scanned.
pub struct Scan<'s, 'c, 'a> {
    pub scanner: &'s Scanner<'c, 'a>,
    /// The object, and the section's index in it.
    pub at: (ObjectId, u32),
    pub range: Range<usize>,
    /// Gets the sections that they bring to life.
    pub stack: &'s mut Vec<SectionId>,
    pub found: &'s mut ScanResult,
}

impl Visitor for Scan<'_, '_, '_> {
    type Output = ();

    fn visit<R: Rules>(self) {
        scan::<R>(self);
    }
}

/// Records what the relocations need from their symbols.
#[inline(never)]
fn scan<R: Rules>(Scan { scanner, at, range, stack, found }: Scan) {
    let object = &scanner.objects[at.0.index()];
    let input = &scanner.sections.list[(object.section_base + at.1) as usize];
    let relocs = scanner.sections.relocs(object, at.0.index(), input);
    let section = Section { scanner, object, at, relocs };
    let mut i = range.start;
    while i < relocs.len().min(range.end) {
        let reloc = &relocs[i];
        let class = R::class(reloc.kind());
        section.prefetch(i + TARGET_AHEAD);
        if class == Class::None {
            // It computes nothing, but keeps what it names.
            if reloc.sym() != 0 {
                section.target(i, stack);
            }
            i += 1;
            continue;
        }
        let Some(target) = section.target(i, stack) else {
            i += 1;
            continue;
        };
        const SPECIAL: u32 = sym::PREEMPTIBLE | sym::IFUNC | sym::TLS;
        let plain = target.flags & (SPECIAL | sym::KIND) == sym::DEFINED;
        if !(plain && matches!(class, Class::Pc | Class::Plt | Class::Low)) {
            i += section.needs::<R>(i, class, target, found);
        }
        i += 1;
    }
}

impl<'a> Section<'_, '_, 'a> {
    /// The section's bytes.
    fn data(&self) -> &'a [u8] {
        self.object.section_data(self.at.1 as usize).unwrap_or(&[])
    }

    /// Asks for the symbol of relocation `i`.
    #[inline(always)]
    fn prefetch(&self, i: usize) {
        if let Some(reloc) = self.relocs.get(i) {
            self.scanner.symbols.prefetch_target(self.object, reloc.sym());
        }
    }

    /// Looks up the symbol of relocation `i` and marks the section it lies in.
    #[inline(always)]
    fn target(&self, i: usize, stack: &mut Vec<SectionId>) -> Option<Target> {
        let index = self.relocs[i].sym();
        if index < self.object.first_global {
            return self.local_target(i, index, stack);
        }
        if index as usize >= self.object.syms.len() {
            if index != 0 {
                self.error(i, format!("has a bad symbol index: {index}"));
                return None;
            }
            return Some(Target { flags: sym::ABSOLUTE, id: SymbolId::NONE });
        }
        let id = self.object.global(index);
        let symbol = &self.scanner.symbols[id];
        let flags = symbol.flags();
        if flags & sym::KIND == sym::DEFINED {
            self.scanner.mark_target(symbol.section, stack);
        } else {
            self.use_symbol(index, symbol);
        }
        Some(Target { flags, id })
    }

    fn use_symbol(&self, index: u32, symbol: &Symbol) {
        let weak = self.object.syms[index as usize].binding() == STB_WEAK;
        symbol.add(if weak { sym::USED } else { sym::USED | sym::USED_STRONG });
    }

    #[inline(always)]
    fn local_target(&self, i: usize, index: u32, stack: &mut Vec<SectionId>) -> Option<Target> {
        let symbol = &self.object.syms[index as usize];
        let flags = match self.object.place(index, symbol) {
            SymbolPlace::Section(shndx) if (shndx as usize) < self.object.shdrs.len() => {
                let section = self.object.section_base + shndx;
                if self.scanner.is_gone(section) {
                    self.discarded(i, index);
                    return None;
                }
                self.scanner.mark_target(section, stack);
                sym::DEFINED
            }
            SymbolPlace::Absolute => sym::ABSOLUTE,
            SymbolPlace::Undefined if index == 0 => sym::ABSOLUTE,
            _ => {
                let why = self.object.misplaced(index, symbol);
                self.error(i, format!("refers to what is nowhere: {why}"));
                return None;
            }
        };
        // The binding is above the type, and 0 for local symbols.
        let kind = match symbol.st_info() {
            STT_TLS => sym::TLS,
            STT_GNU_IFUNC => sym::IFUNC | sym::FUNC,
            0..16 => 0,
            _ => {
                let why = self.object.wrong_local(index, symbol).unwrap_or_default();
                self.error(i, format!("refers to a symbol that cannot be: {why}"));
                return None;
            }
        };
        Some(Target { flags: flags | kind, id: SymbolId::NONE })
    }

    fn name(&self, i: usize) -> String {
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

    fn location(&self, i: usize) -> InputLocation<'_, '_> {
        self.object.at_byte(self.at.1, self.relocs[i].r_offset())
    }

    #[cold]
    fn error(&self, i: usize, what: String) {
        self.scanner.sink.push(self.wrong(i, what));
    }

    /// An error that also says where the symbol is defined.
    #[cold]
    fn error_about(&self, i: usize, target: Target, what: String) {
        let mut diagnostic = self.wrong(i, what);
        if target.id.is_some() && target.kind() == sym::DEFINED {
            let section = SectionId(self.scanner.symbols[target.id].section);
            let definer = &self.scanner.objects[self.scanner.owners.object(section).index()];
            diagnostic = diagnostic.note(format!("defined in {}", definer.name));
        }
        self.scanner.sink.push(diagnostic);
    }

    fn wrong(&self, i: usize, what: String) -> Diagnostic {
        let reloc = &self.relocs[i];
        let text = format!("{} {what}", self.object.machine.type_name(reloc.kind()));
        self.location(i).error(text).place(place::of(self.at.0, self.at.1, reloc.r_offset()))
    }

    #[cold]
    fn discarded(&self, i: usize, index: u32) {
        let name = self.object.section_label(self.at.1 as usize);
        // Tables of exception ranges for functions of a lost group are dead weight, not an error.
        if name.starts_with(".gcc_except_table") || name.starts_with(".debug") {
            return;
        }
        let SymbolPlace::Section(shndx) = self.object.place(index, &self.object.syms[index as usize]) else {
            return;
        };
        let scanner = self.scanner;
        let text = format!("relocation refers to a symbol in a discarded section: {}", self.name(i));
        let offset = self.relocs[i].r_offset();
        let diagnostic = Diagnostic::error(text)
            .note(format!("referenced by {}", place::text(self.object, self.at.1, offset)))
            .place(place::of(self.at.0, self.at.1, offset))
            .tell_owner()
            .tolerable();
        let notes = discarded::notes(scanner.options, scanner.objects, scanner.sections, self.object, shndx);
        let diagnostic = notes.into_iter().fold(diagnostic, Diagnostic::note);
        scanner.sink.push(self.location(i).order(diagnostic));
    }

    /// Records that the symbol of relocation `i` needs something.
    fn need(&self, i: usize, target: Target, needs: u32, found: &mut ScanResult) {
        if target.id.is_some() {
            self.scanner.symbols[target.id].add(needs);
        } else {
            found.locals.push(LocalNeed { object: self.at.0, sym: self.relocs[i].sym(), needs });
        }
    }

    /// What a relocation that is not trivial needs. Returns how many relocations after it belong to it.
    fn needs<R: Rules>(&self, i: usize, class: Class, target: Target, found: &mut ScanResult) -> usize {
        let mode = &self.scanner.mode;
        if class == Class::Plt && R::is_marked_call(self.relocs, i) && !mode.shared {
            return 0;
        }
        if target.kind() == sym::UNDEFINED {
            self.check_undefined(i, target, found);
        }
        if target.is(sym::IFUNC)
            && !target.is(sym::PREEMPTIBLE)
            && !matches!(class, Class::Size | Class::OtherHalf | Class::TlsMark | Class::None)
        {
            // Libraries that ask a program at fixed addresses for it would call its resolver before the
            // program is relocated.
            let is_seen = !mode.pic && target.is(sym::EXPORTED);
            let is_known = is_seen || self.is_known_by_plt::<R>(i, class);
            let needs = if is_known { sym::NEEDS_CANONICAL_PLT } else { 0 };
            self.need(i, target, sym::NEEDS_PLT | needs, found);
        }
        let tls = class.is_tls();
        // Symbols know by their type whether they are thread-local; assemblers may leave it out, or
        // give it to what is used like one, so that in doubt the section decides.
        if tls && !self.is_thread_local(i, class, target)
            || !tls && target.is(sym::TLS) && !self.tls_mismatch_is_fine(i, class, target)
        {
            let name = self.name(i);
            let what = if tls {
                format!("needs a TLS symbol, which '{name}' is not")
            } else {
                format!("cannot be used with TLS symbol '{name}'")
            };
            self.error_about(i, target, what);
            return 0;
        }
        match class {
            Class::Address => self.absolute::<R>(i, target, found),
            Class::Signed => self.signed(i, target, found),
            Class::Initial => self.initial(i, target, found),
            Class::Instruction => self.instruction(i, target),
            Class::Narrow => self.absolute_narrow(i, target, found),
            Class::Pc if R::CALL_BY_DISTANCE && self.is_call_of_shared::<R>(i, target) => {
                self.need(i, target, sym::NEEDS_PLT, found);
            }
            Class::Pc => self.address(i, target, found),
            Class::Low => self.low(i, target, found),
            Class::Plt | Class::PltOff => {
                if class == Class::PltOff {
                    found.facts |= fact::GOT_BASE;
                }
                if target.is(sym::PREEMPTIBLE) {
                    // A function of another module is known by the address of its entry then.
                    let address = R::ADDRESS_BY_PLT
                        && !mode.shared
                        && target.kind() == sym::SHARED
                        && target.is(sym::FUNC)
                        && self.code(i).is_some_and(R::is_address);
                    match address {
                        true => self.stand_in(i, target, found),
                        false => self.need(i, target, sym::NEEDS_PLT, found),
                    }
                } else {
                    if matches!(target.kind(), sym::ABSOLUTE | sym::INTERNAL) {
                        found.facts |= fact::CALLS_OUTSIDE;
                    }
                    self.pc_relative(i, target, found);
                }
            }
            Class::Got => {
                self.slot_from::<R>(i, found);
                let signed = self.signed_slot::<R>(i, target, found) | self.tagged_slot::<R>(i, found);
                self.need(i, target, sym::NEEDS_GOT | signed, found);
            }
            Class::GotRelax => {
                let tagged = self.tagged_slot::<R>(i, found);
                if tagged != 0 || !self.can_relax_got::<R>(i, target) {
                    self.slot_from::<R>(i, found);
                    self.need(i, target, sym::NEEDS_GOT | tagged, found);
                }
            }
            Class::GotOff => {
                found.facts |= fact::GOT_BASE;
                self.address(i, target, found);
            }
            Class::GotBase => found.facts |= fact::GOT_BASE,
            Class::Size => {
                let writable = self.scanner.is_writable(self.object, self.at.1);
                if is_size_of_loader(mode, target.flags, writable) {
                    self.dynamic(i, target, DynKind::Same, found);
                }
            }
            Class::TlsGd => return self.general_dynamic::<R>(i, target, found),
            Class::TlsLd => return self.local_dynamic::<R>(i, found),
            Class::DtpOff if target.is_elsewhere() => {
                let text = format!(
                    "is an offset in the thread-local storage of this output, but '{}' is another module's",
                    self.name(i)
                );
                self.error(i, text);
            }
            // The loader adds no terms.
            Class::Term if target.is_elsewhere() && (mode.shared || target.is(sym::TLS)) => {
                self.error(i, self.not_pic(i))
            }
            Class::Term if target.is_elsewhere() => self.stand_in(i, target, found),
            Class::DtpOff
            | Class::TlsDescCall
            | Class::TlsMark
            | Class::Term
            | Class::OtherHalf
            | Class::None => {}
            Class::GotTp => self.initial_exec::<R>(i, target, found),
            Class::TpOff => {
                // What is undefined and weak has no offset; code that asks for it does not run.
                let none = !mode.shared && target.kind() == sym::UNDEFINED;
                if !none && (mode.shared || target.is(sym::PREEMPTIBLE)) {
                    self.error(i, self.not_pic(i));
                }
            }
            Class::TpOffWord => {
                // As above, where code has the word.
                let none = !mode.shared && target.kind() == sym::UNDEFINED;
                let none = none && !self.scanner.is_writable(self.object, self.at.1);
                if !none && (mode.shared || target.is(sym::PREEMPTIBLE)) {
                    found.facts |= fact::STATIC_TLS;
                    self.dynamic(i, target, DynKind::TpOff, found);
                }
            }
            Class::TlsDesc => self.descriptor::<R>(i, target, found),
            Class::Unknown => self.error(i, "is not supported".into()),
        }
        0
    }

    /// Whether relocation `i` of an IFUNC asks for an address, which then is that of its PLT entry, and not
    /// for a call, or for a slot: that is the entry's own. But one whose place counts from the GOT's base may
    /// have to be near it, and what is signed has a slot of its own.
    #[cold]
    fn is_known_by_plt<R: Rules>(&self, i: usize, class: Class) -> bool {
        match class {
            Class::Plt | Class::PltOff => R::ADDRESS_BY_PLT && self.code(i).is_some_and(R::is_address),
            Class::Got | Class::GotRelax => {
                let from = self.code(i).map(R::slot_from);
                matches!(from, None | Some(From::GotBase | From::GotPage))
                    || R::is_signed(self.relocs[i].kind())
            }
            _ => true,
        }
    }

    /// Whether a relocation for thread-local storage has a symbol that it can be for.
    fn is_thread_local(&self, i: usize, class: Class, target: Target) -> bool {
        if target.is(sym::IFUNC) {
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

    /// LD names the module, not a symbol; an undefined symbol, one of the linker's or one without a
    /// type stands for any kind.
    fn tls_mismatch_is_fine(&self, i: usize, class: Class, target: Target) -> bool {
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
        ) || matches!(target.kind(), sym::UNDEFINED | sym::INTERNAL)
            || target.id.is_none() && untyped()
    }

    /// Whether the definition lies in thread-local storage; of what other modules define, and of
    /// commons, the type says it.
    fn is_in_template(&self, i: usize, target: Target) -> bool {
        let index = self.relocs[i].sym();
        let (object, shndx) = if target.kind() != sym::DEFINED {
            return target.is(sym::TLS);
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

    fn check_undefined(&self, i: usize, target: Target, found: &mut ScanResult) {
        if target.is(sym::WEAK_UNDEFINED) {
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
            && target.is(sym::PREEMPTIBLE)
            && !self.scanner.options.symbols.report_undefined_in_shared;
        if !allowed {
            let (object, shndx) = self.at;
            found.undefined.push(UndefinedRef { object, shndx, reloc: i as u32, symbol: target.id });
        }
    }

    fn not_pic(&self, i: usize) -> String {
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

    /// A dynamic relocation at the place of relocation `i`, if the section may have one.
    fn dynamic(&self, i: usize, target: Target, kind: DynKind, found: &mut ScanResult) {
        let section = SectionId(self.object.section_base + self.at.1);
        if self.scanner.sections.get(section).kind() == SectionKind::EhFrame {
            let text = format!(
                "needs a dynamic relocation against '{}', but exception frames take none; recompile with -fPIC",
                self.name(i)
            );
            return self.error(i, text);
        }
        if !self.scanner.is_writable(self.object, self.at.1) {
            if self.scanner.options.relocs.text {
                let hint = "recompile with -fPIC, or allow text relocations with '-z notext'";
                let text = format!(
                    "in a read-only section needs a dynamic relocation against '{}'; {hint}",
                    self.name(i)
                );
                return self.error(i, text);
            }
            found.facts |= fact::TEXT_REL;
        }
        if kind != DynKind::Relative && target.id.is_some() && target.is(sym::PREEMPTIBLE) {
            self.scanner.symbols[target.id].add(sym::NEEDS_DYNSYM);
        }
        found.dyn_relocs.push(DynReloc::new(section, i, kind));
    }

    /// Whether the loader may change the section though it is read-only. Exception frames it may not.
    fn may_become_writable(&self) -> bool {
        let section = SectionId(self.object.section_base + self.at.1);
        !self.scanner.options.relocs.text && self.scanner.sections.get(section).kind() != SectionKind::EhFrame
    }

    fn absolute<R: Rules>(&self, i: usize, target: Target, found: &mut ScanResult) {
        if target.is(sym::PREEMPTIBLE) {
            let writable = self.scanner.is_writable(self.object, self.at.1);
            if writable || self.scanner.mode.pic || self.may_become_writable() {
                return self.dynamic(i, target, DynKind::Symbolic, found);
            }
            return self.stand_in(i, target, found);
        }
        let fixed = matches!(target.kind(), sym::ABSOLUTE | sym::UNDEFINED);
        if self.scanner.mode.pic && !fixed {
            let kind = if self.is_tagged::<R>(i) { DynKind::Tagged } else { DynKind::Relative };
            self.dynamic(i, target, kind, found);
        }
    }

    /// Whether relocation `i` refers to a variable that has a tag.
    #[inline(always)]
    fn is_tagged<R: Rules>(&self, i: usize) -> bool {
        if const { R::FACTS.tagging.is_none() } {
            return false;
        }
        self.scanner.tagged.is_some_and(|tagged| tagged.has((self.at.0, self.object), self.relocs[i].sym()))
    }

    /// What there is to note of a symbol whose slots have pointers with tags, if relocation `i` asks for one.
    #[inline(always)]
    fn tagged_slot<R: Rules>(&self, i: usize, found: &mut ScanResult) -> u32 {
        if !self.is_tagged::<R>(i) {
            return 0;
        }
        found.facts |= fact::TAGGED_SLOTS;
        sym::TAGGED_SLOT
    }

    /// What there is to note of a symbol whose slots have signed pointers, if relocation `i` asks for one.
    #[inline(always)]
    fn signed_slot<R: Rules>(&self, i: usize, target: Target, found: &mut ScanResult) -> u32 {
        if !R::is_signed(self.relocs[i].kind()) {
            return 0;
        }
        if target.kind() == sym::ABSOLUTE && self.scanner.mode.pic && !target.is(sym::PREEMPTIBLE) {
            self.error(i, self.absolute_in_pic(i));
        }
        found.facts |= fact::SIGNED_SLOTS;
        // Of what is not defined here, who refers to it says what it is.
        let symbol = self.object.syms.get(self.relocs[i].sym() as usize);
        let code = target.is(sym::FUNC) || symbol.is_some_and(|symbol| symbol.kind() == STT_FUNC);
        sym::SIGNED_SLOT | if code { sym::SIGNED_CODE } else { 0 }
    }

    /// An address that the loader signs, whether or not it has to find it out.
    fn signed(&self, i: usize, target: Target, found: &mut ScanResult) {
        let mode = &self.scanner.mode;
        if target.is(sym::PREEMPTIBLE) {
            return self.dynamic(i, target, DynKind::Same, found);
        }
        match target.kind() {
            // Null is not signed.
            sym::UNDEFINED => {}
            sym::ABSOLUTE if mode.pic => self.error(i, self.absolute_in_pic(i)),
            _ => self.dynamic(i, target, DynKind::Signed, found),
        }
    }

    fn absolute_in_pic(&self, i: usize) -> String {
        format!("cannot refer to absolute symbol '{}' in position-independent output", self.name(i))
    }

    /// What a function returns.
    fn initial(&self, i: usize, target: Target, found: &mut ScanResult) {
        match target.kind() {
            _ if target.is(sym::PREEMPTIBLE) => {
                let text = format!("needs '{}' to be defined in this output for good", self.name(i));
                self.error_about(i, target, text);
            }
            _ if target.is(sym::IFUNC) => {
                let text = format!("calls '{}', which is an IFUNC and so called by itself", self.name(i));
                self.error_about(i, target, text);
            }
            // What is not there is not called.
            sym::UNDEFINED => {}
            sym::ABSOLUTE if self.scanner.mode.pic => self.error(i, self.absolute_in_pic(i)),
            _ => self.dynamic(i, target, DynKind::Called, found),
        }
    }

    /// An instruction that is the value of a symbol. If nothing defines the symbol, the one that stands there
    /// stays.
    fn instruction(&self, i: usize, target: Target) {
        if !matches!(target.kind(), sym::ABSOLUTE | sym::UNDEFINED) {
            let text = format!("stores an instruction, but '{}' is no number", self.name(i));
            self.error_about(i, target, text);
        }
    }

    fn absolute_narrow(&self, i: usize, target: Target, found: &mut ScanResult) {
        if target.is(sym::PREEMPTIBLE) && !self.scanner.mode.pic {
            return self.stand_in(i, target, found);
        }
        let fixed = matches!(target.kind(), sym::ABSOLUTE | sym::UNDEFINED) && !target.is(sym::PREEMPTIBLE);
        let weak_null = target.is(sym::WEAK_UNDEFINED) && !self.scanner.mode.shared;
        if self.scanner.mode.pic && !fixed && !weak_null {
            self.error(i, self.not_pic(i));
        }
    }

    /// Whether a distance is that of a function of a shared object, which is only called.
    fn is_call_of_shared<R: Rules>(&self, i: usize, target: Target) -> bool {
        let entry = !self.scanner.mode.pic && target.kind() == sym::SHARED && target.is(sym::FUNC);
        entry && target.is(sym::PREEMPTIBLE) && self.code(i).is_some_and(R::is_call)
    }

    /// A symbol's address, not a call.
    fn address(&self, i: usize, target: Target, found: &mut ScanResult) {
        // A call of what is not there does not happen; its address is compared with null.
        let pic = self.scanner.mode.pic && (!self.scanner.mode.shared || !target.is(sym::PREEMPTIBLE));
        if pic && target.kind() == sym::UNDEFINED && target.is(sym::WEAK_UNDEFINED) {
            let text = format!(
                "cannot give '{}', which is undefined and weak, the address 0 in position-independent output; \
                 recompile with -fPIC",
                self.name(i)
            );
            return self.error(i, text);
        }
        self.pc_relative(i, target, found);
    }

    fn pc_relative(&self, i: usize, target: Target, found: &mut ScanResult) {
        if !target.is(sym::PREEMPTIBLE) {
            // Symbol 0 stands for none. A value that `--defsym` or a script gives is meant as an address in
            // the image as it is linked, which moves with it.
            let fixed = target.kind() == sym::ABSOLUTE && !target.is(sym::ASSIGNED);
            if self.scanner.mode.pic && fixed && self.relocs[i].sym() != 0 {
                self.error(i, self.absolute_in_pic(i));
            }
            return;
        }
        if self.scanner.mode.shared {
            return self.distance_by_loader(i, target, found);
        }
        self.stand_in(i, target, found);
    }

    /// The distance of what another module may define.
    fn distance_by_loader(&self, i: usize, target: Target, found: &mut ScanResult) {
        let known = self.object.machine.dynamic.distance == Some(self.relocs[i].kind());
        let writable =
            || self.scanner.is_writable(self.object, self.at.1) || !self.scanner.options.relocs.text;
        match known && writable() {
            true => self.dynamic(i, target, DynKind::Same, found),
            false => self.error(i, self.not_pic(i)),
        }
    }

    /// The low bits of an address.
    fn low(&self, i: usize, target: Target, found: &mut ScanResult) {
        if target.is(sym::PREEMPTIBLE) {
            if self.scanner.mode.shared {
                return self.error(i, self.not_pic(i));
            }
            self.stand_in(i, target, found);
        }
    }

    /// The address of a symbol of a shared object is needed at link time: a function's PLT entry
    /// or a copy of the variable stands for it.
    fn stand_in(&self, i: usize, target: Target, found: &mut ScanResult) {
        if target.kind() != sym::SHARED {
            // Undefined and weak: null, now and at run time.
            return;
        }
        let ignored = match target.is(sym::FUNC) {
            true => self.scanner.options.sections.ignore_function_address_equality,
            false => self.scanner.options.sections.ignore_data_address_equality,
        };
        if target.is(sym::PROTECTED) && !ignored {
            // Its own library goes on using the original.
            let text = format!(
                "needs a fixed address of '{}', which its shared object protects; recompile with -fPIE",
                self.name(i)
            );
            return self.error(i, text);
        }
        if target.is(sym::FUNC) {
            if self.scanner.options.notes.indirect_extern_access == Some(true) {
                return self.error(i, self.not_pic(i) + ", or without -z indirect-extern-access");
            }
            return self.need(i, target, sym::NEEDS_PLT | sym::NEEDS_CANONICAL_PLT, found);
        }
        if !self.scanner.options.relocs.copyreloc {
            return self.error(i, self.not_pic(i) + ", or allow copy relocations");
        }
        self.need(i, target, sym::NEEDS_COPY, found);
    }

    /// Notes what the place of a slot counts from.
    fn slot_from<R: Rules>(&self, i: usize, found: &mut ScanResult) {
        match self.code(i).map(R::slot_from) {
            Some(From::GotBase | From::GotPage) => found.facts |= fact::GOT_BASE,
            Some(From::Zero) if self.scanner.mode.pic => self.slot_by_loader::<R>(i, found),
            _ => {}
        }
    }

    /// A slot's address, to which the loader has to add where the image is. It can where the address is all
    /// that the field has.
    fn slot_by_loader<R: Rules>(&self, i: usize, found: &mut ScanResult) {
        let kind = self.relocs[i].kind();
        let whole = R::width(kind) as u64 == R::FACTS.target.format.word();
        // Beside them, only the address of this kind of slot is found again.
        let beside = R::FACTS.dynamic.with_addends;
        let dynamic = match R::class(kind) {
            _ if !whole => None,
            _ if !beside => Some(DynKind::Relative),
            Class::GotTp => Some(DynKind::OffsetSlot),
            _ => None,
        };
        match dynamic {
            Some(kind) => self.dynamic(i, Target { flags: 0, id: SymbolId::NONE }, kind, found),
            None => self.error(i, self.not_pic(i)),
        }
    }

    /// Whether the loader would have to be told the slot of a symbol, of whose uses all are rewritten or
    /// none: what it is told before that is known has to stay true.
    fn is_slot_of_loader<R: Rules>(&self, i: usize) -> bool {
        R::ALL_OR_NONE && self.scanner.mode.pic && self.code(i).map(R::slot_from) == Some(From::Zero)
    }

    /// The code of relocation `i`; `None` if that is outside the section, which the writer reports.
    fn code(&self, i: usize) -> Option<Code<'_>> {
        let reloc = &self.relocs[i];
        let at = usize::try_from(reloc.r_offset()).ok().filter(|at| *at <= self.data().len())?;
        Some(Code { reloc, bytes: self.data(), at })
    }

    fn can_relax_got<R: Rules>(&self, i: usize, target: Target) -> bool {
        let scanner = self.scanner;
        is_got_relaxable(target.flags, scanner.relax_got)
            && self.code(i).is_some_and(|code| R::got_form(code, scanner.mode.pic).is_some())
            && R::got_pair(self.data(), self.relocs, i)
            && (!R::EVEN_ADDRESSES || self.is_even(i, target))
    }

    /// Whether the address of a relocation's symbol will be even, as far as is known before layout.
    fn is_even(&self, i: usize, target: Target) -> bool {
        let (section, offset) = if target.id.is_some() {
            let symbol = &self.scanner.symbols[target.id];
            (symbol.section, symbol.offset())
        } else {
            let index = self.relocs[i].sym();
            let Some(symbol) = self.object.syms.get(index as usize) else { return false };
            match self.object.place(index, symbol) {
                SymbolPlace::Section(shndx) => (self.object.section_base + shndx, symbol.st_value()),
                _ => return false,
            }
        };
        if target.kind() != sym::DEFINED {
            return false;
        }
        let section = self.scanner.sections.get(SectionId(section));
        section.kind() != SectionKind::Merge && section.align() >= 2 && offset & 1 == 0
    }

    fn general_dynamic<R: Rules>(&self, i: usize, target: Target, found: &mut ScanResult) -> usize {
        if self.scanner.mode.shared || R::tls_call(self.data(), self.relocs, i).is_none() {
            self.slot_from::<R>(i, found);
            self.need(i, target, sym::NEEDS_TLSGD, found);
            return 0;
        }
        if target.is(sym::PREEMPTIBLE) {
            self.need(i, target, sym::NEEDS_GOTTP, found);
        }
        // The relocation of the call goes away with it.
        R::TLS_CALL_RELOCS
    }

    fn local_dynamic<R: Rules>(&self, i: usize, found: &mut ScanResult) -> usize {
        if self.scanner.mode.shared || R::tls_call(self.data(), self.relocs, i).is_none() {
            self.slot_from::<R>(i, found);
            found.facts |= fact::TLS_LD;
            return 0;
        }
        R::TLS_CALL_RELOCS
    }

    fn initial_exec<R: Rules>(&self, i: usize, target: Target, found: &mut ScanResult) {
        if self.scanner.mode.shared {
            found.facts |= fact::STATIC_TLS;
        } else if !target.is(sym::PREEMPTIBLE)
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
        self.need(i, target, sym::NEEDS_GOTTP, found);
    }

    fn descriptor<R: Rules>(&self, i: usize, target: Target, found: &mut ScanResult) {
        let rewritable = self.code(i).is_some_and(R::is_descriptor);
        if !rewritable && !self.scanner.mode.dynamic {
            let text = "is not in a TLS descriptor sequence that can be rewritten, and without a loader nobody \
                        fills descriptors";
            self.error(i, text.into());
        } else if self.scanner.mode.shared || !rewritable {
            // Calls through a symbol's descriptor are all rewritten or none.
            self.slot_from::<R>(i, found);
            let signed = self.signed_slot::<R>(i, target, found);
            self.need(i, target, sym::NEEDS_TLSDESC | signed, found);
        } else if target.is(sym::PREEMPTIBLE) {
            self.need(i, target, sym::NEEDS_GOTTP, found);
        }
    }
}

/// Whether the loader fills in the symbol's size. A program's read-only sections get the size that a variable
/// of a shared object has today, as copied variables do.
pub fn is_size_of_loader(mode: &Mode, flags: u32, writable: bool) -> bool {
    let known = !mode.shared && flags & sym::KIND == sym::SHARED && !writable;
    flags & sym::PREEMPTIBLE != 0 && !known
}

/// Whether the symbol's address may replace a load from its GOT slot.
pub fn is_got_relaxable(flags: u32, allowed: bool) -> bool {
    let here = matches!(flags & sym::KIND, sym::DEFINED | sym::COMMON | sym::INTERNAL);
    allowed && here && flags & (sym::PREEMPTIBLE | sym::IFUNC) == 0
}

//! The relocation scan: what each relocation needs from its symbol.
//!
//! Hot loop, compiled for each machine. Most relocations are PC-relative or PLT references to a symbol of
//! this output: they take the early exit after one table load, one symbol load and the mark, about 20
//! instructions. What a class needs is the same on all machines; whether an instruction may be rewritten, so
//! that it needs less, the machine says. `Section::needs` tells classes apart; what they lead to stands in a
//! file for each sort: `addresses`, `got_slots`, `thread_local` storage.

mod addresses;
mod calls;
mod got_slots;
mod problems;
mod thread_local;

use std::ops::Range;
use weld_common::diag::Cause;

use super::dyn_relocs::DynKind;
use super::{LocalNeed, ScanResult, Scanner, fact};
use crate::arch::Visitor;
use crate::arch::class::{Class, From};
use crate::arch::rules::{Code, Rules};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::symbols::{Symbol, symbol_flags};
pub use addresses::is_size_of_loader;
pub use got_slots::{is_got_relaxable, wants_addend};

/// A symbol as one relocation sees it.
#[derive(Clone, Copy)]
struct Target {
    /// `symbol_flags::` bits; local symbols get those that fit.
    flags: u32,
    /// `SymbolId` of a global symbol, `NONE` for a local one.
    id: SymbolId,
}

impl Target {
    fn kind(self) -> u32 {
        self.flags & symbol_flags::KIND
    }
    fn is(self, bits: u32) -> bool {
        self.flags & bits != 0
    }
    /// Another module defines it.
    fn is_elsewhere(self) -> bool {
        let there = self.kind() == symbol_flags::SHARED
            || self.kind() == symbol_flags::UNDEFINED && !self.is(symbol_flags::WEAK_UNDEFINED);
        self.is(symbol_flags::PREEMPTIBLE) && there
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
        let by_descriptor = const { R::FACTS.descriptors.is_some() } && class == Class::Plt;
        let found_target = if by_descriptor { section.called(i, stack) } else { section.target(i, stack) };
        let Some(target) = found_target else {
            i += 1;
            continue;
        };
        const SPECIAL: u32 = symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC | symbol_flags::TLS;
        let plain = target.flags & (SPECIAL | symbol_flags::KIND) == symbol_flags::DEFINED;
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
                self.error(Cause::MalformedRelocation, i, format!("has a bad symbol index: {index}"));
                return None;
            }
            return Some(Target { flags: symbol_flags::ABSOLUTE, id: SymbolId::NONE });
        }
        let id = self.object.global(index);
        let symbol = &self.scanner.symbols[id];
        let flags = symbol.flags();
        if flags & symbol_flags::KIND == symbol_flags::DEFINED {
            self.scanner.mark_target(symbol.section, stack);
        } else {
            self.use_symbol(index, symbol);
        }
        Some(Target { flags, id })
    }

    fn use_symbol(&self, index: u32, symbol: &Symbol) {
        let weak = self.object.syms[index as usize].binding() == STB_WEAK;
        symbol.add(if weak { symbol_flags::USED } else { symbol_flags::USED | symbol_flags::USED_STRONG });
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
                symbol_flags::DEFINED
            }
            SymbolPlace::Absolute => symbol_flags::ABSOLUTE,
            SymbolPlace::Undefined if index == 0 => symbol_flags::ABSOLUTE,
            _ => {
                let why = self.object.misplaced(index, symbol);
                self.error(Cause::RelocationWithoutTarget, i, format!("refers to what is nowhere: {why}"));
                return None;
            }
        };
        // The binding is above the type, and 0 for local symbols.
        let kind = match symbol.st_info() {
            STT_TLS => symbol_flags::TLS,
            STT_GNU_IFUNC => symbol_flags::IFUNC | symbol_flags::FUNC,
            0..16 => 0,
            _ => {
                let why = self.object.wrong_local(index, symbol).unwrap_or_default();
                self.error(
                    Cause::MalformedRelocation,
                    i,
                    format!("refers to a symbol that cannot be: {why}"),
                );
                return None;
            }
        };
        Some(Target { flags: flags | kind, id: SymbolId::NONE })
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
        if matches!(class, Class::Plt | Class::Got) && R::is_marked_call(self.relocs, i) && !mode.shared {
            return 0;
        }
        if target.kind() == symbol_flags::UNDEFINED {
            self.check_undefined(i, target, found);
        }
        if target.is(symbol_flags::IFUNC)
            && !target.is(symbol_flags::PREEMPTIBLE)
            && !matches!(class, Class::Size | Class::OtherHalf | Class::TlsMark | Class::None)
            && !self.chosen_at_start::<R>(i, class, target, found)
        {
            return 0;
        }
        let tls = class.is_tls();
        // Symbols know by their type whether they are thread-local; assemblers may leave it out, or
        // give it to what is used like one, so that in doubt the section decides.
        if tls && !self.is_thread_local(i, class, target)
            || !tls && target.is(symbol_flags::TLS) && !self.tls_mismatch_is_fine(i, class, target)
        {
            self.thread_local_mismatch(i, tls, target);
            return 0;
        }
        match class {
            Class::Address => self.absolute::<R>(i, target, found),
            Class::Signed => self.signed(i, target, found),
            Class::Initial => self.initial(i, target, found),
            Class::Instruction => self.instruction(i, target),
            Class::Narrow => self.absolute_narrow(i, target, found),
            Class::Pc if R::CALL_BY_DISTANCE && self.is_call_of_shared::<R>(i, target) => {
                self.need(i, target, symbol_flags::NEEDS_PLT, found);
            }
            Class::Pc | Class::Low if R::CALL_BY_PARTS && self.is_part_of_call::<R>(i, target) => {
                self.need(i, target, symbol_flags::NEEDS_PLT, found);
            }
            Class::Pc => self.address(i, target, found),
            Class::Low => self.low(i, target, found),
            Class::Plt | Class::PltOff => self.call::<R>(i, class, target, found),
            Class::Jump => self.jump(i, target, found),
            Class::GotPage => self.got_page(i, target, found),
            Class::GotRest => {
                self.low(i, Target { flags: target.flags & !symbol_flags::PREEMPTIBLE, ..target }, found)
            }
            Class::Got if const { R::FACTS.loader_got.is_some() } && self.is_local_slot(target) => {
                self.local_slot(i, false, found);
            }
            Class::Got | Class::GotRelax => self.slot::<R>(i, class, target, found),
            Class::GotOff => {
                found.facts |= fact::GOT_BASE;
                self.address(i, target, found);
            }
            Class::GotBase => found.facts |= fact::GOT_BASE,
            Class::BaseAddress => {
                found.facts |= fact::GOT_BASE;
                if mode.pic {
                    self.dynamic(i, Target { flags: 0, id: SymbolId::NONE }, DynKind::OwnWord, found);
                }
            }
            Class::Size => {
                let writable = self.scanner.is_writable(self.object, self.at.1);
                if is_size_of_loader(mode, target.flags, writable) {
                    self.dynamic(i, target, DynKind::Same, found);
                }
            }
            Class::TlsGd => return self.general_dynamic::<R>(i, target, found),
            Class::TlsLd => return self.local_dynamic::<R>(i, found),
            Class::DtpOff if target.is_elsewhere() => self.offset_elsewhere(i),
            // The loader adds no terms.
            Class::Term if target.is_elsewhere() && (mode.shared || target.is(symbol_flags::TLS)) => {
                self.error(Cause::NeedsPic, i, self.not_pic(i))
            }
            Class::Term if target.is_elsewhere() => self.stand_in(i, target, found),
            // From the GOT's base, where loaders fill it by themselves.
            Class::Term if self.object.machine.loader_got.is_some() => found.facts |= fact::GOT_BASE,
            Class::DtpOff
            | Class::TlsDescCall
            | Class::TlsMark
            | Class::Term
            | Class::OtherHalf
            | Class::None => {}
            Class::GotTp => self.initial_exec::<R>(i, target, found),
            Class::TpOff | Class::TpOffWord => self.thread_offset(i, class, target, found),
            Class::TlsDesc => self.descriptor::<R>(i, target, found),
            Class::Unknown => self.error(Cause::UnsupportedRelocation, i, "is not supported".into()),
        }
        0
    }

    /// What a relocation to a function of this output needs that is chosen when the program starts; `false` if it cannot
    /// be.
    fn chosen_at_start<R: Rules>(
        &self,
        i: usize,
        class: Class,
        target: Target,
        found: &mut ScanResult,
    ) -> bool {
        let machine = self.object.machine;
        if machine.dynamic.irelative.is_none() {
            let text = format!(
                "chooses what '{}' is when the program starts (IFUNC), which loaders of {} do not do",
                self.name(i),
                machine.name
            );
            self.error_about(Cause::UnsupportedRelocation, i, target, text);
            return false;
        }
        // Libraries that ask a program at fixed addresses for it would call its resolver before the
        // program is relocated.
        let is_seen = !self.scanner.mode.pic && target.is(symbol_flags::EXPORTED);
        let is_known = is_seen || self.is_known_by_plt::<R>(i, class);
        let needs = if is_known { symbol_flags::NEEDS_CANONICAL_PLT } else { 0 };
        self.need(i, target, symbol_flags::NEEDS_PLT | needs, found);
        true
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

    /// The code of relocation `i`; `None` if that is outside the section, which the writer reports.
    fn code(&self, i: usize) -> Option<Code<'_>> {
        let reloc = &self.relocs[i];
        let at = usize::try_from(reloc.r_offset()).ok().filter(|at| *at <= self.data().len())?;
        Some(Code { reloc, bytes: self.data(), at })
    }
}

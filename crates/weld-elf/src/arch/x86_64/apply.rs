//! Applying relocations to copied bytes.
//!
//! Two loops: [`allocated`] for sections in memory, with GOT, PLT and TLS forms, and [`debug`] for
//! sections outside it, where nearly all relocations are absolute and targets may be gone. Both look
//! up a target with one load and dispatch on the class table. Budget: about 30 instructions a
//! relocation in the common cases (PC-relative, PLT, absolute).

use weld_common::diag::Diagnostic;

use super::relax::{self, GotForm};
use super::*;
use crate::debug_targets::DebugTargets;
use crate::elf::*;
use crate::ids::*;
use crate::image::{Image, Place};
use crate::input::object::Object;
use crate::input::sections::SectionKind;
use crate::report;
use crate::resolve::symbols::sym;
use crate::synth::slots::NONE;

/// One section whose bytes are being written.
pub struct Site<'c, 'i, 'a> {
    pub image: &'c Image<'i, 'a>,
    pub object: &'c Object<'a>,
    pub object_id: ObjectId,
    pub shndx: u32,
    /// Address of the section's first byte.
    pub address: u64,
    pub relocs: &'c [Rela],
    /// The section's bytes before any relocation: what the scan looked at.
    pub input: &'c [u8],
    /// Added to each relocation's offset to get its offset in the bytes that are written.
    pub delta: u64,
}

enum Failure {
    Overflow(i64),
    NoSlot,
    Form,
}

/// How many relocations ahead their symbols are asked for.
const TARGET_AHEAD: usize = 6;

/// Applies the relocations of a section in memory to its bytes.
pub fn allocated(site: &Site, out: &mut [u8]) {
    let mut i = 0;
    while i < site.relocs.len() {
        let reloc = &site.relocs[i];
        let kind = reloc.kind();
        let class = class(kind);
        let at = reloc.r_offset().wrapping_add(site.delta) as usize;
        if class == Class::None {
            i += 1;
            continue;
        }
        let size = width(kind);
        if at.checked_add(size).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            i += 1;
            continue;
        }
        if let Some(later) = site.relocs.get(i + TARGET_AHEAD) {
            site.image.symbols.prefetch_target(site.object, later.sym());
        }
        let place = site.image.place(site.object, reloc.sym(), reloc.r_addend());
        let target = place.address.wrapping_add(place.addend as u64);
        let here = site.address.wrapping_add(at as u64);
        let plain = place.flags & (sym::PREEMPTIBLE | sym::IFUNC | sym::OUTSIDE) == 0;
        let result = match class {
            Class::Pc if plain => put_signed(out, at, size, target.wrapping_sub(here) as i64),
            Class::Plt if plain => put_signed(out, at, size, target.wrapping_sub(here) as i64),
            _ => match site.special(class, i, (out, at), place) {
                Ok(skip) => {
                    i += skip;
                    Ok(())
                }
                Err(failure) => Err(failure),
            },
        };
        if let Err(failure) = result {
            site.report(reloc, failure);
        }
        i += 1;
    }
}

/// Writes a signed value of `size` bytes.
#[inline(always)]
fn put_signed(out: &mut [u8], at: usize, size: usize, value: i64) -> Result<(), Failure> {
    match size {
        4 => {
            out[at..at + 4].copy_from_slice(&(value as i32).to_le_bytes());
            if value == value as i32 as i64 { Ok(()) } else { Err(Failure::Overflow(value)) }
        }
        8 => {
            out[at..at + 8].copy_from_slice(&value.to_le_bytes());
            Ok(())
        }
        2 => {
            out[at..at + 2].copy_from_slice(&(value as i16).to_le_bytes());
            if value == value as i16 as i64 { Ok(()) } else { Err(Failure::Overflow(value)) }
        }
        _ => {
            out[at] = value as u8;
            if value == value as i8 as i64 { Ok(()) } else { Err(Failure::Overflow(value)) }
        }
    }
}

/// Writes an absolute value narrower than an address: `R_X86_64_32` is unsigned, `32S` signed, the
/// 8- and 16-bit types may be either.
fn put_narrow(out: &mut [u8], at: usize, kind: u32, value: u64) -> Result<(), Failure> {
    let size = width(kind);
    out[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    let fits = match kind {
        R_32 => value == value as u32 as u64,
        R_32S => value as i64 == value as i32 as i64,
        R_16 => value == value as u16 as u64 || value as i64 == value as i16 as i64,
        _ => value == value as u8 as u64 || value as i64 == value as i8 as i64,
    };
    if fits { Ok(()) } else { Err(Failure::Overflow(value as i64)) }
}

/// Writes what stands for something that is gone, in any width.
#[cold]
fn put_tombstone(out: &mut [u8], at: usize, kind: u32, tombstone: u64) {
    let size = width(kind);
    out[at..at + size].copy_from_slice(&tombstone.to_le_bytes()[..size]);
}

fn check(fits: bool) -> Result<(), Failure> {
    if fits { Ok(()) } else { Err(Failure::Overflow(i64::MAX)) }
}

impl Site<'_, '_, '_> {
    /// Everything that is not a plain PC-relative reference. Returns how many of the following
    /// relocations were consumed.
    fn special(
        &self,
        class: Class,
        i: usize,
        (out, at): (&mut [u8], usize),
        place: Place,
    ) -> Result<usize, Failure> {
        let image = self.image;
        let reloc = &self.relocs[i];
        if place.flags & sym::OUTSIDE != 0 {
            self.outside_pieces(reloc);
            return Ok(0);
        }
        let kind = reloc.kind();
        let size = width(kind);
        let here = self.address.wrapping_add(at as u64);
        let addend = place.addend;
        let target = self.address_of(reloc, place).wrapping_add(addend as u64);
        let bases = &image.bases;
        let tpoff = target.wrapping_sub(bases.thread_pointer) as i64;
        match class {
            Class::Abs64 => {
                let value = self.absolute(reloc, place, target);
                out[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            Class::Abs32 => put_narrow(out, at, kind, target)?,
            Class::Pc => put_signed(out, at, size, target.wrapping_sub(here) as i64)?,
            Class::Plt => {
                let entry = self.plt(reloc, place).map_or(target, |p| p.wrapping_add(addend as u64));
                put_signed(out, at, size, entry.wrapping_sub(here) as i64)?;
            }
            Class::PltOff => {
                let entry = self.plt(reloc, place).map_or(target, |p| p.wrapping_add(addend as u64));
                put_signed(out, at, size, entry.wrapping_sub(bases.got_base) as i64)?;
            }
            Class::GotPcRelax => return self.got_relaxed(reloc, (out, at), place, target).map(|()| 0),
            Class::GotPc => {
                let slot = self.got(reloc)?;
                put_signed(out, at, size, slot.wrapping_add(addend as u64).wrapping_sub(here) as i64)?;
            }
            Class::GotSlot => {
                let slot = self.got(reloc)?;
                put_signed(
                    out,
                    at,
                    size,
                    slot.wrapping_add(addend as u64).wrapping_sub(bases.got_base) as i64,
                )?;
            }
            Class::GotOff => put_signed(out, at, size, target.wrapping_sub(bases.got_base) as i64)?,
            Class::GotBase => {
                put_signed(
                    out,
                    at,
                    size,
                    bases.got_base.wrapping_add(addend as u64).wrapping_sub(here) as i64,
                )?;
            }
            Class::Size => {
                let loader = super::scan::is_size_of_loader(&image.mode, place.flags, self.is_writable());
                let value = self.symbol_size(reloc).wrapping_add(addend as u64);
                match size {
                    _ if loader => out[at..at + size].fill(0),
                    8 => out[at..at + 8].copy_from_slice(&value.to_le_bytes()),
                    _ => put_narrow(out, at, R_32, value)?,
                }
            }
            Class::DtpOff => {
                let base = if image.mode.shared { bases.tls_start } else { bases.thread_pointer };
                put_signed(out, at, size, target.wrapping_sub(base) as i64)?;
            }
            Class::TpOff | Class::TpOff64 => {
                let loader = image.mode.shared || place.flags & sym::PREEMPTIBLE != 0;
                let value = match place.flags & sym::KIND {
                    // There is no variable, so its offset is as good as any.
                    sym::UNDEFINED if !image.mode.shared => addend,
                    _ if loader => 0,
                    _ => tpoff,
                };
                put_signed(out, at, size, value)?;
            }
            Class::TlsGd | Class::TlsLd | Class::GotTp | Class::TlsDesc | Class::TlsDescCall => {
                return self.thread_local(class, i, (out, at), place);
            }
            Class::None => {}
            // The scan does not look at those of frames.
            Class::Unknown => self.refuse(reloc, "is not supported"),
        }
        Ok(0)
    }

    /// What is in debug sections beside absolute addresses of 4 and 8 bytes.
    fn rare_in_debug(
        &self,
        reloc: &Rela,
        target: Option<u64>,
        tombstone: u64,
        (out, at): (&mut [u8], usize),
    ) -> Result<(), Failure> {
        let kind = reloc.kind();
        let size = width(kind);
        if target.is_none() && matches!(class(kind), Class::Abs64 | Class::Abs32 | Class::DtpOff) {
            put_tombstone(out, at, kind, tombstone);
            return Ok(());
        }
        let value = target.unwrap_or(tombstone);
        let gone = reloc.r_addend() as u64;
        match class(kind) {
            Class::Abs64 => {
                out[at..at + 8].copy_from_slice(&value.to_le_bytes());
                Ok(())
            }
            Class::Abs32 => put_narrow(out, at, kind, value),
            Class::DtpOff => put_signed(out, at, size, value.wrapping_sub(self.image.bases.tls_start) as i64),
            Class::Size => {
                put_signed(out, at, size, (self.symbol_size(reloc) as i64).wrapping_add(reloc.r_addend()))
            }
            // Offsets from the section itself make no sense outside memory, but other linkers compute them from 0.
            Class::Pc | Class::Plt => put_signed(out, at, size, value.wrapping_sub(reloc.r_offset()) as i64),
            Class::GotOff => {
                let offset = target.unwrap_or(gone).wrapping_sub(self.image.bases.got_base);
                put_signed(out, at, size, offset as i64)
            }
            _ => {
                self.refuse(reloc, "cannot be used in a section outside memory");
                Ok(())
            }
        }
    }

    /// The address that stands for the symbol: a local IFUNC is known by its PLT entry.
    fn address_of(&self, reloc: &Rela, place: Place) -> u64 {
        if place.flags & sym::IFUNC == 0 || reloc.sym() >= self.object.first_global {
            return place.address;
        }
        let slot = self.image.slots.of_local(self.object_id, reloc.sym());
        slot.filter(|s| s.plt != NONE).map_or(place.address, |s| self.image.plt_address(s.plt))
    }

    /// What the section holds where the loader may still add something: with RELA the addend is in
    /// the relocation, and the bytes stay as they are unless asked for or packed.
    fn absolute(&self, reloc: &Rela, place: Place, target: u64) -> u64 {
        if place.flags & sym::PREEMPTIBLE != 0 {
            let stands_in = place.flags & (sym::NEEDS_COPY | sym::NEEDS_CANONICAL_PLT) != 0;
            let bound_here = stands_in && !self.image.mode.pic && !self.is_writable();
            return if bound_here { target } else { 0 };
        }
        let relocated =
            self.image.mode.pic && !matches!(place.flags & sym::KIND, sym::ABSOLUTE | sym::UNDEFINED);
        let section = SectionId(self.object.section_base + self.shndx);
        if relocated && self.image.sections.get(section).kind() == SectionKind::EhFrame {
            self.frame_not_pic(reloc);
        }
        if relocated && !self.image.relr && !self.image.options.relocs.apply_dynamic_relocs {
            0
        } else {
            target
        }
    }

    /// The scan does not look at what FDEs say of their functions.
    #[cold]
    fn frame_not_pic(&self, reloc: &Rela) {
        let name = self.image.describe_symbol(self.object, reloc.sym());
        let text = format!(
            "{}: {} against '{name}' would need a dynamic relocation; recompile with -fPIC",
            self.location(reloc),
            type_name(reloc.kind())
        );
        self.push(Diagnostic::error(text));
    }

    fn is_writable(&self) -> bool {
        self.object.shdrs[self.shndx as usize].sh_flags() & SHF_WRITE != 0
    }

    fn plt(&self, reloc: &Rela, place: Place) -> Option<u64> {
        if place.flags & (sym::PREEMPTIBLE | sym::IFUNC) == 0 {
            return None;
        }
        let slot = self.image.slot(self.object_id, reloc.sym())?;
        (slot.plt != NONE).then(|| self.image.plt_address(slot.plt))
    }

    fn got(&self, reloc: &Rela) -> Result<u64, Failure> {
        let slot = self.image.slot(self.object_id, reloc.sym());
        slot.and_then(|s| self.image.got_address(s.got)).ok_or(Failure::NoSlot)
    }

    fn got_tp(&self, reloc: &Rela) -> Result<u64, Failure> {
        let slot = self.image.slot(self.object_id, reloc.sym());
        slot.and_then(|s| self.image.got_address(s.got_tp)).ok_or(Failure::NoSlot)
    }

    /// The slot is used if the scan made one, for whatever reason; otherwise the instruction was
    /// found to be rewritable then.
    fn got_relaxed(
        &self,
        reloc: &Rela,
        (out, at): (&mut [u8], usize),
        place: Place,
        target: u64,
    ) -> Result<(), Failure> {
        let image = self.image;
        let here = self.address.wrapping_add(at as u64);
        if super::scan::is_got_relaxable(place.flags, image.relax_got)
            && let Some(form) = relax::got_form(
                reloc.kind(),
                self.input,
                reloc.r_offset() as usize,
                reloc.r_addend(),
                image.mode.pic,
            )
        {
            let address = target.wrapping_add(4);
            if form == GotForm::Immediate && address != address as i32 as u64 {
                return Err(Failure::Overflow(address as i64));
            }
            return check(relax::rewrite_got(form, out, at, address, here));
        }
        let slot = self.got(reloc)?;
        put_signed(out, at, 4, slot.wrapping_add(place.addend as u64).wrapping_sub(here) as i64)
    }

    fn thread_local(
        &self,
        class: Class,
        i: usize,
        (out, at): (&mut [u8], usize),
        place: Place,
    ) -> Result<usize, Failure> {
        let image = self.image;
        let reloc = &self.relocs[i];
        let here = self.address.wrapping_add(at as u64);
        let source = reloc.r_offset() as usize;
        // The addend of these types corrects for the end of the instruction, not for the symbol.
        let tpoff = place.address.wrapping_sub(image.bases.thread_pointer) as i64;
        let to_slot = |slot: u64| slot.wrapping_add(place.addend as u64).wrapping_sub(here) as i64;
        let local = !image.mode.shared && place.flags & sym::PREEMPTIBLE == 0;
        match class {
            Class::TlsGd | Class::TlsLd => {
                let call = (!image.mode.shared).then(|| relax::tls_call(self.input, self.relocs, i));
                let Some(call) = call.flatten() else {
                    let slot = image.slot(self.object_id, reloc.sym());
                    let word = match class {
                        Class::TlsGd => slot.map(|s| s.tls_gd),
                        _ => image.slots.tls_ld,
                    };
                    let pair = word.and_then(|w| image.got_address(w)).ok_or(Failure::NoSlot)?;
                    return put_signed(out, at, 4, to_slot(pair)).map(|()| 0);
                };
                if class == Class::TlsLd {
                    relax::local_dynamic_to_local_exec(out, at, call);
                } else if local {
                    check(relax::general_dynamic_to_local_exec(out, at, call, tpoff))?;
                } else {
                    let distance = self.got_tp(reloc)?.wrapping_sub(here) as i64;
                    check(relax::general_dynamic_to_initial_exec(out, at, call, distance))?;
                }
                return Ok(1);
            }
            Class::GotTp => {
                let rewrite = local
                    && image.options.relocs.relax
                    && relax::is_initial_exec(reloc.kind(), self.input, source);
                if rewrite {
                    check(relax::initial_to_local_exec(out, at, tpoff))?;
                } else {
                    put_signed(out, at, 4, to_slot(self.got_tp(reloc)?))?;
                }
            }
            Class::TlsDesc => match (self.tls_descriptor(reloc), local) {
                (Some(pair), _) => put_signed(out, at, 4, to_slot(pair))?,
                (None, true) => check(relax::tlsdesc_to_local_exec(out, at, tpoff))?,
                (None, false) => check(relax::tlsdesc_to_initial_exec(out, at, self.got_tp(reloc)?, here))?,
            },
            _ => {
                if self.tls_descriptor(reloc).is_none() && !relax::tlsdesc_call_to_nop(out, at) {
                    return Err(Failure::Form);
                }
            }
        }
        Ok(0)
    }

    /// The symbol's descriptor, if the scan gave it one: then no sequence of it is rewritten.
    fn tls_descriptor(&self, reloc: &Rela) -> Option<u64> {
        let slot = self.image.slot(self.object_id, reloc.sym())?;
        self.image.got_address(slot.tls_desc)
    }

    fn symbol_size(&self, reloc: &Rela) -> u64 {
        let index = reloc.sym();
        let global = index >= self.object.first_global && (index as usize) < self.object.syms.len();
        let size = match global {
            true => self.image.symbol_size(self.object.global(index)),
            false => None,
        };
        size.unwrap_or_else(|| self.object.syms.get(index as usize).map_or(0, |s| s.st_size()))
    }

    fn location(&self, reloc: &Rela) -> String {
        let section = self.object.section_label(self.shndx as usize);
        format!("{}:({section}+{:#x})", self.object.name, reloc.r_offset())
    }

    #[cold]
    fn push(&self, diagnostic: Diagnostic) {
        self.image.sink.push(diagnostic.at((self.object_id.0 as u64) << 32 | self.shndx as u64));
    }

    /// Reports `what` is wrong with a relocation.
    #[cold]
    pub fn refuse(&self, reloc: &Rela, what: &str) {
        let text = format!("{}: {} {what}", self.location(reloc), type_name(reloc.kind()));
        self.push(Diagnostic::error(text));
    }

    #[cold]
    fn out_of_bounds(&self, reloc: &Rela) {
        self.refuse(reloc, "lies outside its section");
    }

    /// Reports a reference to a merge section that leads to none of its pieces.
    #[cold]
    pub fn outside_pieces(&self, reloc: &Rela) {
        let name = self.image.describe_symbol(self.object, reloc.sym());
        let what = format!(
            "refers to an offset outside a section that is merged: '{name}' + {:#x}",
            reloc.r_addend()
        );
        self.refuse(reloc, &what);
    }

    #[cold]
    fn report(&self, reloc: &Rela, failure: Failure) {
        let name = self.image.describe_symbol(self.object, reloc.sym());
        let kind = type_name(reloc.kind());
        let text = match failure {
            Failure::Overflow(i64::MAX) => {
                format!("{}: {kind} is out of range; it refers to '{name}'", self.location(reloc))
            }
            Failure::Overflow(value) => {
                let bits = width(reloc.kind()) * 8;
                let range = if reloc.kind() == R_32 {
                    format!("[0, {:#x}]", (1u64 << bits) - 1)
                } else {
                    format!("[-{:#x}, {:#x}]", 1u64 << (bits - 1), (1u64 << (bits - 1)) - 1)
                };
                let value =
                    if value < 0 { format!("-{:#x}", value.unsigned_abs()) } else { format!("{value:#x}") };
                format!(
                    "{}: {kind} is out of range: {value} is not in {range}; it refers to '{name}'",
                    self.location(reloc)
                )
            }
            Failure::NoSlot => format!("{}: {kind} against '{name}' has no GOT slot", self.location(reloc)),
            Failure::Form => {
                format!("{}: {kind} against '{name}' is in an unknown code sequence", self.location(reloc))
            }
        };
        let place = report::place::of(self.object_id, self.shndx, reloc.r_offset());
        let mut diagnostic = Diagnostic::error(text).place(place).tolerable();
        if let Some((index, symbol)) = report::place::enclosing(self.object, self.shndx, reloc.r_offset()) {
            let what = if symbol.kind() == STT_OBJECT { "variable" } else { "function" };
            let owner = report::shown(self.image.options, self.object.symbol_name(index));
            diagnostic = diagnostic.note(format!("in {what} {owner}"));
        }
        if let Some(definer) = self.image.definer(self.object, reloc.sym()) {
            diagnostic = diagnostic.note(format!("'{name}' is defined in {definer}"));
        }
        self.push(diagnostic);
    }
}

/// Applies the relocations of a section outside memory. `tombstone` stands for what is gone.
pub fn debug(site: &Site, tombstone: u64, out: &mut [u8]) {
    let mut targets = DebugTargets::new(site);
    // It is a mark, not a value: all ones are so in any width.
    let narrow = u64::from(tombstone as u32);
    for reloc in site.relocs {
        let kind = reloc.kind();
        let at = reloc.r_offset().wrapping_add(site.delta) as usize;
        if class(kind) == Class::None {
            continue;
        }
        if at.checked_add(width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            continue;
        }
        let result = match kind {
            R_64 => {
                let value = targets.of(reloc).unwrap_or(tombstone);
                out[at..at + 8].copy_from_slice(&value.to_le_bytes());
                Ok(())
            }
            R_32 => put_narrow(out, at, R_32, targets.of(reloc).unwrap_or(narrow)),
            _ => site.rare_in_debug(reloc, targets.of(reloc), tombstone, (&mut *out, at)),
        };
        if let Err(failure) = result {
            site.report(reloc, failure);
        }
    }
}

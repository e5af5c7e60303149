//! Applying PowerPC's relocations, in a loop of its own: a call may go to code of another TOC, and then has to
//! restore its own; marked instructions are rewritten; what is near the TOC needs one instruction.
//!
//! r2 is the TOC's address. A function that uses it begins with code that makes it from r12, its own address:
//! the global entry. Who has the same TOC calls the local entry, which lies after that (`st_other`). An entry
//! of the PLT saves the caller's r2 and leaves another one; the instruction after the call, a `nop`, becomes
//! the one that loads it again. Code of Power10 has no TOC and says so by the types of its calls.
//!
//! In ELFv1, r2 comes with a function's address, from its descriptor ([`super::descriptors`]); there is one entry.
//!
//! Specification: "64-Bit ELF V2 ABI Specification", 2.3.2 "Function prologue", 3.4.1 (`st_other`), 3.6.

use super::Ppc64;
use super::code::{self, Call, NOP, RESTORE_TOC, put_word, word};
use super::relax;
use super::thunks;
use super::types::*;
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::facts::Jump;
use crate::arch::rules::{Failure, FieldAt, Rules};
use crate::arch::site::{Settings, Site};
use crate::elf::Rela;
use crate::symbol_flags;

/// Applies the relocations of a section in memory to its bytes.
pub fn allocated<const BIG: bool, const V1: bool, S: Site>(site: &S, out: &mut [u8]) {
    let settings = site.settings();
    let relocs = site.relocs();
    for (i, reloc) in relocs.iter().enumerate() {
        let kind = reloc.kind();
        let at = reloc.r_offset().wrapping_add(site.delta()) as usize;
        let class = Ppc64::<BIG, V1>::class(kind);
        if kind == R_PPC64_PCREL_OPT && joins_access::<BIG, V1, S>(site, i, &settings) {
            relax::join_access::<BIG>(out, at, reloc.r_addend());
        }
        if class == Class::None {
            continue;
        }
        if at.checked_add(Ppc64::<BIG, V1>::width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            continue;
        }
        let field = FieldAt { out: &mut *out, at };
        let done = match class {
            Class::TlsMark => mark::<BIG, S>(site, i, &settings, field),
            Class::Plt | Class::Got if !settings.shared && relax::is_marked_call(relocs, i) => Ok(()),
            _ if is_branch(kind) => branch::<BIG, V1, S>(site, reloc, &settings, field),
            _ => one::<BIG, V1, S>(site, (i, class), &settings, field),
        };
        if let Err(failure) = done {
            site.report(reloc, failure);
        }
    }
}

/// Whether the instruction at relocation `i`, which marks it and one that uses the address that it loads, makes
/// that address itself.
fn joins_access<const BIG: bool, const V1: bool, S: Site>(site: &S, i: usize, settings: &Settings) -> bool {
    let relocs = site.relocs();
    let before = i.checked_sub(1).map(|before| &relocs[before]);
    let loads = before
        .is_some_and(|load| load.kind() == R_PPC64_GOT_PCREL34 && load.r_offset() == relocs[i].r_offset());
    loads && !settings.keeps_relocs && site.is_without_slot::<Ppc64<BIG, V1>>(i - 1)
}

/// An instruction of a sequence for thread-local storage.
fn mark<const BIG: bool, S: Site>(
    site: &S,
    i: usize,
    settings: &Settings,
    FieldAt { out, at }: FieldAt,
) -> Result<(), Failure> {
    if settings.shared {
        return Ok(());
    }
    let relocs = site.relocs();
    let reloc = &relocs[i];
    let (kind, place) = (reloc.kind(), at & !3);
    // The place of the mark says it, or the type of the call.
    let prefixed = at & 3 == 1
        || relocs
            .get(i + 1)
            .is_some_and(|call| is_without_toc(call.kind()) && call.r_offset() == reloc.r_offset());
    let local = site.thread_offset(reloc);
    if kind == R_PPC64_TLS {
        return match local {
            Some(tpoff) if settings.relax => relax::rewrite_user::<BIG>(out, place, prefixed, tpoff),
            _ => Ok(()),
        };
    }
    let call = match local {
        _ if kind == R_PPC64_TLSLD => Call::Module,
        Some(tpoff) => Call::Local(tpoff),
        None => Call::Elsewhere,
    };
    // With big endian a half of an instruction lies behind its mark.
    let same_place =
        |other: &&Rela| other.r_offset() & !3 == reloc.r_offset() & !3 && calls_by_word(other.kind());
    let before = i.checked_sub(1).map(|before| &relocs[before]);
    match relocs.get(i + 1).filter(same_place).or(before.filter(same_place)) {
        Some(part) => relax::rewrite_call_by_word::<BIG>(out, place, part.kind(), call),
        None => relax::rewrite_call::<BIG>(out, place, prefixed, call),
    }
}

/// Applies relocation `i`, which is that of no branch.
fn one<const BIG: bool, const V1: bool, S: Site>(
    site: &S,
    (i, class): (usize, Class),
    settings: &Settings,
    FieldAt { out, at }: FieldAt,
) -> Result<(), Failure> {
    let reloc = &site.relocs()[i];
    let kind = reloc.kind();
    if matches!(kind, R_PPC64_TOC16_HA | R_PPC64_TOC16_LO_DS)
        && let Some(filler) = site.word_filler(reloc)
        && let Some(target) = fixed_address(site, filler, settings)
    {
        let offset = target.wrapping_sub(settings.got_base) as i64;
        if relax::word_to_address::<BIG>(kind, out, at, offset)? {
            return Ok(());
        }
    }
    let place = site.resolve(reloc);
    if place.is_settled() && !place.is_undefined() {
        let target = place.address.wrapping_add(place.addend as u64);
        match kind {
            R_PPC64_TOC16_HA | R_PPC64_TOC16_LO | R_PPC64_TOC16_LO_DS
                if settings.toc_optimize && !settings.keeps_relocs =>
            {
                let offset = target.wrapping_sub(settings.got_base) as i64;
                if relax::near_toc::<BIG>(kind, out, at, offset)? {
                    return Ok(());
                }
            }
            _ if class == Class::Pc => {
                let here = site.address().wrapping_add(at as u64);
                return Ppc64::<BIG, V1>::put_distance(kind, out, at, target, here);
            }
            _ => {}
        }
    }
    let is_slot = matches!(
        kind,
        R_PPC64_GOT16_HA
            | R_PPC64_GOT16_LO_DS
            | R_PPC64_GOT16_LO
            | R_PPC64_PLT16_HA
            | R_PPC64_PLT16_LO_DS
            | R_PPC64_PLT16_LO
    );
    if is_slot && settings.toc_optimize && !settings.keeps_relocs && reloc.r_addend() == 0 {
        let offset = site.slot(reloc, class)?.wrapping_sub(settings.got_base) as i64;
        if relax::near_toc::<BIG>(kind, out, at, offset)? {
            return Ok(());
        }
    }
    if relax::is_module_offset(kind) {
        let here = site.address().wrapping_add(at as u64);
        let from = if kind == R_PPC64_GOT_DTPREL_PCREL34 { here } else { settings.got_base };
        let word = site.slot(reloc, class)? + 8;
        return match reloc.r_addend() {
            0 => code::put::<BIG>(kind, out, at, word.wrapping_sub(from) as i64),
            addend => Err(Failure::Addend(addend)),
        };
    }
    site.special::<Ppc64<BIG, V1>>(class, i, FieldAt { out, at }, place).map(|_| ())
}

/// What a word holds that a relocation fills, if it is always as far from the TOC.
fn fixed_address<S: Site>(site: &S, filler: &Rela, settings: &Settings) -> Option<Address> {
    let place = site.resolve(filler);
    let is_here = matches!(
        place.flags & symbol_flags::KIND,
        symbol_flags::DEFINED | symbol_flags::COMMON | symbol_flags::INTERNAL
    );
    // Where programs ask for the address of a function when they start, the word has that.
    let is_asked = place.flags & symbol_flags::IFUNC != 0 && settings.pic;
    let elsewhere = symbol_flags::PREEMPTIBLE | symbol_flags::OUTSIDE;
    let is_fixed = is_here && !is_asked && !place.dead && place.flags & elsewhere == 0;
    is_fixed.then(|| site.target(filler))
}

fn branch<const BIG: bool, const V1: bool, S: Site>(
    site: &S,
    reloc: &Rela,
    settings: &Settings,
    FieldAt { out, at }: FieldAt,
) -> Result<(), Failure> {
    let kind = reloc.kind();
    let here = site.address().wrapping_add(at as u64);
    let place = site.resolve(reloc);
    if place.is_undefined() {
        // It goes on after itself.
        return code::put::<BIG>(kind, out, at, 4);
    }
    let (callee, called) = site.call(reloc, place);
    let bias = if V1 { thunks::by_descriptors::bias(kind, callee) } else { thunks::bias(kind, callee) };
    let target = if V1 { site.code(reloc)? } else { called };
    let target = target.wrapping_add(bias);
    let jump = Jump {
        kind,
        here: here.get(),
        target: target.get(),
        is_function: true,
        callee,
        features: settings.features,
    };
    let thunk = site.thunk(&jump);
    if thunk.is_none() && !V1 && thunks::must_change(&jump) {
        return Err(Failure::TooFar);
    }
    let changes_toc =
        if V1 { thunks::by_descriptors::changes_toc(callee) } else { thunks::changes_toc(kind, callee) };
    if changes_toc {
        restore_toc::<BIG, V1>(out, at)?;
    }
    let distance = thunk.unwrap_or(target).wrapping_sub(here) as i64;
    code::put::<BIG>(kind, out, at, distance)
}

/// Has the instruction after a call restore the caller's r2, in place of a `nop`.
fn restore_toc<const BIG: bool, const V1: bool>(out: &mut [u8], at: usize) -> Result<(), Failure> {
    /// What older compilers leave room with: `cror 15, 15, 15` and `cror 31, 31, 31`.
    const OLD_NOPS: [u32; 2] = [0x4def_7b82, 0x4fff_fb82];
    let restore = RESTORE_TOC | if V1 { code::V1_SAVED_TOC } else { code::V2_SAVED_TOC };
    let next = at + 4;
    match word::<BIG>(out, next) {
        Some(code) if code == restore => Ok(()),
        Some(code) if code == NOP || OLD_NOPS.contains(&code) => {
            put_word::<BIG>(out, next, restore);
            Ok(())
        }
        _ => Err(Failure::NoNop),
    }
}

//! Applying PowerPC's relocations, in a loop of its own: instructions of sequences for thread-local storage
//! are rewritten by marks that lie beside the relocations of calls.

use super::Ppc32;
use super::code::{self, Call};
use super::relax;
use super::types::*;
use crate::arch::class::Class;
use crate::arch::rules::{Failure, FieldAt, Rules};
use crate::arch::site::{ResolvedAddress, Settings, Site};

/// Applies the relocations of a section in memory to its bytes.
pub fn allocated<const BIG: bool, S: Site>(site: &S, out: &mut [u8]) {
    let settings = site.settings();
    let relocs = site.relocs();
    for (i, reloc) in relocs.iter().enumerate() {
        let kind = reloc.kind();
        let at = reloc.r_offset().wrapping_add(site.delta()) as usize;
        let class = Ppc32::<BIG>::class(kind);
        if class == Class::None {
            continue;
        }
        if at.checked_add(Ppc32::<BIG>::width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            continue;
        }
        if is_branch(kind) {
            if settings.shared || !relax::is_marked_call(relocs, i) {
                let place = site.resolve(reloc);
                let done =
                    one::<BIG, S>(site, (i, class), &settings, (FieldAt { out: &mut *out, at }, place));
                site.branch::<Ppc32<BIG>>(reloc, place, FieldAt { out: &mut *out, at }, done);
            }
            continue;
        }
        let field = FieldAt { out: &mut *out, at };
        let done = match class {
            Class::TlsMark => mark::<BIG, S>(site, i, &settings, field),
            _ => one::<BIG, S>(site, (i, class), &settings, (field, site.resolve(reloc))),
        };
        if let Err(failure) = done {
            site.report(reloc, failure);
        }
    }
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
    let reloc = &site.relocs()[i];
    let (kind, place) = (reloc.kind(), code::start(at));
    let local = site.thread_offset(reloc);
    if kind == R_PPC_TLS {
        return match local {
            Some(tpoff) if settings.relax => relax::rewrite_user::<BIG>(out, place, tpoff),
            _ => Ok(()),
        };
    }
    let call = match local {
        _ if kind == R_PPC_TLSLD => Call::Module,
        Some(tpoff) => Call::Local(tpoff),
        None => Call::Elsewhere,
    };
    relax::rewrite_call::<BIG>(out, place, call)
}

/// Applies relocation `i`, which is that of no mark.
#[inline(always)]
fn one<const BIG: bool, S: Site>(
    site: &S,
    (i, class): (usize, Class),
    settings: &Settings,
    (FieldAt { out, at }, place): (FieldAt, ResolvedAddress),
) -> Result<(), Failure> {
    let reloc = &site.relocs()[i];
    let kind = reloc.kind();
    if matches!(class, Class::Pc | Class::Plt) && place.is_settled() && !place.is_undefined() {
        let target = place.address.wrapping_add(place.addend as u64);
        let here = site.address().wrapping_add(at as u64);
        return Ppc32::<BIG>::put_distance(kind, out, at, target, here);
    }
    if relax::is_module_offset(kind) {
        let word = site.slot(reloc, class)? + 4;
        return match reloc.r_addend() {
            0 => code::put::<BIG>(kind, out, at, word.wrapping_sub(settings.got_base) as i64),
            addend => Err(Failure::Addend(addend)),
        };
    }
    site.special::<Ppc32<BIG>>(class, i, FieldAt { out, at }, place).map(|_| ())
}

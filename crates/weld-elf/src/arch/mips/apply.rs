//! Applying MIPS's relocations, in a loop of its own: slots of the local part of the GOT are found by what
//! they hold, jumps have to stay in their region, and frames of images that may be moved get distances.

use super::Mips;
use super::code;
use super::types::*;
use crate::arch::class::Class;
use crate::arch::facts::Jump;
use crate::arch::rules::{Failure, FieldAt, Rules};
use crate::arch::site::{ResolvedAddress, Site};
use crate::elf::Rela;
use crate::symbol_flags;

/// Applies the relocations of a section in memory to its bytes.
pub fn allocated<const BIG: bool, const ABI: u8, S: Site>(site: &S, out: &mut [u8]) {
    let settings = site.settings();
    let as_distances = settings.pic && site.is_frames();
    for (i, reloc) in site.relocs().iter().enumerate() {
        let kind = reloc.kind();
        let at = reloc.r_offset().wrapping_add(site.delta()) as usize;
        let class = Mips::<BIG, ABI>::class(kind);
        if class == Class::None {
            continue;
        }
        if at.checked_add(Mips::<BIG, ABI>::width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            continue;
        }
        let place = site.resolve(reloc);
        let field = FieldAt { out: &mut *out, at };
        let done = match class {
            Class::Address if as_distances && place.is_settled() && !place.dead => {
                let target = place.address.wrapping_add(place.addend as u64);
                let here = site.address().wrapping_add(at as u64);
                Mips::<BIG, ABI>::put_any_width(kind, field, target.wrapping_sub(here));
                Ok(())
            }
            _ => one::<BIG, ABI, S>(site, (i, class), field, place),
        };
        if let Err(failure) = done {
            site.report(reloc, failure);
        }
    }
}

fn one<const BIG: bool, const ABI: u8, S: Site>(
    site: &S,
    (i, class): (usize, Class),
    FieldAt { out, at }: FieldAt,
    place: ResolvedAddress,
) -> Result<(), Failure> {
    let reloc = &site.relocs()[i];
    let kind = reloc.kind();
    let here = site.address().wrapping_add(at as u64);
    let target = place.address.wrapping_add(place.addend as u64);
    let plain = place.is_settled();
    let put = |out: &mut [u8], value: u64| Mips::<BIG, ABI>::put(kind, out, at, value);
    match class {
        Class::Narrow
            if plain && Mips::<BIG, ABI>::WIDE && !TYPES_64[kind as usize].fits(target.get() as i64) =>
        {
            Err(Failure::Overflow(target.get() as i64))
        }
        Class::Jump => jump::<BIG, ABI, S>(site, reloc, FieldAt { out, at }, place),
        Class::Plt if kind == R_PC26 => jump::<BIG, ABI, S>(site, reloc, FieldAt { out, at }, place),
        Class::Pc | Class::Plt if plain && !place.is_undefined() => {
            Mips::<BIG, ABI>::put_distance(kind, out, at, target, here)
        }
        Class::Low if plain => put(out, target.get()),
        Class::GotBase => {
            // The second instruction counts from the first, which is before it.
            let more = if kind == GP_LO16 { 4 } else { 0 };
            let base = site.settings().got_base.wrapping_add(reloc.r_addend() as u64);
            put(out, base.wrapping_sub(here).wrapping_add(more))
        }
        // Code asks for it of itself, whoever else defines the symbol.
        Class::Term => put(out, site.settings().got_base.wrapping_sub(target)),
        Class::Got | Class::GotPage => {
            let slot = match site.local_slot(reloc, class == Class::GotPage) {
                Some(slot) => slot,
                None => site.slot(reloc, Class::Got)?,
            };
            put(out, slot.wrapping_sub(site.settings().got_base))
        }
        // What another module may define has its own slot, and nothing is left but the addend.
        Class::GotRest if place.flags & symbol_flags::PREEMPTIBLE != 0 => put(out, place.addend as u64),
        Class::GotRest => put(out, target.get().wrapping_sub(code::page(target.get()))),
        _ => site.special::<Mips<BIG, ABI>>(class, i, FieldAt { out, at }, place).map(drop),
    }
}

/// A call: of the function itself, of what stands for it, or of a thunk.
fn jump<const BIG: bool, const ABI: u8, S: Site>(
    site: &S,
    reloc: &Rela,
    FieldAt { out, at }: FieldAt,
    place: ResolvedAddress,
) -> Result<(), Failure> {
    let kind = reloc.kind();
    let here = site.address().wrapping_add(at as u64);
    if place.is_undefined() {
        // It is not called.
        return match kind {
            R_PC26 => {
                Mips::<BIG, ABI>::put_distance(kind, out, at, here.wrapping_add(place.addend as u64), here)
            }
            _ => Mips::<BIG, ABI>::put(kind, out, at, place.addend as u64),
        };
    }
    let mut target = site.called(reloc);
    if kind != PIC_26 {
        let jump = Jump {
            kind,
            here: here.get(),
            target: target.get(),
            is_function: site.is_function(reloc),
            callee: site.callee(reloc),
            features: 0,
        };
        target = site.thunk(&jump).unwrap_or(target);
    }
    if kind == R_PC26 {
        return Mips::<BIG, ABI>::put_distance(kind, out, at, target, here);
    }
    if !code::is_in_region(here.get(), target.get(), Mips::<BIG, ABI>::WIDE) {
        return Err(Failure::Region(target.get()));
    }
    Mips::<BIG, ABI>::put(kind, out, at, target.get())
}

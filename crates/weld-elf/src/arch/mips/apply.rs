//! Applying MIPS's relocations, in a loop of its own: slots of the local part of the GOT are found by what
//! they hold, jumps have to stay in their region and may have to change to another instruction set, and frames of
//! images that may be moved get distances.

use super::code;
use super::types::*;
use super::{Mips, is_marked, thunks};
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::facts::{Callee, Jump};
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
            if kind == R_JALR {
                call_directly::<BIG, S>(site, reloc, FieldAt { out: &mut *out, at });
            }
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
        Class::Plt if matches!(kind, R_PC26 | M_PC26) => {
            jump::<BIG, ABI, S>(site, reloc, FieldAt { out, at }, place)
        }
        // It goes on after itself.
        Class::Plt if place.is_undefined() => put(out, 0),
        Class::Plt => branch::<BIG, ABI>(kind, FieldAt { out, at }, site.called(reloc), here),
        Class::Pc if plain && !place.is_undefined() => {
            let is_code =
                is_micro(kind) && matches!(site.callee(reloc), Callee::Own(other) if is_marked(other));
            let target = if is_code { Address::new(target.get() & !1) } else { target };
            Mips::<BIG, ABI>::put_distance(kind, out, at, target, here)
        }
        Class::Low if plain => put(out, target.get()),
        Class::GotBase => {
            // The second instruction counts from the first, which is before it, and in microMIPS code both from an
            // odd address.
            let more = if matches!(kind, GP_LO16 | M_GP_LO16) { 4 } else { 0 };
            let odd = u64::from(is_micro(kind));
            let base = site.settings().got_base.wrapping_add(reloc.r_addend() as u64);
            put(out, base.wrapping_sub(here).wrapping_add(more).wrapping_sub(odd))
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

/// Has a call of the address in t9, or a jump there, branch to the function itself, if that is where it leads and is
/// near.
fn call_directly<const BIG: bool, S: Site>(site: &S, reloc: &Rela, FieldAt { out, at }: FieldAt) {
    let settings = site.settings();
    if settings.keeps_relocs || !settings.relax || at.checked_add(4).is_none_or(|end| end > out.len()) {
        return;
    }
    let direct = match code::word::<BIG>(out, at) {
        0x0320_f809 => 0x0411_0000,               // jalr t9: bal
        0x0320_0008 | 0x0320_0009 => 0x1000_0000, // jr t9, or jalr zero, t9: b
        _ => return,
    };
    let place = site.resolve(reloc);
    // Compilers have said it of data, too.
    let is_data = place.flags & (symbol_flags::OBJECT | symbol_flags::TLS) != 0;
    // What it stands for may be an address that does not move with the image.
    let is_alias = matches!(site.callee(reloc), Callee::Unknown(_)) && !is_data && !settings.pic;
    let is_code = site.is_function(reloc) || site.label(reloc).is_some() || is_alias;
    if !place.is_settled() || place.dead || place.is_undefined() || !is_code {
        return;
    }
    let next = site.address().wrapping_add(at as u64 + 4);
    let target = place.address.wrapping_add(place.addend as u64);
    let distance = target.wrapping_sub(next) as i64;
    if distance & 3 == 0 && (-0x2_0000..0x2_0000).contains(&distance) {
        code::put_word::<BIG>(out, at, direct | (distance >> 2) as u32 & 0xffff);
    }
}

/// A branch, which stays in its instruction set.
fn branch<const BIG: bool, const ABI: u8>(
    kind: u32,
    FieldAt { out, at }: FieldAt,
    target: Address,
    here: Address,
) -> Result<(), Failure> {
    if is_micro(kind) != is_odd(target) {
        return Err(Failure::InstructionSet);
    }
    Mips::<BIG, ABI>::put_distance(kind, out, at, Address::new(target.get() & !1), here)
}

/// Whether an address is that of microMIPS code.
fn is_odd(address: Address) -> bool {
    address.get() & 1 != 0
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
            R_PC26 | M_PC26 => Mips::<BIG, ABI>::put(kind, out, at, 0),
            _ => Mips::<BIG, ABI>::put(kind, out, at, place.addend as u64),
        };
    }
    let features = site.settings().features;
    let (callee, called) = site.call(reloc, place);
    let target = called.wrapping_add(thunks::bias(kind));
    let jump = Jump {
        kind,
        here: here.get(),
        target: target.get(),
        is_function: site.is_function(reloc),
        callee,
        features,
    };
    let target =
        site.thunk(&jump).map_or(called, |thunk| thunk.wrapping_add(thunks::bias(kind).wrapping_neg()));
    if matches!(kind, R_PC26 | M_PC26) {
        return branch::<BIG, ABI>(kind, FieldAt { out, at }, target, here);
    }
    let is_odd = is_odd(target);
    let region = (code::region_bits(kind, is_odd), Mips::<BIG, ABI>::WIDE);
    if !code::is_in_region(here.get(), target.get(), region) {
        return Err(Failure::Region(target.get()));
    }
    let even = target.get() & !1;
    if is_micro(kind) == is_odd {
        return Mips::<BIG, ABI>::put(kind, out, at, even);
    }
    // `jalx`: a call that changes to the other set, in which it counts words.
    let (call, changing) = if is_micro(kind) { (0x3d, 0x3c) } else { (0x03, 0x1d) };
    let is_call = code::instruction::<BIG>(kind, out, at) >> 26 == call;
    if !is_call || features & thunks::RELEASE_6 != 0 {
        return Err(Failure::InstructionSet);
    }
    if even & 3 != 0 {
        return Err(Failure::Unaligned(target.get() as i64));
    }
    code::put_instruction::<BIG>(kind, out, at, changing << 26 | (even >> 2) as u32 & 0x03ff_ffff);
    Ok(())
}

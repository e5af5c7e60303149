//! Applying ARM's relocations, in a loop of its own: a branch becomes another instruction, or goes to a thunk,
//! by the instruction set of its target.
//!
//! What a value is, is said by the common [`Site`], as on other machines. The low bit of a function's address
//! says that it is Thumb code; of a target that is no function nothing is known, and the branch stays what it
//! is.
//!
//! Specification: AAELF32, "Static ARM relocations", "Interworking".

use super::Arm;
use super::attributes::{FAR_BRANCHES, M_PROFILE};
use super::code::{self, Branch};
use super::types::*;
use crate::arch::class::Class;
use crate::arch::facts::{Callee, Jump};
use crate::arch::rules::{Failure, FieldAt, Rules};
use crate::arch::site::Site;
use crate::elf::Rela;
use crate::symbol_flags;

/// Applies the relocations of a section in memory to its bytes.
pub fn allocated<const BIG: bool, S: Site>(site: &S, out: &mut [u8]) {
    let features = site.settings().features;
    let relocs = site.relocs();
    let mut i = 0;
    while i < relocs.len() {
        let reloc = &relocs[i];
        let kind = reloc.kind();
        let at = reloc.r_offset().wrapping_add(site.delta()) as usize;
        let class = Arm::<BIG>::class(kind);
        i += 1;
        if class == Class::None {
            continue;
        }
        if at.checked_add(Arm::<BIG>::width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            continue;
        }
        let field = FieldAt { out: &mut *out, at };
        let done = if branch_state(kind).is_some() {
            branch::<BIG, S>(site, reloc, features, field).map(|()| 0)
        } else {
            one::<BIG, S>(site, (i - 1, class), field)
        };
        match done {
            Ok(more) => i += more,
            Err(failure) => site.report(reloc, failure),
        }
    }
}

/// Applies relocation `i`, which is that of no branch. Returns how many after it were with it.
fn one<const BIG: bool, S: Site>(
    site: &S,
    (i, class): (usize, Class),
    FieldAt { out, at }: FieldAt,
) -> Result<usize, Failure> {
    let reloc = &site.relocs()[i];
    let kind = reloc.kind();
    let mut place = site.resolve(reloc);
    // What counts from a slot or a base has nothing to do with code, and loaders know which code a name is in the end.
    let has_state =
        !matches!(class, Class::Got | Class::GotBase) && place.flags & symbol_flags::PREEMPTIBLE == 0;
    if has_state && place.address.get() & 1 != 0 && site.is_function(reloc) {
        place.addend = addend_to_thumb(kind, place.addend);
    }
    let target = place.address.wrapping_add(place.addend as u64);
    if counts_from_base(kind) {
        // What is nowhere counts from there.
        let base = match place.is_undefined() {
            true => place.address,
            false => site.start_of_segment(place.address).ok_or(Failure::Form)?,
        };
        return Arm::<BIG>::put(kind, out, at, target.wrapping_sub(base)).map(|()| 0);
    }
    if kind == R_THM_PC8 && place.is_undefined() {
        // It cannot have the distance to itself.
        return Arm::<BIG>::put(kind, out, at, 0).map(|()| 0);
    }
    let plain = place.is_settled() && !place.is_undefined();
    if plain && matches!(class, Class::Pc | Class::Plt) {
        let here = site.address().wrapping_add(at as u64);
        return Arm::<BIG>::put_distance(kind, out, at, target, here).map(|()| 0);
    }
    site.special::<Arm<BIG>>(class, i, FieldAt { out, at }, place)
}

fn branch<const BIG: bool, S: Site>(
    site: &S,
    reloc: &Rela,
    features: u32,
    FieldAt { out, at }: FieldAt,
) -> Result<(), Failure> {
    let kind = reloc.kind();
    let here = site.address().wrapping_add(at as u64);
    let place = site.resolve(reloc);
    if place.is_undefined() {
        let next = Arm::<BIG>::undefined(kind, here).wrapping_add(place.addend as u64);
        return Arm::<BIG>::put_distance(kind, out, at, next, here);
    }
    let called = site.called(reloc);
    let is_function = site.is_function(reloc);
    let target = called.wrapping_add(bias(kind));
    let jump =
        Jump { kind, here: here.get(), target: target.get(), is_function, callee: Callee::Own(0), features };
    let thunk = site.thunk(&jump);
    if thunk.is_some() && !is_function && code::exchanges::<BIG>(kind, out, at) {
        // Thunks to labels go on in their caller's instruction set.
        return Err(Failure::InstructionSet);
    }
    let (distance, to_thumb) = match thunk {
        Some(thunk) => (thunk.wrapping_sub(here).wrapping_sub(bias(kind)), Some(thunk.get() & 1 != 0)),
        None => (called.wrapping_sub(here), is_function.then_some(target.get() & 1 != 0)),
    };
    let distance = i64::from(distance as i32);
    let branch = Branch { distance, to_thumb, here: here.get() };
    code::put_branch::<BIG>(kind, out, at, branch)?;
    let from_thumb = branch_state(kind) == Some(true);
    let to_arm = || match to_thumb {
        Some(_) if is_function => target.get() & 1 == 0,
        _ => code::leads_to_arm::<BIG>(kind, out, at),
    };
    if from_thumb && features & M_PROFILE != 0 && to_arm() {
        // These processors have no ARM code.
        return Err(Failure::InstructionSet);
    }
    if thunk.is_none() && target.get() & 3 != 0 && code::leads_to_arm::<BIG>(kind, out, at) {
        return Err(Failure::Unaligned(target.get() as i64));
    }
    let reach = if kind == R_THM_CALL && features & FAR_BRANCHES == 0 { 1 << 22 } else { 1 << 25 };
    if !(-reach..reach).contains(&(distance & !1)) {
        return Err(Failure::Overflow(distance));
    }
    // Short branches have no thunks.
    let stays = !matches!(kind, R_CALL | R_THM_CALL);
    if stays && to_thumb.is_some_and(|to| to != from_thumb) { Err(Failure::InstructionSet) } else { Ok(()) }
}

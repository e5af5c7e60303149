//! Relocations of sections outside memory.

use weld_common::diag::Cause;

use super::Site;
use super::debug_targets::DebugTargets;
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::rules::{Failure, FieldAt, Rules};
use crate::elf::*;

/// Applies the relocations of a section outside memory, each by itself. `tombstone` stands for what is gone.
#[inline(never)]
pub fn each<R: Rules>(site: &Site, tombstone: u64, out: &mut [u8]) {
    let mut targets = DebugTargets::new(site);
    // It is a mark, not a value: all ones are so in any width.
    let narrow = u64::from(tombstone as u32);
    for reloc in site.relocs {
        let kind = reloc.kind();
        let at = reloc.r_offset().wrapping_add(site.delta) as usize;
        if R::class(kind) == Class::None {
            continue;
        }
        if at.checked_add(R::width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            continue;
        }
        let result = if kind == R::FACTS.dynamic.address {
            R::put_address(out, at, targets.of(reloc).map_or(tombstone, Address::get));
            Ok(())
        } else if kind == R::DEBUG_OFFSET {
            R::put(R::DEBUG_OFFSET, out, at, targets.of(reloc).map_or(narrow, Address::get))
        } else {
            site.rare_in_debug::<R>(reloc, targets.of(reloc), tombstone, FieldAt { out: &mut *out, at })
        };
        if let Err(failure) = result {
            site.report(reloc, failure);
        }
    }
}

impl Site<'_, '_, '_> {
    /// What is in debug sections beside absolute addresses.
    pub(super) fn rare_in_debug<R: Rules>(
        &self,
        reloc: &Rela,
        target: Option<Address>,
        tombstone: u64,
        FieldAt { out, at }: FieldAt,
    ) -> Result<(), Failure> {
        let kind = reloc.kind();
        let class = R::class(kind);
        if target.is_none() && matches!(class, Class::Address | Class::Narrow | Class::DtpOff) {
            R::put_any(kind, out, at, tombstone);
            return Ok(());
        }
        let value = target.unwrap_or(Address::new(tombstone));
        let gone = reloc.r_addend() as u64;
        let value = match class {
            Class::Address => {
                R::put_address(out, at, value.get());
                return Ok(());
            }
            Class::Narrow | Class::Low => value.get(),
            Class::DtpOff => value.wrapping_sub(self.image.bases.tls_start).wrapping_sub(R::FACTS.tls_offset),
            Class::Size => self.symbol_size(reloc).wrapping_add(gone),
            // Outside memory an output section begins at 0, and distances are from the place in it, as in
            // other linkers.
            Class::Pc | Class::Plt => {
                let place = self.address.wrapping_add(at as u64);
                return R::put_distance(kind, out, at, value, place);
            }
            Class::GotOff => target.unwrap_or(Address::new(gone)).wrapping_sub(self.image.bases.got_base),
            // GCC before version 8 has it for i386, of no use to anybody.
            Class::GotBase => {
                let place = self.address.wrapping_add(at as u64);
                self.image.bases.got_base.wrapping_add(gone).wrapping_sub(place)
            }
            _ => {
                self.refuse(
                    Cause::UnsupportedRelocation,
                    reloc,
                    "cannot be used in a section outside memory",
                );
                return Ok(());
            }
        };
        R::put(kind, out, at, value)
    }
}

//! Applying relocations to copied bytes.
//!
//! Two loops, compiled for each machine: the one here for sections in memory, with GOT, PLT and TLS forms,
//! and [`debug`] for sections outside it, where nearly all relocations are absolute and targets may be gone.
//! Both look up a target with one load and dispatch on the class table. What the value is, is the same on all
//! machines; how it is stored and how instructions are rewritten, the machine says. Budget: about 30
//! instructions a relocation in the common cases (PC-relative, PLT, absolute).
//!
//! Machines whose relocations depend on one another have loops of their own, which ask what is here by way of
//! [`crate::arch::site`].

mod debug;
mod debug_targets;
mod for_machines;
mod report;

use weld_common::diag::Cause;
use weld_common::thunks::Reach;

use super::image::Image;
use super::rela;
use crate::address::Address;
use crate::arch::Visitor;
use crate::arch::class::{Class, From, page};
use crate::arch::rules::{Code, Failure, Field, FieldAt, Rules};
use crate::arch::site::ResolvedAddress;
use crate::elf::*;
use crate::got_plt_slots::NONE;
use crate::ids::*;
use crate::input::object::Object;
use crate::live::reloc_scan::{is_got_relaxable, is_size_of_loader, wants_addend};
use crate::sections::SectionKind;
use crate::sections::descriptors::{self, Code as CodeOf};
use crate::symbols::symbol_flags;

/// One section whose bytes are being written.
pub struct Site<'c, 'i, 'a> {
    pub image: &'c Image<'i, 'a>,
    pub object: &'c Object<'a>,
    pub object_id: ObjectId,
    pub shndx: u32,
    /// Address of the section's first byte.
    pub address: Address,
    pub relocs: &'c [Rela],
    /// The section's bytes before any relocation: what the scan looked at.
    pub input: &'c [u8],
    /// Added to each relocation's offset to get its offset in the bytes that are written.
    pub delta: u64,
}

impl Site<'_, '_, '_> {
    /// Applies the relocations of a section in memory to its bytes.
    pub fn relocate(&self, out: &mut [u8]) {
        self.image.mode.machine.visit(InMemory { site: self, out });
    }

    /// The same outside memory. `tombstone` stands for what is gone.
    pub fn relocate_debug(&self, tombstone: u64, out: &mut [u8]) {
        self.image.mode.machine.visit(OutsideMemory { site: self, tombstone, out });
    }
}

struct InMemory<'s, 'c, 'i, 'a> {
    site: &'s Site<'c, 'i, 'a>,
    out: &'s mut [u8],
}

impl Visitor for InMemory<'_, '_, '_, '_> {
    type Output = ();

    fn visit<R: Rules>(self) {
        R::apply(self.site, self.out);
    }
}

struct OutsideMemory<'s, 'c, 'i, 'a> {
    site: &'s Site<'c, 'i, 'a>,
    tombstone: u64,
    out: &'s mut [u8],
}

impl Visitor for OutsideMemory<'_, '_, '_, '_> {
    type Output = ();

    fn visit<R: Rules>(self) {
        R::apply_debug(self.site, self.tombstone, self.out);
    }
}

/// How many relocations ahead their symbols are asked for.
const TARGET_AHEAD: usize = 6;

/// Applies the relocations of a section in memory, each by itself.
#[inline(never)]
fn each<R: Rules>(site: &Site, out: &mut [u8]) {
    let branches = const { &R::FACTS }.branches.as_ref();
    let limited = branches.is_some() && site.image.thunks.limit().is_some();
    let mut i = 0;
    while i < site.relocs.len() {
        let reloc = &site.relocs[i];
        let kind = reloc.kind();
        let class = R::class(kind);
        let at = reloc.r_offset().wrapping_add(site.delta) as usize;
        if class == Class::None {
            i += 1;
            continue;
        }
        if at.checked_add(R::width(kind)).is_none_or(|end| end > out.len()) {
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
        let plain = place.flags & (symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC | symbol_flags::OUTSIDE)
            == 0
            && !(R::UNDEFINED_IS_NEAR && place.is_undefined());
        let result = match class {
            Class::Pc if plain => R::put_distance(kind, out, at, target, here),
            Class::Plt if R::is_marked_call(site.relocs, i) && !site.image.mode.shared => Ok(()),
            Class::Plt if plain => R::put_distance(kind, out, at, target, here),
            Class::Low if plain => R::put(kind, out, at, target.get()),
            _ => match site.special::<R>(class, i, FieldAt { out, at }, place) {
                Ok(skip) => {
                    i += skip;
                    Ok(())
                }
                Err(failure) => Err(failure),
            },
        };
        if let Some(branches) = branches
            && (result.is_err() || limited)
            && let Some(reach) = site.image.thunks.reach(branches, kind)
        {
            site.through_thunk::<R>(reach, reloc, place, FieldAt { out, at }, result);
        } else if let Err(failure) = result {
            site.report(reloc, failure);
        }
        i += 1;
    }
}

impl Site<'_, '_, '_> {
    /// Everything that is not a plain PC-relative reference. Returns how many of the following
    /// relocations were consumed.
    fn special<R: Rules>(
        &self,
        class: Class,
        i: usize,
        FieldAt { out, at }: FieldAt,
        place: ResolvedAddress,
    ) -> Result<usize, Failure> {
        let image = self.image;
        let reloc = &self.relocs[i];
        if place.flags & symbol_flags::OUTSIDE != 0 {
            self.outside_pieces(reloc);
            return Ok(0);
        }
        let kind = reloc.kind();
        let here = self.address.wrapping_add(at as u64);
        let addend = place.addend as u64;
        let target = self.address_of(reloc, place).wrapping_add(addend);
        let bases = &image.bases;
        let value = match class {
            Class::Address => {
                let value = self.tag_offset::<R>(reloc, place);
                let value = value.unwrap_or_else(|| self.absolute::<R>(reloc, place, target));
                R::put_address(out, at, value);
                return Ok(0);
            }
            Class::Signed => {
                self.put_signed(i, place, &mut out[at..at + R::width(kind)]);
                return Ok(0);
            }
            // The relocation has the address.
            Class::Initial => {
                out[at..at + R::width(kind)].fill(0);
                return Ok(0);
            }
            Class::Instruction if place.flags & symbol_flags::KIND == symbol_flags::UNDEFINED => {
                return Ok(0);
            }
            Class::Instruction => target.get(),
            Class::Narrow => {
                self.check_frame(reloc, place);
                target.get()
            }
            Class::Pc | Class::Low | Class::Plt | Class::PltOff => {
                match self.distance_or_call::<R>(class, reloc, FieldAt { out, at }, (place, target))? {
                    Some(value) => value,
                    None => return Ok(0),
                }
            }
            Class::GotRelax if is_got_relaxable(place.flags, image.relax_got || wants_addend::<R>(reloc)) => {
                let rewritable = self.is_all::<R>(reloc) && R::got_pair(self.input, self.relocs, i);
                if rewritable && let Some(form) = R::got_form(self.code(reloc), image.mode.pic) {
                    return R::rewrite_got(form, self.field(FieldAt { out, at }, kind), target).map(|()| 0);
                }
                self.check_signing::<R>(reloc)?;
                self.to_slot::<R>(reloc, self.got(reloc)?, addend, here)?
            }
            Class::Got | Class::GotRelax => {
                self.check_signing::<R>(reloc)?;
                self.to_slot::<R>(reloc, self.got(reloc)?, addend, here)?
            }
            Class::Jump => self.called(reloc).get(),
            // Machines that have them apply them themselves.
            Class::GotPage | Class::GotRest => {
                self.refuse(Cause::UnsupportedRelocation, reloc, "cannot be used here");
                return Ok(0);
            }
            Class::GotOff => target.wrapping_sub(self.got_base::<R>()),
            Class::GotBase => bases.got_base.wrapping_add(addend).wrapping_sub(here),
            Class::BaseAddress => bases.got_base.wrapping_add(addend).get(),
            Class::Size if is_size_of_loader(&image.mode, place.flags, self.is_writable()) => {
                self.for_loader::<R>(addend)
            }
            Class::Size => self.symbol_size(reloc).wrapping_add(addend),
            Class::DtpOff => target
                .wrapping_sub(bases.module_start(image.mode.shared, const { &R::FACTS }))
                .wrapping_sub(R::FACTS.tls_offset),
            Class::TpOff | Class::TpOffWord => self.variable_offset::<R>(place, target),
            Class::TlsGd | Class::TlsLd | Class::GotTp | Class::TlsDesc | Class::TlsDescCall => {
                return self.thread_local::<R>(class, i, self.field(FieldAt { out, at }, kind), place);
            }
            Class::TlsMark => {
                return self.marked::<R>(reloc, self.field(FieldAt { out, at }, kind), place).map(|()| 0);
            }
            Class::None => return Ok(0),
            Class::Term => target.get(),
            // The scan does not look at those of frames. Other halves are the affair of machines that have
            // them.
            Class::OtherHalf | Class::Unknown => {
                self.refuse(Cause::UnsupportedRelocation, reloc, "is not supported");
                return Ok(0);
            }
        };
        R::put(kind, out, at, value).map(|()| 0)
    }

    /// Leaves in a word how the loader is to sign the pointer there.
    fn put_signed(&self, i: usize, place: ResolvedAddress, bytes: &mut [u8]) {
        if place.is_undefined() {
            bytes.fill(0);
        } else if self.image.options.relocs.pack_relr && place.flags & symbol_flags::PREEMPTIBLE == 0 {
            self.put_packed_addend(i, bytes);
        }
    }

    /// The value of a field that has a distance, the lower bits of an address, or either of what is called, which `target`
    /// is if there is no entry of the PLT for it; `None` if it is written.
    #[inline(always)]
    fn distance_or_call<R: Rules>(
        &self,
        class: Class,
        reloc: &Rela,
        FieldAt { out, at }: FieldAt,
        (place, target): (ResolvedAddress, Address),
    ) -> Result<Option<u64>, Failure> {
        let (image, kind, addend) = (self.image, reloc.kind(), place.addend as u64);
        let here = self.address.wrapping_add(at as u64);
        let is_preemptible = place.flags & symbol_flags::PREEMPTIBLE != 0;
        let called = || self.plt(reloc, place).map_or(target, |plt| plt.wrapping_add(addend));
        let value = match class {
            // Parts of a call; the scan has no others.
            Class::Pc | Class::Low if R::CALL_BY_PARTS && image.mode.shared && is_preemptible => {
                if class == Class::Pc {
                    return R::put_distance(kind, out, at, called(), here).map(|()| None);
                }
                called().get()
            }
            Class::Low => target.get(),
            Class::Pc | Class::Plt if R::UNDEFINED_IS_NEAR && place.is_undefined() => {
                let target = R::undefined(kind, here).wrapping_add(addend);
                return R::put_distance(kind, out, at, target, here).map(|()| None);
            }
            Class::Pc if R::FACTS.dynamic.distance == Some(kind) && image.mode.shared && is_preemptible => {
                self.for_loader::<R>(addend)
            }
            Class::Pc if R::CALL_BY_DISTANCE && !image.mode.pic && R::is_call(self.code(reloc)) => {
                return R::put_distance(kind, out, at, called(), here).map(|()| None);
            }
            Class::Pc => {
                let done = R::put_distance(kind, out, at, target, here);
                // Null for good, though the loader looks for the symbol: if that is too far, anything will
                // do.
                let null =
                    R::UNDEFINED_IS_NEAR && place.flags & symbol_flags::KIND == symbol_flags::UNDEFINED;
                if done.is_err() && null {
                    let near = R::undefined(kind, here).wrapping_add(addend);
                    return R::put_distance(kind, out, at, near, here).map(|()| None);
                }
                return done.map(|()| None);
            }
            Class::Plt => called().wrapping_sub(here),
            _ => called().wrapping_sub(image.bases.got_base),
        };
        Ok(Some(value))
    }

    /// The offset of a variable from the thread pointer, or what the loader adds it to.
    #[inline(always)]
    fn variable_offset<R: Rules>(&self, place: ResolvedAddress, target: Address) -> u64 {
        let (shared, bases, addend) = (self.image.mode.shared, &self.image.bases, place.addend as u64);
        match place.flags & symbol_flags::KIND {
            // There is no variable, so its offset is as good as any.
            symbol_flags::UNDEFINED if !shared => addend,
            _ if place.flags & symbol_flags::PREEMPTIBLE != 0 => self.for_loader::<R>(addend),
            _ if shared => self.for_loader::<R>(target.wrapping_sub(bases.tls_start)),
            _ => target.wrapping_sub(bases.thread_pointer),
        }
    }

    /// Has a branch that reaches so far go to a thunk for its target, if there is one in reach; else it stays
    /// as it is, with `result`.
    #[cold]
    fn through_thunk<R: Rules>(
        &self,
        reach: Reach,
        reloc: &Rela,
        place: ResolvedAddress,
        FieldAt { out, at }: FieldAt,
        result: Result<(), Failure>,
    ) {
        let here = self.address.wrapping_add(at as u64);
        let target = self.address_of(reloc, place).wrapping_add(place.addend as u64);
        let called = self.plt(reloc, place).map_or(target, |plt| plt.wrapping_add(place.addend as u64));
        let section = self.image.sections.get(SectionId(self.object.section_base + self.shndx));
        let thunk =
            self.image.out_of(section).and_then(|out| self.image.thunks.find(reach, out, here, (called, 0)));
        let result = match thunk {
            // One that reaches within the limit of options goes straight on.
            Some(thunk) if result.is_err() || !reach.has(here.get(), called.get()) => {
                R::put_distance(reloc.kind(), out, at, thunk, here)
            }
            _ => result,
        };
        if let Err(failure) = result {
            self.report(reloc, failure);
        }
    }

    /// The address that relocation `reloc` refers to.
    fn target(&self, reloc: &Rela) -> Address {
        let place = self.image.place(self.object, reloc.sym(), reloc.r_addend());
        self.address_of(reloc, place).wrapping_add(place.addend as u64)
    }

    /// What a call by relocation `reloc` leads to.
    fn called(&self, reloc: &Rela) -> Address {
        let place = self.image.place(self.object, reloc.sym(), reloc.r_addend());
        let called = self.plt(reloc, place).unwrap_or_else(|| self.address_of(reloc, place));
        called.wrapping_add(place.addend as u64)
    }

    /// The code that a call by relocation `reloc` leads to, where functions have descriptors.
    fn code_called(&self, reloc: &Rela) -> Result<Address, Failure> {
        let image = self.image;
        let place = image.place(self.object, reloc.sym(), reloc.r_addend());
        if let Some(plt) = self.plt(reloc, place) {
            return Ok(plt.wrapping_add(place.addend as u64));
        }
        let called = place.address.wrapping_add(place.addend as u64);
        let is_here = place.flags & symbol_flags::KIND == symbol_flags::DEFINED;
        let at =
            descriptors::definition(image.resolved, self.object_id, self.object, reloc).filter(|_| is_here);
        // A name that an option or a script gives to a descriptor says its address only.
        let Some((at, offset)) = at.or_else(|| self.descriptor_at(called)) else { return Ok(called) };
        match descriptors::code(&image.resolved.objects, image.sections, at, offset) {
            CodeOf::Itself => Ok(called),
            CodeOf::Unknown => Err(Failure::Form),
            CodeOf::At(code) => {
                let object = &image.resolved.objects[at.0.index()];
                let place = image.place(object, code.sym(), code.r_addend());
                Ok(place.address.wrapping_add(place.addend as u64))
            }
        }
    }

    /// The section of an object that is among the descriptors of this output, and has an address.
    fn descriptor_at(&self, address: Address) -> Option<((ObjectId, u32), u64)> {
        let (image, machine) = (self.image, self.object.machine.descriptors.as_ref()?);
        let out = image.layout.section_at(address).map(|out| &image.layout[out])?;
        if &out.name[..] != machine.section {
            return None;
        }
        let at = |id: &SectionId| {
            let offset = address.wrapping_sub(image.sections.address_of(*id, 0));
            (offset < image.sections.get(*id).size).then_some((*id, offset))
        };
        let mut members = out.members.iter().filter_map(|member| member.as_section());
        let (id, offset) = members.find_map(|id| at(&id))?;
        let objects = &image.resolved.objects;
        let number = objects.partition_point(|object| object.section_base <= id.0).checked_sub(1)?;
        Some(((ObjectId(number as u32), id.0 - objects[number].section_base), offset))
    }

    /// The offset of a variable from the thread pointer, if it is one of this program.
    fn thread_offset(&self, reloc: &Rela) -> Option<i64> {
        let place = self.image.place(self.object, reloc.sym(), reloc.r_addend());
        let target = place.address.wrapping_add(place.addend as u64);
        match place.flags & symbol_flags::PREEMPTIBLE != 0 || self.image.mode.shared {
            true => None,
            // There is no variable, so its offset is as good as any.
            false if place.is_undefined() => Some(0),
            false => Some(target.wrapping_sub(self.image.bases.thread_pointer) as i64),
        }
    }

    /// Whether loads of a slot may be rewritten one by one, or all are that are like this one: there is no slot, or not
    /// the one that it would need.
    fn is_all<R: Rules>(&self, reloc: &Rela) -> bool {
        !R::ALL_OR_NONE || wants_addend::<R>(reloc) || self.got(reloc).is_err()
    }

    /// Whether the instructions of relocation `i` that loaded a slot make the address itself.
    fn is_without_slot<R: Rules>(&self, i: usize) -> bool {
        let reloc = &self.relocs[i];
        let place = self.image.place(self.object, reloc.sym(), reloc.r_addend());
        is_got_relaxable(place.flags, self.image.relax_got || wants_addend::<R>(reloc))
            && self.is_all::<R>(reloc)
            && R::got_pair(self.input, self.relocs, i)
            && R::got_form(self.code(reloc), self.image.mode.pic).is_some()
            && !self.is_frames()
    }

    /// Whether there are records here, in which bytes only happen to look like instructions.
    fn is_frames(&self) -> bool {
        let section = self.image.sections.get(SectionId(self.object.section_base + self.shndx));
        section.kind() == SectionKind::EhFrame
    }

    /// The distance of what relocation `i`, one of an instruction at `here`, makes the address of: a symbol,
    /// or a slot.
    fn distance<R: Rules>(&self, i: usize, here: Address) -> Result<u64, Failure> {
        let reloc = &self.relocs[i];
        let place = self.image.place(self.object, reloc.sym(), reloc.r_addend());
        let addend = place.addend as u64;
        let slot = match R::class(reloc.kind()) {
            Class::GotRelax if self.is_without_slot::<R>(i) => {
                return Ok(self.address_of(reloc, place).wrapping_add(addend).wrapping_sub(here));
            }
            class @ (Class::Got | Class::GotRelax | Class::GotTp | Class::TlsGd | Class::TlsDesc) => {
                self.slot_of_class(reloc, class)?
            }
            _ if R::UNDEFINED_IS_NEAR && place.is_undefined() => {
                return Ok(R::undefined(reloc.kind(), here).wrapping_add(addend).wrapping_sub(here));
            }
            _ => return Ok(self.address_of(reloc, place).wrapping_add(addend).wrapping_sub(here)),
        };
        self.to_slot::<R>(reloc, slot, addend, here)
    }

    /// The field of a relocation of type `kind`.
    #[inline(always)]
    fn field<'f>(&self, FieldAt { out, at }: FieldAt<'f>, kind: u32) -> Field<'f> {
        let address = self.address.wrapping_add(at as u64);
        Field { out, at, address, kind, got_base: self.image.bases.got_base }
    }

    /// What stands in a place that the loader fills: the addend, if it has no other.
    fn for_loader<R: Rules>(&self, addend: u64) -> u64 {
        if R::FACTS.dynamic.with_addends { 0 } else { addend }
    }

    /// Stores the addend of a pointer to be signed in its lower half if its relocation is packed.
    fn put_packed_addend(&self, i: usize, bytes: &mut [u8]) {
        let section = SectionId(self.object.section_base + self.shndx);
        let Some(addend) = rela::packed_addend(self.image, self.object_id, section, i) else { return };
        let format = self.image.format();
        format.put(bytes, format.get(bytes) >> 32 << 32 | u64::from(addend));
    }

    /// What is stored for a slot at this address.
    fn to_slot<R: Rules>(
        &self,
        reloc: &Rela,
        slot: Address,
        addend: u64,
        here: Address,
    ) -> Result<u64, Failure> {
        if addend != 0 && !R::reaches_behind_slots(reloc.kind()) {
            return Err(Failure::Addend(addend as i64));
        }
        // Of what is merged, the address is that of the piece already.
        if R::class(reloc.kind()) == Class::GotRelax && wants_addend::<R>(reloc) {
            return Err(Failure::Addend(reloc.r_addend()));
        }
        let from = match R::slot_from(self.code(reloc)) {
            From::Place => here,
            From::GotBase => self.got_base::<R>(),
            From::GotPage => page(self.image.bases.got_base),
            From::Page => return Ok(page(slot).wrapping_sub(page(here))),
            From::Zero | From::Low => Address::ZERO,
        };
        Ok(slot.wrapping_add(addend).wrapping_sub(from))
    }

    /// The input's code. The field lies within the bytes that are written, and those are at most the input's.
    fn code<'s>(&'s self, reloc: &'s Rela) -> Code<'s> {
        Code { reloc, bytes: self.input, at: reloc.r_offset() as usize }
    }

    /// The address that stands for the symbol: a local IFUNC is known by its PLT entry.
    fn address_of(&self, reloc: &Rela, place: ResolvedAddress) -> Address {
        if place.flags & symbol_flags::IFUNC == 0 || reloc.sym() >= self.object.first_global {
            return place.address;
        }
        let slot = self.image.slots.of_local(self.object_id, reloc.sym());
        slot.filter(|s| s.plt != NONE).map_or(place.address, |s| self.image.stand_in_address(s.plt))
    }

    /// What the section holds where the loader may still add something: with RELA the addend is in
    /// the relocation, and the bytes stay as they are unless asked for or packed.
    fn absolute<R: Rules>(&self, reloc: &Rela, place: ResolvedAddress, target: Address) -> u64 {
        if place.flags & symbol_flags::PREEMPTIBLE != 0 {
            let stands_in = place.flags & (symbol_flags::NEEDS_COPY | symbol_flags::NEEDS_CANONICAL_PLT) != 0;
            let bound_here = stands_in && !self.image.mode.pic && !self.is_writable();
            return if bound_here { target.get() } else { self.for_loader::<R>(place.addend as u64) };
        }
        let relocated = self.check_frame(reloc, place);
        // Loaders that bind functions of a module which they have not relocated yet read its descriptors.
        let beside =
            R::FACTS.dynamic.with_addends && const { R::FACTS.descriptors.is_none() } && !self.image.relr;
        if relocated && beside && !self.image.options.relocs.apply_dynamic_relocs { 0 } else { target.get() }
    }

    /// Whether an address moves with the image. If it is that of an FDE's function, at which the scan does
    /// not look, that is an error.
    fn check_frame(&self, reloc: &Rela, place: ResolvedAddress) -> bool {
        let moves = self.image.mode.pic
            && !matches!(place.flags & symbol_flags::KIND, symbol_flags::ABSOLUTE | symbol_flags::UNDEFINED);
        let section = SectionId(self.object.section_base + self.shndx);
        if moves && self.image.sections.get(section).kind() == SectionKind::EhFrame {
            self.frame_not_pic(reloc);
        }
        moves
    }

    /// What the section holds where the loader puts a pointer with a tag: how far from there its variable is,
    /// if it points outside of that, so that the tag is not that of another one.
    #[inline(always)]
    fn tag_offset<R: Rules>(&self, reloc: &Rela, place: ResolvedAddress) -> Option<u64> {
        if const { R::FACTS.tagging.is_none() } {
            return None;
        }
        let tagged = self.image.tagged?;
        let fixed =
            matches!(place.flags & symbol_flags::KIND, symbol_flags::ABSOLUTE | symbol_flags::UNDEFINED);
        if place.flags & symbol_flags::PREEMPTIBLE != 0 || fixed {
            return None;
        }
        if !tagged.has(self.object_id, self.object, reloc.sym()) {
            // Of what is packed the address is here; elsewhere loaders that tag memory look for such a
            // distance.
            let section = self.image.sections.get(SectionId(self.object.section_base + self.shndx));
            return (!rela::is_even(section, reloc)).then_some(0);
        }
        let addend = reloc.r_addend() as u64;
        Some(if addend < self.symbol_size(reloc) { 0 } else { addend.wrapping_neg() })
    }

    fn is_writable(&self) -> bool {
        self.object.shdrs[self.shndx as usize].sh_flags() & SHF_WRITE != 0
    }

    fn plt(&self, reloc: &Rela, place: ResolvedAddress) -> Option<Address> {
        if place.flags & (symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC) == 0 {
            return None;
        }
        let slot = self.image.slot(self.object_id, reloc.sym())?;
        (slot.plt != NONE).then(|| self.image.plt_address(slot.plt))
    }

    /// Whether the symbol's slot is signed as the relocation says.
    #[inline(always)]
    fn check_signing<R: Rules>(&self, reloc: &Rela) -> Result<(), Failure> {
        if const { R::FACTS.dynamic.signed.is_none() } {
            return Ok(());
        }
        let slot = self.image.slot(self.object_id, reloc.sym()).ok_or(Failure::NoSlot)?;
        if slot.signed == R::is_signed(reloc.kind()) { Ok(()) } else { Err(Failure::Signing) }
    }

    fn got(&self, reloc: &Rela) -> Result<Address, Failure> {
        let slot = self.image.slot(self.object_id, reloc.sym());
        slot.and_then(|s| self.image.address_slot(s)).ok_or(Failure::NoSlot)
    }

    /// Where the GOT's base is for this code.
    #[inline(always)]
    fn got_base<R: Rules>(&self) -> Address {
        match const { R::FACTS.loader_got.is_some() } {
            true => self.image.base_of(self.object_id),
            false => self.image.bases.got_base,
        }
    }

    /// The address of the slot that a relocation of class `class` asks for.
    fn slot_of_class(&self, reloc: &Rela, class: Class) -> Result<Address, Failure> {
        if let Some(slot) = self.image.slot_in_further(self.object_id, reloc, class) {
            return slot.ok_or(Failure::NoSlot);
        }
        if matches!(class, Class::Got | Class::GotRelax) {
            return self.got(reloc);
        }
        let slot = self.image.slot(self.object_id, reloc.sym());
        let word = slot.and_then(|slot| slot.of_class(class));
        word.and_then(|word| self.image.got_address(word)).ok_or(Failure::NoSlot)
    }

    fn got_tp(&self, reloc: &Rela) -> Result<Address, Failure> {
        let slot = self.image.slot(self.object_id, reloc.sym());
        slot.and_then(|s| self.image.got_address(s.got_tp)).ok_or(Failure::NoSlot)
    }

    fn thread_local<R: Rules>(
        &self,
        class: Class,
        i: usize,
        field: Field,
        place: ResolvedAddress,
    ) -> Result<usize, Failure> {
        let image = self.image;
        let reloc = &self.relocs[i];
        // The addend of these types corrects for the end of the instruction, not for the symbol.
        let tpoff = match place.is_undefined() {
            // There is no variable, so its offset is as good as any.
            true => 0,
            false => place.address.wrapping_sub(image.bases.thread_pointer) as i64,
        };
        let local = !image.mode.shared && place.flags & symbol_flags::PREEMPTIBLE == 0;
        if const { R::FACTS.loader_got.is_some() }
            && let Some(slot) = image.slot_in_further(self.object_id, reloc, class)
        {
            return self.put_slot::<R>(reloc, field, slot.ok_or(Failure::NoSlot)?, place).map(|()| 0);
        }
        let slot = match class {
            Class::TlsGd | Class::TlsLd => {
                let call = (!image.mode.shared).then(|| R::tls_call(self.input, self.relocs, i));
                let Some(call) = call.flatten() else {
                    let slot = image.slot(self.object_id, reloc.sym());
                    let word = match class {
                        Class::TlsGd => slot.map(|s| s.tls_gd),
                        _ => image.slots.tls_ld,
                    };
                    let pair = word.and_then(|w| image.got_address(w)).ok_or(Failure::NoSlot)?;
                    return self.put_slot::<R>(reloc, field, pair, place).map(|()| 0);
                };
                if class == Class::TlsLd {
                    R::local_dynamic_to_local_exec(call, field)?;
                } else if local {
                    R::general_to_local_exec(call, field, tpoff)?;
                } else {
                    R::general_to_initial_exec(call, field, self.got_tp(reloc)?)?;
                }
                return Ok(R::TLS_CALL_RELOCS);
            }
            Class::GotTp
                if local
                    && image.options.relocs.relax
                    && R::is_initial_exec(self.code(reloc))
                    && !self.is_frames()
                    && !(R::ALL_OR_NONE && self.got_tp(reloc).is_ok()) =>
            {
                return R::initial_to_local_exec(field, tpoff).map(|()| 0);
            }
            Class::GotTp => {
                let other_sign = if R::counts_backward(reloc.kind()) { const { R::FACTS.slot() } } else { 0 };
                self.got_tp(reloc)? + other_sign
            }
            Class::TlsDesc => match (self.tls_descriptor(reloc), local) {
                (Some(pair), _) => {
                    self.check_signing::<R>(reloc)?;
                    pair
                }
                (None, _) if self.is_frames() => return Err(Failure::NoSlot),
                (None, true) => return R::descriptor_to_local_exec(field, tpoff).map(|()| 0),
                (None, false) => {
                    return R::descriptor_to_initial_exec(field, self.got_tp(reloc)?).map(|()| 0);
                }
            },
            _ if self.tls_descriptor(reloc).is_some() => return Ok(0),
            _ => return R::descriptor_call_to_nothing(field).map(|()| 0),
        };
        self.put_slot::<R>(reloc, field, slot, place).map(|()| 0)
    }

    /// An instruction of a sequence whose values have been rewritten elsewhere, or not.
    fn marked<R: Rules>(&self, reloc: &Rela, field: Field, place: ResolvedAddress) -> Result<(), Failure> {
        let local = place.flags & symbol_flags::PREEMPTIBLE == 0;
        let changed = R::marks_call(field.kind)
            || local && self.image.options.relocs.relax && self.got_tp(reloc).is_err();
        match changed && !self.image.mode.shared {
            true => R::rewrite_marked(field, local),
            false => Ok(()),
        }
    }

    fn put_slot<R: Rules>(
        &self,
        reloc: &Rela,
        field: Field,
        slot: Address,
        place: ResolvedAddress,
    ) -> Result<(), Failure> {
        let value = self.to_slot::<R>(reloc, slot, place.addend as u64, field.address)?;
        R::put(reloc.kind(), field.out, field.at, value)
    }

    /// The symbol's descriptor, if the scan gave it one: then no sequence of it is rewritten.
    fn tls_descriptor(&self, reloc: &Rela) -> Option<Address> {
        let slot = self.image.slot(self.object_id, reloc.sym())?;
        self.image.got_address(slot.tls_desc)
    }

    fn symbol_size(&self, reloc: &Rela) -> u64 {
        self.image.live.note_size();
        let index = reloc.sym();
        let global = index >= self.object.first_global && (index as usize) < self.object.syms.len();
        let size = match global {
            true => self.image.symbol_size(self.object.global(index)),
            false => None,
        };
        size.unwrap_or_else(|| self.object.syms.get(index as usize).map_or(0, |s| s.st_size()))
    }
}

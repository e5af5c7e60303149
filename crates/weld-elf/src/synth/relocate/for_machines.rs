//! What machines' own loops ask of a section that is relocated.

use weld_common::diag::Cause;

use super::{Site, debug, debug_targets::DebugTargets, each};
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::facts::{Callee, Jump};
use crate::arch::relax_deltas::RelaxDelta;
use crate::arch::rules::{Failure, FieldAt, Rules};
use crate::arch::shrink::Labels;
use crate::arch::site::{self, ResolvedAddress, Settings};
use crate::elf::{PT_LOAD, Rela};
use crate::got_plt_slots::NONE;
use crate::ids::SectionId;
use crate::sections::SectionKind;
use crate::synth::{functions, toc_words};

impl Site<'_, '_, '_> {
    fn id(&self) -> SectionId {
        SectionId(self.object.section_base + self.shndx)
    }
}

impl site::Site for Site<'_, '_, '_> {
    fn relocs(&self) -> &[Rela] {
        self.relocs
    }

    fn input(&self) -> &[u8] {
        self.input
    }

    fn address(&self) -> Address {
        self.address
    }

    fn delta(&self) -> u64 {
        self.delta
    }

    fn deltas(&self) -> &[RelaxDelta] {
        let sections = self.image.sections;
        let shrunk = sections.get(self.id()).kind() == SectionKind::Shrunk;
        if shrunk { sections.shrunk.deltas(self.id()) } else { &[] }
    }

    fn output_offset(&self, offset: u64) -> u64 {
        self.image.sections.output_offset(self.id(), offset)
    }

    fn settings(&self) -> Settings {
        let image = self.image;
        Settings {
            pic: image.mode.pic,
            shared: image.mode.shared,
            relax: image.options.relocs.relax,
            toc_optimize: image.options.relocs.toc_optimize,
            keeps_relocs: image.options.keeps_relocs(),
            thread_pointer: image.bases.thread_pointer,
            got_base: image.base_of(self.object_id),
            features: image.mode.features,
            pointer: image.pointer,
        }
    }

    fn label(&self, reloc: &Rela) -> Option<u64> {
        self.object.label(self.shndx, reloc)
    }

    fn symbol_value(&self, reloc: &Rela) -> u64 {
        self.object.syms.get(reloc.sym() as usize).map_or(0, |symbol| symbol.st_value())
    }

    fn resolve(&self, reloc: &Rela) -> ResolvedAddress {
        let place = self.image.place(self.object, reloc.sym(), reloc.r_addend());
        match self.image.base_by_symbol(self.object_id, reloc) {
            Some(address) => ResolvedAddress { address, ..place },
            None => place,
        }
    }

    fn target(&self, reloc: &Rela) -> Address {
        self.target(reloc)
    }

    fn callee(&self, reloc: &Rela) -> Callee {
        self.call(reloc, self.image.place(self.object, reloc.sym(), reloc.r_addend())).0
    }

    fn call(&self, reloc: &Rela, place: ResolvedAddress) -> (Callee, Address) {
        let (callee, address) = match self.plt(reloc, place) {
            Some(entry) => (Callee::Entry(self.image.plt.address_offset(self.image.mode.facts())), entry),
            None => {
                let callee = functions::callee(self.image.symbols, self.object, reloc.sym());
                (callee, self.address_of(reloc, place))
            }
        };
        (callee, address.wrapping_add(place.addend as u64))
    }

    fn called(&self, reloc: &Rela) -> Address {
        self.called(reloc)
    }

    fn code(&self, reloc: &Rela) -> Result<Address, Failure> {
        self.code_called(reloc)
    }

    fn thread_offset(&self, reloc: &Rela) -> Option<i64> {
        self.thread_offset(reloc)
    }

    fn got_tp(&self, reloc: &Rela) -> Result<Address, Failure> {
        self.got_tp(reloc)
    }

    fn slot(&self, reloc: &Rela, class: Class) -> Result<Address, Failure> {
        self.slot_of_class(reloc, class)
    }

    fn local_slot(&self, reloc: &Rela, page: bool) -> Option<Address> {
        self.image.local_slot(self.object_id, reloc, page)
    }

    fn word_filler(&self, reloc: &Rela) -> Option<&Rela> {
        let image = self.image;
        toc_words::filler(image.toc_words, image.sections, (self.object_id, self.object), reloc)
    }

    fn is_frames(&self) -> bool {
        self.is_frames()
    }

    fn tls_descriptor(&self, reloc: &Rela) -> Option<Address> {
        self.tls_descriptor(reloc)
    }

    fn distance<R: Rules>(&self, i: usize, here: Address) -> Result<u64, Failure> {
        self.distance::<R>(i, here)
    }

    fn is_without_slot<R: Rules>(&self, i: usize) -> bool {
        self.is_without_slot::<R>(i)
    }

    fn check_frame(&self, reloc: &Rela, place: ResolvedAddress) -> bool {
        self.check_frame(reloc, place)
    }

    fn special<R: Rules>(
        &self,
        class: Class,
        i: usize,
        field: FieldAt,
        place: ResolvedAddress,
    ) -> Result<usize, Failure> {
        self.special::<R>(class, i, field, place)
    }

    fn branch<R: Rules>(
        &self,
        reloc: &Rela,
        place: ResolvedAddress,
        field: FieldAt,
        result: Result<(), Failure>,
    ) {
        let thunks = &self.image.thunks;
        let may_take_thunk = result.is_err() || thunks.limit().is_some();
        let machine = const { &R::FACTS }.branches.as_ref().filter(|_| may_take_thunk);
        match machine.and_then(|machine| thunks.reach(machine, reloc.kind())) {
            Some(reach) => self.through_thunk::<R>(reach, reloc, place, field, result),
            None => {
                if let Err(failure) = result {
                    self.report(reloc, failure);
                }
            }
        }
    }

    fn is_function(&self, reloc: &Rela) -> bool {
        let index = reloc.sym();
        let is_global = index >= self.object.first_global && (index as usize) < self.object.syms.len();
        functions::is_function(self.image.symbols, self.object, index)
            || is_global && self.image.slot(self.object_id, index).is_some_and(|slot| slot.plt != NONE)
    }

    fn thunk(&self, jump: &Jump) -> Option<Address> {
        let thunks = &self.image.thunks;
        let change = thunks.change(self.image.mode.facts().branches.as_ref()?, jump)?;
        if !change.needs_thunk {
            return None;
        }
        let out = self.image.out_of(self.image.sections.get(self.id()))?;
        let (here, target) = (Address::new(jump.here), Address::new(jump.target));
        thunks.find(change.reach, out, here, (target, change.state))
    }

    fn start_of_segment(&self, address: Address) -> Option<Address> {
        let loads = self.image.layout.segments.iter().filter(|segment| segment.kind == PT_LOAD);
        let mut around = loads.filter(|load| address.wrapping_sub(load.address) < load.mem_size.max(1));
        around.next().map(|load| load.address)
    }

    fn apply_each<R: Rules>(&self, out: &mut [u8]) {
        each::<R>(self, out);
    }

    fn apply_each_in_debug<R: Rules>(&self, tombstone: u64, out: &mut [u8]) {
        debug::each::<R>(self, tombstone, out);
    }

    fn debug_targets(&self) -> impl FnMut(&Rela) -> Option<Address> {
        let mut targets = DebugTargets::new(self);
        move |reloc| targets.of_shrunk(reloc)
    }

    fn apply_in_debug<R: Rules>(
        &self,
        reloc: &Rela,
        target: Option<Address>,
        tombstone: u64,
        field: FieldAt,
    ) -> Result<(), Failure> {
        self.rare_in_debug::<R>(reloc, target, tombstone, field)
    }

    fn refuse(&self, reloc: &Rela, what: &str) {
        self.refuse(Cause::UnsupportedRelocation, reloc, what);
    }

    fn out_of_bounds(&self, reloc: &Rela) {
        self.out_of_bounds(reloc);
    }

    fn report(&self, reloc: &Rela, failure: Failure) {
        self.report(reloc, failure);
    }
}

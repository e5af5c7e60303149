//! `.got`: addresses, thread-pointer offsets and TLS descriptors, with what the loader must add.
//!
//! Which symbols have entries, and their numbers, is decided in `got_plt_slots`; here these get their bytes.
//!
//! Specification: "Global Offset Table" in the psABIs; "ELF Handling For Thread-Local Storage".

use std::ops::Range;

use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::address::Address;
use crate::arch::facts::{DynamicTypes, LoaderGot};
use crate::elf::Rela;
use crate::elf::{SHF_ALLOC, SHF_WRITE, SHT_PROGBITS};
use crate::got_plt_slots::{GotEntry, Slot};
use crate::mode::Mode;
use crate::symbols::symbol_flags;
use crate::synth::further_gots::{self, FurtherGots};
use crate::synth::image::Image;

/// What the loader does with a word of the GOT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixup {
    /// Nothing: the word has its value.
    None,
    /// Adds the load address.
    Relative,
    /// The same, and gives the pointer a tag, so that it is never packed.
    TaggedRelative,
    /// Adds the load address, and signs the pointer.
    SignedRelative,
    /// Looks the slot's symbol up.
    Symbol(Kind),
    /// Asks what it knows of this module.
    Module(Kind),
}

/// What the loader puts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Address,
    ThreadOffset,
    /// The thread pointer's distance from the variable.
    BackwardOffset,
    ModuleId,
    OffsetInModule,
    Descriptor,
    SignedAddress,
    SignedDescriptor,
}

impl GotEntry {
    /// What the loader does with the words of this entry, the second of which not all have. `flags` are those
    /// of the slot's symbol. The one place that decides it: before layout what it says is counted, and at the
    /// end it is written.
    pub fn fixups(self, flags: u32, mode: Mode) -> [Fixup; 2] {
        let preemptible = flags & symbol_flags::PREEMPTIBLE != 0;
        // The loader gives a module its id, but an executable always has the first.
        let own_id = if mode.shared { Fixup::Module(Kind::ModuleId) } else { Fixup::None };
        match self {
            GotEntry::Address(_) => {
                let fixed =
                    matches!(flags & symbol_flags::KIND, symbol_flags::ABSOLUTE | symbol_flags::UNDEFINED);
                let first = match () {
                    // The loader looks up what `.dynsym` ends with.
                    () if preemptible && mode.facts().loader_got.is_some() => Fixup::None,
                    () if preemptible => Fixup::Symbol(Kind::Address),
                    () if mode.pic && !fixed => Fixup::Relative,
                    () => Fixup::None,
                };
                [first, Fixup::None]
            }
            GotEntry::TaggedAddress(slot) => match GotEntry::Address(slot).fixups(flags, mode) {
                [Fixup::Relative, none] => [Fixup::TaggedRelative, none],
                other => other,
            },
            GotEntry::SignedAddress(_) => {
                let first = match flags & symbol_flags::KIND {
                    _ if preemptible => Fixup::Symbol(Kind::SignedAddress),
                    // Null is not signed.
                    symbol_flags::UNDEFINED => Fixup::None,
                    _ => Fixup::SignedRelative,
                };
                [first, Fixup::None]
            }
            GotEntry::TpOff(_) if preemptible => [Fixup::Symbol(Kind::ThreadOffset), Fixup::None],
            GotEntry::TpOff(_) if mode.shared => [Fixup::Module(Kind::ThreadOffset), Fixup::None],
            GotEntry::TpOff(_) => [Fixup::None, Fixup::None],
            GotEntry::TpOffs(_) if preemptible => {
                [Fixup::Symbol(Kind::ThreadOffset), Fixup::Symbol(Kind::BackwardOffset)]
            }
            GotEntry::TpOffs(_) if mode.shared => {
                [Fixup::Module(Kind::ThreadOffset), Fixup::Module(Kind::BackwardOffset)]
            }
            GotEntry::TpOffs(_) => [Fixup::None, Fixup::None],
            GotEntry::TlsGd(_) if preemptible => {
                [Fixup::Symbol(Kind::ModuleId), Fixup::Symbol(Kind::OffsetInModule)]
            }
            GotEntry::TlsGd(_) | GotEntry::TlsLd => [own_id, Fixup::None],
            GotEntry::TlsDesc(_) if preemptible => [Fixup::Symbol(Kind::Descriptor), Fixup::None],
            GotEntry::TlsDesc(_) => [Fixup::Module(Kind::Descriptor), Fixup::None],
            GotEntry::SignedTlsDesc(_) if preemptible => [Fixup::Symbol(Kind::SignedDescriptor), Fixup::None],
            GotEntry::SignedTlsDesc(_) => [Fixup::Module(Kind::SignedDescriptor), Fixup::None],
        }
    }

    /// The slot whose symbol it is for.
    pub fn slot(self) -> Option<u32> {
        match self {
            GotEntry::Address(slot)
            | GotEntry::TpOff(slot)
            | GotEntry::TpOffs(slot)
            | GotEntry::TlsGd(slot)
            | GotEntry::TlsDesc(slot)
            | GotEntry::SignedAddress(slot)
            | GotEntry::TaggedAddress(slot)
            | GotEntry::SignedTlsDesc(slot) => Some(slot),
            GotEntry::TlsLd => None,
        }
    }
}

/// A word of the GOT.
pub struct Word {
    /// Index in `.got`.
    pub index: u32,
    /// What it is without the loader, or what the loader adds to.
    pub value: u64,
    /// What it is in the file if the relocation has the addend: how the loader is to sign it, or 0.
    pub kept: u64,
    pub fixup: Fixup,
}

/// Shows `visit` all words of a range of the GOT's entries, in order, with the slots they are for.
#[inline]
pub fn each_word(image: &Image, entries: Range<usize>, mut visit: impl FnMut(Option<&Slot>, Word)) {
    each_of(image, &image.slots.got[entries], |slot, word, _| visit(slot, word));
}

/// The same of a list of entries; `visit` is also told which word of which entry it is.
#[inline]
pub fn each_of(
    image: &Image,
    entries: &[(u32, GotEntry)],
    mut visit: impl FnMut(Option<&Slot>, Word, (GotEntry, u32)),
) {
    for &(index, entry) in entries {
        let slot = entry.slot().map(|slot| &image.slots.list[slot as usize]);
        let (address, flags) = slot.map_or((Address::ZERO, 0), |slot| image.slot_address(slot));
        let fixups = entry.fixups(flags, image.mode);
        let values = values(image, entry, address, flags);
        // No others are signed.
        let signed = slot.filter(|slot| slot.signed);
        for i in 0..entry.words() {
            let fixup = fixups[i as usize];
            let value = if matches!(fixup, Fixup::Symbol(_)) { 0 } else { values[i as usize] };
            let kept = signed.map_or(0, |slot| entry.schema(i, slot.code));
            visit(slot, Word { index: index + i, value, kept, fixup }, (entry, i));
        }
    }
}

impl GotEntry {
    /// How word `i` of the entry for a symbol, which may be `code`, is to be signed: by its address and a
    /// key, that for code or that for data; 0 if it is not. Source: "PAuth ABI Extension to ELF for the Arm
    /// 64-bit Architecture", "Default signing schema".
    #[cold]
    fn schema(self, i: u32, code: bool) -> u64 {
        const BY_ADDRESS: u64 = 1 << 63;
        const DATA_KEY: u64 = 2 << 60;
        match self {
            GotEntry::SignedAddress(_) if code => BY_ADDRESS,
            GotEntry::SignedAddress(_) => BY_ADDRESS | DATA_KEY,
            GotEntry::SignedTlsDesc(_) if i == 0 => BY_ADDRESS,
            GotEntry::SignedTlsDesc(_) => BY_ADDRESS | DATA_KEY,
            _ => 0,
        }
    }
}

/// What the words of an entry hold for a symbol of this module at `address`.
fn values(image: &Image, entry: GotEntry, address: Address, flags: u32) -> [u64; 2] {
    let (bases, shared) = (&image.bases, image.mode.shared);
    let in_module = address.wrapping_sub(bases.tls_start);
    let own_id = u64::from(!shared);
    let looked_up = in_module.wrapping_sub(image.mode.facts().tls_offset);
    match entry {
        // What stands for a symbol of another module is a hint for the loader.
        GotEntry::Address(_) if image.is_elsewhere(flags) => [0, 0],
        GotEntry::Address(_) | GotEntry::SignedAddress(_) | GotEntry::TaggedAddress(_) => [address.get(), 0],
        GotEntry::TpOff(_) if shared => [in_module, 0],
        GotEntry::TpOff(_) => [address.wrapping_sub(bases.thread_pointer), 0],
        GotEntry::TpOffs(_) => {
            let offset = if shared { in_module } else { address.wrapping_sub(bases.thread_pointer) };
            [offset, offset.wrapping_neg()]
        }
        GotEntry::TlsGd(_) => [own_id, looked_up],
        // The second word of a signed one needs nothing but its key.
        GotEntry::SignedTlsDesc(_) => [in_module, entry.schema(1, false)],
        GotEntry::TlsDesc(_) if image.reloc_form.addends => [in_module, 0],
        // Loaders look for the addend in the word that its function is told.
        GotEntry::TlsDesc(_) => [0, if flags & symbol_flags::PREEMPTIBLE != 0 { 0 } else { in_module }],
        // In an executable, offsets from the module's block count from the thread pointer, as they do
        // after rewritten code; see `apply`.
        GotEntry::TlsLd => {
            let start = bases.module_start(shared, image.mode.facts());
            [own_id, start.wrapping_sub(bases.tls_start)]
        }
    }
}

/// Writes the words to which loaders only add, those of `.got` from `first` on. Returns those after them.
fn write_local<'o>(image: &Image, got: &LoaderGot, first: usize, out: &'o mut [u8]) -> &'o mut [u8] {
    let format = image.format();
    let size = image.bases.slot as usize;
    let count = (image.slots.local_words as usize).saturating_sub(first).min(out.len() / size);
    let (local, rest) = out.split_at_mut(size * count);
    for (word, bytes) in (first..).zip(local.chunks_exact_mut(size)) {
        let value = match word.checked_sub(got.head as usize) {
            Some(at) => image.local_words.get(at).copied().unwrap_or(0),
            None if word == 1 => got.second,
            None => 0,
        };
        format.put(bytes, value);
    }
    rest
}

/// Writes `.got` from word `first` on.
pub fn write(image: &Image, mut first: usize, mut out: &mut [u8]) {
    let format = image.format();
    let size = image.bases.slot as usize;
    if let Some(got) = &image.mode.facts().loader_got {
        let own = (image.slots.local_words + u64::from(image.slots.got_words)) as usize;
        let count = own.saturating_sub(first).min(out.len() / size);
        let (here, further) = out.split_at_mut(size * count);
        further_gots::write(image, first.saturating_sub(own) as u64, further);
        out = write_local(image, got, first, here);
        first = first.saturating_sub(image.slots.local_words as usize);
    }
    let end = first + out.len() / size;
    let entries = &image.slots.got;
    let base = image.slots.base as usize;
    let head = base + image.slots.head as usize;
    let words = base.max(first)..head.min(end);
    if !words.is_empty() {
        // The loader writes to the others.
        out[size * (words.start - first)..size * (words.end - first)].fill(0);
        if words.start == base {
            // Where the GOT's base is, loaders may look for the dynamic section, or for how far the image was
            // moved.
            let word = match image.mode.facts().toc {
                Some(_) => image.bases.got_base,
                None => image.layout.chunk_address(crate::layout::ChunkKind::Dynamic),
            };
            format.put(&mut out[size * (base - first)..][..size], word.get());
        }
    }
    // Nothing is in spare words.
    let spare = (image.slots.got_words - image.slots.spare_words) as usize;
    if end > spare && image.slots.spare_words > 0 {
        out[size * (spare.max(first) - first)..size * (end - first)].fill(0);
    }
    // And in those of what is gone.
    if !image.sections.last_slot_places.gone.is_empty() && first.max(head) < end {
        out[size * (first.max(head) - first)..].fill(0);
    }
    // The entry before may have its second word here, the last one its second word after.
    let from = entries.partition_point(|entry| (entry.0 as usize) < first).saturating_sub(1);
    let to = entries.partition_point(|entry| (entry.0 as usize) < end);
    each_word(image, from..to, |_, word| {
        let Some(bytes) =
            (word.index as usize).checked_sub(first).and_then(|i| out.get_mut(size * i..size * (i + 1)))
        else {
            return;
        };
        // With RELA the loader takes the addend from the relocation.
        let is_beside = match word.fixup {
            Fixup::None => false,
            Fixup::Relative => {
                !image.relr && image.reloc_form.addends && !image.options.relocs.apply_dynamic_relocs
            }
            Fixup::SignedRelative | Fixup::TaggedRelative => true,
            Fixup::Symbol(_) | Fixup::Module(_) => image.reloc_form.addends,
        };
        let value = if is_beside { word.kept } else { word.value };
        format.put(bytes, value);
    });
}

impl Kind {
    fn of(self, types: &DynamicTypes) -> u32 {
        match self {
            Kind::Address => types.glob_dat,
            Kind::ThreadOffset => types.tpoff,
            Kind::BackwardOffset => types.backward_tpoff.unwrap_or(types.tpoff),
            Kind::ModuleId => types.dtpmod,
            Kind::OffsetInModule => types.dtpoff,
            Kind::Descriptor => types.tlsdesc,
            Kind::SignedAddress => types.signed.map_or(types.glob_dat, |signed| signed.glob_dat),
            Kind::SignedDescriptor => types.signed.map_or(types.tlsdesc, |signed| signed.tlsdesc),
        }
    }
}

impl Word {
    /// The relocation for the word, which lies at `offset`; `None` if it needs none.
    pub fn to_rela(&self, types: &DynamicTypes, offset: u64, dynsym: u32) -> Option<Rela> {
        let addend = self.value as i64;
        match self.fixup {
            Fixup::None => None,
            Fixup::Relative | Fixup::TaggedRelative => Some(Rela::make(offset, 0, types.relative, addend)),
            Fixup::SignedRelative => {
                let kind = types.signed.map_or(types.relative, |signed| signed.relative);
                Some(Rela::make(offset, 0, kind, addend))
            }
            Fixup::Symbol(kind) => Some(Rela::make(offset, dynsym, kind.of(types), addend)),
            Fixup::Module(kind) => Some(Rela::make(offset, 0, kind.of(types), addend)),
        }
    }
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let word = sizes.plan.facts.mode.facts().slot();
        let own = sizes.plan.facts.mode.facts().loader_got.as_ref().map_or(0, |got| got.flags);
        let flags = SHF_ALLOC | SHF_WRITE | own;
        let header = Header { name: b".got", kind: SHT_PROGBITS, flags, entsize: 0 };
        let further = sizes.plan.further_gots.as_ref().map_or(0, FurtherGots::words);
        let words = sizes.plan.slots.local_words + u64::from(sizes.plan.slots.got_words) + further;
        // Registers point near it, and into it.
        let align = if sizes.plan.facts.mode.facts().loader_got.is_some() { 16 } else { word };
        let spec = Spec::own(header, align, word * words);
        spec.map(|spec| if sizes.plan.has_idle_got() { spec.dispensable() } else { spec })
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write(at.image(), at.entry(at.image().bases.slot), out);
    }
}

/// The word in which the loader of a program leaves what a debugger wants to know.
pub struct DebugMap;

impl Synthetic for DebugMap {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let mode = &sizes.plan.facts.mode;
        let got = mode.facts().loader_got.as_ref().filter(|_| mode.dynamic && !mode.shared)?;
        let (word, flags) = (sizes.format().word(), SHF_ALLOC | SHF_WRITE);
        let header = Header { name: got.map.as_bytes(), kind: SHT_PROGBITS, flags, entsize: 0 };
        Spec::own(header, word, word).map(Spec::dispensable)
    }

    fn write(&self, _: &At, out: &mut [u8]) {
        out.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Options, OutputKind};

    /// What the loader does with each entry for a symbol with `flags`, in outputs of `kind`.
    fn fixups(kind: OutputKind, flags: u32) -> [[Fixup; 2]; 6] {
        let options = Options { kind, ..Options::default() };
        let mode = Mode::new(&options, crate::arch::default(), false);
        let entries = [
            GotEntry::Address(0),
            GotEntry::TpOff(0),
            GotEntry::TpOffs(0),
            GotEntry::TlsGd(0),
            GotEntry::TlsDesc(0),
            GotEntry::TlsLd,
        ];
        entries.map(|entry| entry.fixups(flags, mode))
    }

    #[test]
    fn what_the_loader_does() {
        use Fixup::{Module, None, Relative};
        let descriptor = [Module(Kind::Descriptor), None];
        let nothing = [None, None];
        assert_eq!(
            fixups(OutputKind::Exec, symbol_flags::DEFINED),
            [nothing, nothing, nothing, nothing, descriptor, nothing]
        );
        let relative = [Relative, None];
        assert_eq!(
            fixups(OutputKind::Pie, symbol_flags::DEFINED),
            [relative, nothing, nothing, nothing, descriptor, nothing]
        );
        assert_eq!(fixups(OutputKind::Pie, symbol_flags::ABSOLUTE)[0], nothing);
        let own = [Module(Kind::ModuleId), None];
        let offset = [Module(Kind::ThreadOffset), None];
        let offsets = [Module(Kind::ThreadOffset), Module(Kind::BackwardOffset)];
        assert_eq!(
            fixups(OutputKind::Shared, symbol_flags::DEFINED),
            [relative, offset, offsets, own, descriptor, own]
        );
        let symbol = |kind| [Fixup::Symbol(kind), None];
        let both = [Fixup::Symbol(Kind::ModuleId), Fixup::Symbol(Kind::OffsetInModule)];
        let offsets = [Fixup::Symbol(Kind::ThreadOffset), Fixup::Symbol(Kind::BackwardOffset)];
        let preempted = fixups(OutputKind::Shared, symbol_flags::SHARED | symbol_flags::PREEMPTIBLE);
        assert_eq!(
            preempted,
            [symbol(Kind::Address), symbol(Kind::ThreadOffset), offsets, both, symbol(Kind::Descriptor), own]
        );
    }
}

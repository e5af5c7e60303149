//! From the plan to what is written: the contents of the linker's own sections.

use weld_common::diag::{Cause, Diagnostics};

use super::{Plan, is_here};
use crate::address::Address;
use crate::compressed::CompressedSection;
use crate::elf::*;
use crate::ids::*;
use crate::job::{Context, Job};
use crate::layout::ChunkKind;
use crate::layout::place;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::setup;
use crate::symbols::Symbols;
use crate::symbols::internal::Target;
use crate::synth::contents::Contents;
use crate::synth::dynamic::DynamicPlan;
use crate::synth::dynsym::DynSym;
use crate::synth::error::failed;
use crate::synth::headers;
use crate::synth::image::Image;
use crate::synth::{android_relocs, local_got, memtag_globals, rela, relr, sframe};

impl<'a> Plan<'a> {
    /// Takes in sections that were compressed, which moves what follows them in the file.
    pub fn shrink(
        &mut self,
        compressed: Vec<(OutputSectionId, CompressedSection)>,
    ) -> Result<(), Diagnostics> {
        let word = self.layout.format.word();
        for (id, section) in &compressed {
            let out = &mut self.layout[*id];
            // The alignment of before is in the compressed section's header, which has one of its own.
            (out.size, out.align) = (section.size(), word);
            out.flags |= SHF_COMPRESSED;
        }
        self.compressed = compressed;
        place::unallocated(&mut self.layout).map_err(failed)
    }

    /// The plan as writers see it.
    pub fn image<'c>(
        &'c self,
        job: &'c Job,
        context: &Context<'c, '_>,
        resolved: &'c Resolved<'a>,
        sections: &'c Sections<'a>,
        symbols: &'c Symbols,
    ) -> Image<'c, 'a> {
        Image {
            resolved,
            sections,
            symbols,
            live: &self.live,
            slots: &self.slots,
            dynsym: self.dynsym.as_ref(),
            layout: &self.layout,
            merged: &self.merged,
            thunks: &self.thunks,
            options: job.options,
            sink: job.sink,
            mode: context.mode,
            bases: self.bases,
            relax_got: self.relax_got,
            pointer: self.pointer.map(|id| symbols[id].address()),
            plt: self.plt,
            relr: job.options.relocs.pack_relr,
            reloc_form: self.reloc_form,
            tagged: context.tagged,
            far: &self.far,
            local_words: &self.local_words,
            further_gots: self.further_gots.as_ref(),
            toc_words: &self.toc_words,
            joined: self.joined.as_ref(),
        }
    }

    /// Contents of the linker's own sections.
    pub fn contents<'c>(&'c self, image: &Image<'c, 'a>, context: &Context) -> Contents<'c> {
        let dynamics = rela::collect(image, context.owners, &self.copies, context.parallel);
        let expected = self.counts.relative + self.counts.others;
        if dynamics.len() as u64 != expected {
            let text = format!("internal error: {} dynamic relocations, {expected} planned", dynamics.len());
            image.sink.error(Cause::Internal, text);
        }
        let word = self.layout.format.word();
        let check_room = |kind: ChunkKind, bytes: u64, name: &str| {
            let room = self.layout.chunk(kind).map_or(0, |chunk| chunk.size);
            if bytes > room {
                image.sink.error(
                    Cause::Internal,
                    format!("internal error: {bytes} bytes of {name}, {room} planned"),
                );
            }
        };
        let android_relocs =
            image.options.relocs.pack_android.then(|| android_relocs::of_image(image, &dynamics));
        if let (Some(bytes), Some(_)) = (&android_relocs, self.layout.chunk(ChunkKind::RelaDyn)) {
            check_room(ChunkKind::RelaDyn, bytes.len() as u64, ".rela.dyn");
        }
        let relr_words = relr::encode(&dynamics.relr, word);
        check_room(ChunkKind::Relr, relr_words.len() as u64 * word, ".relr.dyn");
        let signed_words = relr::encode(&dynamics.signed, word);
        check_room(ChunkKind::SignedRelr, signed_words.len() as u64 * word, ".relr.auth.dyn");
        let memtag_globals = match (image.tagged, self.layout.chunk(ChunkKind::MemtagGlobals)) {
            (Some(tagged), Some(_)) => {
                memtag_globals::encode(image, tagged, |text| image.sink.error(Cause::Internal, text))
            }
            _ => Vec::new(),
        };
        check_room(ChunkKind::MemtagGlobals, memtag_globals.len() as u64, ".memtag.globals.dynamic");
        let dynamic = match &self.dynsym {
            Some(dynsym) if self.layout.chunk(ChunkKind::Dynamic).is_some() => {
                self.dynamic_entries(image, dynsym, memtag_globals.len() as u64)
            }
            // A script may discard it.
            _ => Vec::new(),
        };
        if image.mode.facts().loader_got.is_some() {
            let words = local_got::words(image, context.owners, context.parallel);
            let further = image.further_gots.is_none_or(|gots| gots.are_kept(image, context.owners));
            if words != self.local_words || !further {
                image
                    .sink
                    .error(Cause::Internal, "internal error: the GOT holds other addresses than planned");
            }
        }
        let names_index = self.layout.header_of(ChunkKind::ShStrTab);
        check_absolutes(image, context);
        let kind = headers::file_type(&self.layout, image.mode, image.options);
        let machine = image.mode.facts().target.machine;
        let stands_in = self.slots.jump_slots > 0 || !self.copies.list.is_empty();
        let abi_version = if stands_in { image.mode.facts().stand_in_version } else { self.abi_version };
        let (abi, flags) = (self.facts.os_abi, self.flags);
        let identity = headers::Identity { kind, machine, abi, abi_version, flags };
        let entry = self.entry(image, context);
        Contents {
            dynsym: self.dynsym.as_ref(),
            dynamic,
            dynamics,
            memtag_globals,
            android_relocs,
            relr_words,
            signed_words,
            eh_frames: &self.eh_frames,
            frame_table: self.frame_table(image, context.parallel),
            relocs: self.relocs.as_ref(),
            symtab: self.symtab.as_ref(),
            tables: &self.tables,
            sframe_index: self.sframe_index(image, context.parallel),
            names: &self.names,
            properties: self.properties.as_ref(),
            attributes: &self.attributes,
            gnu_attributes: &self.gnu_attributes,
            registers: &self.registers,
            compressed: &self.compressed,
            headers: headers::file_header(&self.layout, identity, entry, names_index),
            identity,
            entry,
        }
    }

    fn frame_table(&self, image: &Image, parallel: bool) -> Vec<(Address, Address)> {
        match self.layout.chunk(ChunkKind::EhFrameHdr) {
            Some(_) => {
                let frame = self.layout.chunk_address(ChunkKind::EhFrame);
                self.eh_frames.table(image, frame, parallel)
            }
            None => Vec::new(),
        }
    }

    fn sframe_index(&self, image: &Image, parallel: bool) -> Vec<sframe::index::Entry> {
        let table = self.tables.sframe.as_ref();
        let table = table.filter(|_| self.layout.chunk(ChunkKind::SFrame).is_some());
        table.map_or_else(Vec::new, |table| table.index(image, parallel))
    }

    fn dynamic_entries(&self, image: &Image, dynsym: &DynSym, tagged: u64) -> Vec<(u64, u64)> {
        let value = |id: Option<SymbolId>| id.map(|id| image.symbols[id].address().get());
        let plan = DynamicPlan {
            options: image.options,
            mode: image.mode,
            dynsym,
            live: &self.live,
            slots: &self.slots,
            plt: self.plt,
            variant_calls: self.variant_calls,
            counts: self.counts,
            tagged: self.has_tagged.then_some(tagged),
            init: value(self.init),
            fini: value(self.fini),
            has_versions: !dynsym.versym.is_empty(),
            form: self.reloc_form,
        };
        let entries = plan.entries(&self.layout);
        let room = self.layout.chunk(ChunkKind::Dynamic).map_or(0, |chunk| chunk.size);
        if entries.len() as u64 * image.format().size::<Dyn>() > room {
            // A script may make one of nothing but data.
            image.sink.error(
                Cause::ScriptValue,
                "there is an array of functions to run that no input has anything for",
            );
        }
        entries
    }

    /// Where the program starts. Of an object, how far into its section: loaders of objects (kexec) start
    /// there.
    fn entry(&self, image: &Image, context: &Context) -> u64 {
        let options = image.options;
        let program = !image.mode.shared && !image.mode.relocatable;
        if let Some(address) = options.symbols.entry.as_deref().and_then(setup::entry_address) {
            if address > image.format().max_address() {
                image.sink.error(
                    Cause::SymbolAssignment,
                    format!("the entry address {address:#x} does not fit the address space"),
                );
            }
            return address;
        }
        let given = setup::entry_symbol(options, context.inputs);
        let usual = || {
            (image.mode.shared && options.symbols.entry.is_none())
                .then(|| image.mode.facts().entry.to_owned())
        };
        let Some(name) = given.or_else(usual) else { return 0 };
        let id = image.resolved.names.find(name.as_bytes());
        if let Some(id) = id.filter(|id| is_here(image.symbols, *id)) {
            return image.symbols[id].address().get();
        }
        let (compat_mode, asked) = (options.compat_mode, options.symbols.entry.is_some());
        // GNU ld takes the start of the code. Its default script names the symbol, so where another is in its
        // place nobody has asked.
        let code = image.layout.find(b".text");
        let code = code.filter(|_| compat_mode.is_gnu_ld() && program);
        let scripted = || compat_mode.is_gnu_ld() && !asked && !setup::names_entry(context.inputs);
        if (asked || program) && !(context.inputs.layout().is_some() && scripted()) {
            let instead = match code {
                Some(code) => format!("the program starts at {:#x}, with .text", code.address),
                None => "not setting start address".to_owned(),
            };
            image.sink.warn(Cause::EntryNotFound, format!("cannot find entry symbol {name}; {instead}"));
        }
        code.map_or(0, |code| code.address.get())
    }
}

/// Symbol tables of 32 bits do not hold all numbers that symbols may be given. Negative ones count from the
/// top.
fn check_absolutes(image: &Image, context: &Context) {
    let max = image.format().max_address();
    for internal in &context.internals.list {
        if let Target::Absolute(value) = internal.target
            && value > max
            && value.wrapping_neg() > max / 2 + 1
        {
            let what = &internal.origin;
            image.sink.error(
                Cause::SymbolAssignment,
                format!("{what}: the value {value:#x} does not fit the address space"),
            );
        }
    }
}

//! What lies in the blocks of a script: input sections by bins, and what the linker makes. From that follow
//! the headers of the output sections.

use std::borrow::Cow;
use std::collections::HashSet;

use super::build::{Contents, Maker, Planned};
use super::*;
use crate::elf::*;
use crate::layout::chunk::{Header, Place as ChunkPlace, Spec};
use crate::layout::members::{Builder, Head, Parts};
use crate::layout::runs::Group;
use crate::layout::{Chunk, ChunkKind, OutputSection};
use crate::script::sections::SectionType;
use crate::sections::names::continues;
use crate::sections::scripted::{COMMONS, Found};
use crate::sections::{JoinedKind, OutputUse};
use crate::symbols::{IN_TBSS, common_kind};

impl Maker<'_> {
    /// A place for a bin in a block.
    pub(super) fn plan(&mut self, block: usize) -> usize {
        let bin = Bin { parts: Vec::new(), sorted: Vec::new(), chunks: Vec::new() };
        self.planned.push(Planned { block, bin });
        self.planned.len() - 1
    }

    /// The place of a bin. One that the script does not have lies in the section of its name, after all else,
    /// or in an orphan. Those that an object keeps apart (`-r`) are orphans each.
    fn place_of_bin(&mut self, bin: PlacementId, name: &[u8], heads: Option<&[Option<Head>]>) -> usize {
        if let Some(planned) = self.of_bin[bin.index()] {
            return planned;
        }
        let is_apart = |head: Head| {
            let known = self.by_name.get(name).map(|block| &self.blocks[*block]);
            head.alone || known.is_none_or(|block| block.place.is_none())
        };
        let planned = match heads.and_then(|heads| heads[bin.index()]).is_some_and(is_apart) {
            true => self.place_apart(name),
            false => self.place_by_name(name),
        };
        self.of_bin[bin.index()] = Some(planned);
        planned
    }

    fn place_by_name(&mut self, name: &[u8]) -> usize {
        let block = match self.by_name.get(name) {
            Some(known) => *known,
            None => self.orphan(name),
        };
        self.place_behind(block)
    }

    fn place_apart(&mut self, name: &[u8]) -> usize {
        let block = self.orphan(name);
        self.place_behind(block)
    }

    fn place_behind(&mut self, block: usize) -> usize {
        let planned = self.plan(block);
        self.contents[block].tail.push(planned);
        planned
    }

    pub(super) fn orphan(&mut self, name: &[u8]) -> usize {
        self.by_name.entry(name.to_vec()).or_insert(self.blocks.len());
        self.blocks.push(Block {
            name: name.to_vec(),
            place: None,
            out: None,
            vacancy: Extent::default(),
            address: None,
            fixed: false,
            align: None,
            load_address: None,
            align_with_input: false,
            region: None,
            chooses: true,
            load_region: None,
            unloaded: false,
            kept_out: false,
            phdrs: None,
            fill: None,
            inner_align: 1,
            overlay: None,
            assigns: false,
            makes_room: false,
        });
        self.contents.push(Contents::default());
        self.blocks.len() - 1
    }

    /// Takes in what runs have found: the members of each bin, and the parts of each run.
    pub(super) fn take_inputs(
        &mut self,
        found: Vec<Vec<Group>>,
        builder: &Builder,
    ) -> (Vec<Parts>, Vec<Vec<Part>>) {
        let names = &builder.sections.bins;
        let mut members: Vec<Parts> = Vec::new();
        members.resize_with(names.len(), Default::default);
        let mut parts = Vec::with_capacity(found.len());
        for (run, groups) in found.into_iter().enumerate() {
            let mut of_run = Vec::with_capacity(groups.len());
            for Group { bin, members: list, extent } in groups {
                let planned = self.place_of_bin(bin, names[bin.index()], builder.heads);
                self.planned[planned].bin.parts.push((run as u32, of_run.len() as u32));
                let range = members[bin.index()].add(list);
                of_run.push(Part { bin, members: range, extent, start: None });
            }
            parts.push(of_run);
        }
        (members, parts)
    }

    /// Places what the linker makes. Until there are output sections, a chunk says which block it is in.
    pub(super) fn chunks(
        &mut self,
        specs: Vec<(ChunkKind, Spec)>,
        builder: &Builder,
    ) -> Result<Vec<Chunk>, ScriptError> {
        let mut chunks = Vec::new();
        let file = self.source.rules.of_file(None);
        let is_static = !specs.iter().any(|(kind, _)| *kind == ChunkKind::DynSym);
        for (kind, spec) in specs {
            let (names, flags) = match &spec.place {
                ChunkPlace::Own(header) => (names_of(kind, header.name, is_static), header.flags),
                ChunkPlace::Joined(_) => (names_of(kind, b"", is_static), SHF_ALLOC | SHF_WRITE),
            };
            let find = |name: &[u8]| self.source.rules.find(&file, name, flags);
            let mut found = Found::Orphan;
            for name in &names {
                found = find(name);
                if found != Found::Orphan {
                    break;
                }
            }
            if kind == ChunkKind::RelaDyn {
                found = self.by_parts(found, names[0], find);
            }
            let planned = match (found, &spec.place) {
                (Found::Discarded, _) if spec.dispensable || spec.size == 0 => continue,
                (Found::Discarded, _) => {
                    return Err(ScriptError::DiscardsNeeded(SectionName::new(names[0])));
                }
                (Found::Bin(bin), _) => self.of_bin[bin.index()],
                (Found::Orphan, ChunkPlace::Joined(bin)) => {
                    Some(self.place_of_bin(*bin, builder.sections.bins[bin.index()], builder.heads))
                }
                (Found::Orphan, ChunkPlace::Own(header)) if names.is_empty() => {
                    Some(self.place_apart(header.name))
                }
                (Found::Orphan, ChunkPlace::Own(header)) => {
                    self.orphans.push(format!("<internal>:({})", String::from_utf8_lossy(header.name)));
                    Some(self.place_by_name(header.name))
                }
            };
            let Some(planned) = planned else { continue };
            let id = ChunkId(chunks.len() as u32);
            let place = &mut self.planned[planned];
            place.bin.chunks.push(id);
            let contents = &mut self.contents[place.block];
            match &spec.place {
                ChunkPlace::Own(header) => {
                    if contents.used.is_none() && !contents.forced {
                        contents.own = Some(kind);
                    }
                    join(&mut contents.used, header);
                }
                ChunkPlace::Joined(_) if matches!(kind, ChunkKind::Merged(_) | ChunkKind::Group(_)) => {}
                ChunkPlace::Joined(_) => join(&mut contents.used, &zeroes(kind)),
            }
            contents.forced = true;
            let out = OutputSectionId(place.block as u32);
            chunks.push(Chunk::of_spec(kind, &spec, out));
        }
        for (number, (bytes, block)) in self.data.iter().enumerate() {
            self.data_chunks.push(ChunkId(chunks.len() as u32));
            let (kind, size) = (ChunkKind::ScriptData(number as u32), bytes.len() as u64);
            let out = OutputSectionId(*block as u32);
            chunks.push(Chunk::new(kind, size, 1, out));
        }
        Ok(chunks)
    }

    /// Where the table `all` of dynamic relocations goes, for which the script has no place of its own
    /// (`found`).
    fn by_parts(&self, found: Found, all: &[u8], find: impl Fn(&[u8]) -> Found) -> Found {
        let has_place = match found {
            Found::Bin(_) => true,
            Found::Orphan => self.by_name.contains_key(all),
            Found::Discarded => false,
        };
        if has_place {
            return found;
        }
        let mut places = tables_of_parts(all).map(|name| find(&name));
        places.find(|place| matches!(place, Found::Bin(_))).unwrap_or(found)
    }

    /// Adds what inputs say of the headers of the sections they lie in.
    pub(super) fn join_uses(&mut self, uses: &[Option<OutputUse>], chunks: &[Chunk]) {
        for (bin, planned) in self.of_bin.iter().enumerate() {
            let Some(planned) = planned.map(|planned| &self.planned[planned]) else { continue };
            let merged = |id: &ChunkId| matches!(chunks[id.index()].kind, ChunkKind::Merged(_));
            if planned.bin.parts.is_empty() && !planned.bin.chunks.iter().any(merged) {
                // Frames are chunks, too, and say themselves what they are.
                continue;
            }
            let contents = &mut self.contents[planned.block];
            contents.forced = true;
            contents.own = None;
            match (&uses[bin], &mut contents.used) {
                (Some(used), Some(all)) => all.join(used),
                (Some(used), none) => *none = Some(*used),
                // The linker's own line of `.comment`.
                (None, none @ None) => {
                    join(
                        none,
                        &Header { name: b"", kind: SHT_PROGBITS, flags: SHF_MERGE | SHF_STRINGS, entsize: 1 },
                    );
                }
                (None, Some(_)) => {}
            }
        }
    }

    /// The same for an object.
    pub(super) fn join_heads(&mut self, heads: &[Option<Head>]) {
        for (planned, head) in self.of_bin.iter().zip(heads) {
            let (Some(planned), Some(head)) = (planned, head) else { continue };
            let contents = &mut self.contents[self.planned[*planned].block];
            (contents.forced, contents.own) = (true, None);
            let Some(all) = &mut contents.head else {
                contents.head = Some(*head);
                continue;
            };
            if head.entsize > 1 {
                // Entries of one may not be in step after those of another.
                all.flags &= !(SHF_MERGE | SHF_STRINGS);
            }
            all.join(head);
        }
    }

    /// Makes the output sections, in the order of blocks.
    pub(super) fn outputs<'a>(&mut self, builder: &Builder<'_, 'a>) -> Vec<OutputSection<'a>> {
        let mut outs = Vec::new();
        // A section with nothing but data or room is as the one before it, but no code.
        let mut flags = SHF_ALLOC;
        // The memory that the first section of an overlay has found is that of all of them.
        let mut overlay: Option<(usize, Option<usize>)> = None;
        let mut regions = HashMap::new();
        let has_data: HashSet<usize> = self.data.iter().map(|(_, block)| *block).collect();
        for (number, (block, contents)) in self.blocks.iter_mut().zip(&mut self.contents).enumerate() {
            if !contents.forced {
                continue;
            }
            let mut out = OutputSection::new(Cow::Owned(block.name.clone()), SHT_NOBITS, flags, 0);
            let mut head = contents.used.as_ref().map(|used| Head::of(used, builder.machine));
            match (&mut head, &contents.head) {
                (Some(head), Some(more)) => head.join(more),
                (none, more) => *none = none.or(*more),
            }
            if let Some(head) = head {
                head.fill(&mut out);
            }
            if has_data.contains(&number) && out.kind == SHT_NOBITS {
                out.kind = SHT_PROGBITS;
                if contents.used.is_none() && contents.head.is_none() {
                    name_kind(&mut out, builder.machine.target.format.word());
                }
            }
            if block.makes_room && !block.is_at_nothing() {
                // The program is to find there what the script put there (`.reloc` of an EFI header, written
                // by hand).
                out.flags |= SHF_ALLOC;
            }
            match &contents.kind {
                SectionType::Usual => {}
                SectionType::NoLoad => out.kind = SHT_NOBITS,
                SectionType::NoAlloc => {
                    out.flags &= !SHF_ALLOC;
                    if contents.used.is_none() {
                        out.kind = SHT_PROGBITS;
                    }
                }
                SectionType::ReadOnly => out.flags &= !SHF_WRITE,
                SectionType::Type(value, read_only) => {
                    out.kind = *value;
                    out.flags &= if *read_only { !SHF_WRITE } else { !0 };
                }
            }
            out.own = contents.own;
            if out.is_alloc() && block.place.is_some() {
                flags = out.flags & (SHF_ALLOC | SHF_WRITE);
            }
            if out.is_alloc() && block.region.is_none() && !block.fixed && block.place.is_some() {
                let of_overlay = overlay.filter(|(first, _)| block.overlay == Some(*first));
                block.region = match of_overlay {
                    Some((_, region)) => region,
                    None => self.source.region_for(out.flags, &mut regions),
                };
                overlay = block.overlay.map(|first| (first, block.region));
            }
            builder.program.place_by_script(&mut out);
            block.out = Some(OutputSectionId(outs.len() as u32));
            outs.push(out);
        }
        outs
    }
}

impl Source<'_> {
    /// The region that takes a section with these flags which does not name one. `known` is what has been
    /// asked before.
    pub(super) fn region_for(&self, flags: u64, known: &mut HashMap<u64, Option<usize>>) -> Option<usize> {
        let find = || self.script.regions.iter().position(|region| region.attributes.take(flags));
        *known.entry(flags).or_insert_with(find)
    }
}

/// Gives a section in which there is only data of the script the type that its name promises: notes, and
/// arrays of functions.
fn name_kind(out: &mut OutputSection, word: u64) {
    let is = |array: &[u8]| continues(&out.name, array);
    out.kind = match () {
        () if out.name.starts_with(b".note") => SHT_NOTE,
        () if is(b".init_array") => SHT_INIT_ARRAY,
        () if is(b".fini_array") => SHT_FINI_ARRAY,
        () if is(b".preinit_array") => SHT_PREINIT_ARRAY,
        () => return,
    };
    if out.kind != SHT_NOTE {
        out.flags |= SHF_WRITE;
        out.entsize = word;
    }
}

fn join(used: &mut Option<OutputUse>, header: &Header) {
    let own = OutputUse {
        bin: PlacementId(0),
        kind: JoinedKind::new(header.kind),
        any_flags: header.flags,
        all_flags: header.flags,
        has_data: header.flags & SHF_EXECINSTR == 0,
        is_read: true,
        entsize: header.entsize,
    };
    match used {
        Some(used) => used.join(&own),
        none => *none = Some(own),
    }
}

/// The header of memory without contents.
fn zeroes(kind: ChunkKind) -> Header {
    let is_tls = matches!(kind, ChunkKind::Common(number) if common_kind(number) == IN_TBSS);
    let tls = if is_tls { SHF_TLS } else { 0 };
    Header { name: b"", kind: SHT_NOBITS, flags: SHF_ALLOC | SHF_WRITE | tls, entsize: 0 }
}

/// By what names patterns of a script know what the linker makes; none: by no name.
fn names_of(kind: ChunkKind, own: &'static [u8], is_static: bool) -> Vec<&'static [u8]> {
    match kind {
        // The others know the bin that the script has for their files.
        ChunkKind::Common(number) => COMMONS.get(number as usize).copied().into_iter().collect(),
        ChunkKind::CopyBss => vec![b".dynbss", b".bss"],
        ChunkKind::CopyRelro => vec![b".data.rel.ro", b".bss.rel.ro"],
        // Nobody but the program itself applies them.
        ChunkKind::RelaDyn | ChunkKind::RelaPlt if is_static => match own.starts_with(b".rela") {
            true => vec![b".rela.iplt", own],
            false => vec![b".rel.iplt", own],
        },
        ChunkKind::SymTab | ChunkKind::SymTabShndx | ChunkKind::StrTab | ChunkKind::ShStrTab => Vec::new(),
        ChunkKind::Relocs(_) | ChunkKind::Merged(_) | ChunkKind::Group(_) => Vec::new(),
        _ => vec![own],
    }
}

/// The names that dynamic relocations have in GNU ld before a script joins them, by what they change. Scripts
/// may know them by these only (those of gnu-efi, and of memtest86+ for i386, which discards all else).
fn tables_of_parts(all: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    const PARTS: [&[u8]; 6] = [b".data", b".got", b".data.rel.ro", b".rodata", b".text", b".bss"];
    let stem = all.strip_suffix(b".dyn").unwrap_or(all);
    PARTS.into_iter().map(move |part| [stem, part].concat())
}

//! The ELF header, program headers and section headers.
//!
//! Specification: gABI chapters 4 ("ELF Header", "Section Header") and 5 ("Program Header").

use std::ops::Range;

use weld_common::diag::{Cause, Diagnostic};

use crate::arch::facts::{FileFlags, FlagsClash, JoinFlags};
use crate::elf::*;
use crate::ids::HeaderIndex;
use crate::input::object::Object;
use crate::layout::{ChunkKind, Layout, Segment};
use crate::mode::Mode;
use crate::options::Options;
use crate::synth::shstrtab::Names;

/// `EI_OSABI`: what was asked for, or what the first object says that is for one system, or 0.
pub fn os_abi(asked: Option<u8>, objects: &[Object]) -> u8 {
    if let Some(asked) = asked {
        return asked;
    }
    let named = objects.iter().filter(|object| object.os_abi != 0);
    named.min_by_key(|object| object.file).map_or(0, |object| object.os_abi)
}

/// `e_flags` of the output.
pub fn output_flags(objects: &[Object], mode: Mode) -> u32 {
    let flags = file_flags(objects).unwrap_or(0);
    let flags = match mode.facts().output_flags {
        Some(of_output) if !mode.relocatable => of_output(flags, mode.features),
        _ => flags,
    };
    flags | mode.turned_code().map_or(0, |code| code.flag)
}

/// `e_flags` of the output, by those of the objects with sections of code. (Data that was made an object says
/// nothing.)
///
/// # Errors
/// If they do not go together.
pub fn file_flags(objects: &[Object]) -> Result<u32, Diagnostic> {
    let merge = match objects.first().and_then(|object| object.machine.flags) {
        None => return Ok(0),
        Some(FileFlags::Always(merge)) => merge,
        Some(FileFlags::ByVersion(of)) => join_of_version(objects, of)?,
    };
    if let Some(name) = objects[0].machine.foreign_section {
        let is_foreign = |(index, shdr): (usize, &Shdr), object: &Object| {
            shdr.sh_size() > 0 && object.section_name(index) == Some(name.as_bytes())
        };
        let has_it =
            |object: &&Object| object.shdrs.iter().enumerate().any(|entry| is_foreign(entry, object));
        if let Some(object) = objects.iter().find(has_it) {
            return Err(object.whole().error(Cause::IncompatibleObjects, FlagsClash::ForeignSection(name)));
        }
    }
    if let Some(error) = objects.iter().find_map(refused_code) {
        return Err(error);
    }
    let has_code = |object: &&Object| object.shdrs.iter().any(|s| s.sh_flags() & SHF_EXECINSTR != 0);
    let first = objects.iter().find(has_code).unwrap_or(&objects[0]);
    objects.iter().filter(has_code).try_fold(first.flags, |flags, object| {
        merge(flags, object.flags).map_err(|why| {
            let error = object.whole().error(Cause::IncompatibleObjects, why);
            if merge(object.flags, object.flags).is_err() {
                // What the others have does not matter.
                return error;
            }
            let before = objects.iter().filter(has_code).take_while(|before| before.file != object.file);
            let mut clashing = before.filter(|before| merge(before.flags, object.flags).is_err());
            let other = clashing.next().unwrap_or(first);
            error.note(format!("as {} has", other.name))
        })
    })
}

/// What is wrong with an object that has functions of an instruction set that is not linked, as its symbols say.
fn refused_code(object: &Object) -> Option<Diagnostic> {
    let second = object.machine.second_set()?;
    let is_refused =
        |sym: &Sym| !matches!(sym.st_shndx(), SHN_UNDEF | SHN_COMMON) && (second.is_refused)(sym.st_other());
    let found = object.syms.iter().position(is_refused)?;
    let name = String::from_utf8_lossy(object.symbol_name(found as u32)).into_owned();
    let text = format!("'{name}' is {}, which is not supported", second.refused);
    Some(object.whole().error(Cause::IncompatibleObjects, text))
}

/// Whether an object is of a version of the ABI. (Data that was made an object is not.)
fn has_version(object: &Object) -> bool {
    object.os_abi != 0 || object.shdrs.iter().any(|s| s.sh_flags() & SHF_EXECINSTR != 0)
}

/// How `e_flags` go together by the version of the ABI, which all objects have to be of.
fn join_of_version(objects: &[Object], of: fn(u8) -> Option<JoinFlags>) -> Result<JoinFlags, Diagnostic> {
    let mut all = objects.iter().filter(|object| has_version(object));
    let first = all.next().unwrap_or(&objects[0]);
    let others = first.abi_version;
    if let Some(other) = all.find(|object| object.abi_version != others) {
        let why = FlagsClash::Version { own: other.abi_version, others };
        let error = other.whole().error(Cause::IncompatibleObjects, why);
        return Err(error.note(format!("as {} is", first.name)));
    }
    of(others)
        .ok_or_else(|| first.whole().error(Cause::IncompatibleObjects, FlagsClash::UnknownVersion(others)))
}

/// `EI_ABIVERSION` of the output, where objects have one.
pub fn abi_version(objects: &[Object]) -> u8 {
    match objects.first().and_then(|object| object.machine.flags) {
        Some(FileFlags::ByVersion(_)) => {
            objects.iter().find(|object| has_version(object)).map_or(0, |object| object.abi_version)
        }
        _ => 0,
    }
}

/// The first bytes of a file for the system `abi`.
pub fn identification(format: Format, [abi, version]: [u8; 2]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(ELFMAG);
    let [class, order] = format.ident();
    bytes[4..9].copy_from_slice(&[class, order, 1, abi, version]);
    bytes
}

/// What the start of the file says of the whole.
#[derive(Clone, Copy)]
pub struct Identity {
    /// `e_type`
    pub kind: u16,
    /// `e_machine`
    pub machine: u16,
    /// `EI_OSABI` and `EI_ABIVERSION`
    pub abi: u8,
    pub abi_version: u8,
    /// `e_flags`
    pub flags: u32,
}

/// `e_type` of the output.
pub fn file_type(layout: &Layout, mode: Mode, options: &Options) -> u16 {
    let lowest = || layout.segments.iter().filter(|s| s.kind == PT_LOAD).map(|s| s.address).min();
    // GNU ld and mold take an address of the image for what it says: it is loaded there. One of a section
    // only says how far apart things lie, and with -N the image begins after its headers.
    let moves_image = options.layout.image_base.is_some() || layout.script.is_some();
    let is_fixed = || {
        let page = mode.facts().pages.smallest;
        moves_image
            && options.compat_mode.fixes_addresses()
            && !mode.shared
            && lowest().is_some_and(|address| address.get() >= page)
    };
    match (mode.relocatable, mode.pic) {
        (true, _) => ET_REL,
        (_, true) if is_fixed() => ET_EXEC,
        (_, true) => ET_DYN,
        _ => ET_EXEC,
    }
}

/// The start of the file. `names` is the index of `.shstrtab`'s section header.
pub fn file_header(
    layout: &Layout,
    Identity { kind, machine, abi, abi_version, flags }: Identity,
    entry: u64,
    names: HeaderIndex,
) -> Vec<u8> {
    if layout.raw {
        return Vec::new();
    }
    let format = layout.format;
    let size = |count: usize, of: u64| if count == 0 { 0 } else { of as u16 };
    let mut out = Writer::with_room(Format::NATIVE, Ehdr::SIZE);
    out.bytes(&identification(format, [abi, abi_version]));
    let section_headers = layout.section_headers.unwrap_or_default();
    let count = if layout.section_headers.is_some() { layout.sections.len() + 1 } else { 0 };
    let segments = layout.segments.len();
    let phoff = if segments == 0 { 0 } else { format.size::<Ehdr>() };
    out.u16(kind).u16(machine).u32(1);
    out.word(entry).word(phoff).word(section_headers.0).u32(flags);
    out.u16(format.size::<Ehdr>() as u16).u16(size(segments, format.size::<Phdr>()));
    out.u16(segments as u16).u16(size(count, format.size::<Shdr>()));
    // Numbers that do not fit are in section header 0.
    out.u16(if count >= SHN_LORESERVE as usize { 0 } else { count as u16 });
    out.u16(if names.0 >= SHN_LORESERVE as u32 { SHN_XINDEX } else { names.0 as u16 });
    let mut segments = Writer::new(Format::NATIVE);
    for segment in &layout.segments {
        put_segment(&mut segments, segment);
    }
    [in_form::<Ehdr>(format, out.finish()), in_form::<Phdr>(format, segments.finish())].concat()
}

fn put_segment(out: &mut Writer, s: &Segment) {
    out.u32(s.kind).u32(s.flags).word(s.offset.0).word(s.address.get()).word(s.load_address.get());
    out.word(s.file_size).word(s.mem_size).word(s.align);
}

/// Part of the section header table: those with indices in `range`.
pub fn section_headers(layout: &Layout, names: &Names, range: Range<usize>) -> Vec<u8> {
    let mut out = Writer::with_room(Format::NATIVE, range.len() * Shdr::SIZE);
    if range.start == 0 {
        let (count, index) = (layout.sections.len() + 1, layout.header_of(ChunkKind::ShStrTab).0);
        let extended_count = if count >= SHN_LORESERVE as usize { count as u64 } else { 0 };
        let extended_names = if index >= SHN_LORESERVE as u32 { index } else { 0 };
        let first = SectionHeader { size: extended_count, link: extended_names, ..SectionHeader::default() };
        first.put(&mut out);
    }
    // The first header is no section's.
    let sections = range.start.saturating_sub(1)..range.end - 1;
    for (section, &name) in layout.sections[sections.clone()].iter().zip(&names.offsets[sections]) {
        let header = SectionHeader {
            name,
            kind: section.kind,
            flags: section.flags,
            address: section.address.get(),
            offset: section.offset.0,
            size: section.size,
            link: section.link.0,
            info: section.info,
            align: section.align,
            entsize: section.entsize,
        };
        header.put(&mut out);
    }
    in_form::<Shdr>(layout.format, out.finish())
}

/// A section header; by default the first, which is no section's.
#[derive(Default)]
struct SectionHeader {
    name: u32,
    kind: u32,
    flags: u64,
    address: u64,
    offset: u64,
    size: u64,
    link: u32,
    info: u32,
    align: u64,
    entsize: u64,
}

impl SectionHeader {
    /// Appends it, in native form.
    fn put(&self, out: &mut Writer) {
        out.u32(self.name).u32(self.kind).word(self.flags).word(self.address).word(self.offset);
        out.word(self.size).u32(self.link).u32(self.info).word(self.align).word(self.entsize);
    }
}

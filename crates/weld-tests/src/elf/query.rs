//! Questions about an [`Image`] by name: what expressions and check directives share.
//!
//! Names of types, tags and relocations are those of the specifications, with or without their
//! prefix (`R_X86_64_COPY` or `COPY`, `PT_LOAD` or `LOAD`).

use super::image::{Image, Result, Section, Segment, Symbol};
use super::machine::Machine;
use object::elf;

/// Name of a relocation type, e.g. `R_X86_64_COPY`.
pub fn reloc_name(image: &Image, r_type: u32) -> String {
    let names = elf::machine_names(elf::Machine(image.machine)).r;
    let known = names.name(elf::RelocationType(r_type)).or_else(|| more_names(image.machine, r_type));
    known.map_or_else(|| format!("type {r_type}"), str::to_owned)
}

/// Names of types that the crate `object` does not have.
fn more_names(machine: u16, r_type: u32) -> Option<&'static str> {
    match (elf::Machine(machine), r_type) {
        (elf::EM_AMDGPU, 3) => Some("R_AMDGPU_ABS64"),
        (elf::EM_AMDGPU, 4) => Some("R_AMDGPU_REL32"),
        (elf::EM_AMDGPU, 5) => Some("R_AMDGPU_REL64"),
        (elf::EM_AMDGPU, 13) => Some("R_AMDGPU_RELATIVE64"),
        (elf::EM_MSP430, 1) => Some("R_MSP430_32"),
        (elf::EM_HEXAGON, 31) => Some("R_HEX_32_PCREL"),
        (elf::EM_HEXAGON, 32) => Some("R_HEX_COPY"),
        (elf::EM_HEXAGON, 33) => Some("R_HEX_GLOB_DAT"),
        (elf::EM_HEXAGON, 34) => Some("R_HEX_JMP_SLOT"),
        (elf::EM_HEXAGON, 35) => Some("R_HEX_RELATIVE"),
        (elf::EM_HEXAGON, 44) => Some("R_HEX_DTPMOD_32"),
        (elf::EM_HEXAGON, 47) => Some("R_HEX_DTPREL_32"),
        (elf::EM_HEXAGON, 63) => Some("R_HEX_TPREL_32"),
        _ => None,
    }
}

pub fn section_type_name(sh_type: u32) -> String {
    let names = elf::machine_names(elf::EM_X86_64).sht;
    names.name(elf::SectionType(sh_type)).map_or_else(|| format!("{sh_type:#x}"), str::to_owned)
}

pub fn segment_type_name(p_type: u32) -> String {
    elf::names().pt.name(elf::ProgramType(p_type)).map_or_else(|| format!("{p_type:#x}"), str::to_owned)
}

pub fn tag_name(tag: i64) -> String {
    elf::names().dt.name(elf::DynamicTag(tag)).map_or_else(|| format!("{tag:#x}"), str::to_owned)
}

/// Whether `wanted` is `full` or `full` without its prefix.
pub fn same_name(full: &str, prefix: &str, wanted: &str) -> bool {
    full == wanted || full.strip_prefix(prefix) == Some(wanted)
}

pub fn segments<'a>(image: &'a Image, wanted: &'a str) -> impl Iterator<Item = &'a Segment> {
    image.segments.iter().filter(move |s| same_name(&segment_type_name(s.p_type), "PT_", wanted))
}

pub fn dynamic_values<'a>(image: &'a Image, wanted: &'a str) -> impl Iterator<Item = u64> + 'a {
    image.dynamic.iter().filter(move |d| same_name(&tag_name(d.0), "DT_", wanted)).map(|d| d.1)
}

pub fn section<'a>(image: &'a Image, name: &str) -> Result<&'a Section> {
    image.section(name).ok_or_else(|| format!("there is no section {name}"))
}

/// A symbol of `.symtab`: a global of that name before a local one, a definition before a reference.
pub fn symbol<'a>(image: &'a Image, name: &str) -> Result<&'a Symbol> {
    let found = image.symbols.iter().filter(|s| s.name == name);
    let best = found.max_by_key(|s| (!s.is_undefined(), s.bind != 0));
    best.ok_or_else(|| format!("there is no symbol {name} in .symtab"))
}

/// A dynamic symbol, written `name`, `name@VERSION` or `name@@VERSION`.
pub fn dynamic_symbol<'a>(image: &'a Image, wanted: &str) -> Result<&'a Symbol> {
    let (name, version) = wanted.split_once('@').map_or((wanted, None), |(n, v)| (n, Some(v)));
    let matches = |s: &&Symbol| {
        s.name == name
            && match version {
                None => true,
                Some(v) => {
                    let default = v.strip_prefix('@');
                    s.version.as_deref() == Some(default.unwrap_or(v))
                        && (s.is_undefined() || default.is_some() != s.hidden_version)
                }
            }
    };
    image.dynsyms.iter().find(matches).ok_or_else(|| format!("there is no dynamic symbol {wanted}"))
}

/// Bytes and signedness of the memory-reading functions.
pub fn read_width(function: &str) -> Option<(usize, bool)> {
    Some(match function {
        "u8" => (1, false),
        "u16" => (2, false),
        "u32" => (4, false),
        "u64" => (8, false),
        "s8" => (1, true),
        "s16" => (2, true),
        "s32" => (4, true),
        "s64" => (8, true),
        _ => return None,
    })
}

/// A value that needs no argument.
pub fn constant(image: &Image, word: &str) -> Result<i128> {
    let v = match word {
        "entry" => image.entry,
        "etype" => u64::from(image.e_type),
        "machine" => u64::from(image.machine),
        "nsections" => image.sections.len() as u64,
        "nrelr" => image.relr.len() as u64,
        "nsignedrelr" => image.signed_relr.len() as u64,
        "filesize" => image.data.len() as u64,
        "ncies" => frame_counts(image)?.0,
        "nfdes" => frame_counts(image)?.1,
        "tp" => thread_pointer(image)?,
        _ => return Err(format!("unknown value `{word}`")),
    };
    Ok(i128::from(v))
}

/// Numbers of CIEs and FDEs in `.eh_frame` (LSB "Exception Frames": length, then 0 or the CIE).
fn frame_counts(image: &Image) -> Result<(u64, u64)> {
    let bytes = image.contents(section(image, ".eh_frame")?)?;
    let (mut at, mut cies, mut fdes) = (0, 0, 0);
    while at < bytes.len() {
        let len = image.form.u32_at(bytes, at)? as usize;
        if len > 0 {
            *(if image.form.u32_at(bytes, at + 4)? == 0 { &mut cies } else { &mut fdes }) += 1;
        }
        at += 4 + len;
    }
    Ok((cies, fdes))
}

/// What the thread pointer points at, relative to the image: the aligned end of the TLS block (variant 2), or
/// a block of the thread's that it follows (variant 1).
fn thread_pointer(image: &Image) -> Result<u64> {
    let tls = image.segment(elf::PT_TLS.0).ok_or("there is no PT_TLS")?;
    let align = tls.align.max(1);
    Ok(match Machine::of(image).tls_block {
        None => tls.end().next_multiple_of(align),
        Some(block) => tls.vaddr.wrapping_sub(block.next_multiple_of(align)),
    })
}

/// The functions whose argument is a name.
pub fn function(image: &Image, function: &str, name: &str) -> Result<i128> {
    let segment = || segments(image, name).next().ok_or_else(|| format!("there is no segment {name}"));
    let v = match function {
        "sym" => symbol(image, name)?.value,
        "symsize" => symbol(image, name)?.size,
        "shndx" => u64::from(symbol(image, name)?.shndx),
        "dynsym" => dynamic_symbol(image, name)?.value,
        "dynsize" => dynamic_symbol(image, name)?.size,
        "addr" => section(image, name)?.addr,
        "size" => section(image, name)?.size,
        "end" => section(image, name)?.end(),
        "off" => section(image, name)?.offset,
        "align" => section(image, name)?.align,
        "entsize" => section(image, name)?.entsize,
        "flags" => section(image, name)?.flags,
        "info" => u64::from(section(image, name)?.info),
        "link" => u64::from(section(image, name)?.link),
        "index" => {
            let at = image.sections.iter().skip(1).position(|s| s.name == name);
            at.ok_or_else(|| format!("there is no section {name}"))? as u64 + 1
        }
        "seg" => segment()?.vaddr,
        "segend" => segment()?.end(),
        "segoff" => segment()?.offset,
        "segalign" => segment()?.align,
        "segfilesz" => segment()?.filesz,
        "segmemsz" => segment()?.memsz,
        "segcount" => segments(image, name).count() as u64,
        "dyn" => {
            dynamic_values(image, name).next().ok_or_else(|| format!("there is no dynamic entry {name}"))?
        }
        "relocs" => count_relocs(image, name) as u64,
        "count" => image.sections.iter().filter(|s| s.name == name).count() as u64,
        "relocaddr" => {
            let found = image.relocs.iter().find(|r| r.symbol_name == name);
            found.ok_or_else(|| format!("no relocation names {name}"))?.offset
        }
        _ => return Err(format!("unknown function `{function}`")),
    };
    Ok(i128::from(v))
}

fn count_relocs(image: &Image, wanted: &str) -> usize {
    let prefix = Machine::of(image).prefix;
    let same = |r_type| same_name(&reloc_name(image, r_type), prefix, wanted);
    image.relocs.iter().filter(|r| same(r.r_type)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_specifications() {
        let image = Image { machine: 62, ..Image::default() };
        assert_eq!(reloc_name(&image, 5), "R_X86_64_COPY");
        assert_eq!(segment_type_name(0x6474_e552), "PT_GNU_RELRO");
        assert_eq!(tag_name(24), "DT_BIND_NOW");
        assert_eq!(section_type_name(0x7000_0001), "SHT_X86_64_UNWIND");
    }
}

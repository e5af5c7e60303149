//! Section and program headers: in bounds, aligned, sorted, without overlap, and in agreement.

use super::Problems;
use crate::elf::Image;
use crate::elf::image::{Section, Segment};
use crate::elf::query::segment_type_name;
use object::elf;

/// The page size of the machine that runs the tests.
const PAGE: u64 = 4096;

/// Rules for section headers alone.
pub fn sections(image: &Image, p: &mut Problems) {
    let len = image.data.len() as u64;
    for s in image.sections.iter().skip(1) {
        let name = &s.name;
        p.check(s.align == 0 || s.align.is_power_of_two(), || format!("{name}: alignment {}", s.align));
        p.check(s.addr.is_multiple_of(s.align.max(1)), || {
            format!("{name}: address {:#x} is not aligned to {}", s.addr, s.align)
        });
        p.check((s.link as usize) < image.sections.len(), || format!("{name}: sh_link {}", s.link));
        if !s.is_nobits() {
            p.check(s.offset.checked_add(s.size).is_some_and(|e| e <= len), || {
                format!("{name}: contents reach past the end of the file")
            });
        }
        let tables = [
            (elf::SHT_SYMTAB.0, image.form.symbol_size()),
            (elf::SHT_DYNSYM.0, image.form.symbol_size()),
            (elf::SHT_RELA.0, image.form.reloc_size(true)),
            (elf::SHT_REL.0, image.form.reloc_size(false)),
        ];
        if let Some(table) = tables.iter().find(|table| table.0 == s.sh_type) {
            p.check(s.entsize == table.1 as u64, || format!("{name}: entry size {}", s.entsize));
        }
        if s.entsize > 1 && s.flags & elf::SHF_MERGE.0 != 0 {
            p.check(s.size.is_multiple_of(s.entsize), || {
                format!("{name}: size {:#x} is not a multiple of the entry size {}", s.size, s.entsize)
            });
        }
    }
    let in_file: Vec<&Section> =
        image.sections.iter().skip(1).filter(|s| !s.is_nobits() && s.size > 0).collect();
    overlap("file", in_file.iter().map(|s| (s.offset, s.offset.saturating_add(s.size), s.name.as_str())), p);
    if image.e_type != elf::ET_REL.0 {
        // .tbss takes no room in the address space: what follows may use its addresses.
        let loaded =
            image.sections.iter().filter(|s| s.is_alloc() && s.size > 0 && !(s.is_tls() && s.is_nobits()));
        overlap("memory", loaded.map(|s| (s.addr, s.end(), s.name.as_str())), p);
    }
    headers_in_bounds(image, p);
}

fn headers_in_bounds(image: &Image, p: &mut Problems) {
    if image.shoff == 0 {
        return;
    }
    let end = image.shoff.saturating_add((image.form.choose(40, 64) * image.sections.len()) as u64);
    p.check(end <= image.data.len() as u64, || "section headers reach past the end of the file".to_owned());
    p.check(image.shoff.is_multiple_of(image.form.word() as u64), || {
        format!("section headers at {:#x}", image.shoff)
    });
    let names = image.sections.get(image.shstrndx as usize);
    p.check(names.is_some_and(|s| s.sh_type == elf::SHT_STRTAB.0), || "e_shstrndx".to_owned());
}

fn overlap<'a>(space: &str, ranges: impl Iterator<Item = (u64, u64, &'a str)>, p: &mut Problems) {
    let mut ranges: Vec<_> = ranges.collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        let ((_, end, a), (start, _, b)) = (pair[0], pair[1]);
        p.check(start >= end, || format!("{a} and {b} overlap in the {space} ({end:#x} > {start:#x})"));
    }
}

/// Rules for program headers, and between them and sections.
pub fn segments(image: &Image, p: &mut Problems) {
    for s in &image.segments {
        one_segment(image, s, p);
    }
    let loads: Vec<&Segment> = image.segments.iter().filter(|s| s.p_type == elf::PT_LOAD.0).collect();
    p.check(!loads.is_empty(), || "there is no PT_LOAD".to_owned());
    for pair in loads.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        p.check(a.end() <= b.vaddr, || {
            format!("PT_LOAD segments at {:#x} and {:#x} overlap or are not sorted", a.vaddr, b.vaddr)
        });
        shared_page(a, b, p);
    }
    for s in image.sections.iter().filter(|s| s.is_alloc() && s.size > 0) {
        if !(s.is_tls() && s.is_nobits()) {
            loaded_section(s, &loads, p);
        }
    }
    let pairs = [
        (elf::PT_DYNAMIC.0, ".dynamic"),
        (elf::PT_INTERP.0, ".interp"),
        (elf::PT_GNU_EH_FRAME.0, ".eh_frame_hdr"),
        (elf::PT_GNU_PROPERTY.0, ".note.gnu.property"),
        (elf::PT_GNU_SFRAME.0, ".sframe"),
    ];
    for (p_type, name) in pairs {
        if let (Some(segment), Some(section)) = (image.segment(p_type), image.section(name)) {
            p.check((segment.vaddr, segment.memsz) == (section.addr, section.size), || {
                format!("{} is not where {name} is", segment_type_name(p_type))
            });
        }
        let shown = image.section(name).is_some_and(Section::is_alloc);
        p.check(!shown || image.segment(p_type).is_some(), || format!("{name} has no segment"));
    }
    tls_segment(image, p);
    interpreter(image, p);
    p.check(image.segment(elf::PT_GNU_STACK.0).is_some(), || "there is no PT_GNU_STACK".to_owned());
}

/// What the kernel does to the page two segments share must not take rights away that one needs.
fn shared_page(a: &Segment, b: &Segment, p: &mut Problems) {
    let shared = a.memsz > 0 && (a.end() - 1) / PAGE == b.vaddr / PAGE;
    p.check(!shared || a.flags == b.flags, || {
        format!("segments at {:#x} and {:#x} share a page of memory", a.vaddr, b.vaddr)
    });
}

fn one_segment(image: &Image, s: &Segment, p: &mut Problems) {
    let name = format!("{} at {:#x}", segment_type_name(s.p_type), s.vaddr);
    p.check(s.align <= 1 || s.align.is_power_of_two(), || format!("{name}: alignment {}", s.align));
    p.check(s.filesz <= s.memsz || s.memsz == 0, || format!("{name}: larger in the file than in memory"));
    let in_file = s.offset.checked_add(s.filesz).is_some_and(|e| e <= image.data.len() as u64);
    p.check(in_file, || format!("{name}: reaches past the end of the file"));
    if s.p_type == elf::PT_LOAD.0 {
        p.check(s.align >= PAGE, || format!("{name}: alignment {:#x} is less than a page", s.align));
        p.check(s.offset % s.align.max(1) == s.vaddr % s.align.max(1), || {
            format!("{name}: offset {:#x} is not congruent to the address", s.offset)
        });
        return;
    }
    // What tools read is in no memory.
    let special = [elf::PT_GNU_STACK.0, elf::PT_TLS.0, elf::PT_RISCV_ATTRIBUTES.0];
    if special.contains(&s.p_type) || s.memsz == 0 {
        return;
    }
    let holds = |l: &&Segment| l.p_type == elf::PT_LOAD.0 && l.vaddr <= s.vaddr && s.vaddr < l.end();
    match image.segments.iter().find(holds) {
        None => p.add(format!("{name}: not inside a PT_LOAD")),
        Some(l) => {
            p.check(s.offset.wrapping_sub(l.offset) == s.vaddr - l.vaddr, || {
                format!("{name}: offset does not match the address")
            });
            p.check(s.p_type == elf::PT_GNU_RELRO.0 || s.end() <= l.end(), || {
                format!("{name}: sticks out of its PT_LOAD")
            });
        }
    }
    if s.p_type == elf::PT_PHDR.0 {
        p.check(s.offset == image.phoff, || "PT_PHDR is not where the program headers are".to_owned());
        p.check(s.filesz == (image.form.choose(32, 56) * image.segments.len()) as u64, || {
            "PT_PHDR has the wrong size".to_owned()
        });
    }
}

fn loaded_section(s: &Section, loads: &[&Segment], p: &mut Problems) {
    let Some(l) = loads.iter().find(|l| l.vaddr <= s.addr && s.end() <= l.end()) else {
        p.add(format!("{} is not inside a PT_LOAD", s.name));
        return;
    };
    if !s.is_nobits() {
        p.check(s.offset.wrapping_sub(l.offset) == s.addr - l.vaddr, || {
            format!("{}: file offset does not match the address", s.name)
        });
        p.check(s.end() - l.vaddr <= l.filesz, || {
            format!("{}: lies behind the file part of its segment", s.name)
        });
    }
    let (writable, executable) = (elf::SHF_WRITE.0, elf::SHF_EXECINSTR.0);
    p.check(s.flags & writable == 0 || l.flags & elf::PF_W.0 != 0, || {
        format!("{}: writable in a read-only segment", s.name)
    });
    p.check(s.flags & executable == 0 || l.flags & elf::PF_X.0 != 0, || {
        format!("{}: code in a segment that is not executable", s.name)
    });
}

fn tls_segment(image: &Image, p: &mut Problems) {
    let tls: Vec<&Section> = image.sections.iter().filter(|s| s.is_tls() && s.is_alloc()).collect();
    let Some(segment) = image.segment(elf::PT_TLS.0) else {
        p.check(tls.iter().all(|s| s.size == 0), || "TLS sections without PT_TLS".to_owned());
        return;
    };
    for s in tls.iter().filter(|s| s.size > 0) {
        p.check(segment.vaddr <= s.addr && s.end() <= segment.end(), || {
            format!("{} is outside PT_TLS", s.name)
        });
        p.check(segment.align >= s.align, || format!("{}: alignment exceeds that of PT_TLS", s.name));
    }
    p.check(segment.vaddr.is_multiple_of(segment.align.max(1)), || "PT_TLS is not aligned".to_owned());
}

fn interpreter(image: &Image, p: &mut Problems) {
    let Some(s) = image.segment(elf::PT_INTERP.0) else { return };
    let bytes = image.data.get(s.offset as usize..s.offset.saturating_add(s.filesz) as usize);
    let good = bytes.is_some_and(|b| b.len() > 1 && b.iter().position(|&c| c == 0) == Some(b.len() - 1));
    p.check(good, || "PT_INTERP is not a string".to_owned());
}

/// `PT_GNU_RELRO`: the loader makes whole pages read-only, so nothing else writable may lie in its
/// first page, and a partial last page would stay writable.
pub fn relro(image: &Image, p: &mut Problems) {
    let Some(relro) = image.segment(elf::PT_GNU_RELRO.0) else { return };
    if relro.memsz == 0 {
        return;
    }
    let (start, end) = (relro.vaddr / PAGE * PAGE, relro.end());
    p.check(end.is_multiple_of(PAGE), || format!("PT_GNU_RELRO ends inside a page ({end:#x})"));
    let writable = |s: &&Section| {
        s.is_alloc() && s.flags & elf::SHF_WRITE.0 != 0 && s.size > 0 && !(s.is_tls() && s.is_nobits())
    };
    for s in image.sections.iter().filter(writable) {
        // Of a lazy .got.plt the three reserved words may be protected.
        let reserved = s.name == ".got.plt" && end <= s.addr + 3 * image.form.word() as u64;
        let inside = reserved || s.addr >= relro.vaddr && s.end() <= end;
        let touches = s.addr < end && s.end() > start;
        p.check(inside || !touches, || format!("{} is partly under PT_GNU_RELRO", s.name));
        let names = [".dynamic", ".got", ".data.rel.ro", ".init_array", ".fini_array", ".preinit_array"];
        // Loaders of MIPS write to the GOT whenever they like.
        let free = s.name == ".got" && image.machine == elf::EM_MIPS.0;
        p.check(inside || free || !names.contains(&s.name.as_str()), || {
            format!("{} is outside PT_GNU_RELRO", s.name)
        });
    }
}

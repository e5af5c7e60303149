//! `.eh_frame` and `.eh_frame_hdr`: the frames parse, cover code that exists without overlap, and
//! the sorted table leads to each of them.

use super::Problems;
use crate::elf::Image;
use crate::elf::form::Form;
use crate::elf::image::Section;
use gimli::{BaseAddresses, CieOrFde, EhFrame, EhFrameHdr, RunTimeEndian, UnwindSection};
use object::Endianness;
use object::elf;
use std::collections::HashMap;

struct Frame {
    start: u64,
    len: u64,
}

pub fn verify(image: &Image, p: &mut Problems) -> Result<(), String> {
    let Some(section) = image.section(".eh_frame").filter(|s| s.is_alloc() && s.size > 0) else {
        return Ok(());
    };
    let bytes = image.contents(section)?;
    let mut bases = BaseAddresses::default().set_eh_frame(section.addr);
    for (name, set) in [(".text", 0), (".got", 1), (".eh_frame_hdr", 2)] {
        if let Some(s) = image.section(name) {
            bases = match set {
                0 => bases.set_text(s.addr),
                1 => bases.set_got(s.addr),
                _ => bases.set_eh_frame_hdr(s.addr),
            };
        }
    }
    let frames = frames(image, section, bytes, &bases, p)?;
    ranges(image, &frames, p);
    match image.section(".eh_frame_hdr") {
        Some(hdr) => header((image.form, image.contents(hdr)?), hdr, section, &bases, &frames, p),
        None => Ok(()),
    }
}

/// All FDEs by their address.
fn frames(
    image: &Image,
    section: &Section,
    bytes: &[u8],
    bases: &BaseAddresses,
    p: &mut Problems,
) -> Result<HashMap<u64, Frame>, String> {
    let mut eh_frame = EhFrame::new(bytes, endian(image.form));
    eh_frame.set_address_size(image.form.word() as u8);
    let mut out = HashMap::new();
    let mut entries = eh_frame.entries(bases);
    while let Some(entry) = entries.next().map_err(|e| e.to_string())? {
        let CieOrFde::Fde(partial) = entry else { continue };
        let at = partial.offset() as u64;
        let fde = partial
            .parse(|_, bases, offset| eh_frame.cie_from_offset(bases, offset))
            .map_err(|e| format!("FDE at {at:#x}: {e}"))?;
        out.insert(section.addr + at, Frame { start: fde.initial_address(), len: fde.len() });
        if let Some(gimli::Pointer::Direct(lsda)) = fde.lsda() {
            let inside = image.sections.iter().any(|s| s.is_alloc() && s.addr <= lsda && lsda < s.end());
            p.check(inside, || format!("FDE at {at:#x}: the LSDA {lsda:#x} is in no section"));
        }
        if let Some(gimli::Pointer::Direct(routine) | gimli::Pointer::Indirect(routine)) = fde.personality() {
            let inside =
                image.sections.iter().any(|s| s.is_alloc() && s.addr <= routine && routine < s.end());
            p.check(inside, || format!("FDE at {at:#x}: the personality {routine:#x} is in no section"));
        }
    }
    Ok(out)
}

fn ranges(image: &Image, frames: &HashMap<u64, Frame>, p: &mut Problems) {
    let code: Vec<&Section> =
        image.sections.iter().filter(|s| s.is_alloc() && s.flags & elf::SHF_EXECINSTR.0 != 0).collect();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for f in frames.values().filter(|f| f.len > 0) {
        let inside = code.iter().any(|s| s.addr <= f.start && f.start + f.len <= s.end());
        p.check(inside, || format!("FDE for {:#x}, which is no code", f.start));
        ranges.push((f.start, f.start + f.len));
    }
    ranges.sort_unstable();
    for w in ranges.windows(2) {
        p.check(w[0].1 <= w[1].0, || format!("FDEs for {:#x} and {:#x} overlap", w[0].0, w[1].0));
    }
}

fn endian(form: Form) -> RunTimeEndian {
    match form.endian {
        Endianness::Little => RunTimeEndian::Little,
        Endianness::Big => RunTimeEndian::Big,
    }
}

fn header(
    (form, bytes): (Form, &[u8]),
    hdr: &Section,
    eh_frame: &Section,
    bases: &BaseAddresses,
    frames: &HashMap<u64, Frame>,
    p: &mut Problems,
) -> Result<(), String> {
    let parsed = EhFrameHdr::new(bytes, endian(form)).parse(bases, form.word() as u8);
    let parsed = parsed.map_err(|e| format!("header: {e}"))?;
    p.check(parsed.eh_frame_ptr() == gimli::Pointer::Direct(eh_frame.addr), || {
        format!(".eh_frame_hdr at {:#x} does not point at .eh_frame", hdr.addr)
    });
    let Some(table) = parsed.table() else {
        p.check(frames.is_empty(), || ".eh_frame_hdr has no table".to_owned());
        return Ok(());
    };
    let mut rows = table.iter(bases);
    let (mut count, mut last) = (0, 0);
    while let Some((start, fde)) = rows.next().map_err(|e| format!("table: {e}"))? {
        let (start, fde) = (start.pointer(), fde.pointer());
        p.check(count == 0 || start > last, || format!(".eh_frame_hdr is not sorted at {start:#x}"));
        let same = frames.get(&fde).is_some_and(|f| f.start == start);
        p.check(same, || format!(".eh_frame_hdr: no FDE at {fde:#x} starts at {start:#x}"));
        (count, last) = (count + 1, start);
    }
    // FDEs of no length need no row.
    let wanted = frames.values().filter(|f| f.len > 0).count();
    p.check(count >= wanted && count <= frames.len(), || {
        format!(".eh_frame_hdr has {count} rows for {wanted} FDEs")
    });
    Ok(())
}

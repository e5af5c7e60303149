//! Notes parse to the last byte, in sections and in segments, and properties are sorted.

use super::Problems;
use crate::elf::Image;
use crate::elf::form::Form;
use object::elf;

struct Note {
    name: Vec<u8>,
    n_type: u32,
    desc: Vec<u8>,
}

pub fn verify(image: &Image, p: &mut Problems) -> Result<(), String> {
    for s in image.sections.iter().filter(|s| s.sh_type == elf::SHT_NOTE.0) {
        let notes = parse(image.form, image.contents(s)?, s.align).map_err(|e| format!("{}: {e}", s.name))?;
        // (section, owner, type): NT_GNU_BUILD_ID and NT_GNU_PROPERTY_TYPE_0.
        for (name, kind) in [(".note.gnu.build-id", 3), (".note.gnu.property", 5)] {
            let good = |n: &Note| n.name == b"GNU\0" && n.n_type == kind;
            p.check(s.name != name || notes.iter().all(good), || format!("{name}: not that kind of note"));
        }
        if s.name == ".note.gnu.property" {
            p.check(notes.len() == 1, || format!("{} holds {} notes", s.name, notes.len()));
            notes.iter().try_for_each(|n| properties(image.form, &n.desc, p))?;
        }
        if s.is_alloc() && image.e_type != elf::ET_REL.0 {
            let covers = |g: &&crate::elf::image::Segment| {
                g.p_type == elf::PT_NOTE.0 && g.vaddr <= s.addr && s.end() <= g.end()
            };
            p.check(image.segments.iter().any(|g| covers(&g)), || format!("{} is in no PT_NOTE", s.name));
        }
    }
    for g in image.segments.iter().filter(|g| g.p_type == elf::PT_NOTE.0) {
        let bytes = image.data.get(g.offset as usize..g.offset.saturating_add(g.filesz) as usize);
        parse(image.form, bytes.ok_or("PT_NOTE is outside the file")?, g.align)
            .map_err(|e| format!("PT_NOTE: {e}"))?;
    }
    Ok(())
}

/// The notes in `bytes`; names and descriptions are padded to 8 bytes where `align` is 8, else to 4.
fn parse(form: Form, bytes: &[u8], align: u64) -> Result<Vec<Note>, String> {
    let pad = if align == 8 { 8 } else { 4 };
    let mut out = Vec::new();
    let mut at = 0usize;
    while at < bytes.len() {
        let (name_len, desc_len) = (form.u32_at(bytes, at)? as usize, form.u32_at(bytes, at + 4)? as usize);
        let n_type = form.u32_at(bytes, at + 8)?;
        let desc = (at + 12 + name_len).next_multiple_of(pad);
        let name = bytes.get(at + 12..at + 12 + name_len).ok_or("a name reaches past the end")?;
        let text =
            bytes.get(desc..desc.saturating_add(desc_len)).ok_or("a description reaches past the end")?;
        out.push(Note { name: name.to_vec(), n_type, desc: text.to_vec() });
        at = (desc + desc_len).next_multiple_of(pad);
    }
    Ok(out)
}

/// `NT_GNU_PROPERTY_TYPE_0`: (type, size, data padded to words), ascending by type.
fn properties(form: Form, desc: &[u8], p: &mut Problems) -> Result<(), String> {
    let (mut at, mut last) = (0, None);
    while at < desc.len() {
        let (kind, size) = (form.u32_at(desc, at)?, form.u32_at(desc, at + 4)? as usize);
        p.check(last.is_none_or(|l| l < kind), || "program properties are not sorted".to_owned());
        last = Some(kind);
        at = (at + 8 + size).next_multiple_of(form.word());
    }
    p.check(at == desc.len(), || "program properties do not fill their note".to_owned());
    Ok(())
}

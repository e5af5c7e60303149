//! Lookup tables of dynamic symbols: `.gnu.hash` and `.hash` find every exported symbol, version
//! indices are defined, version names carry the right hashes.

use super::Problems;
use crate::elf::Image;
use crate::elf::image::Symbol;
use object::elf;
use weld_testkit::dso::sysv_hash;

/// The hash of `DT_GNU_HASH` (Bernstein's, times 33).
fn gnu_hash(name: &str) -> u32 {
    name.bytes().fold(5381u32, |h, c| h.wrapping_mul(33).wrapping_add(u32::from(c)))
}

/// Whether a lookup by name must find the symbol: definitions, and undefined functions with a value,
/// whose PLT entry in an executable is the function's address for the whole process.
fn exported(s: &Symbol) -> bool {
    (!s.is_undefined() || s.value != 0) && s.bind != elf::STB_LOCAL.0
}

pub fn gnu(image: &Image, p: &mut Problems) -> Result<(), String> {
    let Some(section) = image.section_of_type(elf::SHT_GNU_HASH.0) else { return Ok(()) };
    let table = image.contents(section)?;
    let u32_at = |at| image.form.u32_at(table, at);
    let (buckets, first) = (u32_at(0)? as usize, u32_at(4)? as usize);
    let (words, shift) = (u32_at(8)? as usize, u32_at(12)?);
    if words == 0 || !words.is_power_of_two() || buckets == 0 {
        return Err(format!("{buckets} buckets, {words} filter words"));
    }
    let word = image.form.word();
    let chains = 16 + word * words + 4 * buckets;
    for (i, s) in image.dynsyms.iter().enumerate().skip(1) {
        if !exported(s) {
            p.check(i < first, || format!(".gnu.hash covers the undefined symbol {}", s.name));
            continue;
        }
        let h = gnu_hash(&s.name);
        let bits = 8 * word as u32;
        let filter = image.form.word_at(table, 16 + word * ((h / bits) as usize % words))?;
        let filtered = filter >> (h % bits) & filter >> ((h >> shift) % bits) & 1 == 0;
        p.check(!filtered, || format!(".gnu.hash: the filter hides {}", s.name));
        let mut at = u32_at(16 + word * words + 4 * (h as usize % buckets))? as usize;
        let mut found = false;
        while at >= first && at < image.dynsyms.len() && !found {
            let entry = u32_at(chains + 4 * (at - first))?;
            found = at == i && entry | 1 == h | 1;
            if entry & 1 == 1 {
                break;
            }
            at += 1;
        }
        p.check(found, || format!(".gnu.hash does not find {}", s.name));
    }
    Ok(())
}

pub fn sysv(image: &Image, p: &mut Problems) -> Result<(), String> {
    let Some(section) = image.section_of_type(elf::SHT_HASH.0) else { return Ok(()) };
    let table = image.contents(section)?;
    // Entries are words on s390x, of 64 bits.
    let width = if image.machine == elf::EM_S390.0 { image.form.word() } else { 4 };
    p.check(section.entsize == width as u64, || format!(".hash has entries of {} bytes", section.entsize));
    let entry = |i: usize| -> Result<usize, String> {
        let start = i.saturating_mul(width).min(table.len());
        let bytes = table.get(start..start + width).ok_or(".hash ends too early")?;
        Ok(image.form.number(bytes) as usize)
    };
    let (buckets, chains) = (entry(0)?, entry(1)?);
    p.check(chains == image.dynsyms.len(), || format!(".hash has {chains} chain entries"));
    p.check(buckets > 0, || ".hash has no buckets".to_owned());
    for (i, s) in image.dynsyms.iter().enumerate().skip(1).filter(|(_, s)| exported(s)) {
        let mut at = entry(2 + sysv_hash(s.name.as_bytes()) as usize % buckets.max(1))?;
        let mut steps = 0;
        while at != 0 && at != i && steps <= chains {
            at = entry(2 + buckets + at)?;
            steps += 1;
        }
        p.check(at == i, || format!(".hash does not find {}", s.name));
    }
    Ok(())
}

pub fn versions(image: &Image, p: &mut Problems) {
    let Some(versym) = image.section_of_type(elf::SHT_GNU_VERSYM.0) else {
        p.check(image.needs.is_empty() && image.defs.is_empty(), || {
            "versions without .gnu.version".to_owned()
        });
        return;
    };
    p.check(versym.size == 2 * image.dynsyms.len() as u64, || {
        format!(".gnu.version has {} bytes for {} symbols", versym.size, image.dynsyms.len())
    });
    for s in image.dynsyms.iter().skip(1).filter(|s| s.version_index > 1) {
        p.check(s.version.is_some(), || {
            format!("{}: version index {} is undefined", s.name, s.version_index)
        });
    }
    let strtab = image.section(".dynstr").and_then(|s| image.contents(s).ok()).unwrap_or_default();
    let needed: Vec<String> = crate::elf::query::dynamic_values(image, "NEEDED")
        .filter_map(|v| crate::elf::image::string_at(strtab, v as u32).ok())
        .collect();
    for n in &image.needs {
        p.check(n.hash == sysv_hash(n.name.as_bytes()), || format!("hash of needed version {}", n.name));
        p.check(needed.contains(&n.file), || {
            format!("version {} of {}, which is not needed", n.name, n.file)
        });
        let used = image.dynsyms.iter().any(|s| s.version_index == n.index);
        // GLIBC_ABI_*: a demand on the loader that no symbol carries; so is this one if there is
        // DT_X86_64_PLT.
        let on_loader = n.name.starts_with("GLIBC_ABI_")
            || n.name == "GLIBC_2.36" && image.dynamic_value(0x7000_0000).is_some();
        p.check(used || on_loader, || format!("needed version {} of {} is not used", n.name, n.file));
    }
    for d in &image.defs {
        p.check(d.hash == sysv_hash(d.name.as_bytes()), || format!("hash of version {}", d.name));
    }
    let mut all: Vec<u16> =
        image.needs.iter().map(|n| n.index).chain(image.defs.iter().map(|d| d.index)).collect();
    all.sort_unstable();
    p.check(all.windows(2).all(|w| w[0] != w[1]), || "a version index is used twice".to_owned());
}

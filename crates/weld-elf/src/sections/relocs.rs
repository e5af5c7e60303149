//! Relocation sections: checked, decoded if they are not stored as the linker wants them, and tied to what
//! they relocate.
//!
//! All relocations come by this door and leave it as native records with addends ([`Rela`]): such records are
//! viewed in place; those of other forms, compact ones (CREL) and those without addends (REL) are decoded
//! once.
//!
//! Specification: gABI chapter 4 ("Relocation"); psABIs say whether addends lie in records or in the section.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use super::parse::Parser;
use super::{Malformed, SectionKind, is_table};
use crate::arch::facts::{ImplicitAddend, ObjectFacts, Written};
use crate::compressed::decompress;
use crate::crel::Crel;
use crate::elf::*;
use crate::input::object::Object;
use crate::options::{OutputKind, Target1, Target2};

impl Parser<'_, '_> {
    /// Ties relocation sections of the slice to what they relocate.
    pub(super) fn attach_relocs(&mut self) {
        for shndx in self.range() {
            let shdr = &self.object.shdrs[shndx];
            if !matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL) {
                continue;
            }
            let target = shdr.sh_info() as usize;
            if target == 0 || target >= self.object.shdrs.len() {
                self.error(shndx, "relocates a section that does not exist");
            } else if self.range().contains(&target) {
                self.attach(shndx, target);
            } else {
                self.found.distant.push(shndx as u32);
            }
        }
    }

    /// Ties those to what they relocate that had to wait for the slots of the whole object.
    pub(super) fn attach_distant_relocs(&mut self) {
        let distant = std::mem::take(&mut self.found.distant);
        for &shndx in &distant {
            let target = self.object.shdrs[shndx as usize].sh_info();
            self.attach(shndx as usize, target as usize);
        }
    }

    fn attach(&mut self, relocs: usize, target: usize) {
        let slot = target - self.first;
        if !self.slots[slot].in_image() {
            if self.slots[slot].kind() == SectionKind::Dropped && is_table(&self.object.shdrs[target]) {
                let what = self.object.section_label(target);
                self.error(
                    relocs,
                    &format!("relocates {what} (section {target}, sh_info), which holds no code or data"),
                );
            }
            return;
        }
        let count = match self.check_relocs(relocs) {
            Ok(count) => count,
            Err(e) => return self.error(relocs, &e.to_string()),
        };
        if self.slots[slot].relocs != 0 {
            self.error(target, "has more than one relocation section");
        }
        self.slots[slot].relocs = relocs as u32;
        if count == 0 {
            return;
        }
        match self.slots[slot].kind() {
            // Equal bytes may become different ones, so such a section is copied as it is.
            SectionKind::Merge => {
                let compressed = self.object.shdrs[target].sh_flags() & SHF_COMPRESSED != 0;
                let kind = if compressed { SectionKind::Compressed } else { SectionKind::Regular };
                self.slots[slot].set_kind(kind);
            }
            SectionKind::NoBits => self.error(target, "has relocations, but no bytes to relocate"),
            _ => {}
        }
    }

    /// Returns how many there are.
    fn check_relocs(&mut self, index: usize) -> Result<usize, Malformed> {
        let shdr = &self.object.shdrs[index];
        if shdr.sh_link() != self.object.symtab {
            return Err(Malformed::Link(shdr.sh_link()));
        }
        match decode(self.object, index)? {
            Cow::Borrowed(relocs) => Ok(relocs.len()),
            Cow::Owned(mut relocs) => {
                let count = relocs.len();
                self.settle_types(&mut relocs);
                self.settle(&mut relocs);
                self.found.extra.decoded.add(index as u32, &relocs);
                Ok(count)
            }
        }
    }

    /// Gives relocations whose meaning is the platform's the types that they stand for.
    fn settle_types(&self, relocs: &mut [Rela]) {
        let Some(types) = self.object.machine.platform.as_ref() else { return };
        if self.options.kind == OutputKind::Relocatable {
            return;
        }
        for reloc in relocs {
            let kind = match (reloc.kind(), self.options.relocs.target1, self.options.relocs.target2) {
                (kind, Target1::Address, _) if kind == types.target1 => types.address,
                (kind, Target1::Distance, _) if kind == types.target1 => types.distance,
                (kind, _, Target2::Address) if kind == types.target2 => types.address,
                (kind, _, Target2::Distance) if kind == types.target2 => types.distance,
                (kind, _, Target2::Slot) if kind == types.target2 => types.slot,
                _ => continue,
            };
            *reloc = Rela::make(reloc.r_offset(), reloc.sym(), kind, reloc.r_addend());
        }
    }

    /// Gives relocations the numbers for what they ask for, on machines where their types do not say it. `-r`
    /// leaves that to the next link.
    fn settle(&self, relocs: &mut [Rela]) {
        let machine = self.object.machine;
        let is_joined = self.options.kind == OutputKind::Relocatable;
        if let Some(settle) = if is_joined { machine.settle_joined } else { machine.settle } {
            let shared = self.options.kind == OutputKind::Shared;
            settle(&Settling { object: self.object, shared, looked_for: &self.found.looked_for }, relocs);
        }
    }

    /// The relocations of section `shndx`, once all are tied to what they relocate.
    pub(super) fn relocs_of(&self, shndx: usize) -> &[Rela] {
        let relocs = self.slots[shndx].relocs;
        if relocs == 0 {
            return &[];
        }
        in_place(self.object, relocs as usize).unwrap_or_else(|| self.found.extra.decoded.of(relocs))
    }
}

/// The relocations of the section with header index `index`, which holds some, if they are stored as the
/// linker wants them. In bounds if [`decode`] has been asked.
#[inline]
pub(super) fn in_place<'a>(object: &Object<'a>, index: usize) -> Option<&'a [Rela]> {
    let shdr = &object.shdrs[index];
    if shdr.sh_type() != SHT_RELA || !object.format().is_native() || object.machine.written.is_some() {
        return None;
    }
    Some(table(object.data, shdr.sh_offset(), shdr.sh_size() / Rela::SIZE as u64).unwrap_or(&[]))
}

/// The relocations of the section with header index `index`, whatever the form in which they are stored.
///
/// # Errors
/// If it is damaged or holds no relocations that the machine knows.
pub fn decode<'a>(object: &Object<'a>, index: usize) -> Result<Cow<'a, [Rela]>, Malformed> {
    let shdr = &object.shdrs[index];
    let format = object.format();
    match shdr.sh_type() {
        SHT_RELA => {
            let count = records_in::<Rela>(shdr, format)?;
            let list = records(object.data, format, shdr.sh_offset(), count).ok_or(Malformed::Outside)?;
            match object.machine.written.filter(|written| written.types.is_packed) {
                Some(written) => Ok(Cow::Owned(list.iter().map(|r| unpacked(written, format, r)).collect())),
                // They have to be settled.
                None if object.machine.written.is_some() => Ok(Cow::Owned(list.into_owned())),
                None => Ok(list),
            }
        }
        SHT_CREL => {
            let relocs = Crel::parse(object.section_data(index).ok_or(Malformed::Outside)?)
                .map_err(Malformed::Crel)?;
            let mut list = Vec::with_capacity(relocs.count());
            for r in relocs.entries() {
                let r = r.map_err(Malformed::Crel)?;
                list.push(Rela::make(r.offset, r.symbol, r.kind, r.addend));
            }
            Ok(Cow::Owned(list))
        }
        _ => {
            let addend = object.machine.implicit_addend.ok_or(Malformed::NoAddends(object.machine.name))?;
            let list = without_addends(object, shdr)?;
            let mut list = with_addends(object, shdr.sh_info() as usize, &list, addend)?;
            if let Some(lower_half) = object.machine.lower_half {
                join_halves(object, &mut list, lower_half);
            }
            Ok(Cow::Owned(list))
        }
    }
}

/// A record whose types are bytes after its symbol.
fn unpacked(written: &Written, format: Format, record: &Rela) -> Rela {
    let (symbol, types) = match format.is_big() {
        true => (record.sym(), record.kind()),
        false => (record.kind(), record.sym().swap_bytes()),
    };
    Rela::make(record.r_offset(), symbol, (written.number)(types), record.r_addend())
}

/// Adds to addends what the places of lower halves have of them: those of the next relocations of the same
/// symbols, if there are any.
fn join_halves(object: &Object, list: &mut [Rela], lower_half: fn(u32, bool) -> Option<u32>) {
    // By symbol and type, the next one's addend.
    let mut next: HashMap<(u32, u32), i64> = HashMap::new();
    for reloc in list.iter_mut().rev() {
        let (symbol, kind) = (reloc.sym(), reloc.kind());
        match lower_half(kind, symbol < object.first_global) {
            Some(lower) => {
                let rest = next.get(&(symbol, lower)).copied().unwrap_or(0);
                *reloc = Rela::make(reloc.r_offset(), symbol, kind, reloc.r_addend().wrapping_add(rest));
            }
            None => _ = next.insert((symbol, kind), reloc.r_addend()),
        }
    }
}

/// An object whose relocations are settled.
struct Settling<'o, 'a> {
    object: &'o Object<'a>,
    shared: bool,
    looked_for: &'o RefCell<(Vec<u8>, Option<u32>)>,
}

impl ObjectFacts for Settling<'_, '_> {
    fn flags(&self) -> u32 {
        self.object.flags
    }

    fn is_local(&self, symbol: u32) -> bool {
        symbol < self.object.first_global
    }

    fn name(&self, symbol: u32) -> &[u8] {
        self.object.symbol_name(symbol)
    }

    fn find(&self, name: &[u8]) -> Option<u32> {
        let mut last = self.looked_for.borrow_mut();
        if last.0 != name {
            let mut globals = self.object.first_global..self.object.syms.len() as u32;
            *last = (name.to_vec(), globals.find(|symbol| self.object.symbol_name(*symbol) == name));
        }
        last.1
    }

    fn is_in_library(&self) -> bool {
        self.shared
    }

    fn pointer(&self) -> u64 {
        let object = self.object;
        let Some(registers) = &object.machine.registers else { return 0 };
        let section = object.shdrs.iter().position(|shdr| shdr.sh_type() == registers.section);
        section.and_then(|shndx| object.section_data(shndx)).map_or(0, |data| (registers.pointer)(data))
    }
}

/// The symbols of the relocations of the section with header index `index`, in their order. For those that
/// are a list of symbols and are never applied: they may lack addends on any machine.
///
/// # Errors
/// As [`decode`].
pub fn decode_symbols(object: &Object, index: usize) -> Result<Vec<u32>, Malformed> {
    let shdr = &object.shdrs[index];
    if shdr.sh_type() == SHT_REL {
        return Ok(without_addends(object, shdr)?.iter().map(Rel::sym).collect());
    }
    Ok(decode(object, index)?.iter().map(Rela::sym).collect())
}

/// The records of a section of type `SHT_REL`.
fn without_addends<'a>(object: &Object<'a>, shdr: &Shdr) -> Result<Cow<'a, [Rel]>, Malformed> {
    let count = records_in::<Rel>(shdr, object.format())?;
    records(object.data, object.format(), shdr.sh_offset(), count).ok_or(Malformed::Outside)
}

/// How many records a section of them holds.
fn records_in<R: Record>(shdr: &Shdr, format: Format) -> Result<u64, Malformed> {
    let size = format.size::<R>();
    if shdr.sh_entsize() != 0 && shdr.sh_entsize() != size {
        return Err(Malformed::EntrySize(shdr.sh_entsize()));
    }
    if !shdr.sh_size().is_multiple_of(size) {
        return Err(Malformed::Size(size));
    }
    Ok(shdr.sh_size() / size)
}

/// The relocations `list` of section `target` with the addends that lie in its bytes.
fn with_addends(
    object: &Object,
    target: usize,
    list: &[Rel],
    addend: ImplicitAddend,
) -> Result<Vec<Rela>, Malformed> {
    let shdr = &object.shdrs[target];
    let mut bytes = Cow::Borrowed(object.section_data(target).unwrap_or_default());
    if shdr.sh_flags() & SHF_COMPRESSED != 0 {
        // It is decompressed again where it is written.
        bytes = Cow::Owned(decompress(&bytes, object.format()).map_err(Malformed::Compressed)?);
    }
    let shortened = object.machine.shortened;
    let is_shortened = shdr.sh_flags() & SHF_ALLOC == 0
        && !shortened.is_empty()
        && object.section_name(target).is_some_and(|name| shortened.contains(&name));
    let counts = |(_, rel): &(usize, &Rel)| !is_shortened || rel.r_offset() < bytes.len() as u64;
    let one = |(index, rel): (usize, &Rel)| {
        let start = usize::try_from(rel.r_offset()).ok();
        let field = start.and_then(|start| bytes.get(start..));
        let found = field.and_then(|field| addend(rel.kind(), field));
        let kind = rel.kind();
        found.map(|addend| rel.with_addend(addend)).ok_or(Malformed::ImplicitAddend { index, kind })
    };
    list.iter().enumerate().filter(counts).map(one).collect()
}

//! Writing records and numbers in the form of the output.
//!
//! Tables of records are made in native form, in whatever order they come about, and rewritten as a whole
//! when they go to the image ([`put_records`]); for a native output that is a copy. Headers, notes and
//! other small things are written number by number ([`Writer`]).

use super::constants::{SHT_REL, SHT_RELA};
use super::format::Format;
use super::records::{Raw, Record, Rel, Rela, Sym};
use super::tables::all;

/// Fills `out` with `records` in the form `format`. There is room for exactly these.
pub fn put_records<R: Record>(format: Format, records: &[R], out: &mut [u8]) {
    debug_assert_eq!(out.len() as u64, records.len() as u64 * format.size::<R>());
    match (format.is_64(), format.is_big()) {
        (true, false) => out.copy_from_slice(bytes(records)),
        (true, true) => encode::<R, true, true>(records, out),
        (false, false) => encode::<R, false, false>(records, out),
        (false, true) => encode::<R, false, true>(records, out),
    }
}

impl Sym {
    /// Fills `out`, which is as long as a symbol in the form `format`.
    #[inline]
    pub fn put(&self, format: Format, out: &mut [u8]) {
        match format.is_native() {
            true => out.copy_from_slice(&self.0),
            false => put_records(format, std::slice::from_ref(self), out),
        }
    }
}

fn encode<R: Record, const WIDE: bool, const BIG: bool>(records: &[R], out: &mut [u8]) {
    let size = if WIDE { size_of::<R>() } else { R::SIZE_32 };
    for (record, out) in records.iter().zip(out.chunks_exact_mut(size)) {
        record.encode::<WIDE, BIG>(out);
    }
}

/// The bytes of native records.
fn bytes<R: Raw>(records: &[R]) -> &[u8] {
    // SAFETY: `Raw` promises alignment 1 and no padding.
    unsafe { std::slice::from_raw_parts(records.as_ptr().cast(), size_of_val(records)) }
}

/// Native records as bytes, in the form `format`.
pub fn in_form<R: Record>(format: Format, native: Vec<u8>) -> Vec<u8> {
    if format.is_native() {
        return native;
    }
    let records: &[R] = all(&native);
    let mut out = vec![0; records.len() * format.size::<R>() as usize];
    put_records(format, records, &mut out);
    out
}

/// How an output stores relocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelocForm {
    pub format: Format,
    /// In records (`SHT_RELA`), not in what is relocated (`SHT_REL`).
    pub addends: bool,
    /// What files have for types that have other numbers here.
    pub types: Option<&'static Types>,
}

/// What files have for types of relocations that have other numbers here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types {
    /// The first of those numbers, and what files have for it and those after it: up to three types, the first
    /// in the low byte.
    pub from: u32,
    pub list: &'static [u32],
    /// Records have types as bytes after the symbol, the last of three first, in either byte order.
    pub is_packed: bool,
}

impl Types {
    /// What files have for a number.
    pub fn written(&self, kind: u32) -> u32 {
        kind.checked_sub(self.from).and_then(|at| self.list.get(at as usize)).copied().unwrap_or(kind)
    }

    /// The record as files have it, in the byte order of the linker's own.
    fn apply(&self, format: Format, reloc: &Rela) -> Rela {
        let kind = self.written(reloc.kind());
        let (symbol, kind) = match self.is_packed && !format.is_big() {
            true => (kind.swap_bytes(), reloc.sym()),
            false => (reloc.sym(), kind),
        };
        Rela::make(reloc.r_offset(), symbol, kind, reloc.r_addend())
    }
}

impl RelocForm {
    /// Bytes of a record.
    #[inline]
    pub fn size(self) -> u64 {
        if self.addends { self.format.size::<Rela>() } else { self.format.size::<Rel>() }
    }

    pub fn section_type(self) -> u32 {
        if self.addends { SHT_RELA } else { SHT_REL }
    }

    /// Fills `out`, which is [`Self::size`] long, with a record. An addend that has no place in it is left
    /// out.
    #[inline]
    pub fn put(self, reloc: &Rela, out: &mut [u8]) {
        let other = self.types.map(|types| types.apply(self.format, reloc));
        let reloc = other.as_ref().unwrap_or(reloc);
        match self.addends {
            true if self.format.is_native() => out.copy_from_slice(&reloc.0),
            true => put_records(self.format, std::slice::from_ref(reloc), out),
            false => {
                let mut rel = Rel([0; Rel::SIZE]);
                rel.0.copy_from_slice(&reloc.0[..Rel::SIZE]);
                put_records(self.format, &[rel], out);
            }
        }
    }
}

/// Bytes that are being written, in one form.
pub struct Writer {
    format: Format,
    bytes: Vec<u8>,
}

impl Writer {
    pub fn new(format: Format) -> Writer {
        Writer::with_room(format, 0)
    }

    /// With room for so many bytes.
    pub fn with_room(format: Format, room: usize) -> Writer {
        Writer { format, bytes: Vec::with_capacity(room) }
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn number<const N: usize>(&mut self, value: u64) -> &mut Self {
        let mut bytes = [0; N];
        self.format.put(&mut bytes, value);
        self.bytes(&bytes)
    }

    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.number::<2>(value.into())
    }

    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.number::<4>(value.into())
    }

    /// A number as wide as an address.
    pub fn word(&mut self, value: u64) -> &mut Self {
        if self.format.is_64() { self.number::<8>(value) } else { self.number::<4>(value) }
    }

    pub fn record<R: Record>(&mut self, record: &R) -> &mut Self {
        let start = self.bytes.len();
        self.bytes.resize(start + self.format.size::<R>() as usize, 0);
        put_records(self.format, std::slice::from_ref(record), &mut self.bytes[start..]);
        self
    }

    /// Bytes so far.
    pub fn position(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Zeros up to the next multiple of `align`.
    pub fn align(&mut self, align: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len().next_multiple_of(align), 0);
        self
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::{Class, Format, Order};
    use super::Writer;

    #[test]
    fn numbers_in_each_form() {
        let form = |class, order| {
            let mut writer = Writer::new(Format { class, order });
            writer.u16(0x102).word(0x304).align(8);
            writer.finish()
        };
        assert_eq!(form(Class::Elf32, Order::Little), [2, 1, 4, 3, 0, 0, 0, 0]);
        assert_eq!(form(Class::Elf32, Order::Big), [1, 2, 0, 0, 3, 4, 0, 0]);
        assert_eq!(form(Class::Elf64, Order::Little), [2, 1, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(form(Class::Elf64, Order::Big), [1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0]);
    }
}

//! `.eh_frame` of one input as compact records, and the writer of `.eh_frame_hdr`.
//!
//! The section is a list of records: CIEs, which describe how to unwind in general, and FDEs, which
//! describe one function each and name their CIE by distance. The linker drops the FDEs of dropped
//! functions and repeated CIEs, so it needs to know where the records are, which relocations lie in
//! them, and how an FDE encodes its function's address. Instructions are not looked at.
//!
//! A record is a u32 length, a u32 that is 0 in a CIE and in an FDE the distance back to its CIE, and
//! the rest. (A length of 0xffffffff would mean that a u64 length follows, which no unwinder reads.) A length
//! of 0 ends the list; objects made by `ld -r` have such words between records too, and they are skipped.
//! Numbers have the file's byte order.
//!
//! Sources: LSB Core, "Exception Frames"; DWARF 5, section 6.4; encodings: LSB, "DWARF Exception
//! Header Encoding".

use std::fmt;

use weld_common::sort;

use crate::address::Address;
use crate::elf::Format;
use weld_common::reader::Reader;

/// How a pointer is stored: `DW_EH_PE_*`. The low half says size, the high half what it counts from.
pub mod encoding {
    pub const ABSPTR: u8 = 0x00;
    pub const UDATA2: u8 = 0x02;
    pub const UDATA4: u8 = 0x03;
    pub const UDATA8: u8 = 0x04;
    pub const SDATA2: u8 = 0x0a;
    pub const SDATA4: u8 = 0x0b;
    pub const SDATA8: u8 = 0x0c;
    pub const PCREL: u8 = 0x10;
    pub const DATAREL: u8 = 0x30;
    pub const ALIGNED: u8 = 0x50;
    pub const OMIT: u8 = 0xff;

    /// The size in bytes of a pointer; `None` if it is not fixed or depends on the place.
    pub fn size(encoding: u8, format: super::Format) -> Option<usize> {
        if encoding & 0x70 == ALIGNED {
            return None;
        }
        match encoding & 0x0f {
            ABSPTR => Some(format.word() as usize),
            UDATA8 | SDATA8 => Some(8),
            UDATA4 | SDATA4 => Some(4),
            UDATA2 | SDATA2 => Some(2),
            _ => None,
        }
    }
}

/// A common information entry. Offsets and sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cie {
    /// Where the record starts in the section.
    pub offset: u32,
    /// The whole record, its length field included.
    pub size: u32,
    /// The relocations in the record are `first_reloc..first_reloc + n_relocs`.
    pub first_reloc: u32,
    pub n_relocs: u32,
    /// How its FDEs store their function's address.
    pub fde_encoding: u8,
}

/// A frame description entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fde {
    pub offset: u32,
    /// The whole record, its length field included.
    pub size: u32,
    /// Index in [`EhFrame::cies`].
    pub cie: u32,
    /// The relocation of the function's address, if there is any in the record; others follow.
    pub first_reloc: u32,
    /// 0: the record describes no function of this file and can be dropped.
    pub n_relocs: u32,
}

/// The records of one input section, each kind in ascending order.
#[derive(Debug, Default)]
pub struct EhFrame {
    pub cies: Vec<Cie>,
    pub fdes: Vec<Fde>,
}

/// What is wrong with an `.eh_frame`. Offsets of records, in bytes from the section's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EhError {
    /// The section has 4 GiB or more.
    TooLarge,
    /// The record reaches beyond the section.
    Truncated(usize),
    /// The record has a length of 64 bits.
    Wide(usize),
    /// The record is too short for its fields.
    TooShort(usize),
    /// The FDE names a CIE where none is.
    NoCie(usize),
    /// The CIE has a version other than 1, 3 and 4.
    BadVersion(usize),
    /// The CIE's augmentation cannot be understood as far as needed.
    BadAugmentation(usize),
    /// The CIE has a pointer encoding that has no fixed size.
    BadEncoding(usize),
    /// The first relocation in the FDE is not that of the function's address.
    BadFirstReloc(usize),
    /// The relocation with this index is not in ascending order.
    UnsortedRelocs(usize),
    /// The relocation with this index lies in no record.
    RelocOutside(usize),
}

impl fmt::Display for EhError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EhError::TooLarge => write!(f, "section is 4 GiB or larger"),
            EhError::Truncated(at) => write!(f, "record at {at:#x} reaches beyond the section"),
            EhError::Wide(at) => {
                write!(f, "record at {at:#x} has a length of 64 bits, which unwinders do not read")
            }
            EhError::TooShort(at) => write!(f, "record at {at:#x} is too short"),
            EhError::NoCie(at) => write!(f, "FDE at {at:#x} refers to a CIE that does not exist"),
            EhError::BadVersion(at) => write!(f, "CIE at {at:#x} has an unknown version"),
            EhError::BadAugmentation(at) => write!(f, "CIE at {at:#x} has an unknown augmentation"),
            EhError::BadEncoding(at) => write!(f, "CIE at {at:#x} has an unsupported pointer encoding"),
            EhError::BadFirstReloc(at) => {
                write!(f, "FDE at {at:#x} has a relocation before that of its function")
            }
            EhError::UnsortedRelocs(index) => write!(f, "relocation {index} is not in ascending order"),
            EhError::RelocOutside(index) => write!(f, "relocation {index} lies in no record"),
        }
    }
}

impl std::error::Error for EhError {}

/// The places of a section's relocations, taken in ascending order.
struct Relocs<'r, R, F> {
    relocs: &'r [R],
    offset: F,
    next: usize,
}

impl<R, F: Fn(&R) -> u64> Relocs<'_, R, F> {
    /// Takes the relocations below `end`: the first one's index and place, and their number. Those
    /// below `start` are in no record.
    fn take(&mut self, start: usize, end: usize) -> Result<(usize, Option<u64>, usize), EhError> {
        let first = self.next;
        let mut last = start as u64;
        while let Some(reloc) = self.relocs.get(self.next) {
            let place = (self.offset)(reloc);
            if place >= end as u64 {
                break;
            }
            if place < last {
                let outside = self.next == 0 || (self.offset)(&self.relocs[self.next - 1]) <= place;
                return Err(match outside {
                    true => EhError::RelocOutside(self.next),
                    false => EhError::UnsortedRelocs(self.next),
                });
            }
            last = place;
            self.next += 1;
        }
        let place = (self.next > first).then(|| (self.offset)(&self.relocs[first]));
        Ok((first, place, self.next - first))
    }

    /// Whether code has no length: `range` in `data`, a field of an FDE with these relocations, says so. (A
    /// part of a function that came out empty.) It shares its address with code that has some, whose record
    /// must be the one that is found.
    #[cold]
    fn is_empty_range(&self, data: &[u8], range: std::ops::Range<usize>, first: u32, count: u32) -> bool {
        let second = self.relocs.get(first as usize + 1).filter(|_| count > 1);
        let relocated = second.is_some_and(|reloc| (self.offset)(reloc) == range.start as u64);
        !relocated && data[range].iter().all(|byte| *byte == 0)
    }
}

/// The head of a record.
struct Head {
    /// The end of the record.
    end: usize,
    /// Where the id (0, or the distance to the CIE) is.
    id_at: usize,
    id: u32,
}

/// Reads the head of the record at `at`; `None` for a terminator.
fn read_head(data: &[u8], at: usize, format: Format) -> Result<Option<Head>, EhError> {
    let length = data[at..].first_chunk::<4>().ok_or(EhError::Truncated(at))?;
    let length = format.get_u32(length);
    if length == 0 {
        return Ok(None);
    }
    if length == 0xffff_ffff {
        return Err(EhError::Wide(at));
    }
    let id_at = at + 4;
    let end = id_at.checked_add(length as usize);
    let end = end.filter(|&end| end <= data.len()).ok_or(EhError::Truncated(at))?;
    let id = data[id_at..end].first_chunk::<4>().ok_or(EhError::TooShort(at))?;
    Ok(Some(Head { end, id_at, id: format.get_u32(id) }))
}

impl EhFrame {
    /// Parses a section. `relocs` are its relocations in ascending order of `offset`, which gives
    /// the place of one in bytes from the section's start.
    pub fn parse<R>(
        data: &[u8],
        format: Format,
        relocs: &[R],
        offset: impl Fn(&R) -> u64,
    ) -> Result<EhFrame, EhError> {
        if u32::try_from(data.len()).is_err() || u32::try_from(relocs.len()).is_err() {
            return Err(EhError::TooLarge);
        }
        let mut relocs = Relocs { relocs, offset, next: 0 };
        let mut frames = EhFrame::default();
        let mut at = 0;
        while at < data.len() {
            let Some(head) = read_head(data, at, format)? else {
                at += 4;
                continue;
            };
            let (first_reloc, place, n_relocs) = relocs.take(at, head.end)?;
            let (offset, size) = (at as u32, (head.end - at) as u32);
            let (first_reloc, n_relocs) = (first_reloc as u32, n_relocs as u32);
            if head.id == 0 {
                let fde_encoding = parse_cie(&data[head.id_at + 4..head.end], format, at)?;
                frames.cies.push(Cie { offset, size, first_reloc, n_relocs, fde_encoding });
            } else {
                let cie = frames.find_cie(head.id_at, head.id).ok_or(EhError::NoCie(at))?;
                let begin = head.id_at + 4;
                let pointer = encoding::size(frames.cies[cie].fde_encoding, format);
                let pointer = pointer.ok_or(EhError::BadEncoding(frames.cies[cie].offset as usize))?;
                if head.end - begin < 2 * pointer {
                    return Err(EhError::TooShort(at));
                }
                if place.is_some_and(|place| place != begin as u64) {
                    return Err(EhError::BadFirstReloc(at));
                }
                let range = begin + pointer;
                if data[range] != 0
                    || !relocs.is_empty_range(data, range..range + pointer, first_reloc, n_relocs)
                {
                    frames.fdes.push(Fde { offset, size, cie: cie as u32, first_reloc, n_relocs });
                }
            }
            at = head.end;
        }
        match relocs.next {
            next if next < relocs.relocs.len() => Err(EhError::RelocOutside(next)),
            _ => Ok(frames),
        }
    }

    /// The CIE that starts `distance` bytes before the field at `id_at`.
    fn find_cie(&self, id_at: usize, distance: u32) -> Option<usize> {
        let offset = id_at.checked_sub(distance as usize)? as u32;
        match self.cies.last() {
            Some(last) if last.offset == offset => Some(self.cies.len() - 1),
            _ => self.cies.binary_search_by_key(&offset, |cie| cie.offset).ok(),
        }
    }
}

/// The encoding of function addresses in the FDEs of a CIE. `body` is what follows its id; `at` is
/// where the record starts, for errors.
fn parse_cie(body: &[u8], format: Format, at: usize) -> Result<u8, EhError> {
    let mut functions = encoding::ABSPTR;
    each_encoding(body, format, at, |letter, _, code| {
        let is_it = letter == b'R';
        functions = if is_it { code } else { functions };
        !is_it
    })?;
    Ok(functions)
}

/// Has a CIE, the bytes of a record without its length and id, say that pointers that are addresses are
/// distances from where they are. `false` if it has no place to say it of functions' addresses.
pub fn turn_to_distances(body: &mut [u8], format: Format) -> bool {
    let (mut places, mut has_functions) = (Vec::new(), false);
    let found = each_encoding(body, format, 0, |letter, place, _| {
        places.push(place);
        has_functions |= letter == b'R';
        true
    });
    // Unwinders that do not know a letter need the length of the data to pass over it.
    let is_sized = body.get(1) == Some(&b'z');
    for place in places.into_iter().filter(|_| is_sized) {
        let code = body[place];
        if code != encoding::OMIT && code & 0x70 == 0 {
            body[place] = code | encoding::PCREL;
        }
    }
    found.is_ok() && is_sized && has_functions
}

/// Visits the encodings of pointers that the body of a CIE says: the letter of the augmentation, where the
/// encoding is, and what it is, until `see` does not want more.
fn each_encoding(
    body: &[u8],
    format: Format,
    at: usize,
    mut see: impl FnMut(u8, usize, u8) -> bool,
) -> Result<(), EhError> {
    let short = EhError::TooShort(at);
    let mut reader = Reader::new(body);
    let version = reader.u8().ok_or(short)?;
    if !matches!(version, 1 | 3 | 4) {
        return Err(EhError::BadVersion(at));
    }
    let augmentation = reader.c_string().ok_or(short)?;
    if augmentation == b"eh" {
        // From GCC 2: a pointer to exception tables follows.
        reader.skip(format.word() as usize).ok_or(short)?;
    }
    if version == 4 {
        // Address size and segment selector size.
        reader.skip(2).ok_or(short)?;
    }
    reader.uleb128().ok_or(short)?;
    reader.sleb128().ok_or(short)?;
    if version == 1 { reader.skip(1) } else { reader.uleb128().map(drop) }.ok_or(short)?;
    let letters = match augmentation {
        b"" | b"eh" => return Ok(()),
        [b'z', rest @ ..] => {
            reader.uleb128().ok_or(short)?;
            rest
        }
        // Without the length of its data every letter has to be known, as it has to be by unwinders.
        letters if letters.iter().all(|letter| b"RLPSBG".contains(letter)) => letters,
        _ => return Err(EhError::BadAugmentation(at)),
    };
    for (number, letter) in letters.iter().enumerate() {
        match letter {
            b'R' | b'L' | b'P' => {
                let place = reader.position();
                let code = reader.u8().ok_or(short)?;
                if !see(*letter, place, code) {
                    break;
                }
                if *letter == b'P' && code != encoding::OMIT {
                    let size = encoding::size(code, format).ok_or(EhError::BadEncoding(at))?;
                    reader.skip(size).ok_or(short)?;
                }
            }
            // Signal frame; return addresses signed with key B; tagged stack frames.
            b'S' | b'B' | b'G' => {}
            // Its data may be of any size, so an `R` after it cannot be found.
            _ if letters[number..].contains(&b'R') => return Err(EhError::BadAugmentation(at)),
            _ => break,
        }
    }
    Ok(())
}

/// Why `.eh_frame_hdr` cannot be written: this entry's distance from the section, or that of
/// `.eh_frame`, does not fit in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HdrError {
    FrameOutOfReach,
    EntryOutOfReach { pc: Address, fde: Address },
}

impl fmt::Display for HdrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HdrError::FrameOutOfReach => write!(f, ".eh_frame is out of reach of .eh_frame_hdr"),
            HdrError::EntryOutOfReach { pc, fde } => {
                write!(f, "function at {pc:#x} or its FDE at {fde:#x} is out of reach of .eh_frame_hdr")
            }
        }
    }
}

impl std::error::Error for HdrError {}

pub const HDR_HEAD: usize = 12;
pub const HDR_ENTRY: usize = 8;

/// The size in bytes of an `.eh_frame_hdr` with room for `entries` functions.
pub fn hdr_size(entries: usize) -> u64 {
    (HDR_HEAD + HDR_ENTRY * entries) as u64
}

/// How many entries an `.eh_frame_hdr` of `size` bytes has room for.
pub fn entries_in(size: u64) -> usize {
    (size as usize).saturating_sub(HDR_HEAD) / HDR_ENTRY
}

/// Puts (function address, FDE address) pairs in the order of the table, and keeps the first FDE of
/// functions that share an address (folded ones).
pub fn sort_hdr_entries(entries: &mut Vec<(Address, Address)>, parallel: bool) {
    // Equal entries are the same in all their bytes, so any sort has one outcome.
    if !entries.is_sorted_by(|a, b| a < b) {
        *entries = sort::by(std::mem::take(entries), parallel, Ord::cmp);
    }
    entries.dedup_by_key(|entry| entry.0);
}

/// Offsets where an `.eh_frame_hdr` of `size` bytes may be cut.
pub fn hdr_borders(size: u64) -> impl Iterator<Item = u64> {
    (HDR_HEAD as u64..size).step_by(HDR_ENTRY << 12).skip(1)
}

/// Writes the bytes of `.eh_frame_hdr` from `start` on, one of [`hdr_borders`] or 0: version 1, `.eh_frame`'s
/// address pc-relative, and the search table relative to the section, ascending by function. `entries` come
/// from [`sort_hdr_entries`]; there is room for them, and what is left over is zero. Addresses are final
/// ones.
pub fn write_hdr(
    format: Format,
    hdr_addr: Address,
    eh_frame_addr: Address,
    entries: &[(Address, Address)],
    start: u64,
    out: &mut [u8],
) -> Result<(), HdrError> {
    let (head, table) = out.split_at_mut(HDR_HEAD.saturating_sub(start as usize));
    if !head.is_empty() {
        let frame = offset32(eh_frame_addr, hdr_addr.wrapping_add(4)).ok_or(HdrError::FrameOutOfReach)?;
        head[0] = 1;
        head[1] = encoding::PCREL | encoding::SDATA4;
        head[2] = encoding::UDATA4;
        head[3] = encoding::DATAREL | encoding::SDATA4;
        head[4..8].copy_from_slice(&format.u32_bytes(frame));
        head[8..12].copy_from_slice(&format.u32_bytes(entries.len() as u32));
    }
    let first = (start as usize).saturating_sub(HDR_HEAD) / HDR_ENTRY;
    let entries = entries.get(first..).unwrap_or(&[]);
    let room = table.len() / HDR_ENTRY * HDR_ENTRY;
    let (table, rest) = table.split_at_mut(room.min(HDR_ENTRY * entries.len()));
    for (place, &(pc, fde)) in table.as_chunks_mut::<HDR_ENTRY>().0.iter_mut().zip(entries) {
        let out_of_reach = HdrError::EntryOutOfReach { pc, fde };
        place[..4].copy_from_slice(&format.u32_bytes(offset32(pc, hdr_addr).ok_or(out_of_reach)?));
        place[4..].copy_from_slice(&format.u32_bytes(offset32(fde, hdr_addr).ok_or(out_of_reach)?));
    }
    rest.fill(0);
    Ok(())
}

fn offset32(to: Address, from: Address) -> Option<u32> {
    i32::try_from(to.wrapping_sub(from).cast_signed()).ok().map(i32::cast_unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: u32, body: &[u8]) -> Vec<u8> {
        let mut r = (body.len() as u32 + 4).to_le_bytes().to_vec();
        r.extend_from_slice(&id.to_le_bytes());
        r.extend_from_slice(body);
        r
    }

    /// A CIE body: version 1, alignments 1 and -8, return address in register 16.
    fn cie_body(augmentation: &[u8], data: &[u8]) -> Vec<u8> {
        let mut body = vec![1];
        body.extend_from_slice(augmentation);
        body.extend_from_slice(&[0, 1, 0x78, 16]);
        if augmentation.first() == Some(&b'z') {
            body.push(data.len() as u8);
        }
        body.extend_from_slice(data);
        body
    }

    fn parse(data: &[u8], relocs: &[u64]) -> Result<EhFrame, EhError> {
        EhFrame::parse(data, Format::NATIVE, relocs, |&r| r)
    }

    /// As GCC makes them: a CIE, an FDE, a CIE with personality, an FDE with LSDA, a terminator.
    fn sample() -> (Vec<u8>, Vec<u64>) {
        let mut data = record(0, &cie_body(b"zR", &[0x1b]));
        let fde1 = data.len();
        data.extend(record(fde1 as u32 + 4, &[1; 12]));
        let cie2 = data.len();
        data.extend(record(0, &cie_body(b"zPLR", &[0x9b, 0, 0, 0, 0, 0x1b, 0x03])));
        let fde2 = data.len();
        data.extend(record((fde2 - cie2) as u32 + 4, &[1; 16]));
        let fde3 = data.len();
        data.extend(record(fde3 as u32 + 4, &[1; 12]));
        data.extend([0; 4]);
        let personality = cie2 + 8 + 1 + 5 + 3 + 1 + 1;
        let relocs = [fde1 + 8, personality, fde2 + 8, fde2 + 17, fde3 + 8];
        (data, relocs.map(|r| r as u64).to_vec())
    }

    #[test]
    fn records_and_their_relocations() {
        let (data, relocs) = sample();
        let frames = parse(&data, &relocs).unwrap();
        let cies: Vec<_> = frames.cies.iter().map(|c| (c.first_reloc, c.n_relocs, c.fde_encoding)).collect();
        assert_eq!(cies, [(0, 0, 0x1b), (1, 1, 0x03)]);
        let fdes: Vec<_> = frames.fdes.iter().map(|f| (f.cie, f.first_reloc, f.n_relocs)).collect();
        assert_eq!(fdes, [(0, 0, 1), (1, 2, 2), (0, 4, 1)]);
        let mut spans: Vec<_> = frames.cies.iter().map(|c| (c.offset, c.size)).collect();
        spans.extend(frames.fdes.iter().map(|f| (f.offset, f.size)));
        spans.sort_unstable();
        let end = spans.iter().fold(0, |at, &(offset, size)| {
            assert_eq!(offset, at);
            offset + size
        });
        assert_eq!(end as usize, data.len() - 4);
    }

    #[test]
    fn terminators_between_records() {
        let (sample, _) = sample();
        let mut data = vec![0; 4];
        data.extend(record(0, &cie_body(b"zR", &[0x1b])));
        data.extend([0; 8]);
        let at = data.len();
        data.extend(record(at as u32, &[1; 8]));
        assert_eq!(parse(&data, &[at as u64 + 8]).unwrap().fdes[0].n_relocs, 1);
        assert_eq!(parse(&[], &[]).unwrap().fdes, []);
        assert_eq!(parse(&sample, &[]).unwrap().fdes[0].n_relocs, 0);
    }

    #[test]
    fn extended_lengths() {
        let mut data = record(0, &cie_body(b"zR", &[0x1b]));
        let at = data.len();
        data.extend([0xff; 4]);
        data.extend(12u64.to_le_bytes());
        data.extend((at as u32 + 12).to_le_bytes());
        data.extend([1; 8]);
        assert_eq!(parse(&data, &[at as u64 + 16]).unwrap_err(), EhError::Wide(at));
    }

    #[test]
    fn code_of_no_length() {
        let cie = record(0, &cie_body(b"zPLR", &[0x9b, 0, 0, 0, 0, 0x1b, 0x1b]));
        let at = cie.len();
        let fde = |range: u8, relocs: &[u64]| {
            let body = [0, 0, 0, 0, 0, range, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
            let data = [&cie[..], &record(at as u32 + 4, &body)].concat();
            let relocs: Vec<u64> = relocs.iter().map(|r| at as u64 + r).collect();
            parse(&data, &relocs).unwrap().fdes.len()
        };
        assert_eq!(fde(1, &[8]), 1);
        assert_eq!(fde(0, &[8]), 0);
        assert_eq!(fde(0, &[8, 17]), 0, "the second relocation is that of an exception table");
        assert_eq!(fde(0, &[8, 12]), 1, "the length is relocated");
    }

    #[test]
    fn augmentations() {
        let of = |augmentation: &[u8], data: &[u8]| {
            parse(&record(0, &cie_body(augmentation, data)), &[]).map(|frames| frames.cies[0].fde_encoding)
        };
        assert_eq!(of(b"", &[]), Ok(0));
        assert_eq!(of(b"z", &[]), Ok(0));
        assert_eq!(of(b"zRS", &[0x1b]), Ok(0x1b));
        assert_eq!(of(b"zSBR", &[0x0b]), Ok(0x0b));
        assert_eq!(of(b"zLPR", &[0x1b, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0x10]), Ok(0x10));
        assert_eq!(of(b"zPR", &[0xff, 0x1b]), Ok(0x1b));
        assert_eq!(of(b"zPR", &[0x50, 0, 0x1b]), Err(EhError::BadEncoding(0)));
        assert_eq!(of(b"zPR", &[0x01, 0, 0x1b]), Err(EhError::BadEncoding(0)));
        assert_eq!(of(b"zRX", &[0x1b]), Ok(0x1b), "unknown behind what matters");
        assert_eq!(of(b"zX", &[1, 2, 3]), Ok(0));
        assert_eq!(of(b"zXR", &[0x1b, 0x1b]), Err(EhError::BadAugmentation(0)));
        assert_eq!(of(b"armcc", &[]), Err(EhError::BadAugmentation(0)));
        assert_eq!(of(b"zR", &[]), Err(EhError::TooShort(0)));
        let mut version4 = cie_body(b"zR", &[0x1b]);
        version4[0] = 4;
        version4.splice(4..4, [8, 0]);
        assert_eq!(parse(&record(0, &version4), &[]).unwrap().cies[0].fde_encoding, 0x1b);
        version4[0] = 2;
        assert_eq!(parse(&record(0, &version4), &[]).unwrap_err(), EhError::BadVersion(0));
        let old = [&[1][..], b"eh\0", &[0xcc; 8], &[1, 0x78, 16]].concat();
        assert_eq!(parse(&record(0, &old), &[]).unwrap().cies[0].fde_encoding, 0);
    }

    #[test]
    fn hostile_sections() {
        let (data, relocs) = sample();
        for len in 1..data.len() {
            let _ = parse(&data[..len], &relocs);
            // Nothing is missing but the terminator.
            let whole = len == data.len() - 4;
            if !whole && !data[..len].ends_with(&[0; 4]) {
                assert!(parse(&data[..len], &relocs).is_err());
            }
        }
        for at in 0..data.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bad = data.clone();
                bad[at] = value;
                let _ = parse(&bad, &relocs);
            }
        }
        let fde1 = relocs[0] as usize - 8;
        let with_distance = |distance: u32| {
            let mut bad = data.clone();
            bad[fde1 + 4..fde1 + 8].copy_from_slice(&distance.to_le_bytes());
            parse(&bad, &relocs).unwrap_err()
        };
        assert_eq!(with_distance(4), EhError::NoCie(fde1), "itself");
        assert_eq!(with_distance(u32::MAX), EhError::NoCie(fde1));
        assert_eq!(with_distance(fde1 as u32 + 3), EhError::NoCie(fde1));
        assert_eq!(parse(&record(0, &[]), &[]).unwrap_err(), EhError::TooShort(0));
        assert_eq!(parse(&[1, 0, 0, 0, 0], &[]).unwrap_err(), EhError::TooShort(0));
        assert_eq!(parse(&[0, 0, 0], &[]).unwrap_err(), EhError::Truncated(0));
        let mut short = record(0, &cie_body(b"zR", &[0x1b]));
        let at = short.len();
        short.extend(record(at as u32 + 4, &[0; 7]));
        assert_eq!(parse(&short, &[]).unwrap_err(), EhError::TooShort(at));
    }

    #[test]
    fn misplaced_relocations() {
        let (data, relocs) = sample();
        let with = |i: usize, place: u64| {
            let mut bad = relocs.clone();
            bad[i] = place;
            parse(&data, &bad).unwrap_err()
        };
        let fde1 = relocs[0] as usize - 8;
        assert_eq!(with(0, relocs[0] + 1), EhError::BadFirstReloc(fde1));
        assert_eq!(with(3, relocs[2] - 1), EhError::UnsortedRelocs(3));
        assert_eq!(with(4, data.len() as u64), EhError::RelocOutside(4));
        assert_eq!(with(4, u64::MAX), EhError::RelocOutside(4));
        assert_eq!(with(4, data.len() as u64 - 4), EhError::RelocOutside(4), "in the terminator");
        let mut padded = vec![0; 4];
        padded.extend(record(0, &cie_body(b"zR", &[0x1b])));
        assert_eq!(parse(&padded, &[2]).unwrap_err(), EhError::RelocOutside(0));
    }

    fn at((first, second): (u64, u64)) -> (Address, Address) {
        (Address::new(first), Address::new(second))
    }

    #[test]
    fn header() {
        let mut entries = [(0x3000, 0x5100), (0x2000, 0x5000), (0x3000, 0x5200)].map(at).to_vec();
        sort_hdr_entries(&mut entries, false);
        assert_eq!(entries, [(0x2000, 0x5000), (0x3000, 0x5100)].map(at));
        let mut out = vec![0xaa; hdr_size(3) as usize];
        write_hdr(Format::NATIVE, Address::new(0x4000), Address::new(0x4f00), &entries, 0, &mut out).unwrap();
        let mut expected = vec![1, 0x1b, 0x03, 0x3b];
        for word in [0xefc, 2, -0x2000, 0x1000, -0x1000, 0x1100, 0, 0] {
            expected.extend(i32::to_le_bytes(word));
        }
        assert_eq!(out, expected);
        write_hdr(Format::NATIVE, Address::new(0x4000), Address::new(0x4000), &[], 0, &mut out).unwrap();
        assert_eq!(out[4..8], (-4i32).to_le_bytes());
    }

    #[test]
    fn search_table_in_parts() {
        let entries: Vec<_> = (0..20_000).map(|i| at((0x5000 + 16 * i, 0x4000_0000 + 24 * i))).collect();
        // Room for some that were folded.
        let size = hdr_size(entries.len() + 5);
        let mut whole = vec![0xaa; size as usize];
        write_hdr(Format::NATIVE, Address::new(0x4000), Address::new(0x4f00), &entries, 0, &mut whole)
            .unwrap();
        let mut starts = vec![0];
        starts.extend(hdr_borders(size));
        assert!(starts.len() > 3);
        for (i, &start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).map_or(size, |&end| end) as usize;
            let mut part = vec![0xaa; end - start as usize];
            write_hdr(Format::NATIVE, Address::new(0x4000), Address::new(0x4f00), &entries, start, &mut part)
                .unwrap();
            assert!(part == whole[start as usize..end]);
        }
    }

    #[test]
    fn header_out_of_reach() {
        let mut out = vec![0; hdr_size(1) as usize];
        let near = 0x1_0000_0000;
        let far = near + (1 << 31);
        let unreached = |pc, fde| HdrError::EntryOutOfReach { pc: Address::new(pc), fde: Address::new(fde) };
        assert_eq!(
            write_hdr(Format::NATIVE, Address::new(near), Address::new(far + 4), &[], 0, &mut out),
            Err(HdrError::FrameOutOfReach)
        );
        assert!(
            write_hdr(
                Format::NATIVE,
                Address::new(near),
                Address::new(near),
                &[at((far - 1, near))],
                0,
                &mut out
            )
            .is_ok()
        );
        let error = unreached(far, near);
        assert_eq!(
            write_hdr(
                Format::NATIVE,
                Address::new(near),
                Address::new(near),
                &[at((far, near))],
                0,
                &mut out
            ),
            Err(error)
        );
        let error = unreached(near, far);
        assert_eq!(
            write_hdr(
                Format::NATIVE,
                Address::new(near),
                Address::new(near),
                &[at((near, far))],
                0,
                &mut out
            ),
            Err(error)
        );
    }
}

//! `.eh_frame_hdr`, if objects have frames of other functions than before, or of such at other places: each has
//! its entries taken out and put in again, and the table is in order as a whole.

use std::path::PathBuf;

use super::{LastLink, Left, Patch, Searched, format};
use crate::address::Address;
use crate::eh_frame::{HDR_ENTRY, HDR_HEAD, entries_in, sort_hdr_entries, write_hdr};
use crate::job::Job;
use crate::relink::full_link_reason::{Changed, Why};
use crate::relink_state::rewrite_section::{Full, Missing, Of};
use crate::relink_state::rows::NONE;

/// Entries that are looked at together: a part of the table that stays in the cache.
const ENTRIES: usize = 8 << 10;

/// A function, and the record of it.
type Entry = (Address, Address);

/// Adds what the table has otherwise.
///
/// # Errors
/// Why a full link is needed.
pub fn add(job: &Job, last: &LastLink, patch: &mut Patch) -> Result<(), Why> {
    let mut searched = std::mem::take(&mut patch.searched);
    let Some(path) = searched.first().map(|(path, _)| path.clone()) else { return Ok(()) };
    let (left, common) = last.view(job)?;
    let Some(out) = common.output(b".eh_frame_hdr") else { return Ok(()) };
    let format = format(&left)?;
    let at = |bytes: &[u8]| {
        let distance = i64::from(format.get_u32(bytes).cast_signed());
        Address::new(out.address.wrapping_add_signed(distance))
    };
    let entry = |entry: &[u8; HDR_ENTRY]| -> Entry { (at(&entry[..4]), at(&entry[4..])) };
    searched.sort_unstable_by_key(|(_, one)| one.records.start);
    let owner = |entry: &Entry| {
        let number = searched.partition_point(|(_, one)| one.records.start <= entry.1).checked_sub(1)?;
        searched[number].1.records.contains(&entry.1).then_some(number)
    };
    let head = left.read(out.offset, HDR_HEAD).ok_or(Why::Image)?;
    let count = format.get_u32(&head[HDR_HEAD - 4..]) as usize;
    if count > entries_in(out.size) {
        return Err(Why::Image);
    }
    let in_parts = (0..count).step_by(ENTRIES).map(|first| {
        let size = ENTRIES.min(count - first) * HDR_ENTRY;
        left.read(out.offset + (HDR_HEAD + first * HDR_ENTRY) as u64, size)
    });
    if !has_others(in_parts, (&searched, entry, owner))? {
        return Ok(());
    }
    let size = usize::try_from(out.size).map_err(|_| Why::Image)?;
    let mut table = left.read(out.offset, size).ok_or(Why::Image)?;
    let (all, _) = table[HDR_HEAD..].as_chunks::<HDR_ENTRY>();
    let mut entries: Vec<Entry> = all[..count].iter().map(entry).collect();
    entries.retain(|entry| owner(entry).is_none());
    entries.extend(searched.iter().flat_map(|(_, one)| &one.functions));
    let unknown = |missing| Why::Object(path.clone(), Changed::Unknown(missing));
    let together = entries.len();
    sort_hdr_entries(&mut entries, false);
    // Of functions at one place the table has one, and it is not known of which others it has none.
    if entries.len() != together {
        return Err(unknown(Missing::Function));
    }
    if together > entries_in(out.size) {
        let (has, wants) = (entries_in(out.size) as u64, together as u64);
        return Err(unknown(Missing::Room(Full { input: NONE, of: Of::SearchTable, has, wants })));
    }
    write_hdr(format, Address::new(out.address), common.frames(), &entries, 0, &mut table)
        .map_err(|_| unknown(Missing::Function))?;
    patch.compare(last.image, &(out.offset, table)).map(drop).map_err(|_| Why::Image)
}

/// Whether the table, read in parts, has other entries of objects than these have.
fn has_others(
    table: impl Iterator<Item = Option<Vec<u8>>>,
    (searched, entry, owner): (
        &[(PathBuf, Searched)],
        impl Fn(&[u8; HDR_ENTRY]) -> Entry,
        impl Fn(&Entry) -> Option<usize>,
    ),
) -> Result<bool, Why> {
    let mut had: Vec<Vec<Entry>> = vec![Vec::new(); searched.len()];
    for part in table {
        let part = part.ok_or(Why::Image)?;
        for one in part.as_chunks::<HDR_ENTRY>().0.iter().map(&entry) {
            if let Some(number) = owner(&one) {
                had[number].push(one);
            }
        }
    }
    Ok(had.into_iter().zip(searched).any(|(had, (_, one))| {
        let mut has = one.functions.clone();
        has.sort_unstable();
        had != has
    }))
}

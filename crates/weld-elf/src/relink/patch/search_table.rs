//! `.eh_frame_hdr`, if objects have frames of other functions than before, or of such at other places: each has
//! its entries taken out and put in again, and the table is in order as a whole.

use super::{LastLink, Patch, Searched, format};
use crate::address::Address;
use crate::eh_frame::{HDR_ENTRY, HDR_HEAD, entries_in, sort_hdr_entries, write_hdr};
use crate::job::Job;
use crate::relink::full_link_reason::{Changed, Why};
use crate::relink_state::rewrite_section::{Full, Missing, Of};

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
    let size = usize::try_from(out.size).map_err(|_| Why::Image)?;
    let mut table = super::Left::read(&left, out.offset, size).ok_or(Why::Image)?;
    let head = table.get(..HDR_HEAD).ok_or(Why::Image)?;
    let count = format.get_u32(&head[HDR_HEAD - 4..]) as usize;
    let (all, _) = table[HDR_HEAD..].as_chunks::<HDR_ENTRY>();
    let all = all.get(..count).ok_or(Why::Image)?;
    let at = |bytes: &[u8]| {
        let distance = i64::from(format.get_u32(bytes).cast_signed());
        Address::new(out.address.wrapping_add_signed(distance))
    };
    let mut entries: Vec<Entry> = all.iter().map(|entry| (at(&entry[..4]), at(&entry[4..]))).collect();
    searched.sort_unstable_by_key(|(_, one)| one.records.start);
    let owner = |entry: &Entry| {
        let number = searched.partition_point(|(_, one)| one.records.start <= entry.1).checked_sub(1)?;
        searched[number].1.records.contains(&entry.1).then_some(number)
    };
    if !has_others(&entries, &searched, owner) {
        return Ok(());
    }
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
        return Err(unknown(Missing::Room(Full { of: Of::SearchTable, has, wants })));
    }
    write_hdr(format, Address::new(out.address), common.frames(), &entries, 0, &mut table)
        .map_err(|_| unknown(Missing::Function))?;
    patch.compare(last.image, &(out.offset, table)).map_err(|_| Why::Image)
}

/// Whether the table has other entries of objects than these have.
fn has_others(
    entries: &[Entry],
    searched: &[(std::path::PathBuf, Searched)],
    owner: impl Fn(&Entry) -> Option<usize>,
) -> bool {
    let mut had: Vec<Vec<Entry>> = vec![Vec::new(); searched.len()];
    for entry in entries {
        if let Some(number) = owner(entry) {
            had[number].push(*entry);
        }
    }
    had.into_iter().zip(searched).any(|(had, (_, one))| {
        let mut has = one.functions.clone();
        has.sort_unstable();
        had != has
    })
}

//! The words of the GOT that hold addresses of this image and to which loaders add where it is, without
//! relocations ([`crate::arch::facts::LoaderGot`]): what they hold, and how many there are.
//!
//! Code does not ask for the word of a symbol but for one with an address: that of a symbol, or the start of
//! the page of 64 KiB that something is near. Words with the same address are one. What is in them is known
//! when everything has its address, so layout is repeated until there is room; the room never gets smaller.
//! They are in the order of the addresses, so that who applies relocations finds a word by a search.

use weld_common::{par, sort};

use super::image::Image;
use crate::live::{LocalSlot, SectionOwners, is_local_slot};

/// Relocations looked at in one go.
const RUN: usize = 1 << 13;

/// What the words of the first GOT hold, ascending.
pub fn words(image: &Image, owners: &SectionOwners, parallel: bool) -> Vec<u64> {
    let all = &image.live.local_slots;
    let lists = par::runs("find addresses in the GOT", parallel, all.len(), RUN, |run| {
        let is_here = |slot: &&LocalSlot| image.is_in_first_got(owners.object(slot.section));
        let here = all[run].iter().filter(is_here);
        let mut words: Vec<u64> = here.filter_map(|slot| word(image, owners, *slot)).collect();
        words.sort_unstable();
        words.dedup();
        words
    });
    let mut words = sort::by(par::concat("join addresses in the GOT", parallel, lists), parallel, u64::cmp);
    words.dedup();
    words
}

/// What the word holds that a relocation asks for.
pub fn word(
    image: &Image,
    owners: &SectionOwners,
    LocalSlot { section, reloc, page }: LocalSlot,
) -> Option<u64> {
    let number = owners.object(section);
    let object = &image.resolved.objects[number.index()];
    let relocs = image.sections.relocs(object, number.index(), image.sections.get(section));
    let (flags, value) = image.local_word(number, relocs.get(reloc as usize)?, page)?;
    is_local_slot(&image.mode, flags).then_some(value)
}

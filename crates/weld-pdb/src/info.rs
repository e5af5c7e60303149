//! The info stream: the PDB's identity, and the names of streams.
//!
//! Facts: LLVM's documentation of the PDB info stream.

use std::ops::Range;

use weld_common::digest::UnitDigest;

use crate::codeview::{string_at, u32_at};
use crate::put::{put_u16, put_u32};

const VERSION: u32 = 2000_0404;
/// There is an IPI stream.
const FEATURE_VC140: u32 = 2014_0508;

/// Where in the stream the identity is: signature, age, GUID.
pub const IDENTITY: Range<u64> = 4..28;

/// The stream, with zeroes for the identity.
pub fn stream(named: &[(&str, u32)]) -> Vec<u8> {
    let mut out = VERSION.to_le_bytes().to_vec();
    out.resize(IDENTITY.end as usize, 0);
    let word = |out: &mut Vec<u8>, value: u32| out.extend(value.to_le_bytes());
    let mut names = Vec::new();
    let mut entries = Vec::new();
    for &(name, stream) in named {
        let pair = [names.len() as u32, stream];
        entries.push((name_hash(name), pair.iter().flat_map(|word| word.to_le_bytes()).collect()));
        names.extend(name.bytes());
        names.push(0);
    }
    word(&mut out, names.len() as u32);
    out.extend(names);
    out.extend(hash_table(entries));
    word(&mut out, 0);
    word(&mut out, FEATURE_VC140);
    out
}

/// The stream that an info stream has under a name.
pub fn named(stream: &[u8], name: &[u8]) -> Option<u32> {
    let word = |at: usize| u32_at(stream, at).ok();
    let names_at = IDENTITY.end as usize + 4;
    let names = word(names_at - 4)? as usize;
    let table = names_at + names;
    // How many entries there are, how many slots; then two sets of bits.
    let count = word(table)? as usize;
    let present = table + 8;
    let deleted = present + 4 + 4 * word(present)? as usize;
    let entries = deleted + 4 + 4 * word(deleted)? as usize;
    (0..count).find_map(|i| {
        let at = names_at + word(entries + 8 * i)? as usize;
        (string_at(stream.get(..table)?, at).ok()? == name).then(|| word(entries + 8 * i + 4))?
    })
}

/// The format's hash table, of entries with their hashes: how many there are and how many slots, which slots
/// are used, the entries in the order of slots. By open addressing; two thirds of the slots at most are used.
pub fn hash_table(entries: Vec<(u16, Vec<u8>)>) -> Vec<u8> {
    let (count, size) = (entries.len(), (entries.len() * 3 / 2 + 1).max(8));
    let mut slots = vec![None; size];
    for (hash, entry) in entries {
        let mut slot = usize::from(hash) % size;
        while slots[slot].is_some() {
            slot = (slot + 1) % size;
        }
        slots[slot] = Some(entry);
    }
    let mut present = vec![0u32; size.div_ceil(32)];
    slots
        .iter()
        .enumerate()
        .filter(|(_, slot)| slot.is_some())
        .for_each(|(i, _)| present[i / 32] |= 1 << (i % 32));
    let mut out = Vec::new();
    [count, size, present.len()].iter().for_each(|&n| out.extend((n as u32).to_le_bytes()));
    present.iter().for_each(|bits| out.extend(bits.to_le_bytes()));
    // No slot has been used before.
    out.extend([0; 4]);
    slots.into_iter().flatten().for_each(|entry| out.extend(entry));
    out
}

/// Of the hash of a name only half is used here.
pub fn name_hash(name: &str) -> u16 {
    crate::hash::name(name.as_bytes()) as u16
}

/// The identity as it is in the stream.
pub fn identity(guid: [u8; 16], age: u32) -> Vec<u8> {
    let mut out = vec![0; (IDENTITY.end - IDENTITY.start) as usize];
    // The signature, in use before there were GUIDs, is a number that differs from program to program.
    out[..4].copy_from_slice(&guid[..4]);
    put_u32(&mut out, 4, age);
    out[8..].copy_from_slice(&guid);
    out
}

/// The GUID of a PDB with this digest.
pub fn guid_of(digest: UnitDigest) -> [u8; 16] {
    let mut hash = [0; 16];
    hash.iter_mut().zip(digest.bytes()).for_each(|(byte, own)| *byte = own);
    guid_from(hash)
}

/// A GUID from a hash, marked as one that is made from data (RFC 9562, version 8).
pub fn guid_from(hash: [u8; 16]) -> [u8; 16] {
    let mut guid = hash;
    // The first three fields are little-endian numbers.
    let version = u16::from_le_bytes([guid[6], guid[7]]) & 0x0fff | 0x8000;
    put_u16(&mut guid, 6, version);
    guid[8] = guid[8] & 0x3f | 0x80;
    guid
}

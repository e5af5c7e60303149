//! What `weld explore` reads: a linked file, an image and its PDB, a map, a page. Whatever they say, the result is an error
//! or a picture in which every byte is once. The first byte says which of them the others are, or change.
#![no_main]

use std::sync::LazyLock;

use weld_explore::binary::{self, Beside};
use weld_explore::drafts::Spelling;
use weld_explore::model::Model;
use weld_explore::page::read::read as read_page;
use weld_explore::{gzip, septets};
use weld_testkit::dso::{Dso, DynSymbol};

#[path = "../../crates/weld-explore/tests/sample/mod.rs"]
mod sample;

static SAMPLE: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let (pdb, identity) = sample::pdb();
    (sample::image(&identity), pdb)
});
static LIBRARY: LazyLock<Vec<u8>> =
    LazyLock::new(|| Dso::new("so").symbol(DynSymbol::function("f")).symbol(DynSymbol::object("v", 8)).build());

fn look(file: &[u8], beside: Beside) {
    let spelling = Spelling { shown: &|name| weld_common::demangle::demangle(name), parallel: false };
    if let Ok(model) = binary::read("x", file, beside, spelling) {
        assert_eq!(model.covered(), file.len() as u64);
    }
}

/// The bytes with changes: each is a place of three bytes, a length, and what is there then.
fn changed(bytes: &[u8], mut changes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    while let Some((&[low, middle, high, len], rest)) = changes.split_first_chunk() {
        let (new, rest) = rest.split_at(rest.len().min(usize::from(len % 16)));
        changes = rest;
        let at = u32::from_le_bytes([low, middle, high, 0]) as usize % bytes.len();
        bytes.iter_mut().skip(at).zip(new).for_each(|(old, new)| *old = *new);
    }
    bytes
}

/// A page with these parts: each is a length of two bytes and what it has.
fn page(mut parts: &[u8]) -> Vec<u8> {
    let mut page = b"<!doctype html>".to_vec();
    for name in ["meta", "names", "tables", "graph"] {
        let Some((len, rest)) = parts.split_first_chunk() else { break };
        let (part, rest) = rest.split_at(rest.len().min(usize::from(u16::from_le_bytes(*len))));
        parts = rest;
        page.extend(format!("<script id=\"weld-{name}\">").bytes());
        match name {
            "meta" => page.extend(part),
            _ => septets::put(&mut page, &gzip::pack(part, &[], false)),
        }
        page.extend(b"</script>");
    }
    page
}

fn sound(model: &Model) {
    assert_eq!(model.covered(), model.about.file_size);
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&which, data)) = data.split_first() else { return };
    let (image, pdb) = &*SAMPLE;
    match which % 6 {
        0 => look(data, Beside::default()),
        1 => look(&changed(&LIBRARY, data), Beside::default()),
        2 => look(&changed(image, data), Beside { pdb: Some(pdb), ..Beside::default() }),
        3 => look(image, Beside { pdb: Some(&changed(pdb, data)), ..Beside::default() }),
        4 => look(&LIBRARY, Beside { map: Some(&String::from_utf8_lossy(data)), ..Beside::default() }),
        _ => _ = read_page(&page(data)).map(|model| sound(&model)),
    }
});

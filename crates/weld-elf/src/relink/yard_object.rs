//! The object whose sections have the yards of a link ([`crate::sections::yards`]): it is made, and the last one of all, so
//! that there are yards of all kinds whatever objects have.
//!
//! It has nothing in it but sections with some bytes, a function that does nothing, to which spare words of `.init_array`
//! point ([`crate::sections::init_array`]), and what objects say of themselves as a whole, as the first one says
//! it: notes of properties, which hold for all objects or for none, and that stacks need not be executable. It mentions
//! what assemblers mention as soon as there is a slot of the GOT, so that others may do so or not; as who does without it,
//! so that no archive is asked for it.

use weld_common::io::input::InputStore;

use crate::elf::*;
use crate::input::made::{Names, Section, begin, complete};
use crate::input::object::Headers;
use crate::options::{Options, OutputKind};
use crate::relink_state::mentions::ALWAYS_MENTIONED;
use crate::sections::init_array::{self, WORD};
use crate::sections::yards::{Kind, MOST_ALIGN};
use crate::synth::rela;

/// Bytes of a section, without its yard.
const SIZE: usize = 16;

/// The symbol of the section with the function that does nothing.
const NOTHING: u32 = 1;

/// What such an object is called.
pub const NAME: &str = "<room for new sections>";

/// The object for a link of so many ones, the first of which is `first`, with so many words of `.init_array`; `None` if that
/// is malformed.
pub fn made(
    (first, objects): (&[u8], usize),
    (options, words): (&Options, u64),
    store: &InputStore,
) -> Option<Vec<u8>> {
    let headers = Headers::of(first, store)?;
    let target = headers.facts.target;
    let format = target.format;
    let mut names = Names::default();
    let mut out = Writer::new(format);
    begin(&mut out, format);
    let mut sections = vec![Section::default()];
    for kind in Kind::ALL {
        for number in 0..kind.count(objects) {
            let section = Section {
                name: names.add(&[kind.output(), format!(".room{number}").as_bytes()]),
                kind: SHT_PROGBITS,
                flags: kind.flags(),
                align: kind.align(),
                ..Section::default()
            };
            let at = out.align(MOST_ALIGN as usize).position();
            let mut bytes = [if kind == Kind::Code { headers.facts.filler } else { 0 }; SIZE];
            if kind == Kind::Code && number == 0 {
                let nothing = headers.facts.does_nothing;
                bytes[..nothing.len()].copy_from_slice(nothing);
            }
            out.bytes(&bytes);
            sections.push(section.over(at, &out));
        }
    }
    for shdr in headers.shdrs {
        let name = headers.name(shdr);
        if matches!(name, b".note.gnu.property" | b".note.GNU-stack") {
            let section = Section {
                name: names.add(&[name]),
                kind: shdr.sh_type(),
                flags: shdr.sh_flags(),
                align: shdr.sh_addralign(),
                ..Section::default()
            };
            let at = out.align(16).position();
            out.bytes(slice(first, shdr.sh_offset(), shdr.file_size())?);
            sections.push(section.over(at, &out));
        }
    }
    // As compilers say that they have made an object.
    let comment = Section {
        name: names.add(&[b".comment"]),
        kind: SHT_PROGBITS,
        flags: SHF_MERGE | SHF_STRINGS,
        entry: 1,
        ..Section::default()
    };
    sections.push(comment.over(out.position(), &out));
    let has_words = may_change(options, format) && !headers.facts.does_nothing.is_empty();
    if has_words {
        let section = Section {
            name: names.add(&[init_array::NAME]),
            kind: SHT_INIT_ARRAY,
            flags: SHF_ALLOC | SHF_WRITE,
            align: WORD,
            ..Section::default()
        };
        let at = out.align(WORD as usize).position();
        out.bytes(&vec![0; (words * WORD) as usize]);
        sections.push(section.over(at, &out));
        let array = sections.len() as u32 - 1;
        let section = Section {
            name: names.add(&[b".rela", init_array::NAME]),
            kind: SHT_RELA,
            // The table of symbols comes next.
            link: [array + 2, array],
            align: WORD,
            ..Section::default()
        };
        let at = out.position();
        let address = headers.facts.dynamic.address;
        (0..words).for_each(|word| _ = out.record(&Rela::make(word * WORD, NOTHING, address, 0)));
        sections.push(section.over(at, &out).of_entries(format.size::<Rela>()));
    }
    let symbols = [
        Sym([0; Sym::SIZE]),
        // The function is at the start of the first section.
        Sym::make(0, STB_LOCAL << 4 | STT_SECTION, 0, 1, 0, 0),
        Sym::make(names.add(&[ALWAYS_MENTIONED]), STB_WEAK << 4 | STT_NOTYPE, 0, SHN_UNDEF, 0, 0),
    ];
    let last = sections.len() as u32 + 1;
    let table = Section {
        name: names.add(&[b".symtab"]),
        kind: SHT_SYMTAB,
        link: [last, NOTHING + 1],
        align: 8,
        ..Section::default()
    };
    let at = out.align(8).position();
    symbols.iter().for_each(|symbol| _ = out.record(symbol));
    sections.push(table.over(at, &out).of_entries(format.size::<Sym>()));
    let table = Section { name: names.add(&[b".strtab"]), kind: SHT_STRTAB, ..Section::default() };
    let at = out.position();
    out.bytes(names.bytes());
    sections.push(table.over(at, &out));
    let at = out.align(8).position();
    // The first header is all zeroes.
    out.bytes(&vec![0; format.size::<Shdr>() as usize]);
    sections.iter().skip(1).for_each(|section| section.write(&mut out));
    Some(complete(out, target, headers.header.e_flags(), at, sections.len(), last))
}

/// Whether words of `.init_array` may come and go: what the loader adds to is listed by places, or nothing is.
fn may_change(options: &Options, format: Format) -> bool {
    format.is_64() && (options.kind == OutputKind::Exec || rela::may_have_spares(options, format))
}

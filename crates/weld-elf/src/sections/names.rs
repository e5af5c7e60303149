//! Which bin an input section goes to: by default there is one for each output section's name.
//!
//! Names are matched by prefix to the output section they belong to (`layout::standard` has the table). Names
//! outside the well-known set are numbered per object while it is parsed and joined in object order
//! afterwards, which keeps the numbering independent of threads.
//!
//! Specification: gABI chapter 4 ("Special Sections"); output names as ld.lld and GNU ld assign them.

use std::collections::HashMap;

use weld_common::{par, trace};

use super::linkonce;
use super::parse::{Parser, SLICE};
use super::uses::renumber;
use super::{InputSection, Sections, is_array};
use crate::ids::*;
use crate::input::object::Object;
use crate::options::{Options, OutputKind};
use crate::sections::bins::{BINS, bin, prefixes};

/// Numbers of bins have 21 bits; the upper half numbers an object's own names.
pub(super) const LOCAL_NAME: u32 = 1 << 20;

/// Prefixes that `-z keep-text-section-prefix` keeps apart.
pub const TEXT_PREFIXES: &[&[u8]] =
    &[b".text.hot", b".text.unknown", b".text.unlikely", b".text.startup", b".text.exit", b".text.split"];

#[inline(always)]
pub fn continues(name: &[u8], prefix: &[u8]) -> bool {
    name.starts_with(prefix) && (name.len() == prefix.len() || name[prefix.len()] == b'.')
}

/// Where a section named `name` goes: the bin of a well-known name, or that of a name of its own.
#[inline]
fn choose_bin<'a>(name: &'a [u8], options: &Options) -> Result<PlacementId, &'a [u8]> {
    if options.sections.keep_text_section_prefix
        && let Some(prefix) = TEXT_PREFIXES.iter().find(|p| continues(name, p))
    {
        return Err(prefix);
    }
    match name {
        b".eh_frame" => return Ok(bin::EH_FRAME),
        b".comment" => return Ok(bin::COMMENT),
        _ => {}
    }
    let letter = name.get(1).copied().unwrap_or(0);
    if let Some((_, index)) = prefixes(letter).iter().find(|(prefix, _)| continues(name, prefix)) {
        return Ok(*index);
    }
    let name = match letter {
        b'g' => linkonce::output_name(name).unwrap_or(name),
        _ => name,
    };
    BINS.iter().position(|k| *k == name).map(|i| PlacementId(i as u32)).ok_or(name)
}

/// Names of output sections that an object (or a slice of one) has named, in the order of their numbers,
/// which begin at [`LOCAL_NAME`]; and whether the section takes no others in.
#[derive(Default)]
pub(super) struct LocalNames<'a> {
    pub(super) list: Vec<(&'a [u8], bool)>,
    /// Numbers of those that take others in.
    numbers: HashMap<&'a [u8], PlacementId>,
}

impl<'a> LocalNames<'a> {
    /// The number of an output section; a new one if it is `unique`.
    pub(super) fn add(&mut self, name: &'a [u8], unique: bool) -> PlacementId {
        let next = PlacementId(LOCAL_NAME + self.list.len() as u32);
        let number = if unique { next } else { *self.numbers.entry(name).or_insert(next) };
        if number == next {
            self.list.push((name, unique));
        }
        number
    }

    /// Takes in the names of a later slice of the object, and returns their numbers.
    pub(super) fn join(&mut self, later: LocalNames<'a>) -> Vec<PlacementId> {
        later.list.into_iter().map(|(name, unique)| self.add(name, unique)).collect()
    }
}

impl<'a> Sections<'a> {
    /// Gives one number to equal names of different objects.
    pub(super) fn join_names(&mut self, objects: &[Object<'a>], parallel: bool) {
        let stretch = trace::stretch("join section names");
        let mut by_name: HashMap<&[u8], PlacementId> = HashMap::new();
        let mut changed = Vec::new();
        let mut rest = &mut self.list[..];
        for (object, extra) in objects.iter().zip(&mut self.objects) {
            let (slots, others) = rest.split_at_mut(object.shdrs.len());
            rest = others;
            if extra.local_names.is_empty() {
                continue;
            }
            let mut number = Vec::with_capacity(extra.local_names.len());
            for (name, unique) in std::mem::take(&mut extra.local_names) {
                let next = PlacementId(self.bins.len() as u32);
                let joined = if unique { next } else { *by_name.entry(name).or_insert(next) };
                if joined == next {
                    self.bins.push(name);
                }
                number.push(joined);
            }
            renumber(&mut extra.uses, &number);
            changed.push((slots, number));
        }
        drop(stretch);
        let number = |_: usize, changed: &mut [(&mut [InputSection], Vec<PlacementId>)]| {
            for (slots, number) in changed {
                let one = |_: usize, slots: &mut [InputSection]| InputSection::renumber(slots, number);
                par::in_pieces("number names of slices", parallel, (slots, SLICE), one, |()| {});
            }
        };
        par::in_pieces("number section names", parallel, (&mut changed, OBJECTS), number, |()| {});
    }
}

/// Objects whose sections are given their names by one task.
const OBJECTS: usize = 64;

impl<'a> Parser<'a, '_> {
    #[inline(always)]
    pub(super) fn bin_of(&mut self, name: &'a [u8]) -> PlacementId {
        let named = if self.options.kind == OutputKind::Relocatable {
            // `relocatable` joins sections by more than their names.
            Ok(PlacementId(0))
        } else if continues(name, b".ctors") && self.joins_arrays() {
            Ok(bin::INIT_ARRAY)
        } else if continues(name, b".dtors") && self.joins_arrays() {
            Ok(bin::FINI_ARRAY)
        } else {
            choose_bin(name, self.options)
        };
        named.unwrap_or_else(|name| self.found.local_names.add(name, false))
    }

    /// Where a section goes that no pattern of a script matches: to an output section of its own name.
    pub(super) fn bin_of_orphan(&mut self, name: &'a [u8]) -> PlacementId {
        match BINS.iter().position(|known| *known == name) {
            Some(known) => PlacementId(known as u32),
            None => self.found.local_names.add(name, false),
        }
    }

    fn joins_arrays(&self) -> bool {
        self.options.sections.ctors_in_init_array && !is_crt_file(self.object)
    }

    /// Whether `--unique` gives the section an output section of its own.
    #[inline(always)]
    pub(super) fn is_unique(&self, name: &[u8], kind: u32) -> bool {
        let options = self.options;
        if options.kind == OutputKind::Relocatable
            || !options.sections.unique_sections && self.unique.is_empty()
        {
            return false;
        }
        // What is run through from its start to its end has to be in one piece.
        let one = [
            &b".init"[..],
            b".fini",
            b".init_array",
            b".fini_array",
            b".preinit_array",
            b".ctors",
            b".dtors",
        ];
        if is_array(kind) || name == b".eh_frame" || one.iter().any(|prefix| continues(name, prefix)) {
            return false;
        }
        let homeless = || !name.starts_with(b".debug_") && choose_bin(name, options).is_err();
        self.unique.iter().any(|glob| glob.matches(name)) || options.sections.unique_sections && homeless()
    }
}

/// `crtbegin.o` and `crtend.o` bracket `.ctors` with markers that must stay there.
fn is_crt_file(object: &Object) -> bool {
    let base = object.name.base();
    base.starts_with("crtbegin") || base.starts_with("crtend")
}

/// Whether `name` could be a C identifier, so that `__start_name` and `__stop_name` exist.
pub fn is_c_identifier(name: &[u8]) -> bool {
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    !name.is_empty() && !name[0].is_ascii_digit() && name.iter().all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_numbers_of_well_known_ones() {
        assert_eq!(BINS[bin::COMMENT.index()], b".comment");
        let options = Options::default();
        for (number, name) in BINS.iter().enumerate() {
            assert_eq!(choose_bin(name, &options), Ok(PlacementId(number as u32)));
        }
        for letter in 0..=255 {
            for (prefix, number) in prefixes(letter) {
                assert_eq!((prefix[1], BINS[number.index()]), (letter, *prefix));
                let longer = [prefix, &b".x"[..]].concat();
                assert_eq!(choose_bin(&longer, &options), Ok(*number));
            }
        }
        assert_eq!(choose_bin(b".textual", &options), Err(&b".textual"[..]));
        assert_eq!(choose_bin(b".data.relics", &options), Ok(PlacementId(2)));
        assert_eq!(choose_bin(b"", &options), Err(&b""[..]));
    }

    #[test]
    fn names_of_slices_are_joined() {
        let mut all = LocalNames::default();
        assert_eq!(
            [all.add(b"a", false), all.add(b"b", true)],
            [LOCAL_NAME, LOCAL_NAME + 1].map(PlacementId)
        );
        let mut later = LocalNames::default();
        for (name, unique) in [(&b"b"[..], false), (b"b", true), (b"a", false)] {
            later.add(name, unique);
        }
        assert_eq!(all.join(later), [2, 3, 0].map(|own| PlacementId(LOCAL_NAME + own)));
        assert_eq!(all.list.len(), 4);
    }
}

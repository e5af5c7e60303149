//! Which output section an input section goes to, and one number for each output section's name.
//!
//! Names are matched by prefix to the output section they belong to. Names outside the well-known set
//! are numbered per object while it is parsed and joined in object order afterwards, which keeps the
//! numbering independent of threads.
//!
//! Specification: gABI chapter 4 ("Special Sections"); output names as ld.lld and GNU ld assign them.

use std::collections::HashMap;

use super::parse::Parser;
use super::{Sections, is_array};
use crate::input::object::Object;
use crate::options::{Options, OutputKind};

/// Output section numbers have 21 bits; the upper half numbers an object's own names.
pub(super) const LOCAL_NAME: u32 = 1 << 20;

/// Names known beforehand, in no meaningful order. A name also takes the sections that continue it
/// after a dot.
pub(super) const WELL_KNOWN: &[&[u8]] = &[
    b".text",
    b".rodata",
    b".data",
    b".bss",
    b".data.rel.ro",
    b".bss.rel.ro",
    b".init_array",
    b".fini_array",
    b".preinit_array",
    b".tdata",
    b".tbss",
    b".eh_frame",
    b".gcc_except_table",
    b".init",
    b".fini",
    b".ctors",
    b".dtors",
    b".comment",
    b".debug_info",
    b".debug_abbrev",
    b".debug_line",
    b".debug_str",
    b".debug_line_str",
    b".debug_ranges",
    b".debug_rnglists",
    b".debug_loc",
    b".debug_loclists",
    b".debug_aranges",
    b".debug_str_offsets",
    b".debug_addr",
    b".debug_gnu_pubnames",
    b".debug_gnu_pubtypes",
    b".debug_names",
    b".ldata",
    b".lrodata",
    b".lbss",
    b".ltext",
];

/// Index of `.comment` in the well-known names.
pub const COMMENT: u32 = 17;

/// Sections that swallow `NAME.anything`, longest prefixes first.
const PREFIXES: &[(&[u8], u32)] = &[
    (b".data.rel.ro", 4),
    (b".bss.rel.ro", 5),
    (b".text", 0),
    (b".rodata", 1),
    (b".data", 2),
    (b".bss", 3),
    (b".init_array", 6),
    (b".fini_array", 7),
    (b".tdata", 9),
    (b".tbss", 10),
    (b".gcc_except_table", 12),
    (b".ctors", 15),
    (b".dtors", 16),
    (b".ldata", 33),
    (b".lrodata", 34),
    (b".lbss", 35),
    (b".ltext", 36),
];

/// Prefixes that `-z keep-text-section-prefix` keeps apart.
const TEXT_PREFIXES: &[&[u8]] =
    &[b".text.hot", b".text.unknown", b".text.unlikely", b".text.startup", b".text.exit", b".text.split"];

#[inline(always)]
pub(super) fn continues(name: &[u8], prefix: &[u8]) -> bool {
    name.starts_with(prefix) && (name.len() == prefix.len() || name[prefix.len()] == b'.')
}

/// Where a section named `name` goes: the index of a well-known name, or a name of its own.
#[inline]
fn output_name<'a>(name: &'a [u8], options: &Options) -> Result<u32, &'a [u8]> {
    if name.starts_with(b".debug_") || name == b".eh_frame" || name == b".comment" {
        return WELL_KNOWN.iter().position(|k| *k == name).map(|i| i as u32).ok_or(name);
    }
    if options.keep_text_section_prefix
        && let Some(prefix) = TEXT_PREFIXES.iter().find(|p| continues(name, p))
    {
        return Err(prefix);
    }
    if let Some((_, index)) = PREFIXES.iter().find(|(prefix, _)| continues(name, prefix)) {
        return Ok(*index);
    }
    WELL_KNOWN.iter().position(|k| *k == name).map(|i| i as u32).ok_or(name)
}

impl<'a> Sections<'a> {
    /// Gives one number to equal names of different objects.
    pub(super) fn join_names(&mut self, objects: &[Object<'a>]) {
        let mut by_name: HashMap<&[u8], u32> = HashMap::new();
        for (object, extra) in objects.iter().zip(&mut self.objects) {
            if extra.local_names.is_empty() {
                continue;
            }
            let mut number = Vec::new();
            for (name, unique) in std::mem::take(&mut extra.local_names) {
                let next = self.names.len() as u32;
                let joined = if unique { next } else { *by_name.entry(name).or_insert(next) };
                if joined == next {
                    self.names.push(name);
                }
                number.push(joined);
            }
            let base = object.section_base as usize;
            for section in &mut self.list[base..base + object.shdrs.len()] {
                if section.out() >= LOCAL_NAME {
                    section.set_out(number[(section.out() - LOCAL_NAME) as usize]);
                }
            }
            for used in extra.uses.iter_mut().filter(|u| u.out >= LOCAL_NAME) {
                used.out = number[(used.out - LOCAL_NAME) as usize];
            }
        }
    }
}

impl<'a> Parser<'a, '_> {
    pub(super) fn output_number(&mut self, name: &'a [u8], local_names: &mut HashMap<&'a [u8], u32>) -> u32 {
        let named = if self.options.kind == OutputKind::Relocatable {
            // `relocatable` joins sections by more than their names.
            Ok(0)
        } else if continues(name, b".ctors") && !is_crt_file(self.object) {
            Ok(6)
        } else if continues(name, b".dtors") && !is_crt_file(self.object) {
            Ok(7)
        } else {
            output_name(name, self.options)
        };
        named.unwrap_or_else(|name| match local_names.get(name) {
            Some(number) => *number,
            None => {
                let number = self.new_output(name, false);
                local_names.insert(name, number);
                number
            }
        })
    }

    /// A number for an output section that the object names first, or that is `unique`.
    pub(super) fn new_output(&mut self, name: &'a [u8], unique: bool) -> u32 {
        self.extra.local_names.push((name, unique));
        LOCAL_NAME + self.extra.local_names.len() as u32 - 1
    }

    /// Whether `--unique` gives the section an output section of its own.
    pub(super) fn is_unique(&self, name: &[u8], kind: u32) -> bool {
        let options = self.options;
        if options.kind == OutputKind::Relocatable || !options.unique_sections && self.unique.is_empty() {
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
        let homeless = || !name.starts_with(b".debug_") && output_name(name, options).is_err();
        self.unique.iter().any(|glob| glob.matches(name)) || options.unique_sections && homeless()
    }
}

/// `crtbegin.o` and `crtend.o` bracket `.ctors` with markers that must stay there.
fn is_crt_file(object: &Object) -> bool {
    let base = object.name.base();
    base.starts_with("crtbegin") || base.starts_with("crtend")
}

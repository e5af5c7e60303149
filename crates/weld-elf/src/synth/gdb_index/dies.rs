//! The names of a unit, from its entries: for units whose compiler did not list them.
//!
//! What is named here is what GDB's own index names: types that are complete, functions and variables (not
//! those that are only declared, but for variables of other units), enumerators, namespaces and aliases of
//! them, each with the scopes around it. Bodies of functions are passed over. A function or variable that is
//! defined apart from its declaration has its name and scope from there.
//!
//! This visits every entry of a unit, so it is the part of the index whose time counts where names are not
//! listed. Budget: about 15 instructions for an entry that is passed over, 200 for one that is named.
//!
//! Specification: DWARF 5, sections 2.13 (declarations), 3.3 (functions), 3.2.2 (namespaces), 4.1
//! (variables), 5 (types).

use super::abbrev::{Abbreviation, Abbreviations, Attribute, tag};
use super::names::what;
use super::scopes::{Found, Leaf, NOWHERE, Scopes};
use super::unit::Unit;
use crate::synth::debug_info::dwarf::{Cursor, Extent, Kind, Malformed, Pointer, Source, extent, form};

/// The names of one unit.
#[derive(Default)]
pub struct Names<'a> {
    pub scopes: Scopes,
    pub list: Vec<Found<'a>>,
}

/// How many entries that stand for another one are followed.
const LONGEST_CHAIN: usize = 8;

/// What a language has to say about names.
#[derive(Clone, Copy)]
struct Language {
    /// What is between the names of scopes; empty if names stand alone.
    separator: &'static [u8],
    /// Types and enumerators are known in the whole program.
    has_global_types: bool,
    /// Types inside types do not belong to them.
    is_flat: bool,
}

impl Language {
    /// By `DW_LANG_*`.
    fn of(number: u64) -> Language {
        // C++ of all years, and Rust.
        let has_global_types = matches!(number, 0x04 | 0x19 | 0x1a | 0x1c | 0x21 | 0x2a | 0x2b | 0x3a);
        let separator: &[u8] = match number {
            _ if has_global_types => b"::",
            // D and Go.
            0x13 | 0x16 => b".",
            _ => b"",
        };
        // C of all years.
        let is_flat = matches!(number, 0x01 | 0x02 | 0x0c | 0x1d | 0x2c | 0x3e);
        Language { separator, has_global_types, is_flat }
    }
}

/// Finds the names of `unit`, whose abbreviations are `abbreviations`, and puts them into `names`, which is
/// emptied.
///
/// # Errors
/// If an entry makes no sense.
pub fn names<'a>(
    source: &impl Source<'a>,
    unit: &Unit,
    abbreviations: &Abbreviations,
    names: &mut Names<'a>,
) -> Result<(), Malformed> {
    names.list.clear();
    if !unit.has_children {
        return Ok(());
    }
    let strings = |kind| source.bytes(source.first(kind)).len() as u64;
    names.scopes.clear(16 * (strings(Kind::Str) + strings(Kind::LineStr) + unit.header.length) + 4096);
    let mut walk = Walk {
        source,
        unit,
        abbreviations,
        language: Language::of(unit.language),
        near: 0,
        near_strings: 0,
        names,
        marks: vec![(unit.children, NOWHERE)],
        open: vec![NOWHERE],
        later: Vec::new(),
        room: LONGEST_NAMES * unit.header.length + 4096,
    };
    walk.run()?;
    walk.name_later()
}

/// What an entry says.
#[derive(Clone, Copy, Default)]
struct Entry {
    tag: u16,
    has_children: bool,
    /// Form and offset of the name.
    name: Option<(u16, usize)>,
    /// There is an entry that this one stands for, or belongs to,
    has_origin: bool,
    /// and it is in the same unit, at this offset of the section.
    origin: Option<u64>,
    is_declaration: bool,
    is_external: bool,
    is_enum_class: bool,
    /// Where the entry is that follows those below this one.
    sibling: Option<u64>,
}

/// What is known of an entry after those that it stands for have been asked.
struct Whole<'a> {
    leaf: Leaf<'a>,
    /// Of the name with its scope.
    hash: u64,
    scope: u32,
    is_external: bool,
    is_enum_class: bool,
}

struct Walk<'w, 'a, S> {
    source: &'w S,
    unit: &'w Unit,
    abbreviations: &'w Abbreviations,
    language: Language,
    /// For [`Source::relocated`]: in the unit's section, and in `.debug_str_offsets`.
    near: usize,
    near_strings: usize,
    names: &'w mut Names<'a>,
    /// From this offset on, entries are in this scope; ascending.
    marks: Vec<(u64, u32)>,
    /// The scopes around the next entry. All its parents are there.
    open: Vec<u32>,
    /// Entries whose name is that of one after them, and their scopes.
    later: Vec<(Entry, u32)>,
    /// How many bytes names, and entries that others stand for, may still have.
    room: u64,
}

/// Names of a unit have no more bytes in all for each byte of the unit, together with the entries that others
/// stand for, each as often as it is read: no object makes an index that is larger than it is itself by much
/// more, or takes much more time.
const LONGEST_NAMES: u64 = 256;

const CUT_OFF: &str = "entry is cut off, refers to what is not there or has too long a name";

impl<'a, S: Source<'a>> Walk<'_, 'a, S> {
    fn run(&mut self) -> Result<(), Malformed> {
        let mut cursor = self.unit.header.cursor(self.source, self.unit.children);
        while cursor.at < cursor.bytes.len() {
            let start = cursor;
            let code = cursor.uleb().ok_or_else(|| start.wrong(CUT_OFF))?;
            if code == 0 {
                self.open.pop();
                let Some(&scope) = self.open.last() else { return Ok(()) };
                self.marks.push((cursor.at as u64, scope));
                continue;
            }
            let abbreviation = self.abbreviations.get(code);
            let abbreviation = abbreviation.ok_or_else(|| start.wrong("entry has no abbreviation"))?;
            if !abbreviation.is_indexed {
                self.pass(&mut cursor, abbreviation).ok_or_else(|| cursor.wrong(CUT_OFF))?;
                continue;
            }
            let entry = self.read(&mut cursor, abbreviation).ok_or_else(|| cursor.wrong(CUT_OFF))?;
            let below = self.visit(&entry, cursor.at as u64).ok_or_else(|| start.wrong(CUT_OFF))?;
            if !entry.has_children {
                continue;
            }
            match below {
                Some(scope) => {
                    self.marks.push((cursor.at as u64, scope));
                    self.open.push(scope);
                }
                None => self.pass_below(&mut cursor, entry.sibling).ok_or_else(|| cursor.wrong(CUT_OFF))?,
            }
        }
        Ok(())
    }

    /// Reads the attributes of an entry; the cursor is after its code.
    fn read(&self, cursor: &mut Cursor, abbreviation: &Abbreviation) -> Option<Entry> {
        let encoding = self.unit.header.encoding;
        let (tag, has_children) = (abbreviation.tag, abbreviation.has_children);
        let mut entry = Entry { tag, has_children, ..Entry::default() };
        for step in self.abbreviations.steps(abbreviation) {
            cursor.skip(step.skip as usize)?;
            let (mut form, mut value) = (step.form, *cursor);
            cursor.skip_extent(step.extent, encoding)?;
            if form == form::INDIRECT {
                form = value.indirect_form()?;
            }
            let flag = |value: &mut Cursor| Some(value.constant(form, step.implicit, encoding)? != 0);
            match step.attribute {
                Attribute::Name => entry.name = Some((form, value.at)),
                Attribute::Declaration => entry.is_declaration = flag(&mut value)?,
                Attribute::External => entry.is_external = flag(&mut value)?,
                Attribute::EnumClass => entry.is_enum_class = flag(&mut value)?,
                Attribute::Origin => {
                    entry.has_origin = true;
                    entry.origin = self.reference(form, &mut value)?;
                }
                Attribute::Sibling => {
                    entry.sibling = self.reference(form, &mut value)?.filter(|&at| at > cursor.at as u64);
                }
                _ => {}
            }
        }
        cursor.skip(abbreviation.rest as usize)?;
        Some(entry)
    }

    /// The entry that a value refers to, if it is in this unit.
    fn reference(&self, form: u16, value: &mut Cursor) -> Option<Option<u64>> {
        let header = &self.unit.header;
        let at = match form {
            form::REF1 | form::REF2 | form::REF4 | form::REF8 | form::REF_UDATA => {
                let offset = value.constant(form, 0, header.encoding)?;
                header.place.offset.checked_add(offset)?
            }
            form::REF_ADDR => {
                let Some(Extent::Fixed(size)) = extent(form, header.encoding) else { return None };
                let pointer = value.pointer(self.source, size, &mut 0)?;
                if pointer.section != 0 && pointer.section != header.place.section {
                    return Some(None);
                }
                pointer.offset
            }
            _ => return Some(None),
        };
        let unit = header.entries..header.place.offset + header.length;
        Some(unit.contains(&at).then_some(at))
    }

    /// Names an entry. Returns the scope of the entries below it if they are to be visited. `here` is where
    /// the next entry begins.
    fn visit(&mut self, entry: &Entry, here: u64) -> Option<Option<u32>> {
        let around = self.open.last().copied().unwrap_or_default();
        // A variable of another unit has to be known by its type; the linker knows where it is.
        let is_declared = entry.is_declaration && !(entry.tag == tag::VARIABLE && entry.is_external);
        let is_type = matches!(
            entry.tag,
            tag::CLASS_TYPE | tag::STRUCTURE_TYPE | tag::UNION_TYPE | tag::INTERFACE_TYPE
        );
        if is_declared && !(is_type && entry.has_children) {
            return Some(None);
        }
        let Some(whole) = self.whole(entry, around, here)? else {
            // Enumerators are in the scope around a type without a name.
            return Some((entry.tag == tag::ENUMERATION_TYPE).then_some(around));
        };
        if is_declared {
            // Its name was read all the same.
            self.pay(whole.leaf.size())?;
        } else {
            let global_type = self.language.has_global_types
                && (is_type || matches!(entry.tag, tag::ENUMERATION_TYPE | tag::ENUMERATOR | tag::NAMESPACE));
            self.add(&whole, what(entry.tag, whole.is_external || global_type))?;
        }
        if !entry.has_children {
            return Some(None);
        }
        let is_scope = match entry.tag {
            tag::ENUMERATION_TYPE if !whole.is_enum_class => return Some(Some(whole.scope)),
            tag::NAMESPACE | tag::MODULE | tag::ENUMERATION_TYPE => true,
            _ => is_type && !self.language.is_flat,
        };
        Some(if is_scope { Some(self.scope(whole.scope, whole.leaf)?) } else { None })
    }

    /// Lists a name.
    fn add(&mut self, whole: &Whole<'a>, what: u8) -> Option<()> {
        let &Whole { hash, scope, leaf, .. } = whole;
        self.pay(self.names.scopes.get(scope).len() + leaf.size())?;
        self.names.list.push(Found { hash, scope, leaf, what });
        Some(())
    }

    /// Counts bytes that were read, which may be read more than once.
    fn pay(&mut self, bytes: usize) -> Option<()> {
        self.room = self.room.checked_sub(bytes as u64)?;
        Some(())
    }

    /// What an entry and those that it stands for say together. `None` inside if it has no name, or if that
    /// is found later: `here` is where this entry ends.
    fn whole(&mut self, entry: &Entry, around: u32, here: u64) -> Option<Option<Whole<'a>>> {
        let mut all = *entry;
        let mut scope = around;
        let mut next = entry.origin;
        for _ in 0..LONGEST_CHAIN {
            let wanted = all.name.is_none() || scope == NOWHERE && !self.language.is_flat;
            let Some(at) = next.filter(|_| wanted) else { break };
            if at >= here {
                self.later.push((*entry, around));
                return Some(None);
            }
            if scope == NOWHERE {
                let before = self.marks.partition_point(|mark| mark.0 <= at);
                scope = before.checked_sub(1).map_or(NOWHERE, |i| self.marks[i].1);
            }
            let mut cursor = self.unit.header.cursor(self.source, at);
            let code = cursor.uleb()?;
            let origin = self.read(&mut cursor, self.abbreviations.get(code)?)?;
            self.pay(cursor.at - at as usize)?;
            all.name = all.name.or(origin.name);
            all.is_external |= origin.is_external;
            all.is_enum_class |= origin.is_enum_class;
            next = origin.origin;
        }
        let leaf = match all.name {
            Some((form, at)) => self.leaf(form, at, scope)?,
            None if entry.tag == tag::NAMESPACE => {
                const ANONYMOUS: &[u8] = b"(anonymous namespace)";
                Some((Leaf::InFile(ANONYMOUS), self.names.scopes.prefix(scope).and(ANONYMOUS).hash()))
            }
            None => None,
        };
        let Entry { is_external, is_enum_class, .. } = all;
        Some(leaf.map(|(leaf, hash)| Whole { leaf, hash, scope, is_external, is_enum_class }))
    }

    /// Names the entries that had to wait.
    fn name_later(&mut self) -> Result<(), Malformed> {
        for (entry, around) in std::mem::take(&mut self.later) {
            let name = self.whole(&entry, around, u64::MAX);
            let place = self.unit.header.place;
            let wrong = || Malformed::new(place.section, place.offset as usize, CUT_OFF);
            if let Some(whole) = name.ok_or_else(wrong)? {
                let global = self.language.has_global_types
                    && entry.tag != tag::SUBPROGRAM
                    && entry.tag != tag::VARIABLE;
                self.add(&whole, what(entry.tag, whole.is_external || global)).ok_or_else(wrong)?;
            }
        }
        Ok(())
    }

    /// The text of a name whose value is at `at`, and the hash of it after `scope`; `None` inside if it is in
    /// no file of this link, or empty.
    fn leaf(&mut self, form: u16, at: usize, scope: u32) -> Option<Option<(Leaf<'a>, u64)>> {
        let encoding = self.unit.header.encoding;
        let mut value = self.unit.header.cursor(self.source, at as u64);
        let (kind, pointer) = match form {
            form::STRING => (Kind::Info, Pointer { section: value.section, offset: at as u64 }),
            form::STRP => (Kind::Str, value.pointer(self.source, encoding.offset, &mut self.near)?),
            form::LINE_STRP => (Kind::LineStr, value.pointer(self.source, encoding.offset, &mut self.near)?),
            form::STRX | form::STRX1..=form::STRX4 | form::GNU_STR_INDEX => {
                let index = value.constant(form, 0, encoding)?;
                let base = self.unit.str_offsets.unwrap_or(encoding.first_table());
                let offset = index.checked_mul(u64::from(encoding.offset))?;
                let field = self.unit.table(self.source, Kind::StrOffsets, base, offset)?;
                let mut field = Cursor::new(self.source, field);
                (Kind::Str, field.pointer(self.source, encoding.offset, &mut self.near_strings)?)
            }
            _ => return Some(None),
        };
        let section = if pointer.section == 0 { self.source.first(kind) } else { pointer.section };
        let start = usize::try_from(pointer.offset).ok()?;
        let tail = self.source.bytes(section).get(start..)?;
        let (length, hash) = self.names.scopes.prefix(scope).hash_until_nul(tail)?;
        if length == 0 {
            return Some(None);
        }
        let leaf = match self.source.lasting(section, start..start + length) {
            Some(leaf) => Leaf::InFile(leaf),
            None => self.names.scopes.copy(&tail[..length])?,
        };
        Some(Some((leaf, hash)))
    }

    /// The scope of what is inside the entry called `leaf`, which itself is in `around`.
    fn scope(&mut self, around: u32, leaf: Leaf<'a>) -> Option<u32> {
        match self.language.separator {
            [] => Some(NOWHERE),
            separator => self.names.scopes.add(around, leaf, separator),
        }
    }

    /// Passes over an entry and all that are below it; the cursor is after its code.
    fn pass(&self, cursor: &mut Cursor, abbreviation: &Abbreviation) -> Option<()> {
        let sibling = self.pass_one(cursor, abbreviation)?;
        if abbreviation.has_children { self.pass_below(cursor, sibling) } else { Some(()) }
    }

    /// Passes over the attributes of an entry. Returns where the entry is that follows those below it, if it
    /// says so.
    #[inline]
    fn pass_one(&self, cursor: &mut Cursor, abbreviation: &Abbreviation) -> Option<Option<u64>> {
        let jumps = abbreviation.has_sibling && abbreviation.has_children;
        if abbreviation.fixed != u32::MAX && !jumps {
            cursor.skip(abbreviation.fixed as usize)?;
            return Some(None);
        }
        let mut sibling = None;
        for step in self.abbreviations.steps(abbreviation) {
            cursor.skip(step.skip as usize)?;
            let mut value = *cursor;
            cursor.skip_extent(step.extent, self.unit.header.encoding)?;
            if step.attribute == Attribute::Sibling && jumps {
                sibling = self.reference(step.form, &mut value)?;
            }
        }
        cursor.skip(abbreviation.rest as usize)?;
        Some(sibling.filter(|&at| at > cursor.at as u64))
    }

    /// Passes over all entries below one.
    fn pass_below(&self, cursor: &mut Cursor, sibling: Option<u64>) -> Option<()> {
        if let Some(at) = sibling {
            cursor.at = at as usize;
            return Some(());
        }
        let mut depth = 1usize;
        while depth > 0 && cursor.at < cursor.bytes.len() {
            let code = cursor.uleb()?;
            if code == 0 {
                depth -= 1;
                continue;
            }
            let abbreviation = self.abbreviations.get(code)?;
            let sibling = self.pass_one(cursor, abbreviation)?;
            match sibling {
                Some(at) => cursor.at = at as usize,
                None => depth += usize::from(abbreviation.has_children),
            }
        }
        Some(())
    }
}

/// What an entry's name stands for, as in [`super::pubnames`].
fn what(tag: u16, is_global: bool) -> u8 {
    let kind = match tag {
        tag::SUBPROGRAM | tag::ENTRY_POINT => what::FUNCTION,
        tag::VARIABLE | tag::CONSTANT | tag::ENUMERATOR => what::VARIABLE,
        tag::MODULE => what::OTHER,
        _ => what::TYPE,
    };
    if is_global { kind } else { kind | what::STATIC }
}

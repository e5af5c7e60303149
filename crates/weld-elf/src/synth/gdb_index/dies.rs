//! The names of a unit, from its entries: for units whose compiler did not list them.
//!
//! What is named here is what GDB's own index names: types that are complete, functions and variables (not those that are
//! only declared, but for variables of other units), enumerators, namespaces and aliases of them, each with the scopes around it. Bodies of
//! functions are passed over. A function or variable that is defined apart from its declaration has its name and
//! scope from there.
//!
//! This visits every entry of a unit, so it is the part of the index whose time counts where names are not
//! listed. Budget: about 15 instructions for an entry that is passed over, 200 for one that is named.
//!
//! Specification: DWARF 5, sections 2.13 (declarations), 3.3 (functions), 3.2.2 (namespaces), 4.1 (variables), 5 (types).

use super::abbrev::{Abbreviation, Abbreviations, Attribute, tag};
use super::dwarf::{Cursor, Extent, Kind, Malformed, Pointer, Source, extent, form};
use super::names::what;
use super::unit::Unit;

/// A name, in two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// What comes before it (`ns::`): start and end in [`Names::text`].
    pub scope: (u32, u32),
    pub leaf: Leaf<'a>,
    /// What it names, as in [`super::pubnames`].
    pub what: u8,
}

/// Where the text of a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf<'a> {
    InPlace(&'a [u8]),
    /// Start and end in [`Names::text`].
    Copied(u32, u32),
}

/// The names of one unit.
#[derive(Default)]
pub struct Names<'a> {
    pub text: Vec<u8>,
    pub list: Vec<Named<'a>>,
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

/// Finds the names of `unit`, whose abbreviations are `abbreviations`, and puts them into `names`, which is emptied.
///
/// # Errors
/// If an entry makes no sense.
pub fn names<'a>(
    source: &impl Source<'a>,
    unit: &Unit,
    abbreviations: &Abbreviations,
    names: &mut Names<'a>,
) -> Result<(), Malformed> {
    names.text.clear();
    names.list.clear();
    if !unit.has_children {
        return Ok(());
    }
    let strings = |kind| source.bytes(source.first(kind)).len() as u64;
    let room = 16 * (strings(Kind::Str) + strings(Kind::LineStr) + unit.header.length) + 4096;
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
        room: room.min(u64::from(u32::MAX)) as usize,
    };
    walk.run()?;
    walk.name_later()
}

/// The scope that entries are in: start and end of its text, which ends in the separator.
type Scope = (u32, u32);

/// The scope of entries that are in none.
const NOWHERE: Scope = (0, 0);

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
    marks: Vec<(u64, Scope)>,
    /// The scopes around the next entry. All its parents are there.
    open: Vec<Scope>,
    /// Entries whose name is that of one behind them, and their scopes.
    later: Vec<(Entry, Scope)>,
    /// How many bytes of text there may be.
    room: usize,
}

const CUT_OFF: &str = "entry is cut off or refers to what is not there";

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

    /// Reads the attributes of an entry; the cursor is behind its code.
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

    /// Names an entry. Returns the scope of the entries below it if they are to be visited. `here` is where the next
    /// entry begins.
    fn visit(&mut self, entry: &Entry, here: u64) -> Option<Option<Scope>> {
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
        let Some((leaf, scope, is_external, is_enum_class)) = self.whole(entry, around, here)? else {
            // Enumerators are in the scope around a type without a name.
            return Some((entry.tag == tag::ENUMERATION_TYPE).then_some(around));
        };
        if !is_declared {
            let global_type = self.language.has_global_types
                && (is_type || matches!(entry.tag, tag::ENUMERATION_TYPE | tag::ENUMERATOR | tag::NAMESPACE));
            self.names.list.push(Named { scope, leaf, what: what(entry.tag, is_external || global_type) });
        }
        if !entry.has_children {
            return Some(None);
        }
        Some(match entry.tag {
            tag::ENUMERATION_TYPE if !is_enum_class => Some(scope),
            tag::NAMESPACE | tag::MODULE | tag::ENUMERATION_TYPE => Some(self.scope(scope, leaf)?),
            _ if is_type && !self.language.is_flat => Some(self.scope(scope, leaf)?),
            _ => None,
        })
    }

    /// The name of an entry, its scope, whether it is external and whether an `enum class`, all after entries that it stands for
    /// have been asked. `None` inside if it has no name, or if that is found later: `here` is where this entry ends.
    #[allow(clippy::type_complexity)]
    fn whole(
        &mut self,
        entry: &Entry,
        around: Scope,
        here: u64,
    ) -> Option<Option<(Leaf<'a>, Scope, bool, bool)>> {
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
            all.name = all.name.or(origin.name);
            all.is_external |= origin.is_external;
            all.is_enum_class |= origin.is_enum_class;
            next = origin.origin;
        }
        let leaf = match all.name {
            Some((form, at)) => self.leaf(form, at)?,
            None if entry.tag == tag::NAMESPACE => Some(Leaf::InPlace(b"(anonymous namespace)")),
            None => None,
        };
        Some(leaf.map(|leaf| (leaf, scope, all.is_external, all.is_enum_class)))
    }

    /// Names the entries that had to wait.
    fn name_later(&mut self) -> Result<(), Malformed> {
        for (entry, around) in std::mem::take(&mut self.later) {
            let name = self.whole(&entry, around, u64::MAX);
            let header = &self.unit.header;
            let wrong = || Malformed::new(header.place.section, header.place.offset as usize, CUT_OFF);
            if let Some((leaf, scope, is_external, _)) = name.ok_or_else(wrong)? {
                let global = self.language.has_global_types
                    && entry.tag != tag::SUBPROGRAM
                    && entry.tag != tag::VARIABLE;
                self.names.list.push(Named { scope, leaf, what: what(entry.tag, is_external || global) });
            }
        }
        Ok(())
    }

    /// The text of a name whose value is at `at`; `None` inside if it is in no file of this link, or empty.
    fn leaf(&mut self, form: u16, at: usize) -> Option<Option<Leaf<'a>>> {
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
        let length = memchr::memchr(0, tail)?;
        if length == 0 {
            return Some(None);
        }
        if let Some(text) = self.source.lasting(section, start..start + length) {
            return Some(Some(Leaf::InPlace(text)));
        }
        let from = self.names.text.len();
        self.make_room(length)?;
        self.names.text.extend_from_slice(&tail[..length]);
        Some(Some(Leaf::Copied(from as u32, (from + length) as u32)))
    }

    fn make_room(&mut self, bytes: usize) -> Option<()> {
        (self.names.text.len() + bytes <= self.room).then_some(())
    }

    /// The scope of what is inside the entry called `leaf`, which itself is in `around`.
    fn scope(&mut self, around: Scope, leaf: Leaf<'a>) -> Option<Scope> {
        if self.language.separator.is_empty() {
            return Some(NOWHERE);
        }
        let range = |(start, end): Scope| start as usize..end as usize;
        let length = match leaf {
            Leaf::InPlace(text) => text.len(),
            Leaf::Copied(start, end) => (end - start) as usize,
        };
        self.make_room(range(around).len() + length + self.language.separator.len())?;
        let text = &mut self.names.text;
        let start = text.len();
        text.extend_from_within(range(around));
        match leaf {
            Leaf::InPlace(leaf) => text.extend_from_slice(leaf),
            Leaf::Copied(start, end) => text.extend_from_within(range((start, end))),
        }
        text.extend_from_slice(self.language.separator);
        Some((start as u32, text.len() as u32))
    }

    /// Passes over an entry and all that are below it; the cursor is behind its code.
    fn pass(&self, cursor: &mut Cursor, abbreviation: &Abbreviation) -> Option<()> {
        let sibling = self.pass_one(cursor, abbreviation)?;
        if abbreviation.has_children { self.pass_below(cursor, sibling) } else { Some(()) }
    }

    /// Passes over the attributes of an entry. Returns where the entry is that follows those below it, if it says so.
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

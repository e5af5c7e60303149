//! What an object was compiled from: the source file, its directory and the language, from the first unit of its
//! debug information.
//!
//! Only the first record is read, so it costs a few microseconds an object. Objects have relocations where the
//! names are; the caller tells the value at each such place. Anything that is not understood is not known.
//!
//! Specification: DWARF 5, sections 3.1.1 (unit entries) and 7.5 (format).

use gimli::{
    Abbreviations, AttributeValue, DebugAbbrev, DebugInfo, DebugLineStr, DebugStr, DwAt, DwLang, EndianSlice,
    Reader as _, RelocateReader, RunTimeEndian,
};

use crate::model::Language;

/// What the first unit says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// The path of the source file, made absolute if its directory is known.
    pub source: String,
    pub language: Language,
}

/// The debug sections of an object as they are in the file, by name (`.debug_info`), empty if there are none.
pub struct Debug<'d> {
    pub big: bool,
    pub section: &'d dyn Fn(&str) -> &'d [u8],
    /// The value that the relocation at an offset of `.debug_info` stores, if there is one: an offset in the
    /// section that it names.
    pub relocation: &'d dyn Fn(u64) -> Option<u64>,
}

#[derive(Clone, Copy)]
struct Relocations<'d>(&'d dyn Fn(u64) -> Option<u64>);

impl std::fmt::Debug for Relocations<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Relocations")
    }
}

impl gimli::Relocate<usize> for Relocations<'_> {
    fn relocate_address(&self, _offset: usize, value: u64) -> gimli::Result<u64> {
        Ok(value)
    }

    fn relocate_offset(&self, offset: usize, value: usize) -> gimli::Result<usize> {
        let target = (self.0)(offset as u64).and_then(|target| usize::try_from(target).ok());
        Ok(target.unwrap_or(value))
    }
}

type Plain<'d> = EndianSlice<'d, RunTimeEndian>;
type Reader<'d> = RelocateReader<Plain<'d>, Relocations<'d>>;

/// What the first unit of an object says; `None` if it has no debug information that can be understood.
pub fn first(debug: &Debug) -> Option<Unit> {
    let order = if debug.big { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let plain = |name: &str| EndianSlice::new((debug.section)(name), order);
    let info = DebugInfo::from(Reader::new(plain(".debug_info"), Relocations(debug.relocation)));
    let header = info.units().next().ok()??;
    // The only table of abbreviations, or the first.
    let mut table = plain(".debug_abbrev");
    table.skip(header.debug_abbrev_offset().0).ok()?;
    let all =
        |table: EndianSlice<_>| DebugAbbrev::from(table).abbreviations(gimli::DebugAbbrevOffset(0)).ok();
    let first = first_abbreviation(table).unwrap_or_default();
    let first = all(EndianSlice::new(&first, order));
    let is_other = |first: &Abbreviations| header.entries(first).next_dfs().is_err();
    let abbreviations = match first {
        Some(first) if !is_other(&first) => first,
        _ => all(table)?,
    };
    let mut entries = header.entries(&abbreviations);
    let entry = entries.next_dfs().ok()??;
    let text = |attribute: DwAt| -> Option<String> {
        let text = match entry.attr_value(attribute)? {
            AttributeValue::String(text) => text.to_slice().ok()?.into_owned(),
            AttributeValue::DebugStrRef(at) => string(DebugStr::from(plain(".debug_str")).get_str(at).ok()?),
            AttributeValue::DebugLineStrRef(at) => {
                string(DebugLineStr::from(plain(".debug_line_str")).get_str(at).ok()?)
            }
            AttributeValue::DebugStrOffsetsIndex(index) => indexed(debug, &plain, header.format(), index.0)?,
            _ => return None,
        };
        Some(String::from_utf8_lossy(&text).into_owned())
    };
    let language = match entry.attr_value(gimli::DW_AT_language) {
        Some(AttributeValue::Language(language)) => self::language(language),
        _ => Language::Unknown,
    };
    let source = match (text(gimli::DW_AT_name), text(gimli::DW_AT_comp_dir)) {
        (Some(name), Some(directory)) => join(&directory, &name),
        (Some(name), None) => name,
        (None, directory) => directory?,
    };
    Some(Unit { source, language })
}

/// The first of a table of abbreviations, as a table: the record of a unit has it, and the others are many.
fn first_abbreviation(mut table: Plain) -> gimli::Result<Vec<u8>> {
    let whole = table;
    table.read_uleb128()?;
    table.read_uleb128()?;
    table.read_u8()?;
    loop {
        let attribute = (table.read_uleb128()?, table.read_uleb128()?);
        if attribute == (0, 0) {
            break;
        }
        if attribute.1 == u64::from(gimli::DW_FORM_implicit_const.0) {
            table.read_sleb128()?;
        }
    }
    let first = &whole.slice()[..whole.len() - table.len()];
    Ok([first, &[0]].concat())
}

fn string(text: Plain) -> Vec<u8> {
    text.slice().to_vec()
}

/// A text that the table of offsets names. Objects have relocations there, which lead to `.debug_str`'s start
/// where assemblers store addends in place, and are not looked up where they do not.
fn indexed<'d>(
    debug: &Debug<'d>,
    plain: &dyn Fn(&str) -> Plain<'d>,
    format: gimli::Format,
    index: usize,
) -> Option<Vec<u8>> {
    let offsets = (debug.section)(".debug_str_offsets");
    let (header, size) = if format == gimli::Format::Dwarf64 { (16, 8) } else { (8, 4) };
    let at = index.checked_mul(size)?.checked_add(header)?;
    let mut bytes = plain(".debug_str_offsets");
    bytes.skip(at).ok()?;
    let offset = bytes.read_offset(format).ok()?;
    // Without its relocation an offset of 0 may be any.
    if offset == 0 && index > 0 || offsets.is_empty() {
        return None;
    }
    Some(string(DebugStr::from(plain(".debug_str")).get_str(gimli::DebugStrOffset(offset)).ok()?))
}

/// A path as seen from a directory. Paths of Windows are absolute, too.
pub fn join(directory: &str, name: &str) -> String {
    let is_absolute = name.starts_with(['/', '\\']) || name.as_bytes().get(1) == Some(&b':');
    if is_absolute || directory.is_empty() {
        return name.to_owned();
    }
    format!("{}/{}", directory.trim_end_matches('/'), name.trim_start_matches("./"))
}

/// The language of a number of DWARF's.
pub fn language(number: DwLang) -> Language {
    match number {
        gimli::DW_LANG_C
        | gimli::DW_LANG_C89
        | gimli::DW_LANG_C99
        | gimli::DW_LANG_C11
        | gimli::DW_LANG_C17 => Language::C,
        gimli::DW_LANG_C_plus_plus
        | gimli::DW_LANG_C_plus_plus_03
        | gimli::DW_LANG_C_plus_plus_11
        | gimli::DW_LANG_C_plus_plus_14
        | gimli::DW_LANG_C_plus_plus_17
        | gimli::DW_LANG_C_plus_plus_20 => Language::Cpp,
        gimli::DW_LANG_Rust => Language::Rust,
        gimli::DW_LANG_Mips_Assembler => Language::Assembly,
        gimli::DW_LANG_Fortran77
        | gimli::DW_LANG_Fortran90
        | gimli::DW_LANG_Fortran95
        | gimli::DW_LANG_Fortran03
        | gimli::DW_LANG_Fortran08
        | gimli::DW_LANG_Fortran18 => Language::Fortran,
        gimli::DW_LANG_Ada83 | gimli::DW_LANG_Ada95 | gimli::DW_LANG_Ada2005 | gimli::DW_LANG_Ada2012 => {
            Language::Ada
        }
        gimli::DW_LANG_Go => Language::Go,
        gimli::DW_LANG_Zig => Language::Zig,
        gimli::DW_LANG_D => Language::D,
        gimli::DW_LANG_Swift => Language::Swift,
        gimli::DW_LANG_Haskell => Language::Haskell,
        gimli::DW_LANG_ObjC | gimli::DW_LANG_ObjC_plus_plus => Language::ObjectiveC,
        _ => Language::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit of DWARF 4 whose name is at offset 0 of `.debug_str`, unless a relocation says otherwise, and
    /// whose directory is in place.
    fn describe(relocated: Option<u64>) -> Option<Unit> {
        describe_by(&[1, 0x11, 0, 0x03, 0x0e, 0x1b, 0x08, 0x13, 0x0b, 0, 0, 0], relocated)
    }

    fn describe_by(abbreviations: &[u8], relocated: Option<u64>) -> Option<Unit> {
        let info =
            [&[20u8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0][..], b"/src\0\x04", &[0; 2]].concat();
        let section = |name: &str| -> &[u8] {
            match name {
                ".debug_info" => Box::leak(info.clone().into_boxed_slice()),
                ".debug_abbrev" => abbreviations,
                ".debug_str" => b"wrong.c\0./right.cc\0",
                _ => &[],
            }
        };
        let relocation = |offset: u64| relocated.filter(|_| offset == 12);
        first(&Debug { big: false, section: &section, relocation: &relocation })
    }

    #[test]
    fn the_first_unit() {
        let unit = describe(Some(8)).expect("a unit");
        assert_eq!(unit, Unit { source: "/src/right.cc".to_owned(), language: Language::Cpp });
        assert_eq!(describe(None).expect("a unit").source, "/src/wrong.c");
        // That of the unit is not the first, and has a value in itself.
        let table =
            [2, 0x2e, 0, 0x49, 0x21, 0x7f, 0, 0, 1, 0x11, 0, 0x03, 0x0e, 0x1b, 0x08, 0x13, 0x0b, 0, 0, 0];
        assert_eq!(describe_by(&table, None).expect("a unit").source, "/src/wrong.c");
        // What is behind it does not matter, but has to be there where it does.
        let first = [1, 0x11, 0, 0x49, 0x21, 0x7f, 0x03, 0x0e, 0x1b, 0x08, 0x13, 0x0b, 0, 0];
        assert_eq!(describe_by(&first, None).expect("a unit").source, "/src/wrong.c");
        assert_eq!((describe_by(&first[..9], None), describe_by(&[2, 0x11, 0, 0, 0], None)), (None, None));
    }

    #[test]
    fn nothing_and_nonsense() {
        let relocation = |_: u64| Some(u64::MAX);
        for bytes in [&[][..], &[0xff; 40], &[20, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0, 0]] {
            let section = |_: &str| bytes;
            assert_eq!(first(&Debug { big: false, section: &section, relocation: &relocation }), None);
        }
    }

    #[test]
    fn paths() {
        assert_eq!(join("/a/", "b.c"), "/a/b.c");
        assert_eq!(join("/a", "/b.c"), "/b.c");
        assert_eq!(join("C:\\a", "D:\\b.c"), "D:\\b.c");
        assert_eq!(join("", "b.c"), "b.c");
    }
}

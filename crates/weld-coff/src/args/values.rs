//! Values of options that only PE/COFF's command lines have, and what can be wrong with their options.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use weld_common::args::values::{self, number, power_of_two};
use weld_common::args::{Given, ValueError};
use weld_common::glob::Glob;
use weld_common::text;
use weld_lto::spelling::WrongValue;

use crate::coff::pe;
use crate::options::{Export, MemoryFlags, Subsystem};

/// Why an option cannot be carried out: one of a command line or of an object's directives.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionError {
    Value(ValueError),
    /// An option of link-time optimisation.
    Lto(WrongValue),
    /// The same where ld.lld has words of its own, which builds look for.
    NamePair(String),
    OptimisationWord {
        name: String,
        what: &'static str,
        value: String,
    },
    /// An address that no image can be made for.
    ImageBase(u64),
    PageSize(String),
    Invalid(String),
    InvalidManifest(String),
    /// A list of words has an empty one.
    NoArgument,
    Machine(String),
    Subsystem(String),
    /// A word of an option that has many.
    Word(String),
    Quoting(String),
    /// A number that has to fit into so many bits.
    Bits {
        value: u64,
        bits: u32,
    },
    /// A number that is outside of a range.
    Range {
        value: u64,
        range: RangeInclusive<u64>,
    },
    /// An attribute of a section that there is not, and the whole value.
    Attribute {
        letter: char,
        text: String,
    },
    Export(String),
    ExportAs(String),
    /// `/order:` without its `@`.
    NoAt,
    NoEntry,
    NoLibrary,
    /// A section that cannot be merged with any.
    Unmergeable(String),
    /// A name stands for another one already.
    Alias {
        name: String,
        old: String,
        new: String,
    },
    /// The option has a word that weld does not carry out.
    NotSupported(&'static str),
    /// An option of lld-link that MinGW's `-Xlink` cannot say.
    NotForGnu(String),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Value(error) => error.fmt(f),
            OptionError::Lto(error) => error.fmt(f),
            OptionError::NamePair(text) => write!(f, "expects 'old;new' format, but got {text}"),
            OptionError::OptimisationWord { name, what, value } => {
                write!(f, "{name}: invalid {what}: {value}")
            }
            OptionError::ImageBase(address) => write!(f, "{address:#x} is not a multiple of 64 KiB"),
            OptionError::PageSize(text) => {
                write!(f, "invalid argument: {text} is none of 4096, 8192, 16384 and 32768")
            }
            OptionError::Invalid(text) => write!(f, "invalid argument: {text}"),
            OptionError::InvalidManifest(text) => write!(f, "invalid option {text}"),
            OptionError::NoArgument => f.write_str("missing argument"),
            OptionError::Machine(name) => write!(f, "unknown machine: {name}"),
            OptionError::Subsystem(name) => write!(f, "unknown subsystem: {name}"),
            OptionError::Word(word) => write!(f, "unknown option: {word}"),
            OptionError::Quoting(text) => write!(f, "invalid response file quoting: {text}"),
            OptionError::Bits { value, bits } => write!(f, "{value} has more than {bits} bits"),
            OptionError::Range { value, range } => {
                write!(f, "expected a value from {} to {}, but got {value}", range.start(), range.end())
            }
            OptionError::Attribute { letter, text } => write!(f, "unknown attribute '{letter}' in '{text}'"),
            OptionError::Export(text) => write!(f, "invalid export '{text}'"),
            OptionError::ExportAs(name) => write!(f, "invalid EXPORTAS value: {name}"),
            OptionError::NoAt => f.write_str("malformed option: '@' missing"),
            OptionError::NoEntry => f.write_str("missing entry point symbol name"),
            OptionError::NoLibrary => f.write_str("missing name of a library"),
            OptionError::Unmergeable(name) => write!(f, "cannot merge '{name}' with any section"),
            OptionError::Alias { name, old, new } => {
                write!(f, "conflicts: {name} already stands for {old}, and not for {new}")
            }
            OptionError::NotSupported(why) => write!(f, "not supported: {why}"),
            OptionError::NotForGnu(option) => write!(f, "{option} cannot be passed on"),
        }
    }
}

impl std::error::Error for OptionError {}

impl From<ValueError> for OptionError {
    fn from(error: ValueError) -> Self {
        OptionError::Value(error)
    }
}

impl From<WrongValue> for OptionError {
    fn from(error: WrongValue) -> Self {
        OptionError::Lto(error)
    }
}

/// The value as text; `None` if there is none.
pub fn optional_text<'a>(given: Given<'a>) -> Result<Option<&'a str>, ValueError> {
    given.value.map(|_| given.text()).transpose()
}

/// A time in a header: seconds since 1970.
pub fn seconds(text: &str) -> Option<u32> {
    number(text).ok().and_then(|seconds| u32::try_from(seconds).ok())
}

/// What is wrong with the variable `SOURCE_DATE_EPOCH`.
pub fn wrong_epoch(text: &str) -> String {
    format!("invalid SOURCE_DATE_EPOCH timestamp: {text}.  Expected 32-bit integer")
}

/// `value`, if it is in a range.
pub fn check(value: u64, range: RangeInclusive<u64>) -> Result<u64, OptionError> {
    match range.contains(&value) {
        true => Ok(value),
        false => Err(OptionError::Range { value, range }),
    }
}

/// A power of two in a range.
pub fn alignment(given: Given<'_>, range: RangeInclusive<u64>) -> Result<u64, OptionError> {
    check(power_of_two(given.text()?)?, range)
}

/// An address that an image can be made for.
pub fn image_base(address: u64) -> Result<u64, OptionError> {
    match address % 0x1_0000 {
        0 => Ok(address),
        _ => Err(OptionError::ImageBase(address)),
    }
}

/// `reserve[,commit]`.
pub fn sizes(text: &str) -> Result<(u64, Option<u64>), ValueError> {
    match text.split_once(',') {
        None => Ok((number(text)?, None)),
        Some((reserve, commit)) => Ok((number(reserve)?, Some(number(commit)?))),
    }
}

/// A text without bytes that are no UTF-8: they are taken for letters of Windows' code page 1252, which
/// compilers use by default for sources of western languages.
pub fn from_ansi(text: &str) -> String {
    /// Those of its characters that Unicode has elsewhere, from 0x80 on.
    const MOVED: [char; 32] = [
        '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}',
        '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}',
        '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}',
        '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
    ];
    let letter = |byte: &u8| MOVED.get(usize::from(byte & 0x7f)).copied().unwrap_or(char::from(*byte));
    text::bytes(text).utf8_chunks().fold(String::new(), |mut all, chunk| {
        all.push_str(chunk.valid());
        all.extend(chunk.invalid().iter().map(letter));
        all
    })
}

/// The path of a file, which has to be there.
pub fn file(given: Given<'_>) -> Result<PathBuf, ValueError> {
    match given.os() {
        path if path.is_empty() => Err(ValueError::NoFile),
        path => Ok(path.into()),
    }
}

/// Flags of the loader: 16 bits.
pub fn load_flags(given: Given<'_>) -> Result<u16, OptionError> {
    let text = given.text()?;
    let flags = number(text).ok().and_then(|flags| u16::try_from(flags).ok());
    flags.ok_or_else(|| OptionError::Invalid(text.to_owned()))
}

/// A pattern of names.
pub fn pattern(given: Given<'_>) -> Result<Glob, ValueError> {
    values::pattern(given.text()?)
}

/// Bytes in front of functions; `None` if none are given.
pub fn function_pad(given: Given<'_>) -> Result<Option<u32>, OptionError> {
    if given.value.is_none_or(|value| value.is_empty()) {
        return Ok(None);
    }
    let text = given.text()?;
    let bytes = number(text).ok().and_then(|bytes| u32::try_from(bytes).ok());
    // More than a page in front of each function is a mistake.
    bytes.filter(|bytes| *bytes <= 4096).map(Some).ok_or_else(|| OptionError::Invalid(text.to_owned()))
}

/// Major and minor.
pub type Version = (u16, u16);

/// `major[.minor]`, each up to 65535.
pub fn version(text: &str) -> Result<Version, ValueError> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let part = |text: &str| text.parse().map_err(|_| ValueError::expected_not("a version", text));
    Ok((part(major)?, part(minor)?))
}

/// `name[,major[.minor]]`.
pub fn subsystem(text: &str) -> Result<(Option<Subsystem>, Option<Version>), OptionError> {
    let (name, behind) = text.split_once(',').map_or((text, None), |(name, version)| (name, Some(version)));
    let subsystem = match name.to_ascii_lowercase().as_str() {
        // Only the version is given.
        "default" => return Ok((None, behind.map(version).transpose()?)),
        "boot_application" => Subsystem::BootApplication,
        "console" => Subsystem::Console,
        "efi_application" => Subsystem::EfiApplication,
        "efi_boot_service_driver" => Subsystem::EfiBootServiceDriver,
        "efi_rom" => Subsystem::EfiRom,
        "efi_runtime_driver" => Subsystem::EfiRuntimeDriver,
        "native" => Subsystem::Native,
        "posix" => Subsystem::Posix,
        "windows" => Subsystem::Windows,
        "windowsce" => Subsystem::WindowsCe,
        "xbox" => Subsystem::Xbox,
        _ => return Err(OptionError::Subsystem(name.to_owned())),
    };
    Ok((Some(subsystem), behind.map(version).transpose()?))
}

/// `name,attributes`: letters for what may be done with a section's memory; `!` in front takes one away.
/// Letters that give something say all that there is; where there are none, the others change what they name.
pub fn section(text: &str) -> Result<(String, MemoryFlags), OptionError> {
    const ALL: u32 = 0xfe00_0000;
    let Some((name, letters)) = text.split_once(',').filter(|(name, _)| !name.is_empty()) else {
        return Err(ValueError::expected_not("a section and its attributes", text).into());
    };
    let (mut flags, mut negative, mut gives) = (MemoryFlags::default(), false, false);
    for letter in letters.chars() {
        let flag = match letter.to_ascii_lowercase() {
            '!' => {
                negative = !negative;
                continue;
            }
            'd' => pe::IMAGE_SCN_MEM_DISCARDABLE,
            'e' => pe::IMAGE_SCN_MEM_EXECUTE,
            'k' => pe::IMAGE_SCN_MEM_NOT_CACHED,
            'p' => pe::IMAGE_SCN_MEM_NOT_PAGED,
            'r' => pe::IMAGE_SCN_MEM_READ,
            's' => pe::IMAGE_SCN_MEM_SHARED,
            'w' => pe::IMAGE_SCN_MEM_WRITE,
            _ => return Err(OptionError::Attribute { letter, text: text.to_owned() }),
        }
        .0;
        // `k` and `p` say that memory is cached, and paged: their flags stand for the negation.
        let is_opposite = flag & (pe::IMAGE_SCN_MEM_NOT_CACHED.0 | pe::IMAGE_SCN_MEM_NOT_PAGED.0) != 0;
        gives |= !negative && !is_opposite;
        let (to, from) = match negative != is_opposite {
            true => (&mut flags.clear, &mut flags.set),
            false => (&mut flags.set, &mut flags.clear),
        };
        *to |= flag;
        *from &= !flag;
        negative = false;
    }
    if gives {
        flags.clear = ALL;
    }
    Ok((name.to_owned(), flags))
}

/// `name[=internal][,@ordinal[,NONAME]][,DATA][,PRIVATE][,CONSTANT]`, or `name=dll.name` for what is in
/// another DLL.
pub fn export(text: &str) -> Result<Export, OptionError> {
    let mut parts = text.split(',');
    let first = parts.next().unwrap_or_default();
    let mut export = Export::default();
    match first.split_once('=') {
        // The name of a function may begin with a question mark and have '=' in it.
        Some((name, target)) if !name.is_empty() && !target.is_empty() => {
            export.name = name.to_owned();
            match target.contains('.') && !target.starts_with('.') {
                true => export.forward = Some(target.to_owned()),
                false => export.internal = Some(target.to_owned()),
            }
        }
        Some(_) => return Err(OptionError::Export(text.to_owned())),
        None => export.name = first.to_owned(),
    }
    if export.name.is_empty() {
        return Err(OptionError::Export(text.to_owned()));
    }
    for part in parts {
        let word = part.to_ascii_lowercase();
        match word.as_str() {
            "noname" if export.ordinal.is_some() => export.noname = true,
            "data" => export.data = true,
            "constant" => export.constant = true,
            "private" => export.private = true,
            // It is the last word, and all that follows is the name.
            "exportas" => {
                let name = &text[text.len() - rest_of(text, part)..];
                if name.is_empty() || name.contains(',') {
                    return Err(OptionError::ExportAs(name.to_owned()));
                }
                export.export_as = Some(name.to_owned());
                break;
            }
            _ => {
                let ordinal =
                    part.strip_prefix('@').and_then(|digits| digits.parse().ok()).filter(|&n| n > 0);
                if let Some(ordinal) = ordinal {
                    export.ordinal = Some(ordinal);
                } else {
                    return Err(OptionError::Export(text.to_owned()));
                }
            }
        }
    }
    Ok(export)
}

/// How many bytes of `text` are after one of its parts and the comma that ends it.
fn rest_of(text: &str, part: &str) -> usize {
    let end = part.as_ptr() as usize - text.as_ptr() as usize + part.len();
    text.len().saturating_sub(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs() {
        assert_eq!(sizes("1,0x2"), Ok((1, Some(2))));
        assert_eq!(version("3"), Ok((3, 0)));
        assert_eq!(version("3.20"), Ok((3, 20)));
        assert!(version("65536").is_err());
        assert_eq!(subsystem("Console,6.1"), Ok((Some(Subsystem::Console), Some((6, 1)))));
        assert!(subsystem("gui").is_err());
    }

    #[test]
    fn bytes_that_are_no_utf_8() {
        assert_eq!(
            from_ansi(&text::text(b"M\xfcll\xc3\xa4 \x80\x99\xff")),
            "M\u{fc}ll\u{e4} \u{20ac}\u{2122}\u{ff}"
        );
    }

    #[test]
    fn attributes() {
        let flags = |text| section(text).unwrap().1;
        let all = |set| MemoryFlags { clear: 0xfe00_0000, set };
        assert_eq!(flags(".a,rw"), all(0xc000_0000));
        assert_eq!(flags(".a,ER!w"), all(0x6000_0000));
        assert_eq!(flags(".a,ER!wd"), all(0x6200_0000));
        assert_eq!(flags(".a,s"), all(0x1000_0000));
        // What gives nothing leaves what there is.
        assert_eq!(flags(".a,!p!k"), MemoryFlags { clear: 0, set: 0x0c00_0000 });
        assert_eq!(flags(".a,!Wp"), MemoryFlags { clear: 0x8800_0000, set: 0 });
        assert!(section(".a").is_err() && section(",r").is_err() && section(".a,x").is_err());
    }

    #[test]
    fn exports() {
        let plain = |name: &str| Export { name: name.to_owned(), ..Export::default() };
        assert_eq!(export("f"), Ok(plain("f")));
        let want = Export {
            internal: Some("g".into()),
            ordinal: Some(3),
            noname: true,
            data: true,
            private: true,
            ..plain("f")
        };
        assert_eq!(export("f=g,@3,NONAME,DATA,private"), Ok(want));
        assert_eq!(export("f=d.g"), Ok(Export { forward: Some("d.g".into()), ..plain("f") }));
        assert_eq!(export("f,EXPORTAS,h"), Ok(Export { export_as: Some("h".into()), ..plain("f") }));
        for text in
            ["f,EXPORTAS", "f,EXPORTAS,", "f,EXPORTAS,a,DATA", "", "=g", "f=", "f,@0", "f,noname", "f,x"]
        {
            assert!(export(text).is_err(), "{text}");
        }
    }
}

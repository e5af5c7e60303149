//! Why a layout is not possible: something does not fit, lies on something else, or never settles.
//!
//! What a linker script says wrongly has the place in the script with it ([`ScriptError`]).

use std::fmt;

use weld_common::diag::Cause;

use super::OutputSection;

use crate::address::Address;
use crate::script::expr::DivisionByZero;
use crate::script::lexer::Place;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// `--image-base` leaves no room for the headers.
    HighImageBase,
    ImageBasePage {
        base: Address,
        page: u64,
    },
    /// The section ends after the last address that there is.
    BeyondAddresses(SectionName),
    /// The same for a section whose start is known.
    EndsBeyondAddresses {
        section: SectionName,
        start: Address,
    },
    /// Numbers of a program header that its fields do not have room for.
    SegmentBeyondAddresses {
        address: Address,
        size: u64,
        align: u64,
    },
    /// More bytes in the file, or further on in it, than files have.
    FileTooLarge(Option<SectionName>),
    BelowImageBase {
        section: SectionName,
        address: Address,
        base: Address,
    },
    /// The loader needs the headers, and there is something too low in memory.
    NoRoomForHeaders {
        lowest: Address,
    },
    Overlap(Box<Overlap>),
    /// What begins at `address` is on a page with something else, which shows other bytes of the file.
    SharedPage {
        address: Address,
        of: PageUser,
        with: PageUser,
    },
    /// A size that depends on addresses changes in each of so many rounds.
    Unsettled {
        what: Box<str>,
        rounds: usize,
    },
    Script(Box<ScriptError>),
    /// All that one pass over a script has found.
    Several(Vec<LayoutError>),
}

/// The name of an output section, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionName(Box<str>);

/// Two sections that lie on one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// They do where they are loaded, and not where they run.
    pub is_loading: bool,
    pub first: (SectionName, std::ops::Range<Address>),
    pub second: (SectionName, std::ops::Range<Address>),
}

/// What begins a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageUser {
    Section(SectionName),
    Headers,
}

/// What is wrong with a layout that a linker script asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptError {
    /// An expression has no value.
    Value {
        place: Place,
        why: EvalError,
    },
    NoPowerOfTwo {
        place: Place,
        value: u64,
    },
    /// `.` is set to an address before that where it is, inside of a section.
    MovesBackwards {
        place: Place,
        from: u64,
        to: u64,
    },
    AssignsInDiscard {
        place: Place,
        symbol: String,
    },
    NoRegion {
        place: Place,
        region: String,
    },
    NoProgramHeader {
        place: Place,
        header: String,
    },
    TwoLoadAddresses {
        place: Place,
    },
    BelowRegion {
        place: Place,
        section: SectionName,
        address: Address,
        region: String,
    },
    RegionOverflow {
        place: Place,
        region: String,
        bytes: u64,
    },
    /// `PHDRS` loads the headers, for which there is no room.
    NoRoomForHeaders {
        lowest: Address,
    },
    /// A section lies lower than the one with which its program header begins.
    BelowSegment {
        section: SectionName,
        address: Address,
        first: SectionName,
        start: Address,
    },
    /// A section lies lower than the one before it in its segment.
    OutOfOrder {
        section: SectionName,
        address: Address,
    },
    /// The script discards what the output cannot do without.
    DiscardsNeeded(SectionName),
    /// Values still change in each of so many passes, that of `symbol` among them.
    Unsettled {
        what: &'static str,
        passes: usize,
        symbol: Option<String>,
    },
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    DivisionByZero,
    /// With the message that the script gives.
    Assertion(String),
    NoSection(Vec<u8>),
    NoRegion(String),
    Undefined(String),
    /// A common symbol that the script defines by itself.
    Common(String),
    /// Of `DATA_SEGMENT_ALIGN`.
    PageSize(u64),
    /// The parser has made no expression of it.
    Broken,
}

impl LayoutError {
    #[cold]
    pub fn beyond_addresses(section: &OutputSection) -> LayoutError {
        LayoutError::BeyondAddresses(SectionName::of(section))
    }

    /// What it comes down to for who reads of it.
    pub fn cause(&self) -> Cause {
        match self {
            LayoutError::HighImageBase | LayoutError::ImageBasePage { .. } => Cause::BadOption,
            LayoutError::BelowImageBase { .. } | LayoutError::NoRoomForHeaders { .. } => Cause::NoRoomBelow,
            LayoutError::Overlap(_) | LayoutError::SharedPage { .. } => Cause::SectionOverlap,
            LayoutError::Script(error) => error.cause(),
            LayoutError::Several(list) => list.first().map_or(Cause::ScriptValue, LayoutError::cause),
            _ => Cause::ImageTooLarge,
        }
    }

    #[cold]
    pub fn file_too_large(section: &OutputSection) -> LayoutError {
        LayoutError::FileTooLarge(Some(SectionName::of(section)))
    }
}

impl ScriptError {
    fn cause(&self) -> Cause {
        match self {
            ScriptError::Value { why: EvalError::Assertion(_), .. } => Cause::ScriptAssertion,
            ScriptError::Value { why: EvalError::Undefined(_), .. } => Cause::UndefinedSymbol,
            ScriptError::RegionOverflow { .. } => Cause::RegionOverflow,
            _ => Cause::ScriptValue,
        }
    }
}

impl SectionName {
    pub fn of(section: &OutputSection) -> SectionName {
        SectionName::new(&section.name)
    }

    pub fn new(name: &[u8]) -> SectionName {
        SectionName(String::from_utf8_lossy(name).into())
    }
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::HighImageBase => f.write_str("the image base is too high"),
            LayoutError::ImageBasePage { base, page } => {
                write!(f, "image base {base:#x} is not a multiple of the page size {page:#x}")
            }
            LayoutError::BeyondAddresses(section) => {
                write!(f, "section {section} does not fit the address space")
            }
            LayoutError::EndsBeyondAddresses { section, start } => {
                write!(f, "section {section} at {start:#x} does not fit the address space")
            }
            LayoutError::SegmentBeyondAddresses { address, size, align } => write!(
                f,
                "a segment of {size:#x} bytes at {address:#x}, aligned to {align:#x}, does not fit the address space"
            ),
            LayoutError::FileTooLarge(Some(section)) => {
                write!(f, "section {section} makes the file too large")
            }
            LayoutError::FileTooLarge(None) => f.write_str("the file is too large"),
            LayoutError::BelowImageBase { section, address, base } => write!(
                f,
                "section {section} at {address:#x} lies before the image base {base:#x}; set one with --image-base"
            ),
            LayoutError::NoRoomForHeaders { lowest } => write!(
                f,
                "there is no room for the program headers, which the loader needs, below {lowest:#x}"
            ),
            LayoutError::Overlap(overlap) => overlap.fmt(f),
            LayoutError::SharedPage { address, of, with } => {
                write!(f, "{of} at {address:#x} shares a page with {with}, but needs other contents there")
            }
            LayoutError::Unsettled { what, rounds } => write!(
                f,
                "the layout does not settle: the size of {what} still changes after {rounds} rounds"
            ),
            LayoutError::Script(error) => error.fmt(f),
            LayoutError::Several(errors) => {
                for (i, error) in errors.iter().enumerate() {
                    if i > 0 {
                        f.write_str("\n")?;
                    }
                    error.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for SectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overlap { is_loading, first: (first, a), second: (second, b) } = self;
        let what = if *is_loading { "the load address of " } else { "" };
        write!(
            f,
            "{what}section {first} at [{:#x}, {:#x}) overlaps {second} at [{:#x}, {:#x})",
            a.start, a.end, b.start, b.end
        )
    }
}

impl fmt::Display for PageUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageUser::Section(section) => write!(f, "section {section}"),
            PageUser::Headers => f.write_str("the program headers"),
        }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Value { place, why } => write!(f, "{place}: {why}"),
            ScriptError::NoPowerOfTwo { place, value } => write!(f, "{place}: {value:#x} is no power of two"),
            ScriptError::MovesBackwards { place, from, to } => {
                write!(f, "{place}: '.' cannot move backwards, from {from:#x} to {to:#x}")
            }
            ScriptError::AssignsInDiscard { place, symbol } => {
                write!(f, "{place}: {symbol} is assigned in /DISCARD/; do that outside")
            }
            ScriptError::NoRegion { place, region } => {
                write!(f, "{place}: there is no memory region {region}")
            }
            ScriptError::NoProgramHeader { place, header } => {
                write!(f, "{place}: there is no program header {header}")
            }
            ScriptError::TwoLoadAddresses { place } => {
                write!(f, "{place}: AT and AT> give the section two load addresses")
            }
            ScriptError::BelowRegion { place, section, address, region } => {
                write!(f, "{place}: section {section} at {address:#x} lies below its region {region}")
            }
            ScriptError::RegionOverflow { place, region, bytes } => {
                write!(f, "region {region} overflows by {bytes} bytes ({place})")
            }
            ScriptError::NoRoomForHeaders { lowest } => {
                write!(f, "there is no room for the headers, which PHDRS loads, below {lowest:#x}")
            }
            ScriptError::BelowSegment { section, address, first, start } => write!(
                f,
                "section {section} at {address:#x} lies below {first} at {start:#x}, with which its program header begins"
            ),
            ScriptError::OutOfOrder { section, address } => {
                write!(f, "section {section} at {address:#x} lies before what comes before it in its segment")
            }
            ScriptError::DiscardsNeeded(section) => {
                write!(f, "the script discards {section}, which the output cannot do without")
            }
            ScriptError::Unsettled { what, passes, symbol } => {
                write!(f, "the linker script does not settle: {what} still change after {passes} passes")?;
                symbol.as_ref().map_or(Ok(()), |name| write!(f, ", that of symbol {name} among them"))
            }
        }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::DivisionByZero => DivisionByZero.fmt(f),
            EvalError::Assertion(message) => write!(f, "assertion failed: {message}"),
            EvalError::NoSection(name) => {
                write!(f, "there is no output section {}", String::from_utf8_lossy(name))
            }
            EvalError::NoRegion(name) => write!(f, "there is no region {name}"),
            EvalError::Undefined(name) => write!(f, "symbol {name} is not defined"),
            EvalError::Common(name) => write!(
                f,
                "symbol {name} is common, and the script defines it itself: it has no other address"
            ),
            EvalError::PageSize(size) => write!(f, "the page size {size:#x} is no power of two"),
            EvalError::Broken => f.write_str("internal error: the expression is broken"),
        }
    }
}

impl std::error::Error for LayoutError {}

impl std::error::Error for ScriptError {}

impl From<ScriptError> for LayoutError {
    #[cold]
    fn from(error: ScriptError) -> Self {
        LayoutError::Script(Box::new(error))
    }
}

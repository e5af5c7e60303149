//! Where something is in an object. What is said of such a place begins with it, and comes in the order of
//! places.

use std::fmt;

use weld_common::diag::{Cause, Diagnostic, Spot};

use super::object::Object;

/// An object, a section of it, or a byte of that.
#[derive(Clone, Copy)]
pub struct InputLocation<'o, 'a> {
    object: &'o Object<'a>,
    section: Option<u32>,
    offset: Option<u64>,
}

impl<'a> Object<'a> {
    /// The object as a whole.
    pub fn whole(&self) -> InputLocation<'_, 'a> {
        InputLocation { object: self, section: None, offset: None }
    }

    pub fn at_section(&self, shndx: u32) -> InputLocation<'_, 'a> {
        InputLocation { object: self, section: Some(shndx), offset: None }
    }

    /// Byte `offset` of a section.
    pub fn at_byte(&self, shndx: u32, offset: u64) -> InputLocation<'_, 'a> {
        InputLocation { object: self, section: Some(shndx), offset: Some(offset) }
    }
}

/// `file`, `file:(section)`, `file:(section+offset)`.
impl fmt::Display for InputLocation<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(shndx) = self.section else { return write!(f, "{}", self.object.name) };
        write!(f, "{}:({}", self.object.name, self.object.section_label(shndx as usize))?;
        match self.offset {
            Some(offset) => write!(f, "+{offset:#x})"),
            None => f.write_str(")"),
        }
    }
}

impl InputLocation<'_, '_> {
    #[cold]
    pub fn error(&self, cause: Cause, message: impl fmt::Display) -> Diagnostic {
        self.order(Diagnostic::error(cause, format!("{self}: {message}")))
    }

    #[cold]
    pub fn warning(&self, cause: Cause, message: impl fmt::Display) -> Diagnostic {
        self.order(Diagnostic::warning(cause, format!("{self}: {message}")))
    }

    /// The same place, for programs that read messages.
    pub fn spot(&self) -> Spot {
        Spot {
            section: self.section.map(|shndx| self.object.section_label(shndx as usize)),
            offset: self.offset,
            ..Spot::of_file(self.object.name.to_string())
        }
    }

    /// Sorts by this place what begins with something else.
    pub fn order(&self, diagnostic: Diagnostic) -> Diagnostic {
        diagnostic.of(self.object.file, self.section.unwrap_or(0)).spot(self.spot())
    }
}

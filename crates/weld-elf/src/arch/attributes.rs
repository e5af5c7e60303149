//! What can be wrong with the sections in which objects say what instructions and conventions their code
//! uses.

use std::fmt;

/// What is wrong with the section of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributesError {
    pub object: String,
    /// The section's name.
    pub section: &'static str,
    pub what: Wrong,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The first byte says that it is of a format that nobody knows.
    Format(u8),
    Damaged,
    Architecture(String),
    /// No such number is known.
    Number {
        what: &'static str,
        value: u64,
    },
    /// Two say what does not go together.
    Clash {
        own: String,
        others: String,
        by: String,
    },
    /// It is for code of another width than the sections before.
    Width {
        own: u32,
        others: u32,
    },
    /// What must be the same in all objects has a `value` here and had another one in the object `by`.
    Differs {
        what: &'static str,
        value: u64,
        before: u64,
        by: String,
    },
}

impl fmt::Display for AttributesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:({}): ", self.object, self.section)?;
        match &self.what {
            Wrong::Format(version) => write!(f, "has an unknown format: {version:#x}"),
            Wrong::Damaged => f.write_str("is damaged"),
            Wrong::Architecture(text) => write!(f, "has an unknown architecture: {text}"),
            Wrong::Number { what, value } => write!(f, "{what} has an unknown value: {value}"),
            Wrong::Width { own, others } => write!(f, "is for rv{own}, but others are for rv{others}"),
            Wrong::Clash { own, others, by } => {
                write!(f, "is for {own}, which does not go with {others} of {by}")
            }
            Wrong::Differs { what, value, before, by } => {
                write!(f, "{what} is {value}, but {before} in {by}")
            }
        }
    }
}

impl std::error::Error for AttributesError {}

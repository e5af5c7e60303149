//! Why a file cannot be explored.

use std::fmt;

/// What is wrong with a file, in words that go after its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BinaryError {
    /// Neither an ELF file nor a PE image.
    Unknown,
    /// A file of those kinds that is not linked: an object.
    Object,
    /// Its tables are damaged.
    Damaged(String),
    /// The map has no line that weld understands.
    Map,
}

impl fmt::Display for BinaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BinaryError::Unknown => {
                f.write_str("it is neither an ELF file, nor a PE image, nor a page that weld has written")
            }
            BinaryError::Object => f.write_str("it is an object, which has not been linked"),
            BinaryError::Damaged(what) => write!(f, "it is damaged: {what}"),
            BinaryError::Map => f.write_str(
                "the map has no line that weld understands; it reads those that -Map --map-format=lld writes",
            ),
        }
    }
}

impl std::error::Error for BinaryError {}

impl From<object::read::Error> for BinaryError {
    fn from(error: object::read::Error) -> BinaryError {
        BinaryError::Damaged(error.to_string())
    }
}

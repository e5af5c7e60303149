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
    /// The map has no line that weld understands and that is true of the file.
    Map,
    /// The PDB is damaged, or has something that cannot be read.
    Pdb(String),
    /// The PDB is not the one that the image names, or it names none.
    OtherPdb,
}

impl fmt::Display for BinaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BinaryError::Unknown => {
                f.write_str("it is neither an ELF file, nor a PE image, nor a page that weld has written")
            }
            BinaryError::Object => f.write_str("it is an object, which has not been linked"),
            BinaryError::Damaged(what) => write!(f, "it is damaged: {what}"),
            BinaryError::Pdb(what) => write!(f, "its PDB cannot be read: {what}"),
            BinaryError::OtherPdb => f.write_str("it was not linked with this PDB"),
            BinaryError::Map => f.write_str(
                "the map says nothing of it: either another file was linked with it, or it is in none of the forms that \
                 weld reads (GNU ld, gold, ld.lld, mold, link.exe, lld-link)",
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

//! Why a link that may relink is a full one: the one reason, in words that a user can act on.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use weld_common::io::reason;
use weld_common::relink::directory::Unusable;
use weld_common::text;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// What relinking does not do; in words.
    Nature(&'static str),
    /// There is no state: none was written, or the link before was interrupted.
    First,
    /// There is one that cannot be used; in words that go on after "the state".
    State(&'static str),
    /// The system has been started anew since the last link.
    Rebooted,
    /// The directory of the state cannot be used.
    Place(Unusable),
    /// The command line, the environment or the working directory.
    Command,
    /// A toolchain has other directories.
    Toolchain,
    /// A file has appeared where one was looked for.
    Appeared(PathBuf),
    /// A path leads to the file that another one leads to, or does so no more: such are linked once.
    OtherFile(PathBuf),
    /// The PDB is not as it has to be for an object that has changed; why, in words that go on after its name.
    Pdb(PathBuf, &'static str),
    /// An input is gone.
    Gone(PathBuf),
    /// An input has changed that is no object, or is not relinked.
    Input(PathBuf),
    /// Objects that change are not relinked; why, in words.
    Kept(PathBuf, String),
    /// An object has changed in more than the bytes of its sections.
    Object(PathBuf),
    /// An object has sections of other sizes, which are not relinked; why, in words.
    Sizes(PathBuf, String),
    /// An object has a section of a kind that is not relinked, or for which there is no room kept.
    Kind(PathBuf, String),
    /// No object has a section of this name any more.
    Last(PathBuf, String),
    /// There is no more room for sections of this name.
    Full(PathBuf, String),
    /// An object defines a name that it did not define, and that the link knows otherwise.
    Defines(PathBuf, String),
    /// An object defines others that stand for something, or in no section.
    Definitions(PathBuf),
    /// In an object, what a name stands for is another one, or gone.
    Parted(PathBuf, String),
    /// An object defines a name in another kind of section than before.
    Section(PathBuf, String),
    /// An object has other parts of what programs may walk from end to end, which part if it is not gone.
    Walked(PathBuf, Option<String>),
    /// An object has a table of functions that tells of what is not its own.
    Unwinding(PathBuf),
    /// Something refers to what an object does not define any more.
    Wanted(PathBuf, String),
    /// An object defines a new name in a COMDAT section that another name leads.
    Beside(PathBuf, String),
    /// Which of several sections is there is chosen by what is in them.
    Choice(PathBuf, String),
    /// An object mentions a name that is new.
    NewName(PathBuf, String),
    /// An object was the only one to want something of a library.
    Libraries(PathBuf),
    /// A function has moved to which something refers that is not linked anew.
    Pinned(PathBuf, String),
    /// A reference of an object cannot be written.
    Reference(PathBuf, String),
    /// A table of the image has no room for what an object adds.
    Table(PathBuf, &'static str),
    /// The last link had warnings, which may be about what has changed.
    Warned(PathBuf),
    /// Most of the inputs have changed.
    Much,
    /// An input was written to while the link looked at it.
    Changing(PathBuf),
    /// Somebody has written to an output, or removed it.
    Output(PathBuf),
    /// A system call has failed.
    System(String),
}

impl Why {
    pub fn system(what: &str, path: &Path, error: &io::Error) -> Why {
        Why::System(format!("cannot {what} {}: {}", text::path(path), reason(error)))
    }
}

impl From<Unusable> for Why {
    fn from(why: Unusable) -> Why {
        Why::Place(why)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |path: &Path| text::path(path).into_owned();
        match self {
            Why::Nature(what) => f.write_str(what),
            Why::First => f.write_str("no state was left by a link before"),
            Why::State(what) => write!(f, "the state {what}"),
            Why::Rebooted => f.write_str("the system was started anew since the last link"),
            Why::Place(why) => why.fmt(f),
            Why::Command => f.write_str(
                "the command line, the environment or the working directory is not that of the last link",
            ),
            Why::Toolchain => f.write_str("the toolchain has other directories than for the last link"),
            Why::Appeared(file) => write!(f, "{} was not there before", path(file)),
            Why::OtherFile(file) => {
                write!(f, "{} is the same file as another input now, or is so no more", path(file))
            }
            Why::Pdb(file, why) => write!(f, "{} {why}", path(file)),
            Why::Gone(file) => write!(f, "{} is gone", path(file)),
            Why::Input(file) => write!(f, "{} has changed", path(file)),
            Why::Kept(file, why) => write!(f, "{} has changed, and {why}", path(file)),
            Why::Object(file) => write!(
                f,
                "in {}, more has changed than code, data and what debuggers are told of them",
                path(file)
            ),
            Why::Sizes(file, why) => {
                write!(f, "in {}, more has changed than bytes of code, data and lines, and {why}", path(file))
            }
            Why::Kind(file, section) => {
                write!(f, "{} has another {section}, for which no room is kept", path(file))
            }
            Why::Last(file, section) => {
                write!(f, "{} was the last object to have {section}, and has none any more", path(file))
            }
            Why::Full(file, section) => {
                write!(f, "{} has more in {section} than there is room for", path(file))
            }
            Why::Defines(file, name) => write!(
                f,
                "{} defines {name}, which it did not before, and which a library, the linker or another object knows",
                path(file)
            ),
            Why::Definitions(file) => {
                write!(f, "{} has other weak names, common variables or absolute values", path(file))
            }
            Why::Parted(file, name) => write!(
                f,
                "in {}, what {name} stands for by another name (weak, /alternatename) is another one, or is gone",
                path(file)
            ),
            Why::Section(file, name) => {
                write!(f, "{} defines {name} in another kind of section than before", path(file))
            }
            Why::Walked(file, section) => write!(
                f,
                "{} has other parts of {}, between which programs may bear no room",
                path(file),
                section.as_deref().unwrap_or("a section such as .CRT$XCU")
            ),
            Why::Unwinding(file) => {
                write!(f, "{} has a .pdata that tells of functions of other objects, or of none", path(file))
            }
            Why::Wanted(file, name) => {
                write!(f, "{} does not define any more what {name} refers to", path(file))
            }
            Why::Beside(file, name) => {
                write!(
                    f,
                    "{} defines {name}, which is new, beside the name that leads its section",
                    path(file)
                )
            }
            Why::Choice(file, name) => {
                write!(
                    f,
                    "{} has {name}, which others have, too, or a library may, and which one counts follows from their contents",
                    path(file)
                )
            }
            Why::NewName(file, name) => write!(f, "{} refers to {name}, which nobody did before", path(file)),
            Why::Libraries(file) => {
                write!(
                    f,
                    "{} was the only object to refer to something of a library, and does so no more",
                    path(file)
                )
            }
            Why::Pinned(file, name) => write!(
                f,
                "in {}, {name} has moved, to which a library or the linker refers (/Gy gives each function a place)",
                path(file)
            ),
            Why::Reference(file, what) => write!(f, "in {}, {what}", path(file)),
            Why::Table(file, table) => {
                write!(f, "{} has changed, and {table} of the image would need another room", path(file))
            }
            Why::Warned(file) => write!(f, "{} has changed, and the last link had warnings", path(file)),
            Why::Much => f.write_str("most of the inputs have changed"),
            Why::Changing(file) => write!(f, "{} is being written to", path(file)),
            Why::Output(file) => {
                write!(f, "{}, which the last link wrote, was changed or removed", path(file))
            }
            Why::System(what) => f.write_str(what),
        }
    }
}

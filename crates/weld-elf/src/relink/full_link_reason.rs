//! Why a link that may relink is a full one: the one reason, in words that a user can act on.

use std::fmt;
use std::path::{Path, PathBuf};

use weld_common::io;
use weld_common::relink::directory::Unusable;
use weld_common::text;

use super::units::NoUnit;
use crate::relink_state::Unreadable;
use crate::relink_state::differences::Difference;
use crate::relink_state::free_sections::Gap;
use crate::relink_state::guests::NoPlace;
use crate::relink_state::rewrite_section::{Full, Missing, Of};
use crate::sections::yards::Kind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// `--incremental=force-full`
    Asked,
    /// What relinking does not do; in words.
    Nature(&'static str),
    /// There is no state: none was written, or the link before was interrupted.
    First,
    Unreadable(Unreadable),
    /// The system has been started anew since the last link.
    Rebooted,
    /// The directory of the state cannot be used.
    Place(Unusable),
    /// The command line, the environment or the working directory.
    Command,
    /// A codegen unit has come, and there is no place for it.
    NewUnit(PathBuf, NoUnit),
    /// One has gone, and nothing may stand for it.
    GoneUnit(PathBuf),
    /// A file has appeared where one was looked for.
    Appeared(PathBuf),
    /// An input is gone.
    Gone(PathBuf),
    /// An archive has changed in more than members that are linked.
    Archive(PathBuf),
    /// Members of an archive that are linked lie in another order.
    Order(PathBuf),
    /// An input has changed that is no object.
    Input(PathBuf),
    /// Functions have moved that an option, a script or code for far branches leads to.
    Moved(PathBuf),
    /// An object has changed in more than the bytes of its sections.
    Object(PathBuf, Changed),
    /// The last link had warnings, which may be about what has changed.
    Warned(PathBuf),
    /// An input was written to while it was relinked.
    Changing(PathBuf),
    /// Somebody has written to the output or to the image beside it.
    Image,
    /// Too much has changed.
    Much,
    /// A system call has failed.
    System(String),
}

/// What of an object is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    Shape,
    /// It has another section than before, or one less.
    Sections(Difference),
    /// It mentions this one otherwise than before, and that may change what is linked.
    Name(String),
    /// It defines other names.
    Names,
    /// It defines them in another order, among them the one that is called so.
    Order(String),
    /// It does not mention this one any more, or define it, and others may mind that.
    NoMore(Option<String>),
    Contents,
    Needs,
    /// A relocation is out of range, or worse.
    Wrong(String),
    /// A section of this name has outgrown its room.
    Outgrown(String, Full),
    /// There is no place for a section that is new, or larger.
    NoPlace(NoPlace),
    /// It refers to what has this name, which is not in the output.
    Nowhere(String),
    /// What has this name is gone, and nothing can lie where it was.
    Gap(Option<String>, Gap),
    /// What rows do not tell.
    Unknown(Missing),
}

impl Why {
    pub fn system(what: &str, path: &Path, error: &std::io::Error) -> Why {
        Why::System(format!("cannot {what} {}: {}", text::path(path), io::reason(error)))
    }
}

impl From<Unusable> for Why {
    fn from(why: Unusable) -> Why {
        Why::Place(why)
    }
}

impl From<Unreadable> for Why {
    fn from(why: Unreadable) -> Why {
        Why::Unreadable(why)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |path: &Path| text::path(path).into_owned();
        match self {
            Why::Asked => f.write_str("--incremental=force-full asks for it"),
            Why::Nature(what) => f.write_str(what),
            Why::First => f.write_str("no state was left by a link before"),
            Why::Unreadable(why) => write!(f, "the state {why}"),
            Why::Rebooted => f.write_str("the system was started anew since the last link"),
            Why::Place(why) => why.fmt(f),
            Why::Command => f.write_str(
                "the command line, the environment or the working directory is not that of the last link",
            ),
            Why::NewUnit(file, NoUnit::Odd) => {
                write!(f, "{} is new, and has sections that nothing may stand for", path(file))
            }
            Why::NewUnit(file, NoUnit::Taken { alike, all }) => write!(
                f,
                "{} is new, and there is no room for another object like it: of {all} places, {alike} are for such, and \
                 none of them is free",
                path(file)
            ),
            Why::GoneUnit(file) => {
                write!(f, "{} is gone, which has sections that nothing may stand for", path(file))
            }
            Why::Appeared(file) => write!(f, "{} was not there before", path(file)),
            Why::Gone(file) => write!(f, "{} is gone", path(file)),
            Why::Archive(file) => {
                write!(f, "{} has changed: it has other members, or offers other names", path(file))
            }
            Why::Order(file) => write!(f, "{} has its members in another order", path(file)),
            Why::Input(file) => write!(f, "{} has changed, which is not an object", path(file)),
            Why::Object(file, changed) => write!(f, "in {}, {changed}", path(file)),
            Why::Moved(file) => {
                write!(
                    f,
                    "in {}, functions have moved that options, scripts or far branches lead to",
                    path(file)
                )
            }
            Why::Warned(file) => write!(f, "{} has changed, and the last link had warnings", path(file)),
            Why::Changing(file) => write!(f, "{} is being written to", path(file)),
            Why::Image => f.write_str("the output of the last link was written to"),
            Why::Much => f.write_str("so many objects have changed that a full link is faster"),
            Why::System(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Changed::Shape => f.write_str("sections or symbols are others, or have other sizes"),
            Changed::Sections(Difference::New(name)) => {
                write!(f, "section '{name}' is new, or was not linked before, and may not come")
            }
            Changed::Sections(Difference::Gone(name)) => {
                write!(f, "a section in '{name}' is gone, and may not go")
            }
            Changed::Name(name) => write!(
                f,
                "'{name}' is defined or referred to otherwise than before, or for the first time, and that may \
                 bring in something else"
            ),
            Changed::Names => f.write_str("names that it defines are others"),
            Changed::Order(name) => write!(f, "'{name}' is defined in another order than before"),
            Changed::NoMore(name) => write!(
                f,
                "{} is not defined or referred to any more, and others may mind that",
                name.as_ref().map_or("a name".into(), |name| format!("'{name}'"))
            ),
            Changed::Contents => f.write_str("strings, unwind tables or notes have changed"),
            Changed::Needs => f.write_str("code or data refers to something else than before"),
            Changed::Wrong(message) => write!(f, "something is wrong: {message}"),
            Changed::Outgrown(name, Full { has, wants, .. }) => {
                write!(f, "section '{name}' has {wants} bytes now, and room for {has}")
            }
            Changed::NoPlace(why) => no_place(why, f),
            Changed::Nowhere(name) => {
                write!(f, "it refers to '{name}', which is not in the output, or not any more")
            }
            Changed::Gap(name, gap) => {
                match name {
                    Some(name) => write!(f, "'{name}' is gone")?,
                    None => f.write_str("a function or variable is gone")?,
                }
                f.write_str(match gap {
                    Gap::First => ", which was the first of its output section",
                    Gap::Behind => ", which lay behind something that cannot be larger by that",
                    Gap::Cut => ", which lay where the hashes for the build id are cut",
                })
            }
            Changed::Unknown(missing) => match missing {
                Missing::Object | Missing::Names | Missing::Section => {
                    f.write_str("sections or symbols are others, or have other sizes")
                }
                Missing::Function => f.write_str(
                    "functions have moved, and not all that knows where they are is written again",
                ),
                Missing::Target(_) => {
                    f.write_str("what it or another object refers to is not in the output any more")
                }
                Missing::Room(full) => outgrown(full, f),
                Missing::Exports => f.write_str("there is no room left for new names that other modules see"),
                Missing::Place => f.write_str("frames or symbols are others"),
                Missing::Piece => {
                    f.write_str("the room is used up for strings and constants that no object had")
                }
                Missing::Cuts => f.write_str("there is code that gets shorter"),
                Missing::Erratum => f.write_str(
                    "there are instructions that some processors execute wrongly where they are now, and have to be moved",
                ),
                Missing::Options => f.write_str("there are instructions that options change"),
                Missing::Class(class) => {
                    write!(f, "there is a relocation of a kind that is not relinked ({class:?})")
                }
            },
        }
    }
}

/// Says for what there is no place.
fn no_place(why: &NoPlace, f: &mut fmt::Formatter) -> fmt::Result {
    let what = |kind: Kind| match kind {
        Kind::Code => "functions",
        Kind::ExceptionTables => "exception tables",
        Kind::Constants => "constants",
        Kind::Relocated => "tables of pointers",
        Kind::Variables => "variables",
    };
    match why {
        NoPlace::Full { name, kind, size, align, free, largest } => write!(
            f,
            "section '{name}' is new or has outgrown its room, has {size} bytes that are aligned to {align}, and \
             of the room for new {} {free} bytes are free, at most {largest} in one place",
            what(*kind)
        ),
        NoPlace::Twice(group) => {
            write!(
                f,
                "the functions of '{group}' are new, and another object has them for the first time, too"
            )
        }
        NoPlace::Odd(name) => {
            write!(f, "section '{name}' is new or has outgrown its room, and may not lie elsewhere")
        }
    }
}

/// Says what has outgrown its room.
fn outgrown(Full { of, has, wants, .. }: &Full, f: &mut fmt::Formatter) -> fmt::Result {
    let (what, unit) = match of {
        Of::Section(_) => ("a section", "bytes"),
        Of::Locals => ("its local symbols", "entries"),
        Of::Globals => ("its global symbols", "entries"),
        Of::SymbolNames => ("the names of its symbols", "bytes"),
        Of::Frames => ("its frames in .eh_frame", "bytes"),
        Of::SearchTable => ("the table .eh_frame_hdr", "entries"),
        Of::RelativeRelocs => ("the relative relocations of .rela.dyn", "entries"),
        Of::SymbolicRelocs => ("the other relocations of .rela.dyn", "entries"),
    };
    write!(f, "{what} would be {wants} {unit}, and there is room for {has}")
}

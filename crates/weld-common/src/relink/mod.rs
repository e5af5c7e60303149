//! What relinking in place needs whatever the format (`--incremental`, `/incremental`): the directory beside an
//! output with its lock and log, how states are written and read, what tells that a state is this program's, the
//! warnings that are said again, and work by a few threads.

pub mod directory;
pub mod fields;
pub mod system;
pub mod threads;
pub mod warnings;

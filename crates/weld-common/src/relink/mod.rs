//! What relinking in place needs whatever the format (`--incremental`, `/incremental`): the directory beside an
//! output with its lock and log, how states are written and read, what tells that a state is this program's, the
//! warnings that are said again, whether inputs stay what they are while they are still read, digests of files of which parts change, and work by a few threads.

pub mod copy;
pub mod directory;
pub mod fields;
pub mod leaves;
pub mod system;
pub mod threads;
pub mod warnings;
pub mod witness;

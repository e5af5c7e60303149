//! What has to be as it was for a state to be believed, apart from files: the program that wrote it, and that the
//! system has been running since.

use std::io;

use crate::digest::{SIZE, UnitDigest};
use crate::io::stamp::Stamp;

/// Identifies the program that links: the file that it was started from.
///
/// # Errors
/// Those of the system.
pub fn build() -> io::Result<[u8; SIZE]> {
    let stamp = Stamp::at(&std::env::current_exe()?)?;
    Ok(UnitDigest::of(format!("{stamp:?}").as_bytes()).bytes())
}

/// Identifies the time since the system was started. Files that were written before, and not to the disk, may
/// be anything after it has lost its power.
///
/// # Errors
/// Those of the system.
pub fn boot() -> io::Result<Vec<u8>> {
    std::fs::read("/proc/sys/kernel/random/boot_id")
}

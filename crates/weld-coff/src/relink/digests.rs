//! Digests of files, from those of their parts, so that what is large needs little memory and several threads can
//! take part.

use std::fs::File;
use std::io;
use std::path::Path;

use weld_common::digest::UnitDigest;
use weld_common::io::spare::read_exact_at;
use weld_common::par;

use super::memo::Digest;

/// Bytes of a part.
const PART: usize = 1 << 20;

pub fn of_bytes(bytes: &[u8]) -> Digest {
    UnitDigest::join(&bytes.chunks(PART).map(UnitDigest::of).collect::<Vec<_>>()).bytes()
}

/// # Errors
/// Those of the system.
pub fn of_file(path: &Path, parallel: bool) -> io::Result<Digest> {
    let file = File::open(path)?;
    let size = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let parts = par::runs("digest of an output", parallel, size.div_ceil(PART), 4, |run| {
        let mut buffer = vec![0; PART.min(size)];
        run.map(|part| {
            let at = part * PART;
            let bytes = &mut buffer[..PART.min(size - at)];
            read_exact_at(&file, bytes, at as u64).map(|()| UnitDigest::of(bytes))
        })
        .collect::<io::Result<Vec<_>>>()
    });
    let parts: Vec<Vec<UnitDigest>> = parts.into_iter().collect::<io::Result<_>>()?;
    Ok(UnitDigest::join(&parts.concat()).bytes())
}

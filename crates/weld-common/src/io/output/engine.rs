//! Streaming or mapped: which engine writes an output file.
//!
//! Measured (Linux 6.18, 64 MiB filled from a hot 256 KiB buffer, one thread, ms): ext4: `pwrite` 10.5,
//! mapping 15.5, mapping with huge pages 11; tmpfs: `pwrite` 16, mapping 30, huge pages no help (one fault a
//! page). But a file system lets one thread at a time write to a file, while any number fill a mapping of it.
//! So few threads stream, and many fill a mapping.
//!
//! On compressed btrfs a mapping is known to be several times slower than writing, for each
//! flush compresses its block again, and network and FUSE file systems pay a round trip for faults.
//! There, streaming is the choice always. More figures are in bench/notes/output.md.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A shared mapping of the file.
    Mapped,
    /// `pwrite` from recycled buffers.
    Streaming,
}

/// `--mmap-output-file`, `--no-mmap-output-file`, neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    #[default]
    Auto,
    Mapped,
    Streaming,
}

/// What kind of file system the output is on, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystem {
    Memory,
    /// Copies on write, and may compress.
    CopyOnWrite,
    Overlay,
    Network,
    Fuse,
    Other,
}

impl FileSystem {
    /// From `f_type` of Linux `statfs(2)`; the values are in `linux/magic.h`, or in the sources of
    /// file systems that it does not list.
    pub fn from_linux_magic(magic: u64) -> FileSystem {
        match magic {
            0x0102_1994 | 0x8584_58f6 => FileSystem::Memory, // tmpfs, ramfs
            0x9123_683e | 0x2fc1_2fc1 | 0xca45_1a4e => FileSystem::CopyOnWrite, // btrfs, zfs, bcachefs
            0x794c_7630 => FileSystem::Overlay,
            // nfs, smb, cifs, smb2, 9p, ceph, afs, coda
            0x6969 | 0x517b | 0xff53_4d42 | 0xfe53_4d42 | 0x0102_1997 | 0x00c3_6400 | 0x5346_414f
            | 0x7375_7245 => FileSystem::Network,
            0x6573_5546 => FileSystem::Fuse,
            _ => FileSystem::Other,
        }
    }
}

/// With this many threads the one that writes holds up the others.
const MANY_THREADS: usize = 12;
/// And with this many if the image is large, in bytes: the kernel's fresh pages are dear then.
const SEVERAL_THREADS: usize = 6;
const LARGE_IMAGE: u64 = 256 << 20;

/// The engine for an output of `len` bytes on `file_system` that `threads` threads make, and the reason in
/// words for `--verbose`.
pub fn choose(file_system: FileSystem, len: u64, threads: usize) -> (Engine, &'static str) {
    let reason = match file_system {
        FileSystem::CopyOnWrite => {
            "the file system copies on write and may compress: each block is written once"
        }
        FileSystem::Overlay => "the file system is an overlay",
        FileSystem::Network => "the file system is on a network",
        FileSystem::Fuse => "the file system is a user's program",
        FileSystem::Memory | FileSystem::Other if threads >= MANY_THREADS => {
            return (Engine::Mapped, "many threads fill a mapping at once, where one at a time can write");
        }
        FileSystem::Memory | FileSystem::Other if threads >= SEVERAL_THREADS && len >= LARGE_IMAGE => {
            return (Engine::Mapped, "the image is large, and several threads fill a mapping at once");
        }
        FileSystem::Memory => "writing takes half the time of a mapping on a file system in memory",
        FileSystem::Other => "writing costs no page faults",
    };
    (Engine::Streaming, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_magic_number() {
        assert_eq!(FileSystem::from_linux_magic(0xef53), FileSystem::Other);
        assert_eq!(FileSystem::from_linux_magic(0x0102_1994), FileSystem::Memory);
        assert_eq!(FileSystem::from_linux_magic(0x9123_683e), FileSystem::CopyOnWrite);
        assert_eq!(FileSystem::from_linux_magic(0x794c_7630), FileSystem::Overlay);
        assert_eq!(FileSystem::from_linux_magic(0x6969), FileSystem::Network);
        assert_eq!(FileSystem::from_linux_magic(0x6573_5546), FileSystem::Fuse);
    }

    #[test]
    fn few_threads_stream_and_many_fill_a_mapping() {
        use FileSystem::*;
        let engine = |kind, len, threads| choose(kind, len, threads).0;
        for kind in [Memory, Other] {
            assert_eq!(engine(kind, 1 << 30, 5), Engine::Streaming);
            assert_eq!(engine(kind, LARGE_IMAGE - 1, 11), Engine::Streaming);
            assert_eq!(engine(kind, LARGE_IMAGE, 6), Engine::Mapped);
            assert_eq!(engine(kind, 1, 12), Engine::Mapped);
        }
        for kind in [CopyOnWrite, Overlay, Network, Fuse] {
            assert_eq!(engine(kind, 1 << 40, 64), Engine::Streaming);
        }
    }

    #[test]
    fn each_choice_has_a_reason_of_its_own() {
        use FileSystem::*;
        let kinds = [
            (Memory, 1),
            (CopyOnWrite, 1),
            (Overlay, 1),
            (Network, 1),
            (Fuse, 1),
            (Other, 1),
            (Other, 8),
            (Other, 64),
        ];
        let mut reasons: Vec<_> =
            kinds.iter().map(|(kind, threads)| choose(*kind, 1 << 30, *threads).1).collect();
        reasons.sort();
        reasons.dedup();
        assert_eq!(reasons.len(), kinds.len());
    }
}

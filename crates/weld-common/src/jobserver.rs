//! A client of GNU make's jobserver, so that a link takes no more threads than a build has to spare.
//!
//! make puts one byte for each free job into a pipe and tells children of it in `MAKEFLAGS`:
//! `--jobserver-auth=R,W` (descriptors to read and write; older: `--jobserver-fds=`) or
//! `--jobserver-auth=fifo:PATH`. Every process may run one job without asking; each byte read allows
//! another and must be written back. cargo and ninja speak the same protocol, cargo in
//! `CARGO_MAKEFLAGS`.
//!
//! Nothing here ever waits for a token: the link takes what is free now. The pipe is shared with the
//! whole build, so it must not be made non-blocking; instead it is opened a second time, through
//! `/proc/self/fd`. Where that does not work there are no tokens.
//!
//! Tokens are taken and given back under the eyes of the [`Host`], whose signal handlers give them back
//! if the process dies in between: a token that is lost slows the build down for the rest of its life.
//!
//! Reference: GNU make manual, "Sharing Job Slots with GNU make".

use std::path::PathBuf;

use crate::host::Host;

/// A build's jobserver that this process may use.
#[derive(Debug)]
pub struct Jobserver {
    #[cfg(unix)]
    server: unix::Server,
}

impl Jobserver {
    /// Connects to the jobserver that `makeflags`, a value of `MAKEFLAGS` or `CARGO_MAKEFLAGS`, speaks of.
    /// Call it before opening files: if the build did not pass the descriptors on, their numbers may
    /// belong to others. Ones that are not the two ends of one pipe are left alone.
    #[cfg(unix)]
    pub fn connect(makeflags: &str) -> Option<Jobserver> {
        let address = Address::find(makeflags)?;
        Some(Jobserver { server: unix::Server::connect(&address)? })
    }

    /// Other systems' jobservers are not supported: on Windows make uses a named semaphore.
    #[cfg(not(unix))]
    pub fn connect(makeflags: &str) -> Option<Jobserver> {
        let _ = Address::find(makeflags)?;
        None
    }

    /// Takes up to `max` tokens that are free right now.
    pub fn take<'a>(&'a self, max: usize, host: &'a dyn Host) -> Tokens<'a> {
        #[cfg(unix)]
        let taken = host.take_tokens(self.server.descriptor(), &mut || self.server.take(max));
        #[cfg(not(unix))]
        let taken = host.take_tokens(-1, &mut || Vec::with_capacity(max.min(0)));
        Tokens { jobserver: self, host, taken }
    }
}

/// Tokens held for a link, given back when dropped. A program that leaves by `_exit` must drop them
/// before.
pub struct Tokens<'a> {
    #[cfg_attr(not(unix), expect(dead_code))]
    jobserver: &'a Jobserver,
    host: &'a dyn Host,
    /// The bytes taken: each must be given back as it was.
    taken: Vec<u8>,
}

impl Tokens<'_> {
    /// How many there are. They allow one more thread than that.
    pub fn count(&self) -> usize {
        self.taken.len()
    }
}

impl Drop for Tokens<'_> {
    fn drop(&mut self) {
        if self.taken.is_empty() {
            return;
        }
        self.host.return_tokens(&mut || {
            #[cfg(unix)]
            self.jobserver.server.give_back(&self.taken);
        });
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Address {
    Pipe { read: u32, write: u32 },
    Fifo(PathBuf),
}

impl Address {
    /// The last address in `MAKEFLAGS`: a make below another one adds its own.
    fn find(makeflags: &str) -> Option<Address> {
        // After `--` are variables, of which one may look like anything.
        let options = makeflags.split_ascii_whitespace().take_while(|word| *word != "--");
        let value = |word: &'_ str| -> Option<String> {
            let value = word.strip_prefix("--jobserver-auth=").or(word.strip_prefix("--jobserver-fds="));
            value.map(str::to_owned)
        };
        let value = options.filter_map(value).last()?;
        if let Some(path) = value.strip_prefix("fifo:") {
            return Some(Address::Fifo(path.into()));
        }
        let (read, write) = value.split_once(',')?;
        // make says -2,-2 when a child is not to use it.
        Some(Address::Pipe { read: read.parse().ok()?, write: write.parse().ok()? })
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::{File, Metadata, OpenOptions};
    use std::io::{ErrorKind, Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
    use std::path::{Path, PathBuf};

    use super::Address;

    /// Own descriptors of the jobserver's pipe.
    #[derive(Debug)]
    pub struct Server {
        read: File,
        write: File,
    }

    impl Server {
        pub fn connect(address: &Address) -> Option<Server> {
            let descriptor = |number: &u32| PathBuf::from(format!("/proc/self/fd/{number}"));
            let (read, write) = match address {
                Address::Fifo(path) => (path.clone(), path.clone()),
                Address::Pipe { read, write } => (descriptor(read), descriptor(write)),
            };
            // Looked at before they are opened: opening a device may do things.
            let (before_read, before_write) = (pipe(&read)?, pipe(&write)?);
            if identity(&before_read) != identity(&before_write) || !right_ends(address) {
                return None;
            }
            let open = |options: &mut OpenOptions, path: &Path| {
                // Neither waits for the other end, nor makes the shared pipe non-blocking.
                let file = options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).ok()?;
                let same = identity(&file.metadata().ok()?) == identity(&before_read);
                same.then_some(file)
            };
            let read = open(OpenOptions::new().read(true), &read)?;
            let write = open(OpenOptions::new().write(true), &write)?;
            Some(Server { read, write })
        }

        /// The one that tokens are written to.
        pub fn descriptor(&self) -> i32 {
            self.write.as_raw_fd()
        }

        /// Up to `max` bytes that are in the pipe.
        pub fn take(&self, max: usize) -> Vec<u8> {
            let mut taken = Vec::new();
            let mut token = [0];
            while taken.len() < max {
                match (&self.read).read(&mut token) {
                    Ok(1..) => taken.push(token[0]),
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    // Empty, or the other end is gone.
                    Ok(0) | Err(_) => break,
                }
            }
            taken
        }

        pub fn give_back(&self, tokens: &[u8]) {
            // These bytes were in the pipe before, so it has room for them. If nobody reads it any
            // more, nobody misses them.
            let _ = (&self.write).write_all(tokens);
        }
    }

    fn pipe(path: &Path) -> Option<Metadata> {
        std::fs::metadata(path).ok().filter(|meta| meta.file_type().is_fifo())
    }

    fn identity(meta: &Metadata) -> (u64, u64) {
        (meta.dev(), meta.ino())
    }

    /// Whether the descriptors can be read and written, respectively. Through `/proc` either end could
    /// be opened both ways.
    fn right_ends(address: &Address) -> bool {
        let Address::Pipe { read, write } = *address else { return true };
        let mode = |descriptor: u32| {
            let descriptor = i32::try_from(descriptor).ok()?;
            // SAFETY: asks for the flags of a descriptor that may or may not exist.
            let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
            (flags >= 0).then_some(flags & libc::O_ACCMODE)
        };
        let can = |descriptor, wanted| mode(descriptor).is_some_and(|m| m == wanted || m == libc::O_RDWR);
        can(read, libc::O_RDONLY) && can(write, libc::O_WRONLY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let pipe = |read, write| Some(Address::Pipe { read, write });
        assert_eq!(Address::find(" -j4 --jobserver-auth=3,4"), pipe(3, 4));
        assert_eq!(Address::find("--jobserver-fds=5,6 -j"), pipe(5, 6));
        assert_eq!(Address::find("--jobserver-auth=3,4 --jobserver-auth=7,8"), pipe(7, 8));
        let fifo = Address::find("kw --jobserver-auth=fifo:/tmp/GMfifo12 --x");
        assert_eq!(fifo, Some(Address::Fifo("/tmp/GMfifo12".into())));
        for none in
            ["", "-j4", "--jobserver-auth=-2,-2", "--jobserver-auth=3", "-- A=1 -- --jobserver-auth=3,4"]
        {
            assert_eq!(Address::find(none), None, "{none}");
        }
    }

    #[test]
    fn nothing_without_a_jobserver() {
        for flags in ["", "--jobserver-auth=99998,99999", "--jobserver-auth=fifo:/no/such/fifo"] {
            assert!(Jobserver::connect(flags).is_none(), "{flags}");
        }
    }

    #[cfg(target_os = "linux")]
    mod linux {
        use std::io::{Read, Write};
        use std::os::fd::AsRawFd;

        use super::*;
        use crate::host::QuietHost;
        use crate::io::testdir::TestDir;

        #[test]
        fn tokens_from_a_pipe_and_back() {
            let (mut read, mut write) = std::io::pipe().unwrap();
            write.write_all(b"abc").unwrap();
            let flags = format!("-j --jobserver-auth={},{}", read.as_raw_fd(), write.as_raw_fd());
            let (host, jobserver) = (QuietHost::new(), Jobserver::connect(&flags).unwrap());
            let first = jobserver.take(2, &host);
            assert_eq!(first.count(), 2);
            let second = jobserver.take(5, &host);
            assert_eq!(second.count(), 1);
            assert_eq!(jobserver.take(5, &host).count(), 0);
            drop(second);
            drop(first);
            drop((write, jobserver));
            let mut all = Vec::new();
            read.read_to_end(&mut all).unwrap();
            assert_eq!(all, b"cab");
            // SAFETY: asks for flags of an open descriptor.
            let flags = unsafe { libc::fcntl(read.as_raw_fd(), libc::F_GETFL) };
            assert_eq!(flags & libc::O_NONBLOCK, 0);
        }

        #[test]
        fn tokens_from_a_fifo() {
            let dir = TestDir::new("jobserver");
            let path = dir.join("fifo");
            let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
            // SAFETY: a terminated path.
            assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
            let mut server = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
            server.write_all(b"++").unwrap();
            let flags = format!("--jobserver-auth=fifo:{}", path.display());
            let (host, jobserver) = (QuietHost::new(), Jobserver::connect(&flags).unwrap());
            let tokens = jobserver.take(1, &host);
            assert_eq!(tokens.count(), 1);
            drop(tokens);
            let mut both = [0; 2];
            server.read_exact(&mut both).unwrap();
            assert_eq!(&both, b"++");
        }

        #[test]
        fn other_descriptors_are_left_alone() {
            let file = std::fs::File::open("/dev/null").unwrap();
            let (read, write) = std::io::pipe().unwrap();
            let (mut other, mut other_write) = std::io::pipe().unwrap();
            other_write.write_all(b"x").unwrap();
            let numbers = [
                (file.as_raw_fd(), file.as_raw_fd()),
                (other.as_raw_fd(), write.as_raw_fd()),
                (other_write.as_raw_fd(), other.as_raw_fd()),
                (read.as_raw_fd(), file.as_raw_fd()),
            ];
            for (r, w) in numbers {
                assert!(Jobserver::connect(&format!("--jobserver-auth={r},{w}")).is_none(), "{r} {w}");
            }
            drop(other_write);
            let mut rest = Vec::new();
            other.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"x");
        }
    }
}

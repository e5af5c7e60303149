//! How much memory the machine and the control groups of this process still have for it.
//!
//! - Linux: `MemAvailable` of `/proc/meminfo`, and of each control group above the process that has a limit
//!   what is between that and its use, page cache that can be given back left out. Version 2 has a directory a
//!   group up to the root, version 1 one for the whole path. Where the process sees only a part of the
//!   hierarchy, as in a container, its own group is the root that it sees.
//! - Elsewhere nothing is known.

#[cfg(target_os = "linux")]
use std::path::Path;

/// The machine, or a control group: what processes share memory in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The same for all processes that share it.
    pub id: u64,
    /// Bytes that can be taken without displacing what is used.
    pub available: u64,
}

/// Bytes that can be taken in all scopes; `u64::MAX` if nothing is known.
pub fn available() -> u64 {
    scopes().iter().map(|scope| scope.available).min().unwrap_or(u64::MAX)
}

/// The scopes of this process, the machine first. Empty if nothing is known.
#[cfg(target_os = "linux")]
pub fn scopes() -> Vec<Scope> {
    scopes_by(&|path| std::fs::read_to_string(Path::new(path)).ok(), &|path| {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).ok().map(|meta| meta.ino() ^ meta.dev().rotate_left(48))
    })
}

#[cfg(not(target_os = "linux"))]
pub fn scopes() -> Vec<Scope> {
    Vec::new()
}

/// Bytes of this process's own memory, files that it has mapped left out; 0 if nothing is known.
#[cfg(target_os = "linux")]
pub fn own_use() -> u64 {
    used_by("self").unwrap_or(0)
}

#[cfg(not(target_os = "linux"))]
pub fn own_use() -> u64 {
    0
}

/// The same of a process, by its directory in `/proc`. `None` if it cannot be seen.
#[cfg(target_os = "linux")]
pub fn used_by(process: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    // Pages: all, resident, resident and of files, …
    let mut pages = text.split(' ').skip(1).map_while(|field| field.parse::<u64>().ok());
    let (resident, of_files) = (pages.next()?, pages.next()?);
    // SAFETY: asks for a constant of the system.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    Some(resident.saturating_sub(of_files) * page)
}

#[cfg(not(target_os = "linux"))]
pub fn used_by(_process: &str) -> Option<u64> {
    None
}

/// `read` gives a file's text, `identity` a number for a directory.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn scopes_by(read: &dyn Fn(&str) -> Option<String>, identity: &dyn Fn(&str) -> Option<u64>) -> Vec<Scope> {
    let mut scopes = Vec::new();
    if let Some(available) = read("/proc/meminfo").as_deref().and_then(available_in) {
        // Links on other machines may use the same directory.
        let boot = read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        scopes.push(Scope {
            id: boot.bytes().fold(0, |id: u64, byte| id.wrapping_mul(31).wrapping_add(byte.into())),
            available,
        });
    }
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let version = match controllers {
            "" => &VERSION_2,
            _ if controllers.split(',').any(|name| name == "memory") => &VERSION_1,
            _ => continue,
        };
        let mut path = path.trim_end_matches('/');
        loop {
            let directory = format!("{}{path}", version.root);
            if let Some(available) = version.available(&directory, read)
                && let Some(id) = identity(&directory)
            {
                scopes.push(Scope { id, available });
            }
            match path.rfind('/') {
                Some(slash) => path = &path[..slash],
                None => break,
            }
        }
    }
    scopes
}

fn available_in(meminfo: &str) -> Option<u64> {
    let text = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    text.trim().strip_suffix("kB")?.trim().parse().ok().map(|kib: u64| kib << 10)
}

/// How a version of control groups calls things.
struct Version {
    root: &'static str,
    /// The limit, and where there is one that from which on the kernel slows down who takes more.
    limits: &'static [&'static str],
    used: &'static str,
    /// Lines of `memory.stat` with page cache that is given back for others.
    cache: [&'static str; 2],
}

const VERSION_1: Version = Version {
    root: "/sys/fs/cgroup/memory",
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    cache: ["total_inactive_file ", "total_active_file "],
};

const VERSION_2: Version = Version {
    root: "/sys/fs/cgroup",
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    cache: ["inactive_file ", "active_file "],
};

/// Version 1 says a number near this where there is no limit.
const UNLIMITED: u64 = 1 << 62;

impl Version {
    /// `None` without a limit.
    fn available(&self, directory: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
        let number = |name: &str| read(&format!("{directory}/{name}"))?.trim().parse::<u64>().ok();
        let limits = self.limits.iter().filter_map(|name| number(name));
        let limit = limits.filter(|limit| *limit < UNLIMITED).min()?;
        let stat = read(&format!("{directory}/memory.stat")).unwrap_or_default();
        let lines = stat.lines().filter_map(|line| {
            self.cache.iter().find_map(|name| line.strip_prefix(name)?.trim().parse::<u64>().ok())
        });
        let used = number(self.used).unwrap_or(0).saturating_sub(lines.sum());
        Some(limit.saturating_sub(used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<u64> {
        let read =
            |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        let scopes = scopes_by(&read, &|path| Some(path.len() as u64));
        scopes.iter().map(|scope| scope.available).collect()
    }

    #[test]
    fn machine_and_groups_with_limits_count() {
        let meminfo = ("/proc/meminfo", "MemTotal:  9 kB\nMemAvailable:    5 kB\n");
        assert_eq!(found(&[meminfo]), [5 << 10]);
        let second = [
            meminfo,
            ("/proc/self/cgroup", "0::/a/b\n"),
            ("/sys/fs/cgroup/a/memory.max", "3000\n"),
            ("/sys/fs/cgroup/a/memory.current", "1000\n"),
            ("/sys/fs/cgroup/a/memory.stat", "anon 500\ninactive_file 300\nactive_file 100\n"),
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
        ];
        assert_eq!(found(&second), [5 << 10, 2400]);
        let high = [("/proc/self/cgroup", "0::/a\n"), ("/sys/fs/cgroup/a/memory.high", "1500\n")];
        assert_eq!(found(&high), [1500]);
        assert_eq!(found(&[&second[..], &high[1..]].concat()), [5 << 10, 900]);
        let first = [
            ("/proc/self/cgroup", "4:cpu,memory:/x\n5:cpuset:/y\n0::/\nnonsense\n"),
            ("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "2000\n"),
            ("/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "2500\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/cpuset/y/memory.limit_in_bytes", "1\n"),
        ];
        assert_eq!(found(&first), [0]);
        // A container sees its own group as the root of all.
        let root = [
            ("/proc/self/cgroup", "3:memory:/docker/1234\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "700\n"),
        ];
        assert_eq!(found(&root), [700]);
        assert_eq!(found(&[]), [0; 0]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_uses_memory() {
        assert!(own_use() > 0 && available() > 0 && !scopes().is_empty());
    }
}

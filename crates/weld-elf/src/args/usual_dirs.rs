//! The directories of libraries that GNU ld knows without being told.
//!
//! Compilers name with `-L` all that they want to be looked at, so these are looked through last, by `-l`
//! only, and only if weld is called as GNU ld: assembly tutorials and old makefiles count on them. As with
//! GNU ld, they are below the sysroot, and neither `-nostdlib` nor a script of one's own (`-T`), which takes
//! the place of the one that names them, leaves them.
//!
//! Source: `SEARCH_DIR` of the scripts that GNU ld prints (`ld --verbose`), as Debian, Fedora and upstream
//! configure it.

use std::path::PathBuf;

use crate::arch::facts::Facts;
use crate::options::{InputKind, Options};

/// Emulation; the names of directories below `lib`, by Debian's multiarch; the suffixes of `lib` elsewhere;
/// the target in front of the names of cross tools.
const MACHINES: &[(&str, &str, &[&str])] = &[
    ("elf_x86_64", "x86_64-linux-gnu", &["64", ""]),
    ("elf_i386", "i386-linux-gnu", &["32", ""]),
    ("aarch64linux", "aarch64-linux-gnu", &["64", ""]),
    ("aarch64linuxb", "aarch64_be-linux-gnu", &["64", ""]),
    ("elf64lriscv", "riscv64-linux-gnu", &["64/lp64d", "64", ""]),
    ("elf32lriscv", "riscv32-linux-gnu", &["32/ilp32d", "32", ""]),
    ("elf64loongarch", "loongarch64-linux-gnu", &["64", ""]),
    ("elf32loongarch", "loongarch32-linux-gnu", &["32", ""]),
    ("elf64_s390", "s390x-linux-gnu", &["64", ""]),
];

/// The directories for programs of `machine`, in order; none if they do not count.
pub fn of(options: &Options, machine: &Facts) -> Vec<PathBuf> {
    let inputs = &options.inputs;
    let scripted = || inputs.args.iter().any(|input| matches!(input.kind, InputKind::Script(_)));
    if !options.compat_mode.is_gnu_ld() || inputs.nostdlib || scripted() {
        return Vec::new();
    }
    let Some((_, triple, suffixes)) = MACHINES.iter().find(|row| row.0 == machine.emulation()) else {
        return Vec::new();
    };
    let mut dirs = ["usr/local/lib", "lib", "usr/lib"].map(|dir| format!("{dir}/{triple}")).to_vec();
    for suffix in *suffixes {
        dirs.extend(["usr/local/lib", "lib", "usr/lib"].map(|dir| format!("{dir}{suffix}")));
    }
    dirs.extend(suffixes.iter().map(|suffix| format!("usr/{triple}/lib{suffix}")));
    let root = match inputs.sysroot.as_os_str().is_empty() {
        true => PathBuf::from("/"),
        false => inputs.sysroot.clone(),
    };
    dirs.into_iter().map(|dir| root.join(dir)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch;
    use crate::compat_mode::CompatMode;

    #[test]
    fn the_usual_places_of_the_default_machine() {
        let mut options = Options::default();
        let dirs = |options: &Options| of(options, arch::default().facts());
        let first = dirs(&options);
        assert_eq!(first[0], PathBuf::from("/usr/local/lib/x86_64-linux-gnu"));
        assert!(first.contains(&"/lib64".into()) && first.contains(&"/usr/lib".into()));
        options.inputs.sysroot = "/sys".into();
        assert_eq!(dirs(&options)[1], PathBuf::from("/sys/lib/x86_64-linux-gnu"));
        options.inputs.nostdlib = true;
        assert!(dirs(&options).is_empty());
        options.inputs.nostdlib = false;
        options.compat_mode = CompatMode::Lld;
        assert!(dirs(&options).is_empty());
    }
}

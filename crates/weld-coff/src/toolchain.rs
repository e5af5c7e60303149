//! Where Visual Studio and the Windows SDK have their libraries: `/winsysroot`, `/vctoolsdir`, `/winsdkdir`,
//! `/diasdkdir`.
//!
//! The directories depend on the machine, which may be known only when the first object is read. Versions
//! that nobody gives are the greatest that are there.

use std::path::{Path, PathBuf};

use crate::coff::machine::Machine;

/// What the command line says of a toolchain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toolchain {
    /// A directory with all of it.
    pub root: Option<PathBuf>,
    pub tools: Option<PathBuf>,
    pub tools_version: Option<String>,
    pub sdk: Option<PathBuf>,
    pub sdk_version: Option<String>,
    pub dia: Option<PathBuf>,
}

impl Toolchain {
    /// Whether it takes the place of the directories of `LIB`.
    pub fn replaces_environment(&self) -> bool {
        self.root.is_some() || self.tools.is_some()
    }

    /// The directories with libraries for a machine.
    pub fn directories(&self, machine: Machine) -> Vec<PathBuf> {
        let root = self.root.as_deref();
        let mut dirs = Vec::new();
        let name = machine.name();
        if let Some(dia) = self.dia.clone().or_else(|| Some(child(root?, "DIA SDK"))) {
            let lib = child(&dia, "lib");
            // This part of it has names of its own.
            dirs.push(match machine {
                Machine::X64 => lib.join("amd64"),
                Machine::X86 => lib,
                _ => lib.join(name),
            });
        }
        if let Some(tools) = self.tools.clone().or_else(|| self.tools_below(root?)) {
            dirs.push(child(&tools, "lib").join(name));
            dirs.push(child(&child(&tools, "atlmfc"), "lib").join(name));
        }
        if let Some(sdk) = self.sdk.clone().or_else(|| self.kit_below(root?)) {
            let lib = child(&sdk, "Lib");
            if let Some(version) = self.sdk_version.clone().or_else(|| greatest(&lib)) {
                dirs.extend(["ucrt", "um"].map(|part| lib.join(&version).join(part).join(name)));
            }
        }
        dirs
    }

    fn tools_below(&self, root: &Path) -> Option<PathBuf> {
        let all = ["VC", "Tools", "MSVC"].iter().fold(root.to_owned(), |dir, name| child(&dir, name));
        Some(all.join(self.tools_version.clone().or_else(|| greatest(&all))?))
    }

    fn kit_below(&self, root: &Path) -> Option<PathBuf> {
        let kits = child(root, "Windows Kits");
        // Its first number says of which Windows it is.
        let given = self.sdk_version.as_ref().and_then(|version| version.split('.').next());
        Some(kits.join(given.map(str::to_owned).or_else(|| greatest(&kits))?))
    }
}

/// The entry of this name in a directory, also if it is written in another case.
fn child(dir: &Path, name: &str) -> PathBuf {
    let exact = dir.join(name);
    if exact.exists() {
        return exact;
    }
    let mut names: Vec<_> =
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    names.into_iter().find(|other| other.eq_ignore_ascii_case(name)).map_or(exact, |name| dir.join(name))
}

/// The entry that is the greatest version.
pub fn greatest(dir: &Path) -> Option<String> {
    let numbers = |name: &str| name.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>();
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| Some((numbers(&name)?, name))).max().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_machines() {
        let root = std::env::temp_dir().join(format!("weld-coff-toolchain-{}", std::process::id()));
        for dir in ["vc/tools/MSVC/14.9.1", "vc/tools/MSVC/14.30.0", "Windows Kits/10/Lib/10.0.19041.0"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        let toolchain = Toolchain { root: Some(root.clone()), ..Toolchain::default() };
        let want = [
            "DIA SDK/lib/amd64",
            "vc/tools/MSVC/14.30.0/lib/x64",
            "vc/tools/MSVC/14.30.0/atlmfc/lib/x64",
            "Windows Kits/10/Lib/10.0.19041.0/ucrt/x64",
            "Windows Kits/10/Lib/10.0.19041.0/um/x64",
        ];
        assert_eq!(toolchain.directories(Machine::X64), want.map(|dir| root.join(dir)));
        assert!(toolchain.replaces_environment() && !Toolchain::default().replaces_environment());
        let given = Toolchain {
            tools: Some("tools".into()),
            sdk: Some("sdk".into()),
            sdk_version: Some("10.0.1".into()),
            ..Toolchain::default()
        };
        let want =
            ["tools/lib/x86", "tools/atlmfc/lib/x86", "sdk/Lib/10.0.1/ucrt/x86", "sdk/Lib/10.0.1/um/x86"];
        assert_eq!(given.directories(Machine::X86), want.map(PathBuf::from));
        assert!(Toolchain::default().directories(Machine::Arm64).is_empty());
        std::fs::remove_dir_all(&root).unwrap();
    }
}

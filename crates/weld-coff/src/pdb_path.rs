//! Where the PDB goes, and how the image and the PDB call it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use weld_common::text;
use weld_pdb::paths::absolute;

use crate::options::Options;

/// Where the PDB goes.
pub fn path(options: &Options, out: &Path) -> PathBuf {
    options.pdb.path.clone().unwrap_or_else(|| out.with_extension("pdb"))
}

/// What relative paths in the PDB are put after.
pub fn root(options: &Options) -> &[u8] {
    options.pdb.source_path.as_ref().unwrap_or(&options.invocation.directory).as_bytes()
}

/// Where the PDB goes; a relative path is put after `directory`.
pub fn whole_path(options: &Options, out: &Path, directory: &[u8]) -> String {
    let pdb = path(options, out);
    let shown = text::path(&pdb);
    let (path, root) = match shown.strip_prefix('/') {
        Some(path) => (path, &b"/"[..]),
        None => (&*shown, directory),
    };
    text::text(&absolute(path.as_bytes(), root)).into_owned()
}

/// What the PDB calls the linker. With `/pdbsourcepath` the PDB shall be the same wherever it is made, so it
/// tells the name alone, which is the same on all systems.
pub fn program(options: &Options) -> Cow<'_, [u8]> {
    let program = options.invocation.program.as_str();
    if options.pdb.source_path.is_none() {
        return Cow::Borrowed(program.as_bytes());
    }
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    absolute(name.as_bytes(), root(options))
}

/// How the image calls the PDB.
pub fn alt_path(options: &Options, out: &Path) -> String {
    let pdb = path(options, out);
    let Some(alt) = &options.pdb.alt_path else {
        // Debuggers look for it there, so this is where it is.
        return whole_path(options, out, options.invocation.directory.as_bytes());
    };
    let name = pdb.file_name().map_or("".into(), |name| text::text(name.as_encoded_bytes()).into_owned());
    let extension = out.extension().map_or("".into(), |e| text::text(e.as_encoded_bytes()).into_owned());
    replace(&replace(alt, "%_pdb%", &name), "%_ext%", &extension)
}

/// Variables of a path that are not known.
pub fn unknown_variables(path: &str) -> Vec<String> {
    let parts: Vec<&str> = path.split('%').collect();
    let between = parts.iter().skip(1).step_by(2).take((parts.len() - 1) / 2);
    let unknown = between.filter(|name| !matches!(&*name.to_ascii_lowercase(), "_pdb" | "_ext"));
    unknown.map(|name| format!("%{name}%")).collect()
}

/// Replaces a word of small letters, however it is written.
fn replace(text: &str, word: &str, by: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.to_ascii_lowercase().find(word) {
        out += &rest[..at];
        out += by;
        rest = &rest[at + word.len()..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_the_image_calls_the_pdb() {
        let mut options = Options::default();
        options.invocation.directory = "/w".into();
        assert_eq!(alt_path(&options, Path::new("o/a.exe")), "/w/o/a.pdb");
        options.pdb.path = Some("/x/y/../b.pdb".into());
        assert_eq!(alt_path(&options, Path::new("a.exe")), "/x/b.pdb");
        options.pdb.alt_path = Some("%_PDB%-%_ext%%_EXT%".into());
        assert_eq!(alt_path(&options, Path::new("a.dll")), "b.pdb-dlldll");
        // The PDB's own word for itself does not depend on where it is made, if that is asked for.
        options.pdb.path = Some("b.pdb".into());
        options.pdb.source_path = Some("c:\\src".into());
        assert_eq!(whole_path(&options, Path::new("a.dll"), root(&options)), "c:\\src\\b.pdb");
        for called in ["/usr/bin/weld", "Z:\\bin\\weld.exe", "weld"] {
            options.invocation.program = called.into();
            assert_eq!(*program(&options), *b"c:\\src\\weld");
        }
        assert_eq!(unknown_variables("a%_PDB%%x%b%c"), ["%x%"]);
    }
}

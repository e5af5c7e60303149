//! Names with a version in them: `name@version`, and `name@@version` for the default one.
//!
//! Specification: LSB "Symbol Versioning"; GNU as manual, `.symver`.

/// A name in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelled<'n> {
    pub name: &'n [u8],
    pub version: &'n [u8],
    /// `@@`
    pub default: bool,
}

/// Takes `name@version` or `name@@version` apart.
pub fn split(name: &[u8]) -> Option<Spelled<'_>> {
    let at = memchr::memchr(b'@', name).filter(|&at| at > 0)?;
    let default = name.get(at + 1) == Some(&b'@');
    Some(Spelled { name: &name[..at], version: &name[at + 1 + usize::from(default)..], default })
}

/// The name that a definition answers to: that of the default version, and of the empty one, has no version.
pub fn known_as(name: &[u8]) -> &[u8] {
    match split(name) {
        Some(spelled) if spelled.default || spelled.version.is_empty() => spelled.name,
        _ => name,
    }
}

/// The name without a version.
pub fn plain(name: &[u8]) -> &[u8] {
    split(name).map_or(name, |s| s.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_parts() {
        let parts = |n: &'static str| split(n.as_bytes()).map(|s| (s.name, s.version, s.default));
        assert_eq!(parts("f@V"), Some((&b"f"[..], &b"V"[..], false)));
        assert_eq!(parts("f@@V"), Some((&b"f"[..], &b"V"[..], true)));
        assert_eq!(parts("f@"), Some((&b"f"[..], &b""[..], false)));
        assert_eq!(parts("f"), None);
        assert_eq!(parts("@V"), None);
        assert_eq!(plain(b"f@V"), b"f");
        let known = ["f", "f@V", "f@@V", "f@", "f@@", "@V"].map(|name| known_as(name.as_bytes()));
        assert_eq!(known, [&b"f"[..], b"f@V", b"f", b"f", b"f", b"@V"]);
    }
}

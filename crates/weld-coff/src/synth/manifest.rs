//! Manifests: what a program asks of the system before it starts, such as rights and versions of libraries. A file beside the image
//! (`/manifest`), or a resource in it (`/manifest:embed`).
//!
//! Source: Microsoft, "Application Manifests".

use std::fmt::Write;

use crate::options::{Manifest, Options};
use crate::resolve::Resolved;

/// The type of the resource that a manifest is, and its language: English.
pub const RESOURCE_TYPE: u16 = 24;
pub const LANGUAGE: u16 = 1033;

/// What becomes of the manifest; one is needed for what objects depend on, too.
pub fn kind(options: &Options, resolved: &Resolved) -> Manifest {
    match options.manifest {
        Some(kind) => kind,
        None if !resolved.demands.manifest_dependencies.is_empty() => Manifest::Beside,
        None => Manifest::No,
    }
}

/// The text. Level and access to the desktop of others go in as they were given: with their quotes.
pub fn text(options: &Options, resolved: &Resolved) -> String {
    let mut out = "<?xml version=\"1.0\" standalone=\"yes\"?>\n\
        <assembly xmlns=\"urn:schemas-microsoft-com:asm.v1\"\n          manifestVersion=\"1.0\">\n"
        .to_owned();
    if let Some((level, access)) = &options.manifest_rights {
        let _ = write!(
            out,
            "  <trustInfo xmlns=\"urn:schemas-microsoft-com:asm.v3\">\n    <security>\n      <requestedPrivileges>\n         \
             <requestedExecutionLevel level={level} uiAccess={access}/>\n      \
             </requestedPrivileges>\n    </security>\n  </trustInfo>\n"
        );
    }
    for dependency in &resolved.demands.manifest_dependencies {
        let _ = write!(
            out,
            "  <dependency>\n    <dependentAssembly>\n      <assemblyIdentity {dependency} />\n    \
             </dependentAssembly>\n  </dependency>\n"
        );
    }
    out + "</assembly>\n"
}

//! Manifests: what a program asks of the system before it starts, such as rights and versions of libraries. A
//! file beside the image (`/manifest`), or a resource in it (`/manifest:embed`).
//!
//! Source: Microsoft, "Application Manifests".

use std::fmt::Write;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::text;

use super::manifest_merge::merge;
use crate::options::{Manifest, Options};
use crate::resolve::Resolved;

/// The type of the resource that a manifest is, and its language: English.
pub const RESOURCE_TYPE: u16 = 24;
pub const LANGUAGE: u16 = 1033;

/// What becomes of the manifest; one is needed for what objects depend on, too.
pub fn kind(options: &Options, resolved: &Resolved) -> Manifest {
    match options.manifest.kind {
        Some(kind) => kind,
        None if !resolved.demands.manifest_dependencies.is_empty() => Manifest::Beside,
        None => Manifest::No,
    }
}

/// The number of the resource that the manifest is, and its bytes, if it goes into the image.
///
/// # Errors
/// If a file of `/manifestinput` cannot be read or merged.
pub fn resource<'a>(
    options: &Options,
    resolved: &Resolved,
    store: &'a InputStore,
) -> Result<Option<(u16, &'a [u8])>, Diagnostic> {
    let Manifest::Embedded(number) = kind(options, resolved) else { return Ok(None) };
    // Libraries have the second.
    let number = number.unwrap_or(if options.dll { 2 } else { 1 });
    let text = embedded(options, resolved, store)?;
    Ok(Some((number, store.keep(text.into_bytes()))))
}

/// The text that goes into the image, with what `/manifestinput` has.
///
/// # Errors
/// If one of its files cannot be read or merged.
fn embedded(options: &Options, resolved: &Resolved, store: &InputStore) -> Result<String, Diagnostic> {
    let own = text(options, resolved);
    let mut others = Vec::new();
    for path in &options.manifest.inputs {
        let fail = |why: &str| {
            Diagnostic::error(Cause::Manifest, format!("/manifestinput: {}: {why}", text::path(path)))
        };
        let bytes = store.open(path)?.ok_or_else(|| fail("No such file or directory"))?;
        others.push(std::str::from_utf8(bytes).map_err(|_| fail("is not in UTF-8"))?);
    }
    if others.is_empty() {
        return Ok(own);
    }
    merge(&own, &others).map_err(|e| {
        let path = text::path(&options.manifest.inputs[e.number]);
        Diagnostic::error(
            Cause::Manifest,
            format!("/manifestinput: failed to merge manifest file {path}: {e}"),
        )
    })
}

/// The text. Level and access to the desktop of others go in as they were given: with their quotes.
pub fn text(options: &Options, resolved: &Resolved) -> String {
    let mut out = "<?xml version=\"1.0\" standalone=\"yes\"?>\n\
        <assembly xmlns=\"urn:schemas-microsoft-com:asm.v1\"\n          manifestVersion=\"1.0\">\n"
        .to_owned();
    if let Some((level, access)) = &options.manifest.rights {
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

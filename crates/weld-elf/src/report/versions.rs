//! What is wrong between version scripts and definitions.

use weld_common::diag::{Cause, Diagnostic};

use crate::job::Job;
use crate::options::UndefinedVersion;
use crate::resolve::Resolved;
use crate::symbols::version_scripts::Scripts;
use crate::symbols::{Symbols, symbol_flags};

/// Names that a version script spells out but nothing defines.
pub fn undefined(job: &Job, resolved: &Resolved, symbols: &Symbols, scripts: &Scripts) {
    let diagnostic = match job.options.symbols.undefined_version {
        UndefinedVersion::Allow => return,
        UndefinedVersion::Warn => Diagnostic::warning,
        UndefinedVersion::Error => Diagnostic::error,
    };
    for (node, pattern) in scripts.versions.exact_globals() {
        let defined = |name: &[u8]| {
            let id = resolved.names.find(name);
            id.is_some_and(|id| !matches!(symbols[id].kind(), symbol_flags::UNDEFINED | symbol_flags::SHARED))
        };
        let spelled = [&pattern.text, &b"@"[..], &node.name].concat();
        if pattern.cxx || defined(&pattern.text) || defined(&spelled) {
            continue;
        }
        let name = String::from_utf8_lossy(&pattern.text);
        let version = if node.name.is_empty() { "global".to_owned() } else { node.shown_name() };
        let text = format!(
            "{}:{}: version script gives version '{version}' to '{name}', which is not defined",
            node.path, pattern.line
        );
        job.sink.push(diagnostic(Cause::UndefinedVersion, text).of_symbol(pattern.text.clone()));
    }
}

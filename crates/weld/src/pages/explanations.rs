//! The pages of `weld explain`: what a message means, by its code, an example that shows it, and what can be
//! done.
//!
//! They are the files in `pages/explain/`. A test does what each example does and compares what weld says
//! (`tests/explain.rs`), so the examples are right.

use weld_common::diag::Cause;

/// The page on a cause, as Markdown.
pub fn find(cause: Cause) -> Option<&'static str> {
    PAGES.iter().find(|(code, _)| *code == cause.code()).map(|(_, text)| *text)
}

macro_rules! pages {
    ($($code:literal)*) => {
        &[$(($code, include_str!(concat!("../../pages/explain/", $code, ".md"))),)*]
    };
}

/// By code, in the order of the table of causes.
static PAGES: &[(&str, &str)] = pages! {
    "unknown-option"
    "bad-option"
    "conflicting-options"
    "option-without-effect"
    "no-input-files"
    "response-file"
    "cannot-open-file"
    "cannot-read-file"
    "cannot-write-file"
    "memory-limit"
    "library-not-found"
    "dependency-not-found"
    "output-clash"
    "unknown-file-type"
    "empty-file"
    "executable-as-input"
    "shared-in-static-link"
    "wrong-machine"
    "machine-unknown"
    "incompatible-objects"
    "malformed-object"
    "malformed-archive"
    "undefined-symbol"
    "undefined-vtable"
    "undefined-in-shared-library"
    "hidden-symbol"
    "required-symbol"
    "discarded-symbol"
    "duplicate-symbol"
    "common-symbol"
    "thread-local-mismatch"
    "symbol-warning"
    "version-not-found"
    "undefined-version"
    "entry-not-found"
    "symbol-assignment"
    "reserved-symbol"
    "backward-reference"
    "no-such-symbol"
    "exported-twice"
    "relocation-out-of-range"
    "relocation-misaligned"
    "needs-pic"
    "text-relocation"
    "absolute-symbol"
    "copy-relocation"
    "orphan-section"
    "section-overlap"
    "region-overflow"
    "image-too-large"
    "writable-code"
    "executable-stack"
    "missing-property"
    "script-syntax"
    "script-assertion"
    "script-value"
    "lto-without-engine"
    "no-subsystem"
    "failifmismatch"
    "locally-defined-import"
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_on_a_cause_and_in_the_table() {
        let order: Vec<usize> = PAGES
            .iter()
            .map(|(code, _)| Cause::find(code).unwrap_or_else(|| panic!("there is no code {code}")) as usize)
            .collect();
        assert!(order.is_sorted());
        let dir = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/pages/explain"))
            .expect("the pages are there");
        assert_eq!(dir.count(), PAGES.len(), "a file in pages/explain is not in the table");
        for (code, text) in PAGES {
            assert!(text.starts_with(&format!("# {code}\n")), "{code}");
            for part in ["\n## Example\n", "\n## Ways out\n"] {
                assert_eq!(text.matches(part).count(), 1, "{code}: {part}");
            }
        }
    }
}

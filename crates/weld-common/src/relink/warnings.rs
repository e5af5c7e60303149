//! Warnings of a link, which the links after it that do not look again say in its stead.

use super::fields::*;
use crate::diag::{Cause, Diagnostic, Severity};
use crate::text;

/// A warning of the last link, which holds until something changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptWarning {
    pub code: Vec<u8>,
    pub message: Vec<u8>,
    pub notes: Vec<Vec<u8>>,
}

impl KeptWarning {
    /// Those among the messages of a link.
    pub fn of(messages: &[Diagnostic]) -> Vec<KeptWarning> {
        let bytes = |text: &String| text::bytes(text).into_owned();
        let warnings = messages.iter().filter(|message| message.severity == Severity::Warning);
        let kept = |d: &Diagnostic| KeptWarning {
            code: d.cause.code().into(),
            message: bytes(&d.message),
            notes: d.notes.iter().map(bytes).collect(),
        };
        warnings.map(kept).collect()
    }

    /// The warnings, which hold as they did, in the same order.
    pub fn repeated(list: &[KeptWarning]) -> impl Iterator<Item = Diagnostic> {
        list.iter().zip(0..).map(|(one, number)| {
            let cause = Cause::find(&text::text(&one.code)).unwrap_or(Cause::Incremental);
            let warning = Diagnostic::warning(cause, text::text(&one.message)).at(number);
            one.notes.iter().fold(warning, |warning, note| warning.note(text::text(note)))
        })
    }

    pub fn put(&self, out: &mut Vec<u8>) {
        put_bytes(&self.code, out);
        put_bytes(&self.message, out);
        put_list(&self.notes, out, |note, out| put_bytes(note, out));
    }

    pub fn take(rest: &mut &[u8]) -> Option<KeptWarning> {
        Some(KeptWarning {
            code: take_bytes(rest)?,
            message: take_bytes(rest)?,
            notes: take_list(rest, take_bytes)?,
        })
    }
}

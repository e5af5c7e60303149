//! How often the second half of a link is gone through, and what sends it back to its start.
//!
//! From frozen symbols to addresses a link counts on a few things that only addresses can tell: that
//! shortened GOT loads reach, that the headers are in memory, that symbols which a script computes are of the
//! kind that the scan was told. When one turns out to be otherwise, all that follows from it is made again,
//! with what is known now. Each such discovery is made once, or a bounded number of times, so a link ends.

use weld_common::diag::{Cause, Diagnostic, Diagnostics};

use crate::resolve::Resolved;
use crate::symbol_names::flag;
use crate::symbols::Symbols;
use crate::symbols::internal::Internals;
use crate::symbols::value_kinds::Correction;
use crate::synth::plan::Plan;

/// How often symbols that a script computes may turn out to be something else. What they are makes sections
/// larger and smaller, and so it may change what they are.
const CORRECTIONS: u32 = 4;

/// What is known when the second half begins. What has been said in a round before is not said again.
#[derive(Clone, Copy)]
pub struct Round {
    /// GOT loads may become address computations.
    pub relax_got: bool,
    /// Nothing has been said of names yet.
    pub names: bool,
    /// Nothing has been said of references yet.
    pub references: bool,
    /// How often symbols that a script computes have turned out to be something else.
    corrections: u32,
}

impl Round {
    pub fn first(relax_got: bool) -> Round {
        Round { relax_got, names: true, references: true, corrections: 0 }
    }
}

/// What a layout shows to be otherwise than its round has counted on.
pub enum Surprise {
    /// Symbols that a script computes are something else than the scan was told.
    ValueKinds(Vec<Correction>),
    /// Nothing is the start of the headers, which are not in memory.
    NoHeaders,
    /// The image is so large that not all shortened GOT loads would reach.
    TooLarge,
}

impl Surprise {
    pub fn found(plan: &Plan, internals: &Internals, symbols: &Symbols, relax_got: bool) -> Option<Surprise> {
        let broken = plan.broken_promises(internals, symbols);
        if !broken.is_empty() {
            return Some(Surprise::ValueKinds(broken));
        }
        if internals.start_of_headers().is_some() && !plan.loads_headers() {
            return Some(Surprise::NoHeaders);
        }
        (relax_got && plan.is_too_large_to_relax()).then_some(Surprise::TooLarge)
    }

    /// The round after `round`, which knows it.
    pub fn next(
        self,
        round: Round,
        internals: &mut Internals,
        resolved: &mut Resolved,
    ) -> Result<Round, Diagnostics> {
        let quiet = Round { names: false, references: false, ..round };
        match self {
            Surprise::ValueKinds(broken) if round.corrections == CORRECTIONS => {
                let texts = broken.iter().map(|correction| internals.not_settled(correction));
                let list = texts.map(|text| Diagnostic::error(Cause::ScriptValue, text)).collect();
                Err(Diagnostics { list })
            }
            Surprise::ValueKinds(broken) => {
                internals.correct(&broken);
                Ok(Round { corrections: round.corrections + 1, ..quiet })
            }
            Surprise::NoHeaders => {
                let Some(id) = internals.start_of_headers() else { return Ok(quiet) };
                // References to it that want a definition are errors now.
                let is_strong = resolved.names.get(id).flags & flag::REF_STRONG != 0;
                internals.undefine(resolved, &[id]);
                Ok(Round { references: is_strong, ..quiet })
            }
            Surprise::TooLarge => Ok(Round { relax_got: false, ..quiet }),
        }
    }
}

//! What has become of a symbol, in the words of the interface between linkers and plugins.
//!
//! These say less than LLVM's own, which lld uses: LLVM's plugin makes its five marks of them (which
//! definition counts, who sees it, may others replace it, is it exported, is it redefined). So the word is
//! chosen by what the plugin makes of it, not by its name alone:
//!
//! | word | definition counts | visible | exported | final |
//! |---|---|---|---|---|
//! | `PREVAILING_DEF_IRONLY` | yes | | | in executables |
//! | `PREVAILING_DEF` | yes | yes | | in executables |
//! | `PREVAILING_DEF_IRONLY_EXP` | yes | unless it can be omitted | yes | in executables |
//! | `RESOLVED_IR`, `RESOLVED_EXEC`, `PREEMPTED_*` | | | | in executables |
//! | `RESOLVED_DYN` | | | yes | no |
//! | `UNDEF` | | | | no |
//!
//! Besides, names can be said to be wrapped, which makes them redefined and visible.

use crate::request::{Machine, Request, Resolution, Symbol};

/// `LDPR_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Word {
    Undefined = 1,
    Prevailing = 2,
    PrevailingIrOnly = 3,
    PreemptedReg = 4,
    PreemptedIr = 5,
    ResolvedIr = 6,
    ResolvedExec = 7,
    ResolvedDyn = 8,
    PrevailingIrOnlyExported = 9,
}

impl Word {
    /// As files of resolutions have it.
    pub fn name(self) -> &'static str {
        match self {
            Word::Undefined => "UNDEF",
            Word::Prevailing => "PREVAILING_DEF",
            Word::PrevailingIrOnly => "PREVAILING_DEF_IRONLY",
            Word::PreemptedReg => "PREEMPTED_REG",
            Word::PreemptedIr => "PREEMPTED_IR",
            Word::ResolvedIr => "RESOLVED_IR",
            Word::ResolvedExec => "RESOLVED_EXEC",
            Word::ResolvedDyn => "RESOLVED_DYN",
            Word::PrevailingIrOnlyExported => "PREVAILING_DEF_IRONLY_EXP",
        }
    }
}

/// The word for LLVM's plugin, and whether the name has to be said to be wrapped, too.
pub fn for_llvm(symbol: &Symbol<'_>, request: &Request<'_>) -> (Word, bool) {
    let has = |other| symbol.resolution.has(other);
    let is_redefined = has(Resolution::REDEFINED);
    if !has(Resolution::PREVAILING) {
        return (elsewhere(symbol, matches!(request.machine, Machine::Coff { .. })), is_redefined);
    }
    match (has(Resolution::VISIBLE), has(Resolution::EXPORTED)) {
        (false, false) => (Word::PrevailingIrOnly, is_redefined),
        (true, false) => (Word::Prevailing, is_redefined),
        (false, true) => (Word::PrevailingIrOnlyExported, is_redefined),
        (true, true) if !symbol.can_be_omitted => (Word::PrevailingIrOnlyExported, is_redefined),
        // No word says both. That others see it in other modules matters only for virtual calls.
        (true, true) if !request.options.devirtualisation.whole_program => (Word::Prevailing, is_redefined),
        (true, true) => (Word::PrevailingIrOnlyExported, true),
    }
}

/// The definition is not this file's. `UNDEF` promises nothing about where it is, `RESOLVED_*` that it can be
/// reached without a table.
fn elsewhere(symbol: &Symbol<'_>, is_coff: bool) -> Word {
    let has = |other| symbol.resolution.has(other);
    match (has(Resolution::SHARED), has(Resolution::LOCAL), has(Resolution::NATIVE)) {
        // What comes from a DLL may be data, which is not where its name is.
        _ if is_coff => Word::Undefined,
        (true, ..) => Word::ResolvedDyn,
        (_, false, _) => Word::Undefined,
        (_, _, true) if symbol.is_defined => Word::PreemptedReg,
        (_, _, true) => Word::ResolvedExec,
        (_, _, false) if symbol.is_defined => Word::PreemptedIr,
        (_, _, false) => Word::ResolvedIr,
    }
}

/// The word for GCC, which takes them as they are meant.
pub fn for_gcc(symbol: &Symbol<'_>) -> Word {
    let has = |other| symbol.resolution.has(other);
    if has(Resolution::PREVAILING) {
        return match (has(Resolution::VISIBLE) || has(Resolution::REDEFINED), has(Resolution::EXPORTED)) {
            (true, _) => Word::Prevailing,
            (false, true) => Word::PrevailingIrOnlyExported,
            (false, false) => Word::PrevailingIrOnly,
        };
    }
    match (symbol.is_defined, has(Resolution::NATIVE), has(Resolution::SHARED)) {
        (_, _, true) => Word::ResolvedDyn,
        (true, true, _) => Word::PreemptedReg,
        (true, false, _) => Word::PreemptedIr,
        (false, true, _) => Word::ResolvedExec,
        (false, false, _) if has(Resolution::LOCAL) => Word::ResolvedIr,
        (false, false, _) => Word::Undefined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::request::Output;

    fn symbol(bits: Resolution, is_defined: bool, can_be_omitted: bool) -> Symbol<'static> {
        Symbol { name: b"x", resolution: bits, is_defined, can_be_omitted }
    }

    fn llvm(symbol: &Symbol<'_>, whole_program: bool) -> (Word, bool) {
        let mut options = Options::default();
        options.devirtualisation.whole_program = whole_program;
        for_llvm(symbol, &Request::of_nothing(Output::Shared, &options))
    }

    const P: Resolution = Resolution::PREVAILING;
    const VISIBLE: Resolution = Resolution::VISIBLE;
    const EXPORTED: Resolution = Resolution::EXPORTED;

    #[test]
    fn definitions_that_count() {
        let of = |bits, omit, whole| llvm(&symbol(bits, true, omit), whole);
        assert_eq!(of(P, false, false), (Word::PrevailingIrOnly, false));
        assert_eq!(of(P | VISIBLE, true, true), (Word::Prevailing, false));
        assert_eq!(of(P | EXPORTED, true, false), (Word::PrevailingIrOnlyExported, false));
        assert_eq!(of(P | VISIBLE | EXPORTED, false, false), (Word::PrevailingIrOnlyExported, false));
        assert_eq!(of(P | VISIBLE | EXPORTED, true, false), (Word::Prevailing, false));
        assert_eq!(of(P | VISIBLE | EXPORTED, true, true), (Word::PrevailingIrOnlyExported, true));
        assert_eq!(of(P | Resolution::REDEFINED, false, false), (Word::PrevailingIrOnly, true));
    }

    #[test]
    fn definitions_elsewhere() {
        let of = |bits, defined| llvm(&symbol(bits, defined, false), false).0;
        let (local, native) = (Resolution::LOCAL, Resolution::NATIVE);
        assert_eq!(of(Resolution::default(), false), Word::Undefined);
        assert_eq!(of(native, false), Word::Undefined, "an absolute symbol is out of reach");
        assert_eq!(
            (of(local | native, false), of(local | native, true)),
            (Word::ResolvedExec, Word::PreemptedReg)
        );
        assert_eq!((of(local, false), of(local, true)), (Word::ResolvedIr, Word::PreemptedIr));
        assert_eq!(of(Resolution::SHARED, false), Word::ResolvedDyn);
    }

    #[test]
    fn gcc_takes_words_as_they_are_meant() {
        let of = |bits, defined| for_gcc(&symbol(bits, defined, false)).name();
        assert_eq!(of(P, true), "PREVAILING_DEF_IRONLY");
        assert_eq!(of(P | Resolution::REDEFINED, true), "PREVAILING_DEF");
        assert_eq!(of(P | EXPORTED, true), "PREVAILING_DEF_IRONLY_EXP");
        assert_eq!(of(P | EXPORTED | VISIBLE, true), "PREVAILING_DEF");
        assert_eq!(of(Resolution::NATIVE, true), "PREEMPTED_REG");
        assert_eq!(of(Resolution::default(), true), "PREEMPTED_IR");
        assert_eq!(of(Resolution::NATIVE, false), "RESOLVED_EXEC");
        assert_eq!(of(Resolution::LOCAL, false), "RESOLVED_IR");
        assert_eq!(of(Resolution::SHARED, false), "RESOLVED_DYN");
        assert_eq!(of(Resolution::default(), false), "UNDEF");
    }
}

//! What messages are about: a cause for each thing that somebody can do something about. Its name is the
//! message's code.
//!
//! A message may be worded better one day, and many places may find the same thing wrong; its code stays, so
//! that people can search for it, `weld explain` has a page for it and programs that read
//! `--error-format=json` can tell one cause from another. Codes are words, as those of clang's and rustc's
//! warnings: a number would say nothing to who meets it in a log, and link.exe's numbers (`LNK4217`) mean
//! something else.
//!
//! This is the one table of all crates. A crate with a cause of its own adds a line to it; a code that has
//! been in a release is not renamed, nor used for another cause. What only damaged files or bugs bring about
//! shares a code an area.

use std::fmt;

macro_rules! causes {
    ($($variant:ident $name:literal $summary:literal,)*) => {
        /// What a message is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Cause {
            $(#[doc = $summary] $variant,)*
        }

        impl Cause {
            /// All of them, in the order of the table.
            pub const ALL: &[Cause] = &[$(Cause::$variant,)*];

            /// The name that people search for.
            pub fn code(self) -> &'static str {
                match self {
                    $(Cause::$variant => $name,)*
                }
            }

            /// A line on what it means, without a full stop.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Cause::$variant => $summary,)*
                }
            }
        }
    };
}

causes! {
    // Command lines.
    UnknownOption "unknown-option" "an option that no table has",
    BadOption "bad-option" "an option's value is missing, or not what the option takes",
    ConflictingOptions "conflicting-options" "options that cannot be used together, or one that needs another",
    UnsupportedOption "unsupported-option" "what an option asks for cannot be had, or not for this machine",
    OptionWithoutEffect "option-without-effect" "an option changes nothing here",
    NoInputFiles "no-input-files" "there is nothing to link",
    ResponseFile "response-file" "a file of arguments (@FILE) cannot be read",

    // Files.
    CannotOpenFile "cannot-open-file" "a file that is named is not there",
    CannotReadFile "cannot-read-file" "a file is there and cannot be read",
    CannotWriteFile "cannot-write-file" "an output cannot be written",
    MemoryLimit "memory-limit" "the link needs more memory than --memory allows",
    OutOfMemory "out-of-memory" "the system has no more memory for the link",
    LibraryNotFound "library-not-found" "no directory that is searched has a library",
    ConflictingLibraries "conflicting-libraries" "libraries that do not go together, such as two of C's run-time libraries",
    DependencyNotFound "dependency-not-found" "a shared library needs another one that is not found",
    OutputClash "output-clash" "two outputs, or an output and an input, are the same file",
    InputChanged "input-changed" "an input changed while it was linked",
    UnknownFileType "unknown-file-type" "a file is nothing that can be linked",
    EmptyFile "empty-file" "an input has no bytes",
    ExecutableAsInput "executable-as-input" "a program is among the inputs",
    SharedInStaticLink "shared-in-static-link" "a shared library is among the inputs of a static link",
    WrongMachine "wrong-machine" "an input is for another machine",
    MachineUnknown "machine-unknown" "no input says which machine to link for",
    IncompatibleObjects "incompatible-objects" "objects were compiled for ways of calling that do not go together",
    ArchiveMember "archive-member" "a member of an archive cannot be linked",
    TooLarge "too-large" "there is more of something than weld or the format can count",

    // What damaged files have.
    MalformedObject "malformed-object" "an object, a shared library or an image is damaged",
    MalformedArchive "malformed-archive" "an archive is damaged",
    MalformedDebugInfo "malformed-debug-info" "debug information or tables for unwinding are damaged",
    MalformedRelocation "malformed-relocation" "a relocation is damaged, or stands where none can be",

    // Symbols.
    UndefinedSymbol "undefined-symbol" "something is used that nothing defines",
    UndefinedVtable "undefined-vtable" "a class has no virtual table: its first virtual function is nowhere",
    UndefinedInSharedLibrary "undefined-in-shared-library" "a shared library uses what nothing defines",
    HiddenSymbol "hidden-symbol" "a shared library uses what is hidden in the program",
    RequiredSymbol "required-symbol" "a symbol that the command line asks for is not defined",
    DiscardedSymbol "discarded-symbol" "something is used that was in a discarded copy of a section",
    DuplicateSymbol "duplicate-symbol" "two files define the same symbol",
    CommonSymbol "common-symbol" "definitions of a variable without a value meet others",
    ComdatMismatch "comdat-mismatch" "copies of a function or variable differ that should be the same",
    ThreadLocalMismatch "thread-local-mismatch" "a variable is of each thread in one file and not in another",
    SymbolWarning "symbol-warning" "a library warns of a symbol that is used",
    VersionNotFound "version-not-found" "a symbol has a version that no script or library defines",
    UndefinedVersion "undefined-version" "a version script names a symbol that is not defined",
    VersionScript "version-script" "a version script or list says two things of one symbol",
    EntryNotFound "entry-not-found" "the function to start with is not defined",
    SymbolAssignment "symbol-assignment" "the value that a symbol is given cannot be computed",
    ReservedSymbol "reserved-symbol" "an object defines what the linker defines",
    BackwardReference "backward-reference" "an archive is named before the object that needs it",
    NoSuchSymbol "no-such-symbol" "an option or a list names a symbol that is not there",
    ExportedTwice "exported-twice" "exports with one name or ordinal",
    ExportFault "export-fault" "what an export says cannot be done or will not work",

    // Relocations.
    RelocationOutOfRange "relocation-out-of-range" "code refers to something too far away",
    RelocationMisaligned "relocation-misaligned" "code refers to an address of another alignment than it can",
    NeedsPic "needs-pic" "code was compiled for another kind of output: recompile with -fPIC",
    TextRelocation "text-relocation" "the loader would have to change code or read-only data",
    AbsoluteSymbol "absolute-symbol" "position-independent code refers to an absolute symbol",
    CopyRelocation "copy-relocation" "a variable of a shared library cannot be copied into the program",
    ThreadLocalModel "thread-local-model" "code reaches a thread-local variable in a way that the output cannot have",
    UnsupportedRelocation "unsupported-relocation" "a relocation of an unknown type, or in an unknown code sequence",
    RelocationWithoutTarget "relocation-without-target" "a relocation refers to what is not in the output",

    // Sections and the layout.
    SectionFlags "section-flags" "sections of one name that do not go together",
    OrphanSection "orphan-section" "a linker script says nothing of a section",
    SectionOverlap "section-overlap" "two sections lie at the same addresses",
    RegionOverflow "region-overflow" "what a memory region is to hold is larger than it",
    NoRoomBelow "no-room-below" "there is no room for sections or headers where the image begins",
    ImageTooLarge "image-too-large" "the output is larger than its addresses allow",
    WritableCode "writable-code" "a segment can be written and executed",
    ExecutableStack "executable-stack" "an object asks for a stack that can be executed",
    SectionOrder "section-order" "a list that orders sections cannot be followed",
    SectionAlignment "section-alignment" "a section does not start where it should",
    MissingProperty "missing-property" "an object lacks a property that all were to have",
    ExecuteOnly "execute-only" "code is not to be read, and something reads it",

    // Scripts.
    ScriptSyntax "script-syntax" "a linker script or list has something that is not understood",
    ScriptAssertion "script-assertion" "an ASSERT of a linker script does not hold",
    ScriptValue "script-value" "an expression of a linker script has no value, or a wrong one",
    ScriptUnsupported "script-unsupported" "a linker script asks for what cannot be had here",
    ScriptDuplicate "script-duplicate" "a linker script says something twice",
    CrossReference "cross-reference" "a reference that NOCROSSREFS forbids",

    // Link-time optimisation.
    LtoWithoutEngine "lto-without-engine" "there is nothing that compiles an object of intermediate code",
    LtoFailed "lto-failed" "link-time optimisation did not work",
    LtoCompiler "lto-compiler" "what the compiler said that link-time optimisation asked",
    LtoIncompatible "lto-incompatible" "objects of intermediate code that do not go together with the link",

    // What is made beside.
    DebugInfo "debug-info" "debug information is left out, or not as it should be",
    PdbLimit "pdb-limit" "debug information is too large for a PDB",
    BuildId "build-id" "a build id cannot be made",
    Reproduce "reproduce" "the inputs cannot be kept (--reproduce)",
    Report "report" "a report cannot be made",
    ErrorHandlingScript "error-handling-script" "the program of --error-handling-script failed",
    Incremental "incremental" "an incremental link did more than it should",

    // Windows.
    NoSubsystem "no-subsystem" "nothing says which subsystem of Windows a program is for",
    EntryGuess "entry-guess" "there are several functions that a program may start with",
    FailIfMismatch "failifmismatch" "objects were compiled with settings that do not go together",
    Directive "directive" "an object asks for what it cannot ask for",
    ModuleDefinition "module-definition" "a module definition file cannot be read",
    Resources "resources" "resources are damaged, twice there or too many",
    Manifest "manifest" "a manifest cannot be read or merged",
    DelayLoad "delay-load" "a DLL cannot be loaded late",
    SafeSeh "safe-seh" "an object has exception handlers that are not listed",
    LoadConfiguration "load-configuration" "what the loader is told of protections is missing or wrong",
    LocallyDefinedImport "locally-defined-import" "something is imported that the image defines",
    AutoImport "auto-import" "a variable of a DLL cannot be imported without __declspec(dllimport)",
    StdcallFixup "stdcall-fixup" "a name was found with another decoration",
    LongSectionName "long-section-name" "a section's name is longer than images have room for",
    DosStub "dos-stub" "the program for DOS cannot be used",
    Library "library" "a library cannot be made as it is asked for (/lib)",

    SecureGateway "secure-gateway" "a function for callers outside of the secure world cannot have a gateway",

    // What no input should bring about.
    Internal "internal" "weld contradicts itself: a bug",
    TooManyErrors "too-many-errors" "there are more errors than are shown",
    CommandFailed "command-failed" "one of weld's own commands failed",
    Verbose "verbose" "what a link does, for --verbose",
}

impl Cause {
    /// The code of this name.
    pub fn find(name: &str) -> Option<Cause> {
        Cause::ALL.iter().copied().find(|cause| cause.code() == name)
    }
}

/// An error that knows what it is about.
pub trait HasCause {
    fn cause(&self) -> Cause;
}

#[cfg(test)]
impl HasCause for std::convert::Infallible {
    fn cause(&self) -> Cause {
        match *self {}
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_and_each_is_one_code() {
        for (i, cause) in Cause::ALL.iter().enumerate() {
            let name = cause.code();
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{name}");
            assert_eq!(Cause::find(name), Some(*cause), "{name} is there twice");
            assert_eq!(*cause as usize, i);
            assert!(!cause.summary().ends_with('.'), "{name}");
        }
        assert_eq!(Cause::find("no-such-code"), None);
    }
}

//! The list of the linker's own sections, each with the file that knows all about it.
//!
//! To add one: a kind ([`ChunkKind`]), a file of `synth` that implements [`Synthetic`], and a line here.
//! Everything else follows from the answers of that file, and nothing compiles that leaves one out.

use super::section::{Sizes, Spec, Synthetic};
use super::{
    attributes, build_id, commons, copyrel, debug_link, debug_names, dynamic, dynstr, dynsym, eh_frame_hdr,
    eh_frames, emitted_relocs, exidx, gdb_index, gnu_hash, got, groups, interp, memtag_globals, memtag_note,
    merged, package_note, padding, plt, property_note, rela, relr, script_data, sframe, shstrtab, stack_note,
    symtab, sysv_hash, thunks, versions,
};

use crate::layout::ChunkKind;

macro_rules! sections {
    (
        one { $($one:ident => $section:path,)* }
        numbered { $($many:ident => $file:ident::$part:ident,)* }
    ) => {
        impl ChunkKind {
            /// Asks the file that knows this kind.
            pub fn ask<R>(self, question: impl FnOnce(&dyn Synthetic) -> R) -> R {
                match self {
                    $(ChunkKind::$one => question(&$section),)*
                    $(ChunkKind::$many(number) => question(&$file::$part(number)),)*
                }
            }

            /// Whether there may be more than one.
            pub fn is_numbered(self) -> bool {
                matches!(self, $(ChunkKind::$many(_))|*)
            }

            /// All that an output may have, in the order of this list.
            fn all(sizes: &Sizes) -> Vec<ChunkKind> {
                let mut list = vec![$(ChunkKind::$one),*];
                $(list.extend((0..$file::$part::count(sizes)).map(ChunkKind::$many));)*
                list
            }
        }
    };
}

// In the order in which they lie where nothing else decides.
sections! {
    one {
        Interp => interp::Section,
        Properties => property_note::Section,
        BuildId => build_id::Section,
        PackageNote => package_note::Section,
        MemtagNote => memtag_note::Section,
        MemtagGlobals => memtag_globals::Section,
        StackNote => stack_note::Section,
        Attributes => attributes::Section,
        GnuAttributes => attributes::GnuSection,
        Registers => attributes::Registers,
        DynSym => dynsym::Section,
        VerSym => versions::Indices,
        VerDef => versions::Definitions,
        VerNeed => versions::Needs,
        GnuHash => gnu_hash::Section,
        SysvHash => sysv_hash::Section,
        // Read-only with `-z rodynamic`.
        Dynamic => dynamic::Section,
        DynStr => dynstr::Section,
        RelaDyn => rela::Dyn,
        Relr => relr::Section,
        SignedRelr => relr::Signed,
        RelaPlt => rela::Plt,
        EhFrameHdr => eh_frame_hdr::Section,
        EhFrame => eh_frames::Section,
        SFrame => sframe::Section,
        CodeIndex => exidx::Section,
        Plt => plt::Plt,
        PltSec => plt::PltSec,
        Iplt => plt::Iplt,
        DebugMap => got::DebugMap,
        Got => got::Section,
        GotPlt => plt::GotPlt,
        GdbIndex => gdb_index::Section,
        DebugNames => debug_names::Section,
        DebugLink => debug_link::Section,
        SymTab => symtab::Section,
        SymTabShndx => symtab::Indices,
        StrTab => symtab::Names,
        ShStrTab => shstrtab::Section,
        CopyRelro => copyrel::CopyRelro,
        CopyBss => copyrel::CopyBss,
        Padding => padding::Section,
    }
    numbered {
        Merged => merged::Part,
        Common => commons::Part,
        Group => groups::Section,
        Relocs => emitted_relocs::Section,
        ScriptData => script_data::Part,
        Thunks => thunks::Part,
    }
}

/// Those that this output has, with their sizes.
pub fn specs(sizes: &Sizes) -> Vec<(ChunkKind, Spec)> {
    let spec = |kind: ChunkKind| Some((kind, kind.ask(|section| section.spec(sizes))?));
    ChunkKind::all(sizes).into_iter().filter_map(spec).collect()
}

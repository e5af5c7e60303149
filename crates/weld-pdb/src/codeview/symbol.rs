//! Symbol records: what each kind has for a linker.
//!
//! [`traits_of`] is the table: does a kind open or close a scope, where are its type indices, where is its
//! name, which streams does it go to. What is not in it is not copied into a PDB, for it might have type
//! indices that nobody would know of.

use super::{Fault, Space, numeric, u32_at};

pub const S_END: u16 = 0x0006;
pub const S_SKIP: u16 = 0x0007;
pub const S_OBJNAME: u16 = 0x1101;
pub const S_THUNK32: u16 = 0x1102;
pub const S_BLOCK32: u16 = 0x1103;
pub const S_CONSTANT: u16 = 0x1107;
pub const S_UDT: u16 = 0x1108;
pub const S_LDATA32: u16 = 0x110c;
pub const S_GDATA32: u16 = 0x110d;
pub const S_PUB32: u16 = 0x110e;
pub const S_LPROC32: u16 = 0x110f;
pub const S_GPROC32: u16 = 0x1110;
pub const S_LTHREAD32: u16 = 0x1112;
pub const S_GTHREAD32: u16 = 0x1113;
pub const S_PROCREF: u16 = 0x1125;
pub const S_LPROCREF: u16 = 0x1127;
pub const S_SECTION: u16 = 0x1136;
pub const S_COFFGROUP: u16 = 0x1137;
pub const S_COMPILE2: u16 = 0x1116;
pub const S_COMPILE3: u16 = 0x113c;
pub const S_ENVBLOCK: u16 = 0x113d;
pub const S_DEFRANGE: u16 = 0x113f;
pub const S_DEFRANGE_SUBFIELD: u16 = 0x1140;
pub const S_LPROC32_ID: u16 = 0x1146;
pub const S_GPROC32_ID: u16 = 0x1147;
pub const S_INLINESITE: u16 = 0x114d;
pub const S_PROC_ID_END: u16 = 0x114f;
pub const S_FILESTATIC: u16 = 0x1153;
pub const S_LPROC32_DPC: u16 = 0x1155;
pub const S_LPROC32_DPC_ID: u16 = 0x1156;

/// What a record does to the nesting of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    None,
    /// Its body begins with the place of the scope around it, and that of the record that ends it.
    Opens,
    Closes,
}

/// Where a record has type indices, from the start of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refs {
    None,
    One(u8, Space),
    /// A count, then as many ids.
    Ids,
}

/// Which of the two streams a record goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    Module,
    /// The module and, outside functions, the globals.
    Both,
    /// The module inside functions, the globals outside.
    GlobalUnlessNested,
    Global,
    /// The module, and a reference to it to the globals.
    Procedure,
}

#[derive(Clone, Copy, Debug)]
pub struct Traits {
    pub scope: Scope,
    pub refs: Refs,
    pub streams: Streams,
    /// Where the offset of a string in the object's table is.
    pub string: Option<u8>,
}

const PLAIN: Traits = Traits { scope: Scope::None, refs: Refs::None, streams: Streams::Module, string: None };

const fn with_type(at: u8) -> Traits {
    Traits { refs: Refs::One(at, Space::Type), ..PLAIN }
}

const fn with_id(at: u8) -> Traits {
    Traits { refs: Refs::One(at, Space::Id), ..PLAIN }
}

const fn procedure(space: Space) -> Traits {
    Traits { scope: Scope::Opens, refs: Refs::One(24, space), streams: Streams::Procedure, string: None }
}

/// What a linker has to know of records of this kind; `None` if it is unknown.
#[inline]
pub fn traits_of(kind: u16) -> Option<Traits> {
    Some(match kind {
        S_GPROC32 | S_LPROC32 | S_LPROC32_DPC => procedure(Space::Type),
        S_GPROC32_ID | S_LPROC32_ID | S_LPROC32_DPC_ID => procedure(Space::Id),
        // Managed procedures have a token where the others have a type.
        0x112a | 0x112b => Traits { scope: Scope::Opens, ..PLAIN },
        // Thunks, blocks, `with`, separated code.
        S_THUNK32 | S_BLOCK32 | 0x1104 | 0x1132 => Traits { scope: Scope::Opens, ..PLAIN },
        S_INLINESITE | 0x115d => Traits { scope: Scope::Opens, ..with_id(8) },
        S_END | S_PROC_ID_END | 0x114e => Traits { scope: Scope::Closes, ..PLAIN },
        S_GDATA32 | S_GTHREAD32 | 0x111d => Traits { streams: Streams::Global, ..with_type(0) },
        S_LDATA32 | S_LTHREAD32 | 0x111c => Traits { streams: Streams::Both, ..with_type(0) },
        S_UDT | S_CONSTANT | 0x1109 | 0x112d => {
            Traits { streams: Streams::GlobalUnlessNested, ..with_type(0) }
        }
        S_PROCREF | S_LPROCREF => Traits { streams: Streams::Global, ..PLAIN },
        S_FILESTATIC => Traits { string: Some(4), ..with_type(0) },
        S_DEFRANGE | S_DEFRANGE_SUBFIELD => Traits { string: Some(0), ..PLAIN },
        // Registers, register lists, locals.
        0x1106 | 0x110a | 0x1117 | 0x113e => with_type(0),
        // Relative to the frame or a register, slots of locals and parameters.
        0x110b | 0x1111 | 0x1170 | 0x1171 | 0x111a | 0x111b => with_type(4),
        // Call sites, heap allocations.
        0x1139 | 0x115e => with_type(8),
        // Build information, functions prepared for patching.
        0x114c | 0x1169 => with_id(0),
        // Callers, callees, inlinees.
        0x115a | 0x115b | 0x1168 => Traits { refs: Refs::Ids, ..PLAIN },
        // Frames, annotations, labels, namespaces, compilers, trampolines, sections, cookies, exports,
        // environment, ranges, switch tables, counts of a profile, references to modules.
        0x1012 | 0x1019 | S_SKIP | S_OBJNAME | 0x1105 | 0x1116 | 0x1124 | 0x112c | 0x1136..=0x1138 => PLAIN,
        0x113a
        | S_COMPILE3
        | S_ENVBLOCK
        | 0x1141..=0x1145
        | 0x1150
        | 0x1157
        | 0x1159
        | 0x115c
        | 0x115f
        | 0x1177 => PLAIN,
        _ => return None,
    })
}

/// The kind that a record has in a PDB.
pub fn kind_in_pdb(kind: u16) -> u16 {
    match kind {
        S_GPROC32_ID => S_GPROC32,
        S_LPROC32_ID => S_LPROC32,
        S_LPROC32_DPC_ID => S_LPROC32_DPC,
        S_PROC_ID_END => S_END,
        kind => kind,
    }
}

/// Whether of equal records of this kind one is listed.
pub fn has_equals(kind: u16) -> bool {
    matches!(kind, S_UDT | 0x1109 | S_CONSTANT | 0x112d)
}

/// Where the name of a record that goes to the globals begins in its body.
pub fn name_place(kind: u16, body: &[u8]) -> Result<usize, Fault> {
    Ok(match kind {
        S_GPROC32 | S_LPROC32 | S_LPROC32_DPC | S_GPROC32_ID | S_LPROC32_ID | S_LPROC32_DPC_ID => 35,
        S_UDT | 0x1109 => 4,
        S_CONSTANT | 0x112d => 4 + numeric::size(body, 4)?,
        // Data and references to procedures.
        _ => 10,
    })
}

/// Calls `visit` with the place and space of each type index of a symbol.
///
/// # Errors
/// If the record is too short for its kind, or if `visit` says so.
#[inline]
pub fn each_ref(
    traits: Traits,
    body: &[u8],
    mut visit: impl FnMut(usize, Space) -> Result<(), Fault>,
) -> Result<(), Fault> {
    match traits.refs {
        Refs::None => Ok(()),
        Refs::One(at, space) => {
            u32_at(body, at.into())?;
            visit(at.into(), space)
        }
        Refs::Ids => {
            let count = u32_at(body, 0)? as usize;
            if (body.len() - 4) / 4 < count {
                return Err(Fault::Truncated);
            }
            (0..count).try_for_each(|i| visit(4 + i * 4, Space::Id))
        }
    }
}

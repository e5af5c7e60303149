//! The rows of a state: numbers of fixed sizes, in a file one after the other, little endian.
//!
//! What a row *is* are its key fields; the others are what one link gave it, which the next may change. Keys
//! are made of names, of numbers within one input or within one name, and of rows that have keys themselves.
//! None is a running total, a hash's shard or a count of threads. A field that names a row of another table
//! ([`NONE`] if there is none) is short for that row's key: rows are compared across states by keys
//! ([`super::keys`]).

pub use super::fields::Field;

/// No row, or no number.
pub const NONE: u32 = u32::MAX;

/// The section of a name that a guest defines ([`super::guests`]), which has no row.
pub const IN_GUEST: u32 = u32::MAX - 1;

/// Rows with their fields, each of which is read and written in the order in which it stands here.
macro_rules! rows {
    ($($(#[$about:meta])* $row:ident { $($(#[$of:meta])* $field:ident: $kind:ty,)* })*) => {
        $($(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $row { $($(#[$of])* pub $field: $kind,)* }

        impl Field for $row {
            const SIZE: usize = 0 $(+ <$kind as Field>::SIZE)*;
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                let mut bytes = [0; <$row as Field>::SIZE];
                self.store(&mut bytes);
                out.extend_from_slice(&bytes);
            }
            #[inline]
            fn store(&self, out: &mut [u8]) {
                let mut rest = out;
                $(
                    let (here, after) = rest.split_at_mut(<$kind as Field>::SIZE);
                    self.$field.store(here);
                    rest = after;
                )*
                debug_assert!(rest.is_empty());
            }
            #[inline]
            fn take(bytes: &mut &[u8]) -> Option<Self> {
                Some($row { $($field: Field::take(bytes)?,)* })
            }
        })*
    };
}

rows! {
    /// A range of the state's text.
    Text {
        start: u32,
        size: u32,
    }

    /// A file that the link read. In the order of the inputs in them; files without any come last, by path.
    FileRow {
        /// Of the normalised path, and of the number of the file among those that have the same.
        key: u128,
        path: Text,
        /// The path as it was given.
        given: Text,
        /// In bytes.
        size: u64,
        /// Nanoseconds after 1970, as the system said when the file was opened; 0 if it did not say.
        modified: u64,
    }

    /// An object or shared object, in the order in which their definitions count. A lazy object that was not
    /// read is one, members of archives that were not read are none.
    InputRow {
        /// Of normalised path and member, and of the number of the input among those that have the same.
        key: u128,
        path: Text,
        /// The member's name, if it lies in an archive.
        member: Text,
        /// The file that has its bytes.
        file: u32,
        /// In bytes.
        size: u64,
        /// By which its definitions go before those of others.
        precedence: u32,
        /// One of [`input_kind`].
        kind: u8,
        /// How many sections and symbols its headers have, and the first symbol that is not local.
        headers: u32,
        symbols: u32,
        first_global: u32,
        /// Rows that are of this input: mentions, one for each symbol that is not local, and sections.
        first_mention: u32,
        first_section: u32,
        sections: u32,
        /// Where its first record is in `.eh_frame`, `NONE` if it has none there; and bytes of all, with room.
        frames: u32,
        frames_size: u32,
        /// The numbers of its first local and its first global symbol in `.symtab`, if there is one, and where
        /// its names begin in `.strtab`.
        locals: u32,
        globals: u32,
        strings: u32,
        /// How many of each there is room for, and bytes.
        locals_room: u32,
        globals_room: u32,
        strings_room: u32,
    }

    /// A global name, by hash.
    NameRow {
        hash: u128,
        /// The address, or what an absolute symbol is.
        value: u64,
        /// `sym` bits.
        flags: u32,
        /// Rank of the best definition (3 bits), and bits of `names::flag`.
        mentioned: u32,
        /// That definition, if it is one of an input: its number there.
        input: u32,
        symbol: u32,
        /// The section that it lies in, if that is kept.
        section: u32,
        slot: u32,
        /// Number in `.dynsym`; 0 if it is not there.
        dynamic: u32,
        /// Where its mentions start among those by name.
        first_mention: u32,
    }

    /// A symbol of an input that is not local: key (input, symbol). By input and symbol.
    MentionRow {
        input: u32,
        symbol: u32,
        name: u32,
        /// How ([`super::mentions::manner_of`]).
        manner: u8,
        /// It is defined in a group that stays, and yet another object's definition counts.
        is_beaten: u8,
    }

    /// A name that an object defines and that nobody knew when the tables were written; not in these.
    AddedName {
        hash: u128,
        /// Its input, and the section that it lies in, or [`IN_GUEST`].
        input: u32,
        section: u32,
        /// How it is defined ([`super::mentions::manner_of`]).
        manner: u8,
        /// Its value when it was new, and the `sym` bits that say who sees it.
        value: u64,
        seen: u32,
        /// Its number in `.dynsym`, for good; 0 if it has none.
        dynamic: u32,
    }

    /// A name of a COMDAT group of which another object has the copy that counts than when the tables were written; not
    /// in these.
    HandedOver {
        /// Its row.
        name: u32,
        hash: u128,
        /// The input that has it now, and how that defines it ([`super::mentions::manner_of`]).
        input: u32,
        manner: u8,
    }

    /// A mention, by the name, then in the order of mentions.
    ByName {
        mention: u32,
    }

    /// An output section: key of its name, and of its number among those that have the same.
    OutputRow {
        key: u128,
        name: Text,
        /// `sh_type`, `sh_flags`.
        kind: u32,
        flags: u64,
        address: u64,
        /// In the file.
        offset: u64,
        size: u64,
        align: u64,
    }

    /// An input section that is in the image: key (input, ordinal). By input and ordinal.
    SectionRow {
        input: u32,
        /// Its number among the section headers, and among those of them that have not lost with their groups, and have
        /// no relocations of others ([`crate::sections::lost_groups`]).
        ordinal: u32,
        number: u32,
        /// The address; outside memory the offset in its output section. Of one that is cut into pieces, or
        /// parsed into records, 0.
        address: u64,
        /// In the image, with the room behind it.
        size: u64,
        output: u32,
        /// Of one that is merged the part, of one that is folded the section that stands for it.
        other: u32,
        /// `SectionKind`.
        kind: u8,
        align_log2: u8,
    }

    /// Strings or constants that are merged: key of what they have in common, and of the number of the part
    /// among those that have the same.
    PartRow {
        key: u128,
        output: u32,
        /// Address, or offset in the output section if that is not in memory.
        address: u64,
        /// With the room behind its pieces, and without.
        size: u64,
        used: u64,
        align: u32,
        entsize: u32,
        strings: u8,
        /// Where its pieces start.
        first_piece: u32,
    }

    /// A merged piece: key (part, tag), by these. Different pieces may have one tag. The part is the one that
    /// has the row among its pieces.
    PieceRow {
        /// The high half of `hash_bytes` of the bytes, without a string's terminator.
        tag: u32,
        /// In the part.
        offset: u32,
    }

    /// A COMDAT group: key of its signature's name. By name.
    GroupRow {
        name: u32,
        /// Those that offer it, of which the first is the owner.
        first_candidate: u32,
        candidates: u32,
    }

    /// An object that has a group: key (group, input, ordinal). By group, then by the order in which they
    /// count.
    CandidateRow {
        group: u32,
        input: u32,
        /// The number of the group's section header.
        ordinal: u32,
    }

    /// Slots of a symbol: key (name), or (input, symbol) if it is a local one. Names come first, by row, then
    /// local symbols.
    SlotRow {
        name: u32,
        input: u32,
        symbol: u32,
        /// Words of `.got`.
        got: u32,
        got_tp: u32,
        tls_gd: u32,
        tls_desc: u32,
        /// An entry of the PLT.
        plt: u32,
        /// 1: the words are signed; 2: as pointers to code.
        signed: u8,
        /// Address of the definition itself, which the PLT entry stands for.
        definition: u64,
    }

    /// Code for branches that do not reach: key (output section, goal), which there may be several of.
    ThunkRow {
        output: u32,
        /// One of [`goal_kind`].
        goal: u8,
        /// The goal's section, name or slot.
        of: u32,
        /// How far after that the goal is, or the address itself.
        offset: i64,
        /// Where branches want to go, and the code that leads there.
        target: u64,
        address: u64,
    }

    /// What of an object counts for more than the bytes of its own sections ([`super::outline`]). By input;
    /// all zero for what is no object.
    OutlineRow {
        /// Headers and symbols.
        shape: u128,
        /// Sections that are not copied.
        contents: u128,
        /// What the relocations of sections in memory ask for.
        needs: u128,
        /// Which groups have lost; 0 if none.
        lost: u128,
    }

    /// Room for sections that no object has ([`crate::sections::yards`]).
    YardRow {
        /// The host's row, and where in it the yard begins.
        section: u32,
        start: u64,
        kind: u8,
    }

    /// What there is one of.
    ImageRow {
        file_size: u64,
        got: u64,
        got_plt: u64,
        got_base: u64,
        plt: u64,
        plt_sec: u64,
        iplt: u64,
        tls_start: u64,
        thread_pointer: u64,
        eh_frame: u64,
        /// Where the register for data points, if `has_pointer`.
        pointer: u64,
        has_pointer: u8,
        relax_got: u8,
        /// There are shared objects among the inputs.
        has_shared: u8,
        /// Sizes of symbols are in it, apart from tables of symbols.
        has_sizes: u8,
        /// Sections have room to grow.
        has_rooms: u8,
        /// Symbols have values that scripts or `--defsym` compute.
        has_assigned: u8,
        /// `plt::Style::code`.
        plt_style: u32,
        /// PLT entries that are bound by name.
        jump_slots: u32,
        /// And those of them that are spare, the last ones.
        spares: u32,
        /// Words of `.got`, and those of them that are spare, the last ones.
        got_words: u32,
        spare_words: u32,
        /// Rows of `.dynsym` for exported names, if more may be: the first, and how many; and where in `.dynstr` names are.
        exports_first: u32,
        exports: u32,
        names_start: u32,
        names_end: u32,
        /// Words of `.got.plt` for the loader.
        reserved: u64,
        /// The word of `.got` for the module's own TLS block, or `NONE`.
        tls_ld: u32,
    }
}

/// What an input is.
pub mod input_kind {
    pub const OBJECT: u8 = 0;
    pub const SHARED: u8 = 1;
    /// An object of `--start-lib` that nobody wanted.
    pub const UNREAD: u8 = 2;
}

/// What a thunk leads to.
pub mod goal_kind {
    pub const SECTION: u8 = 0;
    pub const PLT: u8 = 1;
    pub const NAME: u8 = 2;
    pub const ABSOLUTE: u8 = 3;
}

//! Names of entities: dense `u32` indices instead of pointers.
//!
//! Indices follow command-line order, so they do not depend on thread count or timing. [`id!`](crate::id)
//! makes a type of them; here are those that all linkers have.

/// Makes a type of indices.
#[macro_export]
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            pub const NONE: $name = $name(u32::MAX);
            #[inline(always)]
            pub fn index(self) -> usize {
                self.0 as usize
            }
            #[inline(always)]
            pub fn is_none(self) -> bool {
                self == Self::NONE
            }
            #[inline(always)]
            pub fn is_some(self) -> bool {
                self != Self::NONE
            }
        }
    };
}

id!(/// A place in the order of inputs: an object, a shared object or a member of an archive that may
    /// never be read. Lower ids win when definitions compete.
    FileId);
id!(/// A global name. Interleaved over the shards of the name table; not in any meaningful order.
    SymbolId);

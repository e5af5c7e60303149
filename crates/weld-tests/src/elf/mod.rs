//! Linked files read back for tests.
//!
//! [`Image`] decodes everything once into plain vectors. It shares no code with the linker: the
//! ELF structures come from the `object` crate. A malformed file is an error text, not a panic,
//! since the verifier runs on whatever the linker wrote.

pub mod expr;
pub mod form;
pub mod image;
pub mod machine;
pub mod query;

pub use image::Image;

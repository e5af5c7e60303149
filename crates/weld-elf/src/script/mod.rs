//! The small languages that linkers read beside objects.
//!
//! - [`standin`]: linker scripts in place of libraries, such as glibc's `libc.so`, which name other
//!   inputs. Scripts with `SECTIONS` are a later step.
//! - [`version_script`]: which symbols are exported, and under which versions.
//! - [`dynamic_list`]: names that are exported or stay replaceable.
//!
//! They share a [`lexer`], which knows that the same bytes are a path in one place and an expression
//! in another, and [`expr`] for the values of symbols. Texts come from anywhere, so nothing
//! here recurses without a bound, and every error names the file and the line.

pub mod dynamic_list;
pub mod expr;
pub mod lexer;
pub mod patterns;
pub mod standin;
pub mod version_script;

//! Link-time optimisation below both linkers.
//!
//! Compilers leave their intermediate code in files that take the place of objects. This crate reads what such
//! files say of symbols ([`ir`], by [`bitcode`] and [`gcc`]) and asks a compiler for machine code ([`request`]): nothing of a compiler ever
//! runs inside of a link.

pub mod bitcode;
mod bitstream;
pub mod gcc;
pub mod ir;
#[cfg(test)]
mod layers;
pub mod request;
pub mod runtime_calls;
pub mod triple;

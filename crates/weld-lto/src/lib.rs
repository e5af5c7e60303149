//! Link-time optimisation below both linkers.
//!
//! Compilers leave their intermediate code in files that take the place of objects. This crate reads what
//! such files say of symbols ([`ir`], by [`bitcode`] and [`gcc`]) and asks a compiler for machine code: a
//! [`request::Request`] goes to [`engine::compile`], and an [`answer::Answer`] comes back. Nothing of a
//! compiler ever runs inside of a link. What bitcode does not say, its target does: the machine of its
//! objects ([`triple`]), and what machine code calls ([`runtime_calls`]).

pub mod answer;
pub mod bitcode;
mod bitstream;
pub mod engine;
#[cfg(target_os = "linux")]
pub mod engine_child;
pub mod gcc;
pub mod ir;
#[cfg(target_os = "linux")]
mod late;
#[cfg(test)]
mod layers;
pub mod options;
pub mod origin;
pub mod protocol;
pub mod request;
pub mod rows;
pub mod runtime_calls;
pub mod spelling;
pub mod told;
pub mod triple;

//! What linkers are told in files: linker scripts, version scripts and dynamic lists.
//!
//! * [`lexer`] makes tokens of all of them; [`expr`] are expressions, [`value_kind`] what their values are;
//!   [`expr_text`] writes them for maps;
//! * [`commands`] are those of linker scripts, with what is below them: [`sections`] (`SECTIONS`),
//!   [`input_sections`] (the patterns in it), [`memory`] (`MEMORY`) and [`phdrs`] (`PHDRS`); [`layout`] puts
//!   together what scripts say of it;
//! * [`mri`] translates those of another linker;
//! * [`version_script`] and [`dynamic_list`] say what is exported, by [`patterns`] of symbols.
//!
//! These are trees: what they mean for a link, later phases know.

mod chain;
pub mod commands;
pub mod dynamic_list;
pub mod expr;
pub mod expr_text;
pub mod input_sections;
pub mod layout;
pub mod lexer;
pub mod memory;
pub mod mri;
pub mod patterns;
pub mod phdrs;
pub mod sections;
pub mod value_kind;
pub mod version_script;

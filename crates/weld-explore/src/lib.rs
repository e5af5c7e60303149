//! What a linked file is made of, for people who want to make it smaller.
//!
//! A [`model::Model`] says of every byte of a file what it is and what it came with: symbol, input section,
//! object, archive, source, template; and of sections who refers to them. Links make
//! one of what they know (`--explore`); [`binary`] makes one afterwards of what the file and its debug
//! information tell. [`page`] writes it as a page for browsers, and reads such a page; [`compare`] sets two
//! side by side, [`growth`] sums what has grown, and [`table`] prints that.
//!
//! ```
//! use weld_explore::model::{Model, Piece, Role};
//!
//! let mut model = Model::default();
//! model.about.file_size = 64;
//! model.pieces.push(Piece { size: 64, role: Role::Header, ..Piece::default() });
//! assert_eq!(model.covered(), model.about.file_size);
//! let page = weld_explore::page::write(&model, false);
//! assert_eq!(weld_explore::page::read::read(&page).expect("a page").pieces, model.pieces);
//! ```
#![doc = include_str!("../format.md")]

pub mod binary;
pub mod compare;
pub mod cover;
pub mod drafts;
pub mod graph;
pub mod growth;
pub mod gzip;
pub mod json;
#[cfg(test)]
mod layers;
pub mod leb;
pub mod model;
pub mod names;
pub mod page;
pub mod septets;
pub mod spelling;
pub mod table;
pub mod unit;
pub mod words;

//! What is kept of each object beside the memo, and read only if it has changed.

use weld_common::relink::fields::*;
use weld_pdb::resize::Known;

use super::outline::{Frame, Row};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub rows: Vec<Row>,
    /// It may have sections of other sizes.
    pub is_plain: bool,
    /// Its number among objects, which are in the order in which they ask for others.
    pub order: u32,
    pub frame: Frame,
    /// The numbers of the names that it mentions.
    pub names: Vec<u32>,
    /// What is known of its module in the PDB.
    pub module: Known,
}

impl Block {
    pub fn put(&self, out: &mut Vec<u8>) {
        put_list(&self.rows, out, Field::put);
        u8::from(self.is_plain).put(out);
        self.order.put(out);
        let Frame { types, definitions, rest } = self.frame;
        [types, definitions, rest].iter().for_each(|word| word.put(out));
        put_list(&self.names, out, Field::put);
        put_list(&self.module.runs, out, |run, out| {
            [run.start, run.end].iter().for_each(|word| word.put(out))
        });
        u8::from(self.module.is_edited).put(out);
        self.module.count.put(out);
        self.module.equals.put(out);
    }

    pub fn take(rest: &mut &[u8]) -> Option<Block> {
        let rows = take_list(rest, Field::take)?;
        let is_plain = u8::take(rest)? != 0;
        let order = u32::take(rest)?;
        let mut word = || u64::take(rest);
        let frame = Frame { types: word()?, definitions: word()?, rest: word()? };
        let names = take_list(rest, Field::take)?;
        let module = Known {
            runs: take_list(rest, |rest| Some(u32::take(rest)?..u32::take(rest)?))?,
            is_edited: u8::take(rest)? != 0,
            count: Field::take(rest)?,
            equals: Field::take(rest)?,
        };
        Some(Block { rows, is_plain, order, frame, names, module })
    }
}

//! Lazy files that nobody has asked for yet, and that generated code may ask for.

use std::collections::HashSet;

use super::{Extraction, Format, Rounds};
use crate::diag::Diagnostics;
use crate::ids::FileId;
use crate::symbol_names::{Rank, Rules};

impl<'a, F: Format<'a>> Rounds<'a, '_, F> {
    /// Reads the files of intermediate code (`is_code`) that offer one of `names`, since once code is
    /// generated none can take part any more. Others are read when they are asked for; what these mention
    /// gets the bits `mentioned`, for a compiler must not make a name local that they define or use.
    ///
    /// # Errors
    /// What was wrong with the files that have been read.
    pub fn read_called<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n [u8]>,
        is_code: impl Fn(&F, FileId) -> bool,
        mentioned: u32,
    ) -> Result<(), Diagnostics> {
        let (code, other): (Vec<_>, Vec<_>) =
            self.first_offers(names).into_iter().partition(|(file, _)| is_code(&self.format, *file));
        if let Some(mut extractions) = self.extractions.take() {
            let round = self.number;
            let new = code.iter().filter(|(file, _)| self.can_be_read(*file));
            extractions.extend(new.map(|&(file, name)| Extraction { round, file, name }));
            self.extractions = Some(extractions);
            self.number += 1;
        }
        let code = self.read_unasked(code.into_iter().map(|(file, _)| file));
        F::carry_out(self, &code);
        self.settle()?;
        let names = self.mentions(other.into_iter().map(|(file, _)| file).collect());
        self.refer(names.into_iter().map(|name| (name, Rank::Undefined as u32 | mentioned)));
        Ok(())
    }

    /// Names that `files` define or refer to, and those of the lazy files that these would ask for, and so
    /// on; of names that no other file knows, none. What is wrong with a file is said when it is read to take
    /// part.
    fn mentions(&self, files: Vec<FileId>) -> Vec<&'a [u8]> {
        let mut rest = files;
        rest.sort_unstable();
        rest.dedup();
        let mut known: HashSet<FileId> = rest.iter().copied().collect();
        let mut names = Vec::new();
        while let Some(file) = rest.pop() {
            let mut bins = self.pool.take(self.names.shard_bits());
            if self.read_alone(file, false, &mut bins).is_ok() {
                for record in bins.records() {
                    let Some(id) = self.names.find(record.name()) else { continue };
                    let entry = self.names.get(id);
                    names.push(entry.name);
                    let asks = F::Rules::is_symbol(record.bits) && Rank::of(record.bits) == Rank::Undefined;
                    if asks && entry.rank() == Rank::Provided && known.insert(entry.file()) {
                        rest.push(entry.file());
                    }
                }
            }
            self.pool.give_back(vec![bins]);
        }
        names
    }
}

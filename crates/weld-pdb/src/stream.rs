//! Numbers of streams that are the same in every PDB. The first one, an older directory, is empty.

pub const INFO: usize = 1;
pub const TPI: usize = 2;
pub const DBI: usize = 3;
pub const IPI: usize = 4;

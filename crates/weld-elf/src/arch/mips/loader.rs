//! What loaders are told: `DT_MIPS_*`, and the first words of the GOT.
//!
//! A loader adds where the image is to all words of the local part of the GOT, and looks up the symbols that
//! are the last of `.dynsym` for those of the global part, word by word. There are no relocations for either.
//!
//! Specification: "System V ABI, MIPS RISC Processor Supplement", chapter 5.

use crate::arch::facts::{ForLoader, LoaderGot};

const DT_PLTGOT: u64 = 3;
const DT_MIPS_RLD_VERSION: u64 = 0x7000_0001;
const DT_MIPS_FLAGS: u64 = 0x7000_0005;
const DT_MIPS_BASE_ADDRESS: u64 = 0x7000_0006;
const DT_MIPS_LOCAL_GOTNO: u64 = 0x7000_000a;
const DT_MIPS_SYMTABNO: u64 = 0x7000_0011;
const DT_MIPS_GOTSYM: u64 = 0x7000_0013;
const DT_MIPS_RLD_MAP: u64 = 0x7000_0016;
const DT_MIPS_PLTGOT: u64 = 0x7000_0032;
const DT_MIPS_RLD_MAP_REL: u64 = 0x7000_0035;
/// `RHF_NOTPOT`: the size of `.hash` is no power of two.
const NOT_POWER_OF_TWO: u64 = 2;

pub const fn got(wide: bool) -> LoaderGot {
    LoaderGot {
        bias: 0x7ff0,
        head: 2,
        // The second word is the loader's to fill, which the upper bit says.
        second: if wide { 1 << 63 } else { 1 << 31 },
        names: &["_gp", "_gp_disp", "__gnu_local_gp"],
        own_base: "__gnu_local_gp",
        page: super::code::page,
        tags,
        // SHF_MIPS_GPREL
        flags: 0x1000_0000,
        map: ".rld_map",
    }
}

fn tags(of: &ForLoader) -> Vec<(u64, u64)> {
    let mut list = vec![
        (DT_MIPS_RLD_VERSION, 1),
        (DT_MIPS_FLAGS, NOT_POWER_OF_TWO),
        (DT_MIPS_BASE_ADDRESS, of.base),
        (DT_MIPS_SYMTABNO, of.symbols),
        (DT_MIPS_LOCAL_GOTNO, of.local_words),
        (DT_MIPS_GOTSYM, of.first_in_got),
        (DT_PLTGOT, of.got),
    ];
    if let Some(map) = of.map {
        let at = of.here + list.len() as u64 * of.entry;
        list.push(match of.moves {
            // From where the tag is.
            true => (DT_MIPS_RLD_MAP_REL, map.wrapping_sub(at)),
            false => (DT_MIPS_RLD_MAP, map),
        });
    }
    list.extend(of.got_plt.map(|words| (DT_MIPS_PLTGOT, words)));
    list
}

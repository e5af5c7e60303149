//! The fields of an ELF file that say something about other parts of it: types, indices, links, offsets,
//! bindings, versions. A file that is sound but for one such field gets further into a linker than one with
//! random damage, and shows whether the field is looked at.

use crate::elf::*;

/// A field of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// What has it: a section (by index), a symbol, a relocation, a version.
    pub owner: Owner,
    /// As the specifications spell it.
    pub name: &'static str,
    /// Bytes from the start of the file.
    pub offset: usize,
    pub width: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    File,
    Section(usize),
    /// Section of the table, index in it.
    Symbol(usize, usize),
    Relocation(usize, usize),
    /// Section of the group, index of the word in it.
    GroupWord(usize, usize),
    /// Section, index of the entry or record.
    Version(usize, usize),
    Dynamic(usize, usize),
}

impl Field {
    pub fn get(&self, file: &[u8]) -> u64 {
        number(file, self.offset, self.width)
    }

    pub fn set(&self, file: &mut [u8], value: u64) {
        file[self.offset..self.offset + self.width].copy_from_slice(&value.to_le_bytes()[..self.width]);
    }
}

/// A name, an offset in the record, and a width.
type Layout = &'static [(&'static str, usize, usize)];

const FILE: Layout =
    &[("e_type", 16, 2), ("e_machine", 18, 2), ("e_shentsize", 58, 2), ("e_shstrndx", 62, 2)];
const SECTION: Layout = &[
    ("sh_name", 0, 4),
    ("sh_type", 4, 4),
    ("sh_flags", 8, 8),
    ("sh_offset", 24, 8),
    ("sh_size", 32, 8),
    ("sh_link", 40, 4),
    ("sh_info", 44, 4),
    ("sh_addralign", 48, 8),
    ("sh_entsize", 56, 8),
];
const SYMBOL: Layout = &[
    ("st_name", 0, 4),
    ("st_info", 4, 1),
    ("st_other", 5, 1),
    ("st_shndx", 6, 2),
    ("st_value", 8, 8),
    ("st_size", 16, 8),
];
const RELA: Layout = &[("r_offset", 0, 8), ("r_type", 8, 4), ("r_sym", 12, 4), ("r_addend", 16, 8)];
const VERDEF: Layout = &[
    ("vd_version", 0, 2),
    ("vd_flags", 2, 2),
    ("vd_ndx", 4, 2),
    ("vd_cnt", 6, 2),
    ("vd_aux", 12, 4),
    ("vd_next", 16, 4),
];
const VERDAUX: Layout = &[("vda_name", 0, 4), ("vda_next", 4, 4)];
const VERNEED: Layout =
    &[("vn_version", 0, 2), ("vn_cnt", 2, 2), ("vn_file", 4, 4), ("vn_aux", 8, 4), ("vn_next", 12, 4)];
const VERNAUX: Layout = &[("vna_other", 6, 2), ("vna_name", 8, 4), ("vna_next", 12, 4)];
const DYNAMIC: Layout = &[("d_tag", 0, 8), ("d_val", 8, 8)];

fn number(file: &[u8], at: usize, width: usize) -> u64 {
    let mut bytes = [0; 8];
    if let Some(field) = file.get(at..at + width) {
        bytes[..width].copy_from_slice(field);
    }
    u64::from_le_bytes(bytes)
}

/// All such fields of a sound file with section headers.
pub fn fields(file: &[u8]) -> Vec<Field> {
    let mut list = List { file, fields: Vec::new() };
    let (shoff, count) = (number(file, 40, 8) as usize, number(file, 60, 2) as usize);
    list.record(Owner::File, FILE, 0);
    for index in 1..count {
        let header = shoff + 64 * index;
        list.record(Owner::Section(index), SECTION, header);
        let (at, size) = (number(file, header + 24, 8) as usize, number(file, header + 32, 8) as usize);
        list.contents(index, number(file, header + 4, 4) as u32, at..at.saturating_add(size).min(file.len()));
    }
    list.fields
}

struct List<'f> {
    file: &'f [u8],
    fields: Vec<Field>,
}

impl List<'_> {
    fn record(&mut self, owner: Owner, layout: Layout, at: usize) {
        let field = |&(name, offset, width)| Field { owner, name, offset: at + offset, width };
        self.fields.extend(layout.iter().map(field).filter(|f| f.offset + f.width <= self.file.len()));
    }

    fn table(
        &mut self,
        owner: impl Fn(usize) -> Owner,
        layout: Layout,
        size: usize,
        range: std::ops::Range<usize>,
    ) {
        for (i, at) in range.clone().step_by(size).enumerate().filter(|(_, at)| at + size <= range.end) {
            self.record(owner(i), layout, at);
        }
    }

    fn contents(&mut self, section: usize, kind: u32, range: std::ops::Range<usize>) {
        match kind {
            SHT_SYMTAB | SHT_DYNSYM => self.table(|i| Owner::Symbol(section, i), SYMBOL, 24, range),
            SHT_RELA => self.table(|i| Owner::Relocation(section, i), RELA, 24, range),
            SHT_GROUP => self.table(|i| Owner::GroupWord(section, i), &[("word", 0, 4)], 4, range),
            SHT_SYMTAB_SHNDX => self.table(|i| Owner::Symbol(section, i), &[("word", 0, 4)], 4, range),
            SHT_DYNAMIC => self.table(|i| Owner::Dynamic(section, i), DYNAMIC, 16, range),
            SHT_GNU_VERSYM => self.table(|i| Owner::Version(section, i), &[("versym", 0, 2)], 2, range),
            SHT_GNU_VERDEF => self.chain(section, range.start, (VERDEF, 12, 16), (VERDAUX, 4)),
            SHT_GNU_VERNEED => self.chain(section, range.start, (VERNEED, 8, 12), (VERNAUX, 12)),
            _ => {}
        }
    }

    /// Version records: each links to the next and to its first auxiliary one, which links to its next.
    fn chain(
        &mut self,
        section: usize,
        mut at: usize,
        (layout, first, next): (Layout, usize, usize),
        (auxiliary, next_auxiliary): (Layout, usize),
    ) {
        for i in 0..64 {
            self.record(Owner::Version(section, i), layout, at);
            let mut aux = at + number(self.file, at + first, 4) as usize;
            for _ in 0..64 {
                self.record(Owner::Version(section, i), auxiliary, aux);
                match number(self.file, aux + next_auxiliary, 4) as usize {
                    0 => break,
                    link => aux += link,
                }
            }
            match number(self.file, at + next, 4) as usize {
                0 => break,
                link => at += link,
            }
        }
    }
}

/// Values that are wrong, or nearly right, for a field of a file with so many sections, symbols or whatever
/// it counts.
pub fn values(field: &Field, file: &[u8]) -> Vec<u64> {
    let (old, sections) = (field.get(file), number(file, 60, 2));
    let around = [old.wrapping_add(1), old.wrapping_sub(1)];
    let mut list = match field.name {
        "sh_type" => vec![
            0,
            2,
            3,
            4,
            6,
            8,
            9,
            10,
            11,
            12,
            14,
            17,
            18,
            19,
            0x4000_0014,
            0x6fff_fff0,
            0x7000_0003,
            0x8000_0000,
        ],
        "sh_flags" => (0..32).map(|bit| old ^ 1 << bit).collect(),
        "sh_link" | "sh_info" | "word" | "st_shndx" => {
            let tables = (0..sections).collect::<Vec<_>>();
            let nowhere =
                [sections, sections + 3, 0xff00, 0xff02, 0xff05, 0xfff1, 0xfff2, 0xffff, 0xffff_ffff];
            [&tables[..], &nowhere].concat()
        }
        "sh_addralign" => vec![0, 3, 1 << 32, 1 << 62, 1 << 63],
        "sh_entsize" => vec![0, 1, 2, 3, 5, 8, 16, 24, 25],
        "st_info" => vec![
            old ^ 0x10,
            old ^ 0x20,
            old & 15 | 0x30,
            old & 15 | 0xa0,
            old & 0xf0 | 6,
            old & 0xf0 | 10,
            old & 0xf0 | 3,
        ],
        "r_type" => vec![0, 5, 6, 8, 16, 37, 39, 52, 152, 255, 256, 1 << 31],
        "e_type" => vec![0, 2, 3, 4, 5, 0xfe00, 0xffff],
        "d_tag" => vec![0, 1, 14, 0x6fff_fffb],
        _ => vec![0, 1, 2, 3, 9, 0xffff, 1 << 40],
    };
    list.extend(around);
    list.extend([0xffff_ffff, 1 << 62, u64::MAX]);
    list.iter_mut().for_each(|v| *v &= u64::MAX >> (64 - 8 * field.width));
    list.sort_unstable();
    list.dedup();
    list.retain(|v| *v != old);
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dso::{Dso, DynSymbol};

    #[test]
    fn fields_of_a_shared_object() {
        let file = Dso::new("libx.so").symbol(DynSymbol::function("f").version("V1")).build();
        let all = fields(&file);
        let get =
            |name: &str| all.iter().filter(|f| f.name == name).map(|f| f.get(&file)).collect::<Vec<_>>();
        assert_eq!(get("e_type"), [u64::from(ET_DYN)]);
        assert_eq!(get("versym"), [0, 2]);
        assert_eq!(get("vd_ndx"), [1, 2]);
        assert_eq!(get("st_shndx").len(), 2);
        let kinds = all.iter().find(|f| f.name == "sh_type").unwrap();
        assert!(!values(kinds, &file).contains(&kinds.get(&file)));
        let mut changed = file.clone();
        kinds.set(&mut changed, 17);
        assert_eq!(kinds.get(&changed), 17);
    }
}

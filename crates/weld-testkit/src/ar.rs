//! Archives in memory: GNU, GNU with a 64-bit index, BSD and thin, with or without an index.
//!
//! Layout (System V `ar` as GNU extends it): `!<arch>\n`, then members with a 60-byte text header
//! and contents padded to two bytes. `/` holds the symbol index (big-endian), `//` the long names.
//! BSD stores a long name in front of the contents (`#1/LEN`) and its index in `__.SYMDEF`.

use crate::strtab::Put;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    Gnu,
    /// As `Gnu`, with a `/SYM64/` index.
    Gnu64,
    Bsd,
    /// Contents stay in files of their own; only the sizes are recorded.
    Thin,
}

struct Member {
    name: String,
    data: Vec<u8>,
    symbols: Vec<Vec<u8>>,
}

pub struct Archive {
    kind: ArchiveKind,
    index: bool,
    members: Vec<Member>,
}

impl Archive {
    pub fn new(kind: ArchiveKind) -> Self {
        Archive { kind, index: true, members: Vec::new() }
    }

    /// Leaves the symbol index out.
    pub fn without_index(mut self) -> Self {
        self.index = false;
        self
    }

    /// Adds a member and what the index says it defines.
    pub fn member(mut self, name: &str, data: &[u8], symbols: &[&str]) -> Self {
        let symbols = symbols.iter().map(|s| s.as_bytes().to_vec()).collect();
        self.members.push(Member { name: name.to_owned(), data: data.to_vec(), symbols });
        self
    }

    /// Adds an object with the symbols it defines.
    pub fn object(mut self, name: &str, obj: &crate::obj::Obj) -> Self {
        let symbols = obj.defined_globals();
        self.members.push(Member { name: name.to_owned(), data: obj.build(), symbols });
        self
    }

    /// The finished file.
    pub fn build(&self) -> Vec<u8> {
        let magic: &[u8] = if self.kind == ArchiveKind::Thin { b"!<thin>\n" } else { b"!<arch>\n" };
        let (names, long_names) = self.header_names();
        let bodies: Vec<Vec<u8>> = self.members.iter().zip(&names).map(|(m, n)| self.body(m, n)).collect();
        // Offsets in the index depend on the index's size only, which needs no offsets.
        let mut start = magic.len();
        if self.index {
            start += 60 + self.index_bytes(&[]).len();
        }
        if !long_names.is_empty() {
            start += 60 + long_names.len().next_multiple_of(2);
        }
        let mut offsets = Vec::new();
        for body in &bodies {
            offsets.push(start as u64);
            start += body.len();
        }
        let mut out = magic.to_vec();
        if self.index {
            let index = self.index_bytes(&offsets);
            let name = match self.kind {
                ArchiveKind::Gnu | ArchiveKind::Thin => "/",
                ArchiveKind::Gnu64 => "/SYM64/",
                ArchiveKind::Bsd => "__.SYMDEF",
            };
            header(&mut out, name, index.len());
            out.extend_from_slice(&index);
        }
        if !long_names.is_empty() {
            header(&mut out, "//", long_names.len());
            out.extend_from_slice(long_names.as_bytes());
            pad(&mut out);
        }
        bodies.iter().for_each(|b| out.extend_from_slice(b));
        out
    }

    /// The name field of each member and the contents of `//`.
    fn header_names(&self) -> (Vec<String>, String) {
        let mut table = String::new();
        let mut fields = Vec::new();
        for m in &self.members {
            fields.push(match self.kind {
                ArchiveKind::Bsd if m.name.len() > 16 || m.name.contains(' ') => {
                    format!("#1/{}", m.name.len())
                }
                ArchiveKind::Bsd => m.name.clone(),
                ArchiveKind::Thin => long_name(&mut table, &m.name),
                _ if m.name.len() > 15 => long_name(&mut table, &m.name),
                _ => format!("{}/", m.name),
            });
        }
        (fields, table)
    }

    fn body(&self, m: &Member, field: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let prefix = if field.starts_with("#1/") { m.name.as_bytes() } else { b"" };
        header(&mut out, field, prefix.len() + m.data.len());
        out.extend_from_slice(prefix);
        if self.kind != ArchiveKind::Thin {
            out.extend_from_slice(&m.data);
            pad(&mut out);
        }
        out
    }

    /// The index; with no offsets given, one of the right size.
    fn index_bytes(&self, offsets: &[u64]) -> Vec<u8> {
        let mut rows = Vec::new();
        for (i, m) in self.members.iter().enumerate() {
            let at = offsets.get(i).copied().unwrap_or(0);
            rows.extend(m.symbols.iter().map(|s| (at, s.as_slice())));
        }
        let mut out = Vec::new();
        match self.kind {
            ArchiveKind::Bsd => bsd_index(&mut out, &rows),
            ArchiveKind::Gnu64 => {
                out.extend_from_slice(&(rows.len() as u64).to_be_bytes());
                rows.iter().for_each(|r| out.extend_from_slice(&r.0.to_be_bytes()));
                rows.iter().for_each(|r| out.extend_from_slice(&[r.1, b"\0"].concat()));
            }
            ArchiveKind::Gnu | ArchiveKind::Thin => {
                out.extend_from_slice(&(rows.len() as u32).to_be_bytes());
                rows.iter().for_each(|r| out.extend_from_slice(&(r.0 as u32).to_be_bytes()));
                rows.iter().for_each(|r| out.extend_from_slice(&[r.1, b"\0"].concat()));
            }
        }
        pad(&mut out);
        out
    }
}

/// `__.SYMDEF`: byte size of (name offset, member offset) pairs, the pairs, size of the names, the
/// names; all little-endian here.
fn bsd_index(out: &mut Vec<u8>, rows: &[(u64, &[u8])]) {
    let mut names = Vec::new();
    out.u32(rows.len() as u32 * 8);
    for (at, name) in rows {
        out.u32(names.len() as u32);
        out.u32(*at as u32);
        names.extend_from_slice(name);
        names.push(0);
    }
    out.u32(names.len() as u32);
    out.extend_from_slice(&names);
}

fn long_name(table: &mut String, name: &str) -> String {
    let at = table.len();
    table.push_str(name);
    table.push_str("/\n");
    format!("/{at}")
}

fn header(out: &mut Vec<u8>, name: &str, size: usize) {
    let text = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644);
    out.extend_from_slice(text.as_bytes());
}

fn pad(out: &mut Vec<u8>) {
    if out.len() % 2 == 1 {
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_points_at_member_headers() {
        let ar = Archive::new(ArchiveKind::Gnu).member("a_long_member_name.o", b"abc", &["sym"]).build();
        let at = u32::from_be_bytes(ar[8 + 60 + 4..][..4].try_into().unwrap()) as usize;
        assert_eq!(&ar[at..at + 2], b"/0");
        assert_eq!(&ar[at + 60..at + 63], b"abc");
    }

    #[test]
    fn bsd_long_names_stand_before_the_data() {
        let ar = Archive::new(ArchiveKind::Bsd)
            .without_index()
            .member("a_long_member_name.o", b"abc", &[])
            .build();
        assert_eq!(&ar[8..13], b"#1/20");
        assert!(ar.ends_with(b"a_long_member_name.oabc\n"));
    }
}

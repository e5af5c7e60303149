//! The parts of a `.debug$S` section: a kind, a length, contents, padding to 4 bytes.

use super::{Fault, u32_at};

pub const SYMBOLS: u32 = 0xf1;
pub const LINES: u32 = 0xf2;
pub const STRINGTABLE: u32 = 0xf3;
pub const FILECHKSMS: u32 = 0xf4;
pub const FRAMEDATA: u32 = 0xf5;
pub const INLINEELINES: u32 = 0xf6;
pub const CROSSSCOPEIMPORTS: u32 = 0xf7;
pub const CROSSSCOPEEXPORTS: u32 = 0xf8;
pub const IL_LINES: u32 = 0xf9;
pub const FUNC_MDTOKEN_MAP: u32 = 0xfa;
pub const TYPE_MDTOKEN_MAP: u32 = 0xfb;
pub const MERGED_ASSEMBLYINPUT: u32 = 0xfc;
pub const COFF_SYMBOL_RVA: u32 = 0xfd;
pub const XFG_HASH_TYPE: u32 = 0xff;
pub const XFG_HASH_VIRTUAL: u32 = 0x100;

/// Bytes before the contents: kind and length.
pub const HEADER: usize = 8;

/// This bit of a kind says that the subsection is to be passed over.
const IGNORE: u32 = 0x8000_0000;

#[derive(Clone, Copy, Debug)]
pub struct Subsection<'a> {
    pub kind: u32,
    /// Where its contents begin in the section.
    pub start: usize,
    pub contents: &'a [u8],
}

/// The subsections of a section, which begins with its signature. Ends after the first error.
pub struct Subsections<'a> {
    section: &'a [u8],
    at: usize,
}

impl<'a> Subsections<'a> {
    pub fn new(section: &'a [u8]) -> Result<Self, Fault> {
        super::records::after_signature(section)?;
        Ok(Subsections { section, at: 4 })
    }

    fn read(&mut self) -> Result<Subsection<'a>, Fault> {
        let kind = u32_at(self.section, self.at)?;
        let len = u32_at(self.section, self.at + 4)? as usize;
        let start = self.at + HEADER;
        let contents = self.section.get(start..).and_then(|rest| rest.get(..len)).ok_or(Fault::Truncated)?;
        self.at = (start + len).next_multiple_of(4);
        Ok(Subsection { kind, start, contents })
    }
}

impl<'a> Iterator for Subsections<'a> {
    type Item = Result<Subsection<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            // What is left may be padding, of less than a word.
            if self.at + 4 > self.section.len() {
                return None;
            }
            let read = self.read();
            match &read {
                Ok(subsection) if subsection.kind & IGNORE != 0 => continue,
                Ok(_) => {}
                Err(_) => self.at = self.section.len(),
            }
            return Some(read);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsections_are_padded_and_may_be_ignored() {
        let mut section = vec![4, 0, 0, 0];
        let add = |section: &mut Vec<u8>, kind: u32, contents: &[u8]| {
            section.extend(kind.to_le_bytes());
            section.extend((contents.len() as u32).to_le_bytes());
            section.extend(contents);
            section.resize(section.len().next_multiple_of(4), 0);
        };
        add(&mut section, SYMBOLS, &[1, 2, 3]);
        add(&mut section, LINES | IGNORE, &[9; 8]);
        add(&mut section, STRINGTABLE, b"\0a\0");
        let found: Vec<_> =
            Subsections::new(&section).unwrap().map(|s| s.map(|s| (s.kind, s.start, s.contents))).collect();
        assert_eq!(found, [Ok((SYMBOLS, 12, &[1, 2, 3][..])), Ok((STRINGTABLE, 40, &b"\0a\0"[..]))]);
        section.truncate(section.len() - 2);
        assert_eq!(Subsections::new(&section).unwrap().last().unwrap().unwrap_err(), Fault::Truncated);
        assert_eq!(Subsections::new(&[1, 0, 0, 0]).err(), Some(Fault::Signature));
    }
}

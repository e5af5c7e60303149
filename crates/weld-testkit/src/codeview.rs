//! CodeView in memory: sections `.debug$T` and `.debug$S` of objects, record by record.

/// The first number of a type record.
pub const FIRST_INDEX: u32 = 0x1000;
/// `int` among the basic types.
pub const INT: u32 = 0x74;

fn pad(bytes: &mut Vec<u8>, leaves: bool) {
    while !bytes.len().is_multiple_of(4) {
        bytes.push(if leaves { 0xf0 + (4 - bytes.len() % 4) as u8 } else { 0 });
    }
}

/// Puts words, half words and strings one after the other.
#[derive(Default, Clone)]
pub struct Body(pub Vec<u8>);

impl Body {
    pub fn new() -> Body {
        Body::default()
    }
    pub fn u8(mut self, value: u8) -> Body {
        self.0.push(value);
        self
    }
    pub fn u16(mut self, value: u16) -> Body {
        self.0.extend(value.to_le_bytes());
        self
    }
    pub fn u32(mut self, value: u32) -> Body {
        self.0.extend(value.to_le_bytes());
        self
    }
    pub fn text(mut self, text: &str) -> Body {
        self.0.extend(text.as_bytes());
        self.0.push(0);
        self
    }
    pub fn bytes(mut self, bytes: &[u8]) -> Body {
        self.0.extend(bytes);
        self
    }
}

/// A section of type records. Each function that adds one says its number.
pub struct Types {
    bytes: Vec<u8>,
    next: u32,
}

impl Default for Types {
    fn default() -> Self {
        Types::from(FIRST_INDEX)
    }
}

impl Types {
    pub fn new() -> Types {
        Types::default()
    }

    /// A section whose records are numbered from `first` on.
    pub fn from(first: u32) -> Types {
        Types { bytes: vec![4, 0, 0, 0], next: first }
    }

    pub fn record(&mut self, kind: u16, body: Body) -> u32 {
        self.header(kind, body);
        self.next += 1;
        self.next - 1
    }

    /// A record that has no number.
    pub fn header(&mut self, kind: u16, body: Body) {
        let mut bytes = vec![0, 0];
        bytes.extend(kind.to_le_bytes());
        bytes.extend(body.0);
        pad(&mut bytes, true);
        let len = (bytes.len() - 2) as u16;
        bytes[..2].copy_from_slice(&len.to_le_bytes());
        self.bytes.extend(bytes);
    }

    pub fn pointer(&mut self, to: u32) -> u32 {
        self.record(0x1002, Body::new().u32(to).u32(0x1_000c))
    }

    pub fn arguments(&mut self, types: &[u32]) -> u32 {
        let body = Body::new().u32(types.len() as u32);
        self.record(0x1201, types.iter().fold(body, |body, &t| body.u32(t)))
    }

    pub fn procedure(&mut self, result: u32, arguments: u32) -> u32 {
        self.record(0x1008, Body::new().u32(result).u16(0).u16(0).u32(arguments))
    }

    pub fn forward(&mut self, name: &str) -> u32 {
        self.record(0x1505, Body::new().u16(0).u16(0x80).u32(0).u32(0).u32(0).u16(0).text(name))
    }

    /// A list of members: names and types.
    pub fn fields(&mut self, members: &[(&str, u32)]) -> u32 {
        let mut body = Body::new();
        for (i, &(name, of)) in members.iter().enumerate() {
            body = body.u16(0x150d).u16(3).u32(of).u16(8 * i as u16).text(name);
            pad(&mut body.0, true);
        }
        self.record(0x1203, body)
    }

    pub fn structure(&mut self, name: &str, fields: u32, members: u16) -> u32 {
        let unique = format!(".?AU{name}@@");
        let body = Body::new().u16(members).u16(0x200).u32(fields).u32(0).u32(0).u16(8 * members);
        self.record(0x1505, body.text(name).text(&unique))
    }

    pub fn string_id(&mut self, text: &str) -> u32 {
        self.record(0x1605, Body::new().u32(0).text(text))
    }

    pub fn function_id(&mut self, of: u32, name: &str) -> u32 {
        self.record(0x1601, Body::new().u32(0).u32(of).text(name))
    }

    /// The section.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Symbol records, one after the other.
#[derive(Default)]
pub struct Symbols(pub Vec<u8>);

impl Symbols {
    pub fn new() -> Symbols {
        Symbols::default()
    }

    /// Adds a record; says where it begins.
    pub fn record(&mut self, kind: u16, body: Body) -> usize {
        let start = self.0.len();
        let mut bytes = vec![0, 0];
        bytes.extend(kind.to_le_bytes());
        bytes.extend(body.0);
        pad(&mut bytes, false);
        let len = (bytes.len() - 2) as u16;
        bytes[..2].copy_from_slice(&len.to_le_bytes());
        self.0.extend(bytes);
        start
    }

    /// A global function, whose id is `id`: the bytes at 32 (offset) and 36 (section) of the record are to be
    /// relocated.
    pub fn procedure(&mut self, name: &str, id: u32, size: u32) -> usize {
        let body = Body::new().u32(0).u32(0).u32(0).u32(size).u32(0).u32(size).u32(id);
        self.record(0x1147, body.u32(0).u16(0).u8(0).text(name))
    }

    pub fn end_procedure(&mut self) {
        self.record(0x114f, Body::new());
    }

    pub fn udt(&mut self, name: &str, of: u32) -> usize {
        self.record(0x1108, Body::new().u32(of).text(name))
    }

    pub fn constant(&mut self, name: &str, of: u32, value: u16) -> usize {
        self.record(0x1107, Body::new().u32(of).u16(value).text(name))
    }

    /// Global data: the bytes at 8 (offset) and 12 (section) of the record are to be relocated.
    pub fn data(&mut self, name: &str, of: u32) -> usize {
        self.record(0x110d, Body::new().u32(of).u32(0).u16(0).text(name))
    }
}

/// A `.debug$S` section.
pub struct Section(pub Vec<u8>);

impl Default for Section {
    fn default() -> Self {
        Section(vec![4, 0, 0, 0])
    }
}

impl Section {
    pub fn new() -> Section {
        Section::default()
    }

    /// Adds a subsection; says where its contents begin in the section.
    pub fn subsection(&mut self, kind: u32, contents: &[u8]) -> usize {
        self.0.extend(kind.to_le_bytes());
        self.0.extend((contents.len() as u32).to_le_bytes());
        let start = self.0.len();
        self.0.extend(contents);
        pad(&mut self.0, false);
        start
    }

    /// A table of strings and one of files, which are named in it.
    pub fn files(&mut self, names: &[&str]) {
        let (mut strings, mut files) = (vec![0], Vec::new());
        for name in names {
            files.extend((strings.len() as u32).to_le_bytes());
            files.extend([0, 0]);
            pad(&mut files, false);
            strings.extend(name.as_bytes());
            strings.push(0);
        }
        self.subsection(0xf4, &files);
        self.subsection(0xf3, &strings);
    }

    /// Lines of one file, which is the one of that number: offsets and lines. Bytes 0 (offset) and 4
    /// (section) of the contents are to be relocated.
    pub fn lines(&mut self, file: u32, size: u32, lines: &[(u32, u32)]) -> usize {
        let body = Body::new().u32(0).u16(0).u16(0).u32(size);
        let body = body.u32(8 * file).u32(lines.len() as u32).u32(12 + 8 * lines.len() as u32);
        let body = lines.iter().fold(body, |body, &(at, line)| body.u32(at).u32(line | 1 << 31));
        self.subsection(0xf2, &body.0)
    }
}

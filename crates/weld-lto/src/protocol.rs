//! What weld and its engines say to each other.
//!
//! An engine is a child: weld's own program, or one that is built beside it over an LLVM that is installed
//! (`engine/wire.h` has the other side of what that one is told). weld writes one *order* to its standard
//! input and keeps the pipe open: its end tells the engine that it is done, or that weld is gone. The engine
//! writes *replies* to what was its standard output. weld's own child is of one build with it; a program is
//! told a version ([`ENGINE_VERSION`]). Engines run compilers in their process, which may crash in the middle
//! of a reply or write over anything. So replies are read as any foreign bytes are.
//!
//! Numbers are 64 bits, little endian; bytes have their number in front; so have lists. A reply has its
//! length in 4 bytes in front, then a byte that says which it is.

use std::borrow::Cow;

/// What an engine has to do.
#[derive(Debug, PartialEq, Eq)]
pub struct Order<'a> {
    /// The directory for temporary files, which the engine makes (of a distributor: which is there), and
    /// removes when weld is gone.
    pub directory: Cow<'a, [u8]>,
    pub work: Work<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Work<'a> {
    Plugin(Plugin<'a>),
    Wrapper(Wrapper<'a>),
    Distributor(Distributor<'a>),
    /// Of a program.
    Compile(Job<'a>),
}

/// The version of what programs are told. One of another version refuses the order, and has to be built anew.
pub const ENGINE_VERSION: u64 = 4;

/// What a program is told that is an engine.
#[derive(Debug, PartialEq, Eq)]
pub struct Job<'a> {
    /// `NAME` or `NAME=VALUE`: `engine/settings.h`.
    pub words: Vec<Cow<'a, [u8]>>,
    /// Their symbols have the bits of [`crate::request::Resolution`].
    pub files: Vec<Input<'a>>,
}

/// To load a plugin for linkers and be its linker.
#[derive(Debug, PartialEq, Eq)]
pub struct Plugin<'a> {
    pub library: Cow<'a, [u8]>,
    /// `LDPO_*`.
    pub output: u32,
    pub output_name: Cow<'a, [u8]>,
    /// `-plugin-opt=` words.
    pub words: Vec<Cow<'a, [u8]>>,
    /// Symbols that it must neither inline nor drop, whatever it sees.
    pub redefined: Vec<Cow<'a, [u8]>>,
    pub files: Vec<Input<'a>>,
}

/// A file of intermediate code.
#[derive(Debug, PartialEq, Eq)]
pub struct Input<'a> {
    /// The module's name.
    pub name: Cow<'a, [u8]>,
    pub path: Cow<'a, [u8]>,
    /// Where in the file, in bytes.
    pub offset: u64,
    pub size: u64,
    /// `None`: the link does not take it.
    pub symbols: Option<Vec<(Cow<'a, [u8]>, u8)>>,
}

/// To run GCC's `lto-wrapper`.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrapper<'a> {
    pub program: Cow<'a, [u8]>,
    pub args: Vec<Cow<'a, [u8]>>,
    /// Variables of its environment, `NAME=VALUE`.
    pub variables: Vec<Cow<'a, [u8]>>,
    /// What the file of resolutions has in it, and where it is; without a path in the directory.
    pub resolutions: Cow<'a, [u8]>,
    pub resolutions_path: Option<Cow<'a, [u8]>>,
}

/// To run a program that has modules compiled elsewhere, when weld has written what it reads: weld says so by
/// a byte after the order.
#[derive(Debug, PartialEq, Eq)]
pub struct Distributor<'a> {
    pub program: Cow<'a, [u8]>,
    pub args: Vec<Cow<'a, [u8]>>,
    /// The directory stays (`--save-temps`).
    pub keeps: bool,
}

/// What an engine says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The compiler is loaded; its version if it tells one.
    Ready(Vec<u8>),
    /// It cannot be loaded, and why.
    Unusable(Vec<u8>),
    Object(Vec<u8>),
    /// What a task has made: LLVM's number of it, and the file.
    Made(u32, Vec<u8>),
    /// What a task has made is a part of the file [`PARTS`] in the directory: LLVM's number of the task,
    /// where the part begins and its size, in bytes.
    Part(u32, u64, u64),
    /// A level of [`level`], and the text.
    Message(u8, Vec<u8>),
    /// It has said why there is no result.
    Failed,
    Done,
    /// The compiler's cache had all that was made.
    Cached,
}

/// The file that an engine puts small objects into.
pub const PARTS: &str = "parts";

/// `LDPL_*`.
pub mod level {
    pub const INFO: u8 = 0;
    pub const WARNING: u8 = 1;
    pub const ERROR: u8 = 2;
    pub const FATAL: u8 = 3;
}

/// No reply is longer, in bytes.
pub const MAX_REPLY: usize = 1 << 20;

/// What was read is not what an engine says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl Order<'_> {
    pub fn write(&self) -> Vec<u8> {
        let mut out = Put(vec![0; 8]);
        out.bytes(&self.directory);
        match &self.work {
            Work::Plugin(plugin) => {
                out.number(0);
                plugin.write(&mut out);
            }
            Work::Wrapper(wrapper) => {
                out.number(1);
                wrapper.write(&mut out);
            }
            Work::Distributor(distributor) => {
                out.number(2);
                distributor.write(&mut out);
            }
            Work::Compile(job) => {
                out.number(3);
                job.write(&mut out);
            }
        }
        let length = (out.0.len() - 8) as u64;
        out.0[..8].copy_from_slice(&length.to_le_bytes());
        out.0
    }

    /// Reads an order without the length in front of it. `None` if that is not what it is.
    pub fn read(bytes: &[u8]) -> Option<Order<'_>> {
        let mut get = Get(bytes);
        let directory = get.bytes()?;
        let work = match get.number()? {
            0 => Work::Plugin(Plugin::read(&mut get)?),
            1 => Work::Wrapper(Wrapper::read(&mut get)?),
            2 => Work::Distributor(Distributor::read(&mut get)?),
            3 => Work::Compile(Job::read(&mut get)?),
            _ => return None,
        };
        get.0.is_empty().then_some(Order { directory, work })
    }
}

impl<'a> Plugin<'a> {
    fn write(&self, out: &mut Put) {
        out.bytes(&self.library);
        out.number(u64::from(self.output));
        out.bytes(&self.output_name);
        out.list(&self.words);
        out.list(&self.redefined);
        Input::write_all(&self.files, out);
    }

    fn read(get: &mut Get<'a>) -> Option<Plugin<'a>> {
        let library = get.bytes()?;
        let output = u32::try_from(get.number()?).ok()?;
        let (output_name, words, redefined) = (get.bytes()?, get.list()?, get.list()?);
        let files = Input::read_all(get)?;
        Some(Plugin { library, output, output_name, words, redefined, files })
    }
}

impl<'a> Job<'a> {
    fn write(&self, out: &mut Put) {
        out.number(ENGINE_VERSION);
        out.list(&self.words);
        Input::write_all(&self.files, out);
    }

    fn read(get: &mut Get<'a>) -> Option<Job<'a>> {
        let version = get.number()?;
        (version == ENGINE_VERSION).then_some(())?;
        Some(Job { words: get.list()?, files: Input::read_all(get)? })
    }
}

/// Stands for the number of symbols of a file that the link does not take.
const UNUSED: u64 = u64::MAX;

impl<'a> Input<'a> {
    fn write_all(files: &[Input<'_>], out: &mut Put) {
        out.number(files.len() as u64);
        for file in files {
            out.bytes(&file.name);
            out.bytes(&file.path);
            out.number(file.offset);
            out.number(file.size);
            let Some(symbols) = &file.symbols else {
                out.number(UNUSED);
                continue;
            };
            out.number(symbols.len() as u64);
            for (name, resolution) in symbols {
                out.bytes(name);
                out.number(u64::from(*resolution));
            }
        }
    }

    fn read_all(get: &mut Get<'a>) -> Option<Vec<Input<'a>>> {
        let files = get.number()?;
        (0..files).map(|_| Input::read(get)).collect()
    }

    fn read(get: &mut Get<'a>) -> Option<Input<'a>> {
        let (name, path, offset, size) = (get.bytes()?, get.bytes()?, get.number()?, get.number()?);
        let symbols = match get.number()? {
            UNUSED => None,
            count => {
                let symbol = |_| Some((get.bytes()?, u8::try_from(get.number()?).ok()?));
                Some((0..count).map(symbol).collect::<Option<_>>()?)
            }
        };
        Some(Input { name, path, offset, size, symbols })
    }
}

impl<'a> Wrapper<'a> {
    fn write(&self, out: &mut Put) {
        out.bytes(&self.program);
        out.list(&self.args);
        out.list(&self.variables);
        out.bytes(&self.resolutions);
        out.list(self.resolutions_path.as_slice());
    }

    fn read(get: &mut Get<'a>) -> Option<Wrapper<'a>> {
        let (program, args, variables) = (get.bytes()?, get.list()?, get.list()?);
        let (resolutions, mut path) = (get.bytes()?, get.list()?);
        let resolutions_path = path.pop();
        path.is_empty().then_some(Wrapper { program, args, variables, resolutions, resolutions_path })
    }
}

impl<'a> Distributor<'a> {
    fn write(&self, out: &mut Put) {
        out.bytes(&self.program);
        out.list(&self.args);
        out.number(u64::from(self.keeps));
    }

    fn read(get: &mut Get<'a>) -> Option<Distributor<'a>> {
        let (program, args) = (get.bytes()?, get.list()?);
        let keeps = match get.number()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        Some(Distributor { program, args, keeps })
    }
}

struct Put(Vec<u8>);

impl Put {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn list(&mut self, list: &[Cow<'_, [u8]>]) {
        self.number(list.len() as u64);
        list.iter().for_each(|bytes| self.bytes(bytes));
    }
}

struct Get<'a>(&'a [u8]);

impl<'a> Get<'a> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Option<Cow<'a, [u8]>> {
        let len = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(Cow::Borrowed(bytes))
    }

    fn list(&mut self) -> Option<Vec<Cow<'a, [u8]>>> {
        let count = self.number()?;
        (0..count).map(|_| self.bytes()).collect()
    }
}

impl Reply {
    pub fn write(&self) -> Vec<u8> {
        let (task, part);
        let (kind, before, text): (u8, &[u8], &[u8]) = match self {
            Reply::Ready(version) => (0, &[], version),
            Reply::Unusable(why) => (1, &[], why),
            Reply::Object(path) => (2, &[], path),
            Reply::Message(level, text) => (3, &[*level], text),
            Reply::Failed => (4, &[], b""),
            Reply::Done => (5, &[], b""),
            Reply::Cached => (8, &[], b""),
            Reply::Made(number, path) => {
                task = number.to_le_bytes();
                (6, &task, path)
            }
            Reply::Part(number, offset, size) => {
                part = [&number.to_le_bytes()[..], &offset.to_le_bytes(), &size.to_le_bytes()].concat();
                (7, &part, b"")
            }
        };
        let text = &text[..text.len().min(MAX_REPLY - 1 - before.len())];
        let length = (1 + before.len() + text.len()) as u32;
        [&length.to_le_bytes()[..], &[kind], before, text].concat()
    }

    fn read(bytes: &[u8]) -> Result<Reply, Malformed> {
        let (&kind, rest) = bytes.split_first().ok_or(Malformed("a reply without a kind"))?;
        match (kind, rest) {
            (0, _) => Ok(Reply::Ready(rest.to_vec())),
            (1, _) => Ok(Reply::Unusable(rest.to_vec())),
            (2, [_, ..]) => Ok(Reply::Object(rest.to_vec())),
            (3, [level @ 0..=level::FATAL, text @ ..]) => Ok(Reply::Message(*level, text.to_vec())),
            (4, []) => Ok(Reply::Failed),
            (5, []) => Ok(Reply::Done),
            (8, []) => Ok(Reply::Cached),
            (6, [a, b, c, d, path @ ..]) if !path.is_empty() => {
                Ok(Reply::Made(u32::from_le_bytes([*a, *b, *c, *d]), path.to_vec()))
            }
            (7, _) => part(rest).ok_or(Malformed("a part that is none")),
            _ => Err(Malformed("a reply that nobody would give")),
        }
    }
}

fn part(bytes: &[u8]) -> Option<Reply> {
    let (task, bytes) = bytes.split_first_chunk()?;
    let (offset, bytes) = bytes.split_first_chunk()?;
    let (size, []) = bytes.split_first_chunk()? else { return None };
    Some(Reply::Part(u32::from_le_bytes(*task), u64::from_le_bytes(*offset), u64::from_le_bytes(*size)))
}

/// Replies as they come.
#[derive(Default)]
pub struct Replies {
    bytes: Vec<u8>,
    /// What has been taken of them.
    taken: usize,
}

impl Replies {
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..std::mem::take(&mut self.taken));
        self.bytes.extend_from_slice(bytes);
    }

    /// The next reply if all of it is there.
    ///
    /// # Errors
    /// If it is none. Nothing that follows can be read then.
    pub fn next_reply(&mut self) -> Result<Option<Reply>, Malformed> {
        let Some((length, rest)) = self.bytes[self.taken..].split_first_chunk() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_REPLY {
            return Err(Malformed("a reply that is too long"));
        }
        let Some(reply) = rest.get(..length) else { return Ok(None) };
        self.taken += 4 + length;
        Reply::read(reply).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cow(text: &str) -> Cow<'_, [u8]> {
        Cow::Borrowed(text.as_bytes())
    }

    fn orders() -> [Order<'static>; 4] {
        let used = Input {
            name: cow("a"),
            path: cow("l.a"),
            offset: 68,
            size: 9,
            symbols: Some(vec![(cow("x"), 2), (cow("y"), 3)]),
        };
        let unused = Input { name: cow("b"), path: cow("b.o"), offset: 0, size: 1, symbols: None };
        let plugin = Plugin {
            library: cow("/p.so"),
            output: 1,
            output_name: cow("out"),
            words: vec![cow("O2"), cow("")],
            redefined: vec![cow("foo")],
            files: vec![used, unused],
        };
        let wrapper = Wrapper {
            program: cow("w"),
            args: vec![cow("-x")],
            variables: vec![cow("A=b")],
            resolutions: cow("0\n"),
            resolutions_path: Some(cow("t.res")),
        };
        let used =
            Input { name: cow("a"), path: cow("a"), offset: 0, size: 1, symbols: Some(vec![(cow("x"), 2)]) };
        let job = Job { words: vec![cow("level=2")], files: vec![used] };
        let distributor = Distributor { program: cow("d"), args: vec![cow("j")], keeps: true };
        [Work::Plugin(plugin), Work::Wrapper(wrapper), Work::Distributor(distributor), Work::Compile(job)]
            .map(|work| Order { directory: cow("/tmp/x"), work })
    }

    #[test]
    fn an_order_is_read_as_it_was_written() {
        for order in orders() {
            let bytes = order.write();
            assert_eq!(u64::from_le_bytes(*bytes.first_chunk().unwrap()), bytes.len() as u64 - 8);
            assert_eq!(Order::read(&bytes[8..]), Some(order));
        }
    }

    #[test]
    fn an_order_that_is_cut_is_none() {
        for order in orders() {
            let bytes = order.write();
            for end in 8..bytes.len() {
                assert_eq!(Order::read(&bytes[8..end]), None);
            }
            assert_eq!(Order::read(&[&bytes[8..], b"x"].concat()), None);
        }
        // The last number of a distributor's order says yes or no.
        let mut bytes = orders()[2].write();
        assert!(Order::read(&bytes[8..]).is_some());
        let at = bytes.len() - 8;
        bytes[at] = 2;
        assert_eq!(Order::read(&bytes[8..]), None);
    }

    #[test]
    fn replies_in_pieces() {
        let said = [
            Reply::Ready(b"22.1.8".to_vec()),
            Reply::Unusable(b"why".to_vec()),
            Reply::Object(b"/tmp/o".to_vec()),
            Reply::Made(258, b"/tmp/1".to_vec()),
            Reply::Part(258, 1 << 40, 17),
            Reply::Message(level::WARNING, b"text".to_vec()),
            Reply::Cached,
            Reply::Failed,
            Reply::Done,
        ];
        let bytes: Vec<u8> = said.iter().flat_map(Reply::write).collect();
        for size in [1, 3, 7, bytes.len()] {
            let (mut replies, mut heard) = (Replies::default(), Vec::new());
            for piece in bytes.chunks(size) {
                replies.push(piece);
                while let Some(reply) = replies.next_reply().unwrap() {
                    heard.push(reply);
                }
            }
            assert_eq!(heard, said);
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        let mut replies = Replies::default();
        replies.push(&Reply::Message(level::ERROR, vec![b'x'; 2 * MAX_REPLY]).write());
        let Ok(Some(Reply::Message(_, text))) = replies.next_reply() else { panic!() };
        assert_eq!(text.len(), MAX_REPLY - 2);
    }

    #[test]
    fn garbage_is_an_error() {
        let read = |bytes: &[u8]| {
            let mut replies = Replies::default();
            replies.push(bytes);
            replies.next_reply()
        };
        assert!(read(b"garbage, and more of it").is_err());
        for bytes in [
            &[0, 0, 0, 0][..],
            &[1, 0, 0, 0, 9],
            &[1, 0, 0, 0, 2],
            &[2, 0, 0, 0, 5, 5],
            &[5, 0, 0, 0, 6, 1, 0, 0, 0],
            &[5, 0, 0, 0, 7, 1, 0, 0, 0],
            &[2, 0, 0, 0, 8, 1],
        ] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        assert!(read(&[2, 0, 0, 0, 3, 4]).is_err(), "a level that there is not");
        assert_eq!(read(&[9, 0, 0, 0, 3, 0]), Ok(None));
    }
}

//! A linker for LLVM's plugin: loads it, shows it the files, and tells it what has become of their symbols.
//!
//! The interface was made for linkers that ask plugins for symbols. weld knows these already, so of the files
//! only those are shown that the link takes, resolutions are there from the start, and a plugin's word on
//! symbols is only compared: that one is not known means that weld has read the file differently.
//!
//! Callbacks have no argument that says whose they are, so what they need is in a static. This process is one
//! engine and nothing else.
//!
//! LLVM's plugin calls `exit` where it finds that it should: with 0 when all that was wanted were files
//! beside the inputs, with 1 if it does not know an option. Who reads the replies knows which is which.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fmt, io};

use memmap2::Mmap;
use weld_common::io::reason;
use weld_common::text::os_str;

use super::api::{self, Entry, InputFile, Status, Symbol, Value, tag};
use super::{Ending, Voice};
use crate::late;
use crate::protocol::{Input, Plugin, Reply, level};

/// What callbacks work with. Set once, before the plugin is loaded.
static LINKER: OnceLock<Linker> = OnceLock::new();

struct Linker {
    voice: Voice,
    files: Vec<Claimed>,
    redefined: Vec<CString>,
    /// The plugin has reported an error.
    has_failed: AtomicBool,
    /// It is doing what is left to do at the end.
    is_tidying: AtomicBool,
    hooks: Mutex<Hooks>,
}

#[derive(Default)]
struct Hooks {
    claim_file: Option<api::ClaimFile>,
    all_symbols_read: Option<api::Hook>,
    cleanup: Option<api::Hook>,
}

/// A file as the plugin sees it. Its handle is its number plus 1.
struct Claimed {
    name: CString,
    /// The whole file, in which `offset..offset + size` is the code.
    map: &'static Mmap,
    offset: usize,
    size: usize,
    /// Names and `LDPR_*`; `None` if the link does not take the file.
    symbols: Option<Vec<(Vec<u8>, u8)>>,
}

/// Does the work of a linker. Whether it succeeded; if not, why has been said.
pub fn run(work: &Plugin<'_>, voice: &Voice, ending: &Ending) -> bool {
    let files = match open(&work.files) {
        Ok(files) => files,
        Err(error) => {
            voice.say(&Reply::Ready(Vec::new()));
            voice.error(error.to_string());
            return false;
        }
    };
    let linker = LINKER.get_or_init(|| Linker {
        voice: voice.clone(),
        files,
        redefined: work.redefined.iter().map(|name| c_string(name)).collect(),
        has_failed: AtomicBool::new(false),
        is_tidying: AtomicBool::new(false),
        hooks: Mutex::default(),
    });
    if let Err(why) = load(work, voice) {
        voice.say(&Reply::Unusable(why.to_string().into_bytes()));
        return false;
    }
    let done = linker.drive();
    if done {
        let cleanup = linker.hooks.lock().ok().and_then(|hooks| hooks.cleanup);
        let mut place = ending.cleanup.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *place = cleanup.map(|hook| -> Box<dyn FnOnce() + Send> {
            Box::new(move || {
                linker.is_tidying.store(true, Ordering::SeqCst);
                // SAFETY: the plugin registered it to be called once, at the end.
                unsafe { hook() };
            })
        });
    }
    done
}

/// Text that ends with a zero byte. What has one inside ends there, as it would anyway.
fn c_string(bytes: &[u8]) -> CString {
    CString::new(bytes.split(|&byte| byte == 0).next().unwrap_or_default()).unwrap_or_default()
}

/// Why a file cannot be shown to a plugin.
#[derive(Debug)]
enum InputError {
    Unreadable(PathBuf, io::Error),
    /// It is not as long any more as when weld read it.
    Shorter(PathBuf),
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Unreadable(path, e) => write!(f, "{}: {}", path.display(), reason(e)),
            InputError::Shorter(path) => write!(f, "{}: the file has become shorter", path.display()),
        }
    }
}

/// Why a plugin cannot be used.
#[derive(Debug)]
enum LoadError {
    /// It is no library that can be loaded here; what the loader says of it, if anything.
    Library(String),
    NoPlugin,
    Refused,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LoadError::Library(why) => why,
            LoadError::NoPlugin => "it is not a plugin for linkers: there is no function onload in it",
            LoadError::Refused => "it refused to be loaded",
        })
    }
}

/// Maps the files, each once.
fn open(inputs: &[Input<'_>]) -> Result<Vec<Claimed>, InputError> {
    let mut maps: HashMap<&[u8], &'static Mmap> = HashMap::new();
    let mut files = Vec::with_capacity(inputs.len());
    for input in inputs {
        let path = Path::new(os_str(&input.path));
        let map = match maps.get(&*input.path) {
            Some(map) => *map,
            None => {
                // SAFETY: as everywhere: who shortens a file that is being linked ends the process, which
                // weld reports.
                let map = File::open(path).and_then(|file| unsafe { Mmap::map(&file) });
                let map = map.map_err(|error| InputError::Unreadable(path.to_owned(), error))?;
                let map: &'static Mmap = Box::leak(Box::new(map));
                maps.insert(&input.path, map);
                map
            }
        };
        let end = input.offset.checked_add(input.size).filter(|&end| end <= map.len() as u64);
        if end.is_none() || input.size == 0 {
            return Err(InputError::Shorter(path.to_owned()));
        }
        let symbols = input
            .symbols
            .as_ref()
            .map(|symbols| symbols.iter().map(|(name, resolution)| (name.to_vec(), *resolution)).collect());
        let (offset, size) = (input.offset as usize, input.size as usize);
        files.push(Claimed { name: c_string(&input.name), map, offset, size, symbols });
    }
    Ok(files)
}

/// Loads the library and lets it look at the table of a linker's functions. Says when it is ready.
fn load(work: &Plugin<'_>, voice: &Voice) -> Result<(), LoadError> {
    let path = c_string(&work.library);
    // To look it up later would take away what it has to say.
    let dlerror = late::dlerror();
    // SAFETY: terminated strings. What a library does when it is loaded is its own affair; that is why it is
    // loaded here and not in weld.
    let (library, onload) = unsafe {
        let library = late::dlopen()(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if library.is_null() {
            let why = dlerror();
            return Err(LoadError::Library(if why.is_null() { String::new() } else { lossy(why) }));
        }
        (library, libc::dlsym(library, c"onload".as_ptr()))
    };
    if onload.is_null() {
        return Err(LoadError::NoPlugin);
    }
    let output_name = c_string(&work.output_name);
    let words: Vec<CString> = work.words.iter().map(|word| c_string(word)).collect();
    let mut table = table(work, &output_name, &words);
    // SAFETY: `onload` of a plugin has this type, and the table is as the interface has it. Texts in it live
    // for as long as the process, since plugins keep them.
    let status = unsafe {
        let onload = std::mem::transmute::<*mut c_void, api::OnLoad>(onload);
        onload(table.as_mut_ptr())
    };
    std::mem::forget((output_name, words));
    if status != api::OK {
        return Err(LoadError::Refused);
    }
    voice.say(&Reply::Ready(version(library)));
    Ok(())
}

/// The version of the LLVM that the plugin belongs to; empty if it does not tell.
fn version(library: *mut c_void) -> Vec<u8> {
    type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);
    // SAFETY: a function of LLVM's C interface, of this type since there is one. A plugin that has LLVM
    // inside does not export it, which is no harm.
    unsafe {
        let get = libc::dlsym(library, c"LLVMGetVersion".as_ptr());
        if get.is_null() {
            return Vec::new();
        }
        let get = std::mem::transmute::<*mut c_void, GetVersion>(get);
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        get(&mut major, &mut minor, &mut patch);
        format!("{major}.{minor}.{patch}").into_bytes()
    }
}

/// The table for [`api::OnLoad`]. The message function comes first: a plugin may need it while it reads.
fn table(work: &Plugin<'_>, output_name: &CStr, words: &[CString]) -> Vec<Entry> {
    let number = |tag, number| Entry { tag, value: Value { number } };
    let pointer = |tag, pointer: *const c_void| Entry { tag, value: Value { pointer } };
    let mut table = vec![
        pointer(tag::MESSAGE, message as *const c_void),
        number(tag::API_VERSION, 1),
        number(tag::LINKER_OUTPUT, work.output as c_int),
        pointer(tag::OUTPUT_NAME, output_name.as_ptr().cast()),
    ];
    table.extend(words.iter().map(|word| pointer(tag::OPTION, word.as_ptr().cast())));
    table.extend([
        pointer(tag::REGISTER_CLAIM_FILE, register_claim_file as *const c_void),
        pointer(tag::REGISTER_ALL_SYMBOLS_READ, register_all_symbols_read as *const c_void),
        pointer(tag::REGISTER_CLEANUP, register_cleanup as *const c_void),
        pointer(tag::ADD_SYMBOLS, add_symbols as *const c_void),
        pointer(tag::GET_SYMBOLS_V2, get_symbols as *const c_void),
        pointer(tag::GET_SYMBOLS_V3, get_symbols as *const c_void),
        pointer(tag::ADD_INPUT_FILE, add_input_file as *const c_void),
        pointer(tag::GET_INPUT_FILE, get_input_file as *const c_void),
        pointer(tag::RELEASE_INPUT_FILE, release_input_file as *const c_void),
        pointer(tag::GET_VIEW, get_view as *const c_void),
        pointer(tag::SET_EXTRA_LIBRARY_PATH, set_extra_library_path as *const c_void),
    ]);
    // Asked for each file: without names there is nothing to ask.
    if !work.redefined.is_empty() {
        table.push(pointer(tag::GET_WRAP_SYMBOLS, get_wrap_symbols as *const c_void));
    }
    table.push(number(tag::NULL, 0));
    table
}

impl Linker {
    /// Shows the plugin the files and lets it compile.
    fn drive(&self) -> bool {
        let (claim_file, all_symbols_read) = match self.hooks.lock() {
            Ok(hooks) => (hooks.claim_file, hooks.all_symbols_read),
            Err(_) => (None, None),
        };
        let (Some(claim_file), Some(all_symbols_read)) = (claim_file, all_symbols_read) else {
            self.voice.error("the plugin has registered nothing that compiles");
            return false;
        };
        for number in 0..self.files.len() {
            let file = self.input_file(number);
            let mut claimed = 0;
            // SAFETY: the plugin's function, with what the interface says it takes.
            let status = unsafe { claim_file(&file, &mut claimed) };
            if status != api::OK || self.failed() {
                self.voice
                    .error(format!("{} cannot be read by it", self.files[number].name.to_string_lossy()));
                return false;
            }
            if claimed == 0 {
                self.voice.error(format!("{} is nothing to it", self.files[number].name.to_string_lossy()));
                return false;
            }
        }
        // SAFETY: as above.
        let status = unsafe { all_symbols_read() };
        status == api::OK && !self.failed()
    }

    fn failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }

    fn input_file(&self, number: usize) -> InputFile {
        let file = &self.files[number];
        InputFile {
            name: file.name.as_ptr(),
            // Plugins that are given a view do not read the file. They tell files by their descriptors,
            // though.
            descriptor: -1 - number as c_int,
            offset: 0,
            size: file.size as libc::off_t,
            handle: (number + 1) as *mut c_void,
        }
    }

    fn file(&self, handle: *const c_void) -> Option<&Claimed> {
        self.files.get((handle as usize).checked_sub(1)?)
    }
}

fn lossy(text: *const c_char) -> String {
    // SAFETY: callers have it from C, where it is a terminated string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

unsafe extern "C" fn register_claim_file(hook: api::ClaimFile) -> Status {
    with_hooks(|hooks| hooks.claim_file = Some(hook))
}

unsafe extern "C" fn register_all_symbols_read(hook: api::Hook) -> Status {
    with_hooks(|hooks| hooks.all_symbols_read = Some(hook))
}

unsafe extern "C" fn register_cleanup(hook: api::Hook) -> Status {
    with_hooks(|hooks| hooks.cleanup = Some(hook))
}

fn with_hooks(change: impl FnOnce(&mut Hooks)) -> Status {
    let Some(mut hooks) = LINKER.get().and_then(|linker| linker.hooks.lock().ok()) else { return api::ERROR };
    change(&mut hooks);
    api::OK
}

/// The plugin's list of a file's symbols, which is known already.
unsafe extern "C" fn add_symbols(handle: *mut c_void, _count: c_int, _symbols: *const Symbol) -> Status {
    match LINKER.get().and_then(|linker| linker.file(handle)) {
        Some(_) => api::OK,
        None => api::BAD_HANDLE,
    }
}

/// Tells what has become of symbols, by their names. Both lists normally have the same order.
unsafe extern "C" fn get_symbols(handle: *const c_void, count: c_int, symbols: *mut Symbol) -> Status {
    let Some(linker) = LINKER.get() else { return api::ERROR };
    let Some(file) = linker.file(handle) else { return api::BAD_HANDLE };
    let Some(known) = &file.symbols else { return api::NO_SYMBOLS };
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return api::OK;
    }
    // SAFETY: the plugin's array of as many symbols.
    let symbols = unsafe { std::slice::from_raw_parts_mut(symbols, count) };
    let mut by_name = None;
    for (number, symbol) in symbols.iter_mut().enumerate() {
        // SAFETY: names are terminated strings of the plugin's.
        let name = unsafe { CStr::from_ptr(symbol.name) }.to_bytes();
        let resolution = match known.get(number) {
            Some((expected, resolution)) if expected == name => Some(*resolution),
            _ => by_name
                .get_or_insert_with(|| {
                    known.iter().map(|(name, resolution)| (&name[..], *resolution)).collect::<HashMap<_, _>>()
                })
                .get(name)
                .copied(),
        };
        let Some(resolution) = resolution else {
            linker.has_failed.store(true, Ordering::SeqCst);
            let (file, name) = (file.name.to_string_lossy(), name.escape_ascii());
            linker.voice.error(format!("{file}: it finds a symbol {name} that weld has not found there"));
            return api::ERROR;
        };
        symbol.resolution = c_int::from(resolution);
    }
    api::OK
}

unsafe extern "C" fn add_input_file(path: *const c_char) -> Status {
    let Some(linker) = LINKER.get() else { return api::ERROR };
    // SAFETY: a terminated string of the plugin's.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    linker.voice.say(&Reply::Object(path.to_vec()));
    api::OK
}

unsafe extern "C" fn get_input_file(handle: *const c_void, out: *mut InputFile) -> Status {
    let Some(linker) = LINKER.get() else { return api::ERROR };
    let Some(_) = linker.file(handle) else { return api::BAD_HANDLE };
    // SAFETY: the plugin's place for it.
    unsafe { out.write(linker.input_file(handle as usize - 1)) };
    api::OK
}

unsafe extern "C" fn release_input_file(_handle: *const c_void) -> Status {
    api::OK
}

unsafe extern "C" fn get_view(handle: *const c_void, view: *mut *const c_void) -> Status {
    let Some(file) = LINKER.get().and_then(|linker| linker.file(handle)) else { return api::BAD_HANDLE };
    // SAFETY: the plugin's place for a pointer.
    unsafe { view.write(file.map[file.offset..].as_ptr().cast()) };
    api::OK
}

unsafe extern "C" fn set_extra_library_path(_path: *const c_char) -> Status {
    api::OK
}

unsafe extern "C" fn get_wrap_symbols(count: *mut u64, list: *mut *const *const c_char) -> Status {
    static POINTERS: OnceLock<Vec<usize>> = OnceLock::new();
    let Some(linker) = LINKER.get() else { return api::ERROR };
    let pointers =
        POINTERS.get_or_init(|| linker.redefined.iter().map(|name| name.as_ptr() as usize).collect());
    // SAFETY: the plugin's places for a number and a pointer.
    unsafe {
        count.write(pointers.len() as u64);
        list.write(pointers.as_ptr().cast());
    }
    api::OK
}

/// Says what the plugin has to say. After what is fatal it does not expect to be returned to.
///
/// The plugin calls a function with any number of arguments, which Rust cannot define. On every system that
/// weld runs on, the first numbers and pointers of such a call are passed as those of any other, so they are
/// here; what the plugin did not pass has any value and is not looked at, because the format does not ask for
/// it.
unsafe extern "C" fn message(
    level: c_int,
    format: *const c_char,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) -> Status {
    let Some(linker) = LINKER.get() else { return api::ERROR };
    if format.is_null() {
        return api::ERROR;
    }
    // SAFETY: a terminated string of the plugin's, with as many arguments as it asks for.
    let text = unsafe { formatted(CStr::from_ptr(format).to_bytes(), [a, b, c, d]) };
    let level = u8::try_from(level).unwrap_or(level::ERROR).min(level::FATAL);
    linker.voice.say(&Reply::Message(level, text));
    if level >= level::ERROR {
        linker.has_failed.store(true, Ordering::SeqCst);
    }
    if level == level::FATAL {
        if linker.is_tidying.load(Ordering::SeqCst) {
            // This is the thread that ends the process, and the work is done. weld removes the directory.
            // SAFETY: no preconditions.
            unsafe { libc::_exit(1) };
        }
        linker.voice.say(&Reply::Failed);
        loop {
            std::thread::park();
        }
    }
    api::OK
}

/// `printf`'s formats, of numbers and texts without widths.
///
/// # Safety
/// Each `%s` has a terminated string at its place in `args`, or a null pointer.
unsafe fn formatted(format: &[u8], args: [usize; 4]) -> Vec<u8> {
    let mut args = args.into_iter();
    let mut out = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&rest[..at]);
        let directive = &rest[at + 1..];
        let size = directive.iter().take_while(|byte| b"lzjh".contains(byte)).count();
        let Some(&kind) = directive.get(size) else {
            rest = &[];
            break;
        };
        let is_long = size > 0 && directive[0] != b'h';
        rest = &directive[size + 1..];
        if kind == b'%' {
            out.push(b'%');
            continue;
        }
        // More than were taken over are not shown.
        let Some(arg) = args.next() else { continue };
        let text: Cow<'_, [u8]> = match kind {
            b's' if arg == 0 => Cow::Borrowed(b"(null)"),
            // SAFETY: as the caller promises.
            b's' => Cow::Borrowed(unsafe { CStr::from_ptr(arg as *const c_char) }.to_bytes()),
            b'd' | b'i' if is_long => Cow::Owned((arg as isize).to_string().into_bytes()),
            b'd' | b'i' => Cow::Owned((arg as c_int).to_string().into_bytes()),
            b'u' if is_long => Cow::Owned(arg.to_string().into_bytes()),
            b'u' => Cow::Owned((arg as c_uint).to_string().into_bytes()),
            b'x' => Cow::Owned(format!("{arg:x}").into_bytes()),
            b'c' => Cow::Owned(vec![arg as u8]),
            _ => Cow::Borrowed(b"?"),
        };
        out.extend_from_slice(&text);
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        let (text, null) = (c"text".as_ptr() as usize, 0);
        let format = |format: &str, args| {
            // SAFETY: the formats below ask for a text where there is one.
            String::from_utf8(unsafe { formatted(format.as_bytes(), args) }).unwrap()
        };
        assert_eq!(format("plain", [0; 4]), "plain");
        assert_eq!(format("%s: 100%% of %d", [text, -7_isize as usize, 0, 0]), "text: 100% of -7");
        assert_eq!(format("%lu %zu %x %c", [1 << 40, 2, 255, 65]), "1099511627776 2 ff A");
        assert_eq!(format("%u", [usize::MAX, 0, 0, 0]), "4294967295");
        assert_eq!(format("%d%d%d%d%d", [1, 2, 3, 4]), "1234");
        assert_eq!(format("%s %", [null, 0, 0, 0]), "(null) ");
        assert_eq!(format("%ll", [0; 4]), "");
    }
}

//! The interface between linkers and their plugins, as far as LLVM's plugin needs it.
//!
//! Source: GCC's `include/plugin-api.h`, of which these are the numbers and the layouts, and the page
//! <https://gcc.gnu.org/wiki/whopr/driver>.

use std::ffi::{c_char, c_int, c_void};

pub type Status = c_int;
pub const OK: Status = 0;
/// The link does not take the file.
pub const NO_SYMBOLS: Status = 1;
pub const BAD_HANDLE: Status = 2;
pub const ERROR: Status = 3;

/// `LDPT_*`: what an entry of the table is that a plugin is given.
pub mod tag {
    use std::ffi::c_int;

    pub const NULL: c_int = 0;
    pub const API_VERSION: c_int = 1;
    pub const LINKER_OUTPUT: c_int = 3;
    pub const OPTION: c_int = 4;
    pub const REGISTER_CLAIM_FILE: c_int = 5;
    pub const REGISTER_ALL_SYMBOLS_READ: c_int = 6;
    pub const REGISTER_CLEANUP: c_int = 7;
    pub const ADD_SYMBOLS: c_int = 8;
    pub const ADD_INPUT_FILE: c_int = 10;
    pub const MESSAGE: c_int = 11;
    pub const GET_INPUT_FILE: c_int = 12;
    pub const RELEASE_INPUT_FILE: c_int = 13;
    pub const OUTPUT_NAME: c_int = 15;
    pub const SET_EXTRA_LIBRARY_PATH: c_int = 16;
    pub const GET_VIEW: c_int = 18;
    pub const GET_SYMBOLS_V2: c_int = 25;
    pub const GET_SYMBOLS_V3: c_int = 28;
    pub const GET_WRAP_SYMBOLS: c_int = 32;
}

/// An entry of that table.
#[repr(C)]
pub struct Entry {
    pub tag: c_int,
    pub value: Value,
}

/// By C's rules for unions of numbers and pointers.
#[derive(Clone, Copy)]
#[repr(C)]
pub union Value {
    pub number: c_int,
    pub pointer: *const c_void,
}

/// `ld_plugin_input_file`.
#[repr(C)]
pub struct InputFile {
    pub name: *const c_char,
    pub descriptor: c_int,
    /// In bytes; a plugin that sees one that is not 0 makes up a name of its own.
    pub offset: libc::off_t,
    pub size: libc::off_t,
    pub handle: *mut c_void,
}

/// `ld_plugin_symbol`.
#[repr(C)]
pub struct Symbol {
    pub name: *mut c_char,
    pub version: *mut c_char,
    /// Definition, kind of symbol and section, in an order that depends on the machine's.
    pub kinds: [c_char; 4],
    pub visibility: c_int,
    pub size: u64,
    pub comdat: *mut c_char,
    pub resolution: c_int,
}

pub type OnLoad = unsafe extern "C" fn(*mut Entry) -> Status;
pub type ClaimFile = unsafe extern "C" fn(*const InputFile, *mut c_int) -> Status;
pub type Hook = unsafe extern "C" fn() -> Status;

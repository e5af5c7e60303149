//! Functions of the C library that only engines need.
//!
//! The loader looks up all functions that a program names each time it starts. Links that compile nothing
//! shall not pay for those that do, so these are looked up by their names when they are wanted. A program
//! that is linked statically, as with musl, has no loader that could do either.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

macro_rules! functions {
    ($(fn $name:ident($($argument:ty),*) -> $result:ty;)*) => {
        $(
            /// The C library's function of this name.
            pub fn $name() -> unsafe extern "C" fn($($argument),*) -> $result {
                #[cfg(target_env = "musl")]
                {
                    unsafe extern "C" {
                        fn $name($(_: $argument),*) -> $result;
                    }
                    $name
                }
                #[cfg(not(target_env = "musl"))]
                {
                    let name = concat!(stringify!($name), "\0");
                    // SAFETY: a terminated string. What has this name in the C library is of this type; both
                    // are as `libc` declares it.
                    unsafe {
                        let function = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast());
                        assert!(!function.is_null(), "the C library has no {name}");
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> $result>(function)
                    }
                }
            }
        )*
    };
}

type Actions = *mut libc::posix_spawn_file_actions_t;

functions! {
    fn __cxa_atexit(extern "C" fn(*mut c_void), *mut c_void, *mut c_void) -> c_int;
    fn dlerror() -> *mut c_char;
    fn dlopen(*const c_char, c_int) -> *mut c_void;
    fn dup2(c_int, c_int) -> c_int;
    fn execvp(*const c_char, *const *const c_char) -> c_int;
    fn fork() -> libc::pid_t;
    fn kill(libc::pid_t, c_int) -> c_int;
    fn pause() -> c_int;
    fn pipe2(*mut c_int, c_int) -> c_int;
    fn posix_spawn_file_actions_adddup2(Actions, c_int, c_int) -> c_int;
    fn posix_spawn_file_actions_destroy(Actions) -> c_int;
    fn posix_spawn_file_actions_init(Actions) -> c_int;
    fn rmdir(*const c_char) -> c_int;
    fn setenv(*const c_char, *const c_char, c_int) -> c_int;
    fn setpgid(libc::pid_t, libc::pid_t) -> c_int;
}

/// Removes a directory and all in it, as far as that can be done. Whether it is gone.
pub fn remove_directory(directory: &Path) -> bool {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                remove_directory(&entry.path());
            }
            // That it cannot be removed shows in the directory that has it.
            _ => drop(std::fs::remove_file(entry.path())),
        }
    }
    let Ok(path) = std::ffi::CString::new(directory.as_os_str().as_encoded_bytes()) else { return false };
    // SAFETY: a terminated string.
    unsafe { rmdir()(path.as_ptr()) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_goes_with_what_is_in_it() {
        let directory = std::env::temp_dir().join(format!("weld-late-{}", std::process::id()));
        std::fs::create_dir_all(directory.join("a/b")).unwrap();
        std::fs::write(directory.join("a/file"), "").unwrap();
        std::os::unix::fs::symlink("/usr", directory.join("link")).unwrap();
        assert!(remove_directory(&directory));
        assert!(!directory.exists() && Path::new("/usr").exists());
        assert!(!remove_directory(&directory));
    }
}

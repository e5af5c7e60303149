//! Engines as links ask them: LLVM's plugin and GCC's `lto-wrapper`, with files that clang and gcc make here,
//! and libraries that misbehave in every way that was thought of. What comes back is linked by gcc and run.
//! After each test, whatever it did, nothing is left where temporary files go.

#![cfg(target_os = "linux")]

mod distribute;
mod fakes;
mod gcc;
mod llvm;
mod options;
mod program;
mod workshop;

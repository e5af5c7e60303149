//! Compiles the library of `weld run` (`src/run/preload.c`), which the program carries.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=src/run/preload.c");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    let library = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write")).join("run.so");
    let compiler = cc::Build::new().opt_level(2).debug(false).pic(true).get_compiler();
    let mut command = compiler.to_command();
    // It has to do with any C library, so it asks for none.
    command.args(["-fvisibility=hidden", "-fno-stack-protector", "-shared", "-nostdlib", "-s"]);
    command.args(["-Wl,-z,relro,-z,now", "src/run/preload.c", "-o"]).arg(&library);
    let status = command.status().unwrap_or_else(|e| panic!("{}: {e}", compiler.path().display()));
    assert!(status.success(), "{} cannot compile src/run/preload.c", compiler.path().display());
}

//! Compiles the library of `weld run` (`src/run/preload.c`), which the program carries, and says how the program is
//! linked.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=src/run/preload.c");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    // At addresses that are fixed, none of the 13000 in its tables has to be written at each start, which was a
    // seventh of the page faults of a small link. (A static program of musl does that to itself, and quickly.)
    if env::var("CARGO_CFG_TARGET_ENV").as_deref() == Ok("gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    let object = out.join("run.o");
    let compiler = cc::Build::new().opt_level(2).debug(false).pic(true).get_compiler();
    let step = |args: &[&str], files: [&Path; 2]| {
        let status = compiler.to_command().args(args).arg(files[0]).arg("-o").arg(files[1]).status();
        let status = status.unwrap_or_else(|e| panic!("{}: {e}", compiler.path().display()));
        assert!(status.success(), "{} cannot compile src/run/preload.c", compiler.path().display());
    };
    step(&["-fvisibility=hidden", "-fno-stack-protector", "-c"], [Path::new("src/run/preload.c"), &object]);
    // It has to do with any C library, so it asks for none but the one that has dlsym where the GNU C library is older
    // than 2.34; newer ones have it, too, and musl's loader takes the name for its own. A library of that name without
    // anything in it stands for all of them. In a step of its own: zig leaves out the headers, too.
    std::fs::write(out.join("dl.c"), "").expect("where cargo says can be written");
    let dl = out.join("libdl.so.2");
    step(&["-shared", "-nostdlib", "-fPIC", "-Wl,-soname,libdl.so.2"], [&out.join("dl.c"), &dl]);
    let dl = dl.to_str().expect("cargo wants names in UTF-8");
    let options = ["-shared", "-nostdlib", "-s", "-Wl,-z,relro,-z,now", "-Wl,--no-as-needed", dl];
    step(&options, [&object, &out.join("run.so")]);
}

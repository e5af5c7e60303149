//! What reading costs: `cargo test --release -p weld-lto --test compilers speed -- --nocapture` prints it.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use weld_common::hash::hash_bytes;
use weld_lto::bitcode;

use crate::tools;

/// Modules that are read; of each, so many different ones are compiled.
const MODULES: usize = 1000;
const DIFFERENT: usize = 10;

/// A module of C++ with some seventy symbols, most of them in COMDAT groups.
fn source(number: usize) -> String {
    let mut text =
        String::from("namespace shop {\ntemplate <int N> struct Cell { int v[N]; virtual ~Cell() {} ");
    text +=
        "virtual int get(int i) { int s = 0; for (int k = 0; k < N; k++) s += v[k] * i; return s; } };\n}\n";
    text += "extern \"C\" int puts(const char *);\n";
    for function in 0..12 {
        text += &format!("int call_{number}_{}(int);\n", function + 12);
        text += &format!(
            "int call_{number}_{function}(int i) {{ shop::Cell<{0}> c{{}}, *p = &c; asm(\"\" : \"+r\"(p)); \
             puts(\"{number} {function}\"); return p->get(i) + call_{number}_{1}(i); }}\n",
            function + 2,
            function + 12,
        );
    }
    text
}

fn compile(number: usize) -> PathBuf {
    let source = tools::keep(source(number).as_bytes());
    let args = ["--target=x86_64-linux-gnu", "-O1", "-flto=thin", "-xc++", "-c"];
    tools::make("clang-22", &args, &[&source])
}

fn best(mut work: impl FnMut()) -> Duration {
    let times = (0..5).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    times.min().expect("one time")
}

#[test]
fn a_thousand_modules() {
    let different: Vec<Vec<u8>> =
        (0..DIFFERENT).map(|number| std::fs::read(compile(number)).unwrap()).collect();
    // Copies at places of their own, as those of an archive are.
    let modules: Vec<Vec<u8>> = (0..MODULES).map(|number| different[number % DIFFERENT].clone()).collect();
    let (mut symbols, mut hashes) = (0, 0);
    let reading = best(|| {
        (symbols, hashes) = (0, 0);
        for module in &modules {
            let file = black_box(bitcode::read(module).unwrap());
            symbols += file.symbols.len();
            file.symbols.iter().for_each(|symbol| hashes ^= hash_bytes(symbol.name));
        }
    });
    let modes = best(|| modules.iter().for_each(|module| assert!(bitcode::mode(module).is_ok())));
    let mb = modules.iter().map(Vec::len).sum::<usize>() / 1_000_000;
    println!(
        "{MODULES} modules, {mb} MB, {symbols} symbols: read, hashed {reading:?}, modes {modes:?} ({hashes:x})"
    );
    // Far more than it takes even without optimisation on a busy machine: this finds what is quadratic, or
    // copies.
    assert!(reading < Duration::from_secs(2), "{reading:?}");
}

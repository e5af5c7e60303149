"""Workloads captured from real builds: hello world, clang, weld itself, a cargo project."""

import os
from pathlib import Path

from .common import BENCH, REPOSITORY, run

LLVM = "/usr/lib/llvm-22"
HELLO_C = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
HELLO_RS = 'fn main() {\n    println!("hello");\n}\n'
# Makes rustc's gcc find the capturing `ld`, and not rustc's own lld.
RUSTC_CAPTURE = ("-Clinker=gcc", "-Clinker-features=-lld", "-Clink-arg=-B{bindir}")


def hello(workload):
    """C hello world as gcc links it: PIE, dynamic."""
    (workload.build / "hello.c").write_text(HELLO_C)
    workload.capture("gcc", "-B", "{bindir}", "hello.c", "-o", "hello")
    workload.write_check('test "$("$1")" = hello\n')


def hello_rs(workload):
    """Rust hello world as rustc links it, unoptimised."""
    (workload.build / "hello.rs").write_text(HELLO_RS)
    # From the repository: rust-toolchain.toml decides the compiler.
    workload.capture("rustc", *RUSTC_CAPTURE, workload.build / "hello.rs", "-o", workload.build / "hello",
                     cwd=REPOSITORY)
    workload.write_check('test "$("$1")" = hello\n')


def clang_release(workload):
    """A whole clang from Debian's static libraries, --gc-sections."""
    if not Path(LLVM, "lib/libclangFrontendTool.a").exists() or not Path(LLVM, "lib/libPolly.a").exists():
        apt_install("llvm-22-dev", "libclang-22-dev", "libpolly-22-dev", "libclang-common-22-dev",
                    "libz3-dev", "zlib1g-dev", "libzstd-dev", "libxml2-dev")
    config = Path(LLVM, "bin/llvm-config")
    flags = run(config, "--cxxflags", capture_output=True).split()
    libraries = run(config, "--link-static", "--libs", "all", capture_output=True).split()
    system = run(config, "--link-static", "--system-libs", capture_output=True).split()
    clang = sorted(Path(LLVM, "lib").glob("libclang*.a"))
    run("g++", *flags, "-fno-rtti", "-O2", "-c", BENCH / "prepare/clang-driver.cpp", "-o", "driver.o",
        cwd=workload.build)
    workload.capture("g++", "-B", "{bindir}", "driver.o", "-o", "clang", "-Wl,--gc-sections",
                     "-Wl,--start-group", *clang, "-Wl,--end-group", f"-L{LLVM}/lib", *libraries, *system)
    (workload.directory / "program.c").write_text(
        '#include <stdio.h>\nint main(int n, char **a) { printf("%s %d\\n", a[0] ? "compiled" : "", n); return 0; }\n')
    # The compiler proper (`-cc1`), the assembler and the driver all run; gcc links what they made.
    workload.write_check(f"""\
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
"$1" -resource-dir {LLVM}/lib/clang/22 -O2 -g -c program.c -o "$scratch/program.o"
gcc "$scratch/program.o" -o "$scratch/program"
test "$("$scratch/program")" = "compiled 1"
""")


def weld_debug(workload):
    """weld itself with cargo's usual debug settings (full debug information, no optimisation)."""
    capture_weld(workload, "dev", {"CARGO_PROFILE_DEV_DEBUG": "full", "CARGO_PROFILE_DEV_OPT_LEVEL": "0"})


def weld_release(workload):
    """weld itself in release mode."""
    capture_weld(workload, "release", {})


def capture_weld(workload, profile, settings):
    capture_cargo(workload, REPOSITORY, "weld", profile, settings)
    # It must link hello world; under its own name, which says that it is an ELF linker.
    workload.write_check("""\
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
ln -s "$(realpath "$1")" "$scratch/weld"
cd ../hello
"$scratch/weld" @args -o "$scratch/hello"
./check "$scratch/hello"
""")


def cargo_debug(workload):
    """The debug build of bench/cargo-debug, a program over hundreds of crates."""
    capture_cargo(workload, BENCH / "cargo-debug", "cargo-debug", "dev", {})
    workload.write_check('"$1" self-test | grep -qx "all is well"\n')


def capture_cargo(workload, directory, package, profile, settings):
    """Builds the binary `package` of the cargo project in `directory` and captures its last link."""
    settings |= {"CARGO_TARGET_DIR": str(workload.build / "target")}
    # A package that is up to date would not be linked.
    run("cargo", "clean", "--quiet", "--profile", profile, "-p", package, cwd=directory, env=os.environ | settings)
    workload.capture("cargo", "rustc", "--quiet", "--jobs", "1", "--locked", "--profile", profile, "-p", package,
                     "--bin", package, "--", *RUSTC_CAPTURE, extra_env=settings, cwd=directory)


def apt_install(*packages):
    """Installs Debian packages, as root or with sudo."""
    sudo = [] if os.getuid() == 0 else ["sudo"]
    run(*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends",
        *packages)

"""What tests/windows and tests/windows-programs share: programs for Windows are compiled by clang, linked by weld and run by wine."""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weld"
WINE = "/usr/lib/wine/wine64"
SERVER = "/usr/lib/wine/wineserver64"
RUNS_ALREADY = 2

# Rust's library asks this DLL for random numbers; wine 8 does not have it.
RANDOM = """
__declspec(dllimport) unsigned char SystemFunction036(void *, unsigned long);
__declspec(dllexport) int ProcessPrng(unsigned char *data, unsigned long long size) { return SystemFunction036(data, size); }
int start(void *module, unsigned long reason, void *more) { return 1; }
"""


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def check(condition, text):
    if not condition:
        sys.exit(f"{Path(sys.argv[0]).name}: {text}")


def default_weld():
    return Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")) / "shipped/weld"


def environment(**more):
    return os.environ | {"WINEPREFIX": str(CACHE / "objs/wine"), "WINEDEBUG": "-all"} | more


def start_server():
    """A program that finds no server starts one, and ends without a word if that fails, as if it had failed itself. The server ends some
    seconds after its last program."""
    (CACHE / "objs/wine").mkdir(parents=True, exist_ok=True)
    quiet = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
    for _ in range(3):
        code = subprocess.run([SERVER], env=environment(), **quiet).returncode
        if code in (0, RUNS_ALREADY):
            return
    check(False, f"{SERVER} does not start: {code}")


def wine(program, *arguments, variables=None, **options):
    start_server()
    command = [WINE, str(program), *(str(argument) for argument in arguments)]
    return subprocess.run(command, env=environment(**variables or {}), capture_output=True, text=True, **options)


def compile_c(directory, name, text, *options):
    (directory / f"{name}.c").write_text(text)
    run("clang-22", "--target=x86_64-pc-windows-msvc", "-O1", *options, "-c", f"{name}.c", "-o", f"{name}.obj", cwd=directory)
    return f"{name}.obj"


def import_library(weld, directory, dll, names):
    """What weld makes of a module-definition file: DLL.lib."""
    (directory / f"{dll}.def").write_text("\n".join([f"LIBRARY {dll}.dll", "EXPORTS", *names]) + "\n")
    run(weld, "-flavor", "link", "/lib", f"/def:{dll}.def", f"/out:{dll}.lib", "/machine:x64", cwd=directory)


def give_random_numbers(weld, directory):
    """Makes the DLL that wine lacks, beside the programs that are run."""
    compile_c(directory, "random", RANDOM)
    import_library(weld, directory, "advapi32", ["SystemFunction036"])
    run(weld, "-flavor", "link", "/dll", "/entry:start", "random.obj", "advapi32.lib", "/out:bcryptprimitives.dll", cwd=directory)

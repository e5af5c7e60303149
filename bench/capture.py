#!/usr/bin/env python3
"""Captures one link: copies every input beside a response file that replays it.

Runs in place of the linker. `gcc -B DIR` runs the `ld` it finds in DIR, and the capture
directories that `bench/workloads` makes hold a symlink `ld` to this file. The environment says
what to do:

    WELD_CAPTURE       directory to fill: `args` (the command line, one argument a line, without
                       `-o`) and `root/` (the inputs under their absolute paths)
    WELD_CAPTURE_LD    linker that then really links, so that the build goes on

What is kept and what is changed, and why:

- `-lNAME` and `-LDIR` stay, since searching is part of a link; a directory in which nothing was
  found is dropped, for it would be empty in the copy.
- A linker script that stands in for a library (`libc.so`) is rewritten to name the copies.
- The compiler's LTO plugin options go: they start `lto-wrapper` in some linkers, nothing in others.
- gc and binding are said explicitly (`--no-gc-sections`, `-z lazy`) when the command line leaves
  them open, because the linkers' defaults differ (wild's are `--gc-sections -z now`).
- Names of temporary directories (`/tmp/rustcAbCdEf`) are made stable.
"""

import os
import re
import shutil
import sys
from pathlib import Path

# Options whose value is the next argument. Those with one leading dash only, or both.
SEPARATE_VALUE = {
    "-o", "-m", "-z", "-L", "-l", "-h", "-e", "-u", "-y", "-I", "-F", "-f", "-a", "-A", "-b", "-T", "-R",
    *(dash + name for dash in ("-", "--") for name in (
        "dynamic-linker", "soname", "rpath", "rpath-link", "plugin", "plugin-opt", "entry", "undefined",
        "version-script", "dynamic-list", "defsym", "wrap", "init", "fini", "Map", "exclude-libs",
        "script", "sysroot", "sort-section", "section-start", "retain-symbols-file", "hash-style")),
}
# Those whose value is an input file.
FILE_VALUE = {"-T", *(dash + name for dash in ("-", "--") for name in (
    "script", "version-script", "dynamic-list", "retain-symbols-file"))}
DROPPED = {"-o", *(dash + name for dash in ("-", "--") for name in (
    "plugin", "plugin-opt", "sysroot", "Map", "threads", "thread-count"))}
# Where linkers look without being told to.
DEFAULT_DIRS = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib"]
SCRIPT_LIMIT = 1 << 16  # a stand-in script is a few lines


class Capture:
    """The state of one capture: where the copies go and what has been copied."""

    def __init__(self, destination):
        self.destination = Path(destination)
        self.library_dirs = []
        self.used_dirs = set()
        self.copied = set()

    def run(self, argv):
        """Captures the link that `argv` (without the program name) describes."""
        shutil.rmtree(self.destination, ignore_errors=True)
        self.destination.mkdir(parents=True)
        options = list(split(expand_response_files(argv)))
        self.library_dirs = [value for name, value in options if name == "-L"] + DEFAULT_DIRS
        args, static, saved = [], False, []
        for name, value in options:
            if name in ("-Bstatic", "-static", "-dn", "-non_shared"):
                static = True
            elif name in ("-Bdynamic", "-dy", "-call_shared"):
                static = False
            elif name == "--push-state":
                saved.append(static)
            elif name == "--pop-state" and saved:
                static = saved.pop()
            if name == "-l":
                self.find_library(value, static)
            args += self.rewrite(name, value)
        args += defaults(options)
        # Last, when it is known which directories hold something.
        args = [a for a in args if not a.startswith("-L") or a[2:] in self.used_dirs]
        (self.destination / "args").write_text("".join(quote(a) + "\n" for a in args))

    def rewrite(self, name, value):
        """The arguments that stand for one option in the captured command line."""
        if name in DROPPED:
            return []
        if name is None:
            return [self.copy(value)]
        if name in FILE_VALUE:
            copy = self.copy(value)
            return [f"{name}={copy}"] if name.startswith("--") else [name, copy]
        if name == "-L":
            return [f"-L{self.inside(value)}"]
        if value is None:
            return [name]
        if name in ("-l", "-u", "-y"):
            return [name + value]
        return [name, value]

    def find_library(self, name, static):
        """Copies what `-lNAME` finds, to where the rewritten `-L` options find it again."""
        if name.startswith(":"):
            candidates = [name[1:]]
        else:
            candidates = [f"lib{name}.a"] if static else [f"lib{name}.so", f"lib{name}.a"]
        if not self.search(candidates):
            sys.exit(f"capture: -l{name} not found")

    def search(self, candidates):
        """Copies the first of `candidates` that the first library directory has; False if none."""
        for directory in self.library_dirs:
            for candidate in candidates:
                path = os.path.join(directory, candidate)
                if os.path.isfile(path):
                    self.copy(path)
                    self.used_dirs.add(self.inside(directory))
                    return True
        return False

    def inside(self, path):
        """Where `path` lies in the copy, relative to the workload's directory."""
        path = os.path.normpath(os.path.abspath(path))
        path = re.sub(r"/rustc[A-Za-z0-9]{6}/", "/rustc/", path)
        return "root" + re.sub(r"/cc[A-Za-z0-9]{6}\.o$", "/cc.o", path)

    def copy(self, path):
        """Copies an input file and returns its name in the copy."""
        inside = self.inside(path)
        if inside in self.copied:
            return inside
        self.copied.add(inside)
        target = self.destination / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "rb") as file:
            start = file.read(8)
            if start == b"!<thin>\n":
                sys.exit(f"capture: {path} is a thin archive")
            if start.startswith(b"\x7fELF") or start == b"!<arch>\n" or os.path.getsize(path) > SCRIPT_LIMIT:
                shutil.copyfile(path, target)
            else:
                target.write_text(self.rewrite_script(start + file.read()))
        return inside

    def rewrite_script(self, text):
        """A stand-in linker script (or version script) with its files copied and renamed."""
        def file(match):
            name = match.group()
            if name.startswith("/"):
                return self.copy(name)
            if name.startswith("-l"):
                self.find_library(name[2:], static=False)
            else:
                self.search([name])  # keywords are not found there and stay as they are
            return name

        text = re.sub(r"/\*.*?\*/", "", text.decode(), flags=re.S).lstrip()
        return re.sub(r"(?<=[\s(])[^\s(){};,]+(?=[\s)])", file, text)


def expand_response_files(argv):
    """`argv` with each `@FILE` replaced by what the file holds."""
    for arg in argv:
        if arg.startswith("@") and os.path.isfile(arg[1:]):
            yield from expand_response_files(unquote(Path(arg[1:]).read_text()))
        else:
            yield arg


def unquote(text):
    """The arguments in a response file: GNU quoting (quotes, and backslash before any byte)."""
    args, current, state = [], None, None
    characters = iter(text)
    for c in characters:
        if c == "\\":
            current = (current or "") + next(characters, "")
        elif state:
            if c == state:
                state = None
            else:
                current += c
        elif c in "'\"":
            state, current = c, current or ""
        elif c.isspace():
            if current is not None:
                args.append(current)
            current = None
        else:
            current = (current or "") + c
    return args + ([current] if current is not None else [])


def quote(arg):
    """`arg` as a response file spells it."""
    return re.sub(r"([\s\\'\"])", r"\\\1", arg) or '""'


def split(argv):
    """Pairs (option, value): (None, path) for an input, (option, None) for one without value."""
    argv = iter(argv)
    for arg in argv:
        if not arg.startswith("-") or arg == "-":
            yield None, arg
        elif arg in SEPARATE_VALUE:
            yield arg, next(argv)
        elif arg[:2] in ("-L", "-l", "-u", "-z", "-y"):
            yield arg[:2], arg[2:]
        elif arg.split("=")[0] in FILE_VALUE | DROPPED:
            name, _, value = arg.partition("=")
            yield name, value
        else:
            yield arg, None


def defaults(options):
    """Options that make explicit what linkers default differently."""
    flags = {name for name, _ in options}
    if not flags & {"--gc-sections", "-gc-sections", "--no-gc-sections", "-r", "--relocatable"}:
        yield "--no-gc-sections"
    if not any(name == "-z" and value in ("now", "lazy") for name, value in options):
        yield from ("-z", "lazy")


def main():
    Capture(os.environ["WELD_CAPTURE"]).run(sys.argv[1:])
    linker = os.environ["WELD_CAPTURE_LD"]
    os.execvp(linker, [linker, *sys.argv[1:]])


if __name__ == "__main__":
    main()

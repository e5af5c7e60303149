"""Gets lld's tests and the commands that they call, and keeps them outside the repository."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "llvm-toolchain-19"
LLVM = Path("/usr/lib/llvm-22/bin")
SUITES = ("ELF", "COFF")
KEPT = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "weld/lld-tests"


def tests():
    """The directory of lld's tests, fetched if this machine does not have it."""
    root = KEPT / PACKAGE / "lld/test"
    if not all((root / suite).is_dir() for suite in SUITES):
        print(f"fetching the source package {PACKAGE} (160 MB)", flush=True)
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as scratch:
            unpack(download(Path(scratch)), Path(scratch) / "tree")
            shutil.rmtree(KEPT / PACKAGE, ignore_errors=True)
            (Path(scratch) / "tree").rename(KEPT / PACKAGE)
    return root


def download(scratch):
    """The package's source archive, checked by apt against the release's signature.

    Most machines know only the binary packages of Debian. apt is given lists of its own, made from the system's, so
    that nothing of the system changes and no rights are needed."""
    parts = scratch / "sources"
    parts.mkdir()
    system = Path("/etc/apt")
    for path in [system / "sources.list", *(system / "sources.list.d").glob("debian*")]:
        if path.is_file():
            text = path.read_text()
            if path.suffix == ".sources":
                lines = ["Types: deb-src" if line.startswith("Types:") else line for line in text.splitlines()]
            else:
                lines = ["deb-src " + line[4:] for line in text.splitlines() if line.startswith("deb ")]
            (parts / path.name).write_text("\n".join(lines) + "\n")
    (scratch / "lists").mkdir()
    options = ["-qq", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={parts}",
               "-o", f"Dir::State::lists={scratch}/lists", "-o", "APT::Sandbox::User=root"]
    for command in (["update"], ["source", "--download-only", PACKAGE]):
        done = subprocess.run(["apt-get", *options, *command], cwd=scratch, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"apt-get {' '.join(command)}: {done.stderr.strip()}")
    return next(scratch.glob("*.orig.tar.xz"))


def unpack(archive, directory):
    """lld's tests out of the archive of all of LLVM."""
    directory.mkdir()
    subprocess.run(["tar", "-xJf", archive, "-C", directory, "--strip-components=1", "--wildcards",
                    *(f"*/lld/test/{suite}" for suite in SUITES)], check=True)


def tools(program):
    """A directory with LLVM's commands, and with the linker to be tested as `ld.lld` and `lld-link`."""
    if not (LLVM / "FileCheck").exists():
        sys.exit("the packages llvm-22 and llvm-22-tools are not installed")
    directory = KEPT / "tools"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for tool in LLVM.iterdir():
        (directory / tool.name).symlink_to(tool)
    for name in ("ld.lld", "lld-link"):
        (directory / name).unlink(missing_ok=True)
        (directory / name).symlink_to(program)
    return directory

"""Gets the other linkers' tests and the commands that they call, and keeps them outside the repository."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LLVM = Path("/usr/lib/llvm-22/bin")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "weld"
LLD = CACHE / "lld-tests"
GNU_LD = CACHE / "gnu-ld-tests"
MOLD = CACHE / "mold-tests"
# The version of binutils whose tests the ledger speaks of.
BINUTILS = "2.40"


def lld():
    """The directory of lld's tests, fetched if this machine does not have it."""
    package = "llvm-toolchain-19"
    suites = [f"lld/test/{suite}" for suite in ("ELF", "COFF")]
    return kept(LLD / package, package, "160 MB", suites) / "lld/test"


def gnu_ld():
    """The directory of GNU ld's tests, fetched if this machine does not have it."""
    if not shutil.which("runtest"):
        sys.exit("the package dejagnu is not installed")
    # The tests read what configure scripts know of machines, and sources and functions of binutils' other
    # tests.
    borrowed = [f"gas/testsuite/gas/i386/{name}.s" for name in ("code16-2", "rela")]
    parts = ["ld/testsuite", "ld/configure.tgt", "binutils/testsuite", "bfd/config.bfd", *borrowed]
    return kept(GNU_LD / f"binutils-{BINUTILS}", "binutils", "25 MB", parts, BINUTILS) / "ld/testsuite"


def mold():
    """A checkout of mold, which has to be there: no package of Debian 12 has the tests of a version as new as that."""
    checkout = MOLD / "mold"
    if not (checkout / "test").is_dir():
        sys.exit(f"there is no checkout of mold: git clone https://github.com/rui314/mold {checkout}, and there git checkout c2822be6 "
                 "(2.42.0 and 27 changes), whose tests mold.ledger speaks of")
    return checkout


def kept(tree, package, size, parts, version=None):
    """The directory with these parts of a source package."""
    if not all((tree / part).exists() for part in parts):
        print(f"fetching the source package {package} ({size})", flush=True)
        tree.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=tree.parent) as scratch:
            archive = download(Path(scratch), package)
            if version and f"_{version}.orig" not in archive.name:
                sys.exit(f"the source package {package} is {archive.name} here, and the ledger speaks of version {version}")
            unpack(archive, Path(scratch) / "tree", parts)
            shutil.rmtree(tree, ignore_errors=True)
            (Path(scratch) / "tree").rename(tree)
    return tree


def download(scratch, package):
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
    for command in (["update"], ["source", "--download-only", package]):
        done = subprocess.run(["apt-get", *options, *command], cwd=scratch, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"apt-get {' '.join(command)}: {done.stderr.strip()}")
    return next(scratch.glob("*.orig.tar.xz"))


def unpack(archive, directory, parts):
    """Some of what is in an archive."""
    directory.mkdir()
    subprocess.run(["tar", "-xJf", archive, "-C", directory, "--strip-components=1", "--wildcards",
                    *(f"*/{part}" for part in parts)], check=True)


def lld_tools(program):
    """A directory with LLVM's commands, and with the linker to be tested as `ld.lld` and `lld-link`."""
    if not (LLVM / "FileCheck").exists():
        sys.exit("the packages llvm-22 and llvm-22-tools are not installed")
    directory = empty(LLD / "tools")
    for tool in LLVM.iterdir():
        (directory / tool.name).symlink_to(tool)
    for name in ("ld.lld", "lld-link"):
        (directory / name).unlink(missing_ok=True)
        (directory / name).symlink_to(program)
    return directory


def engines(program):
    """A directory for caches that has weld's own engine for link-time optimisation in it: built once for each version of
    its source and of LLVM."""
    source = Path(__file__).resolve().parents[3] / "crates/weld-lto/engine"
    version = subprocess.run([LLVM / "llvm-config", "--version"], capture_output=True, check=False).stdout
    if not version:
        sys.exit("the package llvm-22-dev is not installed")
    digest = hashlib.sha256(version + b"".join(path.read_bytes() for path in sorted(source.iterdir()))).hexdigest()
    cache = CACHE / "test-engines" / digest[:40]
    if not (cache / "weld/engines/weld-lto-engine-22").exists():
        subprocess.run([program, "lto-engine", "build", f"--llvm-config={LLVM}/llvm-config", "--output",
                        cache / "weld/engines"], check=True)
    return cache


def gnu_ld_tools(program):
    """A directory with the linker under GNU ld's names, where gcc looks for it."""
    directory = empty(GNU_LD / "tools")
    (directory / "as").symlink_to("/usr/bin/as")
    for name in ("ld", "collect-ld", "ld.bfd"):
        (directory / name).symlink_to(program)
    return directory


def mold_tools():
    """A directory with LLVM's commands under the names that mold's scripts call."""
    directory = empty(MOLD / "tools")
    for name, tool in {"clang": "clang-22", "clang++": "clang++-22", "dwarfdump": "llvm-dwarfdump-22"}.items():
        path = shutil.which(tool)
        if not path:
            sys.exit(f"{tool} is not installed")
        (directory / name).symlink_to(path)
    return directory


def empty(directory):
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory

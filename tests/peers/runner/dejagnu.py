"""Runs GNU ld's own tests, which are programs for DejaGnu (`runtest`), with another linker in GNU ld's place.

A program is a file `X.exp` in a directory of the suite. It assembles, links, and compares what readelf, objdump and nm say
with patterns; what it says of a test is a line `PASS: NAME` or another word. Tests of one directory use each other's
files, so a directory is run as a whole; a test is called `DIRECTORY: NAME` here.

What DejaGnu would learn from the configuration of a built binutils (`site.exp`) is written for each directory: the tools
are the system's, the linker is alone in a directory of its own, as `ld`, where gcc looks for it by `-B`. Of tests of the
same name in one directory, all that are run have to pass.
"""

import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from .lit import Result

TIMEOUT = 1200  # seconds a directory
TRIPLET = "x86_64-pc-linux-gnu"
STATUS = re.compile(r"^(PASS|FAIL|XPASS|XFAIL|KPASS|KFAIL|UNRESOLVED|UNTESTED|UNSUPPORTED): (.*)$")
NOT_RUN = {"UNTESTED", "UNSUPPORTED"}
# What the log says of DejaGnu's own work.
NOISE = ("Executing on host", "spawn ", "testcase ", "Running ", "Schedule", "Using ", "Test run by", "Native configuration")


class Suite:
    """The tests of the directories that the ledger names."""

    def __init__(self, root, linkers, names):
        self.root = root
        self.linkers = linkers
        self.known = names

    def names(self):
        return self.known

    def run(self, names, jobs):
        """The results, in the order of the names."""
        directories = sorted({name.split(":")[0] for name in names})
        # Those that take longest first, so that none of them is last.
        directories.sort(key=lambda name: -sum(1 for _ in (self.root / name).iterdir()) if (self.root / name).is_dir() else 0)
        said = {}
        with tempfile.TemporaryDirectory(prefix="weld-peers.") as scratch:
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                for found in pool.map(lambda name: self.directory(name, Path(scratch)), directories):
                    said.update(found)
        return [judged(name, said.get(name, [])) for name in names]

    def directory(self, name, scratch):
        """What the programs of a directory say: for each test its words, each with what led to it."""
        source = self.root / name
        programs = sorted(path.name for path in source.glob("*.exp")) if source.is_dir() else []
        if not programs:
            return {}
        directory = scratch / name
        (directory / "tmpdir").mkdir(parents=True)
        (directory / "site.exp").write_text(self.site())
        (directory / "home").mkdir()
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(directory / "home"), "TMPDIR": str(directory), "LC_ALL": "C"}
        flags = ["CC=gcc", "CXX=g++", "CC_FOR_TARGET=gcc", "CXX_FOR_TARGET=g++", "CFLAGS=-g -O2", "CXXFLAGS=-g -O2"]
        process = subprocess.Popen(["runtest", "--tool", "ld", "--srcdir", self.root, *flags, *programs, "--directory", name],
                                   cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log = directory / "ld.log"
        found = words(name, log.read_text(errors="replace")) if log.is_file() else {}
        shutil.rmtree(directory, ignore_errors=True)
        return found

    def site(self):
        """What a built binutils would say of itself."""
        lines = ["set tool ld", f'set srcdir "{self.root}"', "set objdir [pwd]", f"set ld_testsuite_bindir {self.linkers}",
                 "set LD_CLASS 64bit", "set enable_libctf yes", 'set HOSTING_SCRT0 ""', "set development false",
                 "set experimental false", 'set plugin_name ""', "set ar ar", "set RANLIB ranlib", "set READELF readelf",
                 "set ELFEDIT elfedit"]
        for machine in ("build", "host", "target"):
            lines += [f"set {machine}_alias {TRIPLET}", f"set {machine}_triplet {TRIPLET}"]
        paths = {"ld": self.linkers / "ld", "as": "/usr/bin/as"} | {tool: tool for tool in ("nm", "objdump", "objcopy", "strip", "size")}
        for tool, path in paths.items():
            lines += [f"set {tool} {path}", f"set {tool.upper()} {path}"]
        return "\n".join(lines) + "\n"


def words(directory, log):
    """Of each test what DejaGnu says (`PASS` and others), with the lines of the log since the test before."""
    found, lines = {}, []
    for line in log.splitlines():
        match = STATUS.match(line)
        if match:
            found.setdefault(f"{directory}: {match.group(2)}", []).append((match.group(1), "\n".join(lines)))
            lines = []
        elif line.strip() and not line.startswith(NOISE):
            lines.append(line)
    return found


def judged(name, said):
    run = [(word, log) for word, log in said if word not in NOT_RUN]
    failed = [(word, log) for word, log in run if word not in ("PASS", "XPASS", "KPASS")]
    if run and not failed:
        return Result(name, True, "")
    if not said:
        return Result(name, False, "the test was not reached, or there is no such test")
    return Result(name, False, "\n".join(f"{word}\n{log}" for word, log in failed or said))

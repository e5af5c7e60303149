"""What all workloads share: where they live, how a link is captured, how a workload is finished.

A workload is a directory `${XDG_CACHE_HOME:-~/.cache}/weld/bench/NAME/`:

    args        response file; `cd NAME && LINKER @args -o OUT` replays the link with any linker
    root/ ...   every input, under the names that `args` uses
    check       `./check OUT` exits with 0 when the linked file works (it runs it)
    needed      what the link must read, one `OFFSET LENGTH PATH` a line, for `bench/floor.c`
    about.json  description, counts and sizes, when and from which revision it was made

It is prepared under another name and renamed when whole, so a directory that exists is complete.
"""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BENCH = REPOSITORY / "bench"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weld"
WORKLOADS = CACHE / "bench"
BUILDS = CACHE / "build"  # build trees that stay, so that a second capture is quick


def run(*argv, **options):
    """Runs a command that must succeed; returns its standard output if `capture_output` is set."""
    return subprocess.run([str(a) for a in argv], check=True, text=True, **options).stdout


def reference_linker():
    """The linker that finishes captured builds and checks a workload: lld if there is one."""
    return shutil.which("ld.lld-22") or shutil.which("ld")


class Workload:
    """A workload in the making, below `place`. The preparing functions fill `directory`."""

    def __init__(self, name, description, place=WORKLOADS):
        self.name, self.place = name, place
        self.about = {"name": name, "description": description}
        self.directory = place / f".{name}.new"
        self.build = BUILDS / name
        self.build.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.build / "lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)  # until the process ends: one run at a time prepares it
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)

    def capture(self, *command, extra_env=None, **options):
        """Runs a build in which the compiler driver is told `-B {bindir}`; its last link is captured.

        `{bindir}` in an argument or environment value stands for the directory that holds the
        capturing `ld`.
        """
        bindir = self.build / "capture-bin"
        bindir.mkdir(exist_ok=True)
        (bindir / "ld").unlink(missing_ok=True)
        (bindir / "ld").symlink_to(BENCH / "capture.py")
        env = dict(os.environ, WELD_CAPTURE=str(self.directory), WELD_CAPTURE_LD=reference_linker())
        env |= {key: value.format(bindir=bindir) for key, value in (extra_env or {}).items()}
        run(*(str(a).format(bindir=bindir) for a in command), env=env, cwd=options.get("cwd", self.build))

    def capture_around(self, objects, *command):
        """Captures the link of an empty program by `command` and puts `objects` in that program's place.

        `objects` are names relative to the workload's directory; they need not exist yet.
        """
        (self.build / "stub.c").write_text("int main(void) { return 0; }\n")
        run("cc", "-c", "stub.c", cwd=self.build)
        self.capture(*command, "-B", "{bindir}", "stub.o", "-o", "stub")
        args = (self.directory / "args").read_text().splitlines()
        place = next(i for i, arg in enumerate(args) if arg.endswith("/stub.o"))
        (self.directory / args[place]).unlink()
        args[place:place + 1] = objects
        (self.directory / "args").write_text("".join(f"{a}\n" for a in args))
        (self.directory / "obj").mkdir()

    def write_check(self, script):
        """Writes `check`, a shell script that gets the output's path as `$1` and its own directory as cwd."""
        check = self.directory / "check"
        check.write_text('#!/bin/bash\nset -euo pipefail\ncd "$(dirname "$0")"\n' + script)
        check.chmod(0o755)

    def expect_output(self):
        """Makes the check: the program prints what the reference linker's output prints."""
        out = self.build / "reference-output"
        run(reference_linker(), "@args", "-o", out, cwd=self.directory)
        (self.directory / "expected").write_text(run(out, capture_output=True))
        self.write_check('"$1" | cmp - expected\n')

    def finish(self):
        """Links once with the reference linker, checks the output, describes and commits the workload."""
        out = self.build / "reference-output"
        trace = run(reference_linker(), "@args", "-o", out, "--trace",
                    cwd=self.directory, capture_output=True)
        run(self.directory / "check", out)
        needed = list(needed_ranges(self.directory, trace.splitlines()))
        (self.directory / "needed").write_text("".join(f"{o} {n} {path}\n" for o, n, path in needed))
        self.about |= {
            "input_files": sum(1 for p in self.directory.rglob("*") if p.is_file()) - 2,
            "input_bytes": sum(p.stat().st_size for p in self.directory.rglob("*") if p.is_file()),
            "needed_files": len(needed),
            "needed_bytes": sum(n for _, n, _ in needed),
            "reference_output_bytes": out.stat().st_size,
            "weld_revision": run("git", "rev-parse", "--short", "HEAD", cwd=REPOSITORY, capture_output=True).strip(),
        }
        out.unlink()
        (self.directory / "about.json").write_text(json.dumps(self.about, indent=2) + "\n")
        final = self.place / self.name
        shutil.rmtree(final, ignore_errors=True)
        self.directory.rename(final)
        print(describe(self.about), file=sys.stderr)


def describe(about):
    """One line on a finished workload."""
    mib = 1 << 20
    return (f"{about['name']}: {about['needed_files']} objects needed, "
            f"{about['needed_bytes'] / mib:.1f} MiB of {about['input_bytes'] / mib:.1f} MiB in, "
            f"{about['reference_output_bytes'] / mib:.1f} MiB out")


def needed_ranges(directory, trace):
    """(offset, length, path) of every file and archive member that `--trace` names."""
    members = {}
    for line in dict.fromkeys(trace):
        archive, _, member = line.partition("(")
        if not member:
            if (directory / line).is_file():
                yield 0, (directory / line).stat().st_size, line
            continue
        if archive not in members:
            members[archive] = list(archive_members(directory / archive))
        for name, offset, length in members[archive]:
            if name == member.removesuffix(")"):
                yield offset, length, archive


def archive_members(path):
    """(name, offset, length) of each member of a GNU archive."""
    with open(path, "rb") as file:
        size, names = path.stat().st_size, b""
        file.seek(8)
        while len(header := file.read(60)) == 60:
            name, length, start = header[:16].rstrip(), int(header[48:58]), file.tell()
            if name == b"//":
                names = file.read(length)
            elif re.fullmatch(rb"/\d+", name):
                name = names[int(name[1:]):].split(b"\n", 1)[0]
            yield name.removesuffix(b"/").decode(), start, min(length, size - start)
            file.seek(start + length + length % 2)

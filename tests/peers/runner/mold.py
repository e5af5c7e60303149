"""Runs mold's own tests, which are shell scripts, with another linker in mold's place.

A script is called in an empty directory, where it finds the linker as `./mold`, `ld` and others. It succeeds, or prints
`skipped` because something is not installed or not supported. Scripts for machines other than x86-64 are left out.
"""

import concurrent.futures
import os
import re
import shutil
import tempfile
from pathlib import Path

from .lit import Result, run_script

NAMES = ("mold", "ld", "ld.mold", "ld.lld", "ld64")
MACHINE = "arch-x86_64-"


class Suite:
    """The scripts of a checkout of mold."""

    def __init__(self, checkout, tools, program):
        self.root = checkout / "test"
        self.tools = tools
        self.program = program

    def names(self):
        every = (path.stem for path in self.root.glob("*.sh"))
        return sorted(name for name in every if name.startswith(MACHINE) or not name.startswith("arch-"))

    def run(self, names, jobs):
        """The results, in the order of the names."""
        with tempfile.TemporaryDirectory(prefix="weld-peers.") as scratch:
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                return list(pool.map(lambda name: self.one(name, Path(scratch)), names))

    def one(self, name, scratch):
        script = self.root / f"{name}.sh"
        if not script.is_file():
            return Result(name, False, "there is no such test")
        directory = scratch / name
        directory.mkdir()
        for linker in NAMES:
            # Whatever the script calls it, weld is GNU ld's stand-in: that is what the names in a compiler's
            # directory are.
            path = directory / linker
            path.write_text(f'#!/bin/bash\nexec -a ld {self.program} "$@"\n')
            path.chmod(0o755)
        code, output = run_script(script, directory, self.tools)
        shutil.rmtree(directory, ignore_errors=True)
        skipped = re.search(r"^skipped$", output, re.MULTILINE)
        if code == 0 and not skipped:
            return Result(name, True, "")
        why = "took too long" if code is None else "skipped" if skipped else f"exit {code}"
        return Result(name, False, f"{why}\n{output}")

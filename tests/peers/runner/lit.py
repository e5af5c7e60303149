"""The little of LLVM's test language that lld's tests use.

A test is a file with lines `RUN: COMMAND`. The commands are joined by `&&` and given to bash with `pipefail`; a line
that ends in a backslash goes on in the next. Before that these stand for paths: `%s` the test, `%S` and `%p` its
directory, `%t` a name for temporary files, `%basename_t` its last part, `%T` their directory (`%:t` without the first slash). `%if F %{ A %}` is `A`
if the feature F is there. The language is described in LLVM's documentation, "lit - LLVM Integrated Tester".
"""

import concurrent.futures
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 60  # seconds a test
BUG = "internal error: panicked"  # what weld says when it contradicts itself
LARGEST_TEXT = 1 << 20
SUFFIXES = (".s", ".test", ".ll", ".yaml", ".objtxt")
RUN = re.compile(r"\bRUN:(.*)$")
CONDITION = re.compile(r"%if (\w+) %\{(.*?)%\}")
FEATURES = {"zlib", "zstd", "x86", "shell"}
ERRORS = {"%errc_ENOENT": "No such file or directory", "%errc_EISDIR": "Is a directory",
          "%errc_EINVAL": "Invalid argument", "%errc_EACCES": "Permission denied"}


def run_script(script, directory, tools, **more):
    """Runs a script in the directory, with the commands in `tools`: exit code (none if it took too long) and output."""
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(directory), "TMPDIR": str(directory), "LANG": "C", **more}
    process = subprocess.Popen(["bash", script], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        code = None
    return code, output.decode(errors="replace")


@dataclass
class Result:
    name: str
    passed: bool
    output: str  # the command that failed, and what was printed from there on


def commands(text):
    """The commands of a test, each with the number of its first line."""
    found, open_line = [], False
    for number, line in enumerate(text.splitlines(), 1):
        match = RUN.search(line)
        if not match:
            continue
        command = match.group(1).strip()
        if open_line:
            found[-1][1] += " " + command.removesuffix("\\")
        else:
            found.append([number, command.removesuffix("\\")])
        open_line = command.endswith("\\")
    return found


def expand(command, paths):
    """The command with conditions decided and paths put in."""
    command = CONDITION.sub(lambda m: m.group(2) if m.group(1) in FEATURES else ":", command)
    for name, text in ERRORS.items():
        command = command.replace(name, shlex.quote(text))
    command = command.replace("%python", sys.executable).replace("%{pathsep}", ":")
    command = command.replace("%basename_t", paths["t"].name)
    def path(match):
        text = str(paths[match.group(2)])
        return text[1:] if match.group(1) == ":" else text
    parts = command.split("%%")
    return "%".join(re.sub(r"%([:/]?)([sSptT])", path, part) for part in parts)


class Suite:
    """The tests below a directory, run with the commands of another, and with the engines of a directory for caches."""

    def __init__(self, root, tools, engines):
        self.root = root
        self.tools = tools
        self.engines = engines

    def names(self):
        """Every test, by its path below the root."""
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*")
                      if path.suffix in SUFFIXES and "Inputs" not in path.parts)

    def run(self, names, jobs):
        """The results, in the order of the names."""
        with tempfile.TemporaryDirectory(prefix="weld-peers.") as scratch:
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                return list(pool.map(lambda name: self.one(name, Path(scratch)), names))

    def one(self, name, scratch):
        source = self.root / name
        if not source.is_file():
            return Result(name, False, "there is no such test")
        directory = scratch / name
        output = directory / "Output"
        output.mkdir(parents=True)
        paths = {"s": source, "S": source.parent, "p": source.parent, "T": output, "t": output / f"{source.name}.tmp"}
        lines = [(number, expand(command, paths)) for number, command in commands(source.read_text(errors="surrogateescape"))]
        # The number of the command goes to a file, for the test's own output may be anything.
        at = directory / ".line"
        script = "set -o pipefail\n" + " &&\n".join(f"echo {number} > {at} && {{ {command} ; }}" for number, command in lines)
        (directory / ".script").write_text(script + "\n", errors="surrogateescape")
        code, output = self.shell(directory)
        bug = self.bug_in(paths["T"])
        if bug:
            passed = Result(name, False, f"{bug}\n{output}")
        elif code == 0 and lines:
            passed = Result(name, True, "")
        else:
            last = int(at.read_text() or 0) if at.exists() else 0
            said = next((command for number, command in lines if number == last), "no command")
            why = "took too long" if code is None else f"exit {code}"
            passed = Result(name, False, f"line {last}: {said.strip()}\n{why}\n{output}")
        shutil.rmtree(directory, ignore_errors=True)
        return passed

    def bug_in(self, directory):
        """What a file has, if it is what weld says when it contradicts itself; a test that expects an error would not mind."""
        for path in directory.rglob("*"):
            if path.is_file() and path.stat().st_size <= LARGEST_TEXT and BUG.encode() in (data := path.read_bytes()):
                return data.decode(errors="replace")
        return ""

    def shell(self, directory):
        return run_script(".script", directory, self.tools, LLD_VERSION="LLD 1.0", LLD_IN_TEST="1",
                          XDG_CACHE_HOME=str(self.engines))

"""What linkers write for distributors of compilations (`--thinlto-distributor=`), for the programs beside this file.

    {"common": {"linker_output": TEXT, "args": [TEXT], "inputs": [PATH]},
     "jobs": [{"args": [TEXT], "inputs": [PATH], "outputs": [PATH]}]}

A job's command is the common arguments and then its own. It is to be run where the linker runs, reads the common
inputs and its own, and leaves its outputs. weld and ld.lld (22 or later) write this; LLVM's docs/DTLTO.rst says more.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


class Failure(Exception):
    """Why a job or all of them cannot be done, for people."""


class Job:
    def __init__(self, common, job):
        self.command = common["args"] + job["args"]
        self.inputs = list(dict.fromkeys(common["inputs"] + job["inputs"]))
        self.outputs = job["outputs"]
        # Linkers have the module in the first place.
        self.name = job["inputs"][0] if job["inputs"] else job["outputs"][0]


def read(path):
    """The jobs of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        return [Job(content["common"], job) for job in content["jobs"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failure(f"{path}: no list of jobs: {error}") from error


class Layout:
    """Where files of jobs lie in a tree that is not this machine's: as they lie around the working directory.

    Paths may lead upwards (`../a.o`), so the working directory of the tree is as deep as it has to be, and has
    the names that it has here. Absolute paths cannot be had elsewhere, for they are written in the indexes, too.
    """

    def __init__(self, jobs):
        levels = 0
        for job in jobs:
            for path in job.inputs + job.outputs:
                if os.path.isabs(path):
                    raise Failure(
                        f"{path}: an absolute path outside of the directory that the link runs in; elsewhere there is "
                        "no such file: name it by a relative path"
                    )
                parts = os.path.normpath(path).split(os.sep)
                levels = max(levels, sum(part == ".." for part in parts))
        here = os.getcwd().strip(os.sep).split(os.sep)
        if levels > len(here):
            raise Failure("a path leads above the root")
        self.directory = os.sep.join(here[len(here) - levels:])

    def place(self, path):
        """Where a path leads, from the root of the tree."""
        return os.path.normpath(os.path.join(self.directory, path))

    def directories(self, path):
        """Directories of the tree that a path goes through."""
        parts = path.split(os.sep)[:-1]
        return {self.place(os.sep.join(parts[:end])) for end in range(1, len(parts) + 1)} - {"."}


# How objects begin: ELF, and COFF's numbers of machines or what objects with many sections have there.
OBJECTS = (b"\x7fELF", b"\x64\x86", b"\x4c\x01", b"\x64\xaa", b"\xc4\x01", b"\x41\xa6", b"\0\0\xff\xff")


def is_object(data):
    """Whether the beginning of a file is an object's. A compiler that lacks an input leaves an empty file and succeeds."""
    return data.startswith(OBJECTS)


def main(run):
    """Runs `run(arguments)` as a program: its failure is one line and exit code 1."""
    try:
        sys.exit(run(sys.argv[1:]))
    except Failure as failure:
        print(f"{os.path.basename(sys.argv[0])}: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def each(found, count, work, stop=lambda: None):
    """Does `work(job)` for all jobs, some at a time. The first failure ends it: what has not begun does not, and
    `stop()` ends what has."""
    with ThreadPoolExecutor(max(count, 1)) as pool:
        futures = [pool.submit(work, job) for job in found]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop()
            raise


def execute(command, directory):
    """Runs a job's command. What it has printed, if it failed."""
    try:
        done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
    except OSError as error:
        raise Failure(f"{command[0]}: {error.strerror}") from error
    printed = done.stdout.decode(errors="replace").rstrip()
    if done.returncode != 0:
        raise Failure(f"{command[0]} ended with {done.returncode}" + (f"\n{printed}" if printed else ""))
    return printed

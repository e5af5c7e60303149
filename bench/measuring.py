"""Running one link and taking its figures: time and memory (bench/measure.c), instructions, system calls."""

import os
import re
import subprocess

from prepare.common import BENCH, BUILDS, run as run_command

TIME_LIMIT = 1800  # seconds a link may take, even under callgrind


def tool(name, *flags):
    """Path of one of the C helpers, compiled if it is missing or older than its source."""
    source, program = BENCH / f"{name}.c", BUILDS / name
    BUILDS.mkdir(parents=True, exist_ok=True)
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        run_command("cc", "-O2", *flags, source, "-o", program)
    return str(program)


def measure(command, directory):
    """Runs a link under bench/measure.c; returns its figures, or the text of its failure."""
    reader, writer = os.pipe()
    result = subprocess.run([tool("measure"), str(writer), *command], cwd=directory, pass_fds=[writer],
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT)
    os.close(writer)
    with os.fdopen(reader) as report:
        fields = [int(field) for field in report.read().split()]
    if len(fields) != 7 or fields[6] != 0:
        return None, failure(result, fields[6] if len(fields) == 7 else None)
    wall, user, system, minor, major, peak, _ = fields
    return {"wall": wall / 1e6, "cpu": (user + system) / 1e3, "user": user / 1e3, "sys": system / 1e3,
            "minor": minor, "major": major, "peak": peak * 1024}, None


def failure(result, status):
    """A line that says how a link failed."""
    signal = f"signal {status & 127}: " if status and status & 127 else ""
    lines = [line for line in (result.stderr + result.stdout).splitlines() if line.strip()]
    return signal + (lines[0][:300] if lines else "failed in silence")


def callgrind(command, directory):
    """Instructions that a command executes, by valgrind. They must not depend on who counts: the allocator looks for each of its options in the
    environment, of which a dozen variables are 1 % of hello world."""
    result = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], cwd=directory,
                            env={"PATH": os.environ.get("PATH", os.defpath)}, capture_output=True, text=True, timeout=TIME_LIMIT)
    found = re.search(r"Collected : (\d+)", result.stderr)
    return int(found[1]) if found and result.returncode == 0 else None


def syscalls(command, directory):
    """System calls that a command makes, by strace."""
    result = subprocess.run(["strace", "-f", "-c", "-U", "calls,name", *command], cwd=directory,
                            capture_output=True, text=True, timeout=TIME_LIMIT)
    found = re.search(r"^\s*(\d+)\s+total$", result.stderr, re.M)
    return int(found[1]) if found and result.returncode == 0 else None

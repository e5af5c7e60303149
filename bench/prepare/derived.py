"""Workloads that are other workloads linked in another way; they share the files through hard links."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from .common import WORKLOADS


def clang_release_nogc(workload):
    """clang-release without --gc-sections: everything that the archives' members hold stays."""
    derive(workload, "clang-release", lambda arg: arg != "--gc-sections")


def cpp_debug_2g_zlib(workload):
    """cpp-debug-2g with its inputs' debug sections compressed by zlib."""
    derive(workload, "cpp-debug-2g")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compress, (workload.directory / "obj").glob("*.o")))


def compress(path):
    """Compresses an object's debug sections. objcopy writes a new file, so the original is not changed."""
    new = path.with_suffix(".new")
    subprocess.run(["objcopy", "--compress-debug-sections=zlib", path, new], check=True)
    new.replace(path)


def derive(workload, base, keep=lambda arg: True):
    """Makes the workload a copy of the prepared workload `base` that keeps only some of its arguments."""
    base = WORKLOADS / base
    if not (base / "about.json").exists():
        raise SystemExit(f"{workload.name} is made from {base.name}: run bench/workloads {base.name}")
    shutil.copytree(base, workload.directory, copy_function=os.link, symlinks=True, dirs_exist_ok=True)
    # Files of its own, so that writing them leaves the base alone.
    args = (base / "args").read_text().splitlines()
    for name in ("args", "needed", "about.json"):
        (workload.directory / name).unlink()
    (workload.directory / "args").write_text("".join(f"{arg}\n" for arg in args if keep(arg)))

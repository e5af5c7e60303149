"""Links of PE/COFF objects, which are made here: what bench/coff measures and bench/same-bytes compares.

Objects lie in directories of their own beside the ELF workloads, with a response file `args`. They are made when a link
is asked for first.
"""

import shutil
import subprocess
from pathlib import Path

from . import coff_library, cpp_source
from .common import REPOSITORY, WORKLOADS, run

UNITS = 24
CLANG = ["clang++-22", "--target=x86_64-w64-mingw32", "-gcodeview"]
GCC = ["x86_64-w64-mingw32-g++", "-Wa,-mbig-obj"]
# Each: the compiler, whether with debug information, and what the linker is told besides.
CPP = {
    "codeview": (CLANG, ["-g"], ["-s"]),
    "codeview-pdb": (CLANG, ["-g"], ["--pdb=out.pdb"]),
    "dwarf": (GCC, ["-g"], []),
    "names": (GCC, [], ["-s"]),
}
# Libraries that are taken whole.
LIBRARIES = {"library": "/opt:noref,noicf", "library-opt": "/opt:ref,icf"}
MEMBERS = 35_000
# Objects of a game.
SIZES = {"small": 48, "medium": 480, "large": 4169}
GAMES = [f"game-{size}{pdb}" for size in SIZES for pdb in ("", "-pdb")]
EVERY = [*CPP, *LIBRARIES, *GAMES]
COUNT = 600  # objects of C++


class Inputs:
    """A link's directory, what the linker is told besides `@args`, and how it is called."""

    def __init__(self, name, count=COUNT):
        self.game = name in GAMES
        self.windows = self.game or name in LIBRARIES
        self.flavor = "link" if self.windows else "mingw"
        if self.windows:
            self.place = game_objects(SIZES[name.split("-")[1]]) if self.game else library(MEMBERS)
            self.more = ["/debug"] if name.endswith("-pdb") else [LIBRARIES[name]] if name in LIBRARIES else []
        else:
            compiler, debug, self.more = CPP[name]
            self.place = objects(compiler, debug, count)

    def threads(self, count):
        return f"{'/threads:' if self.windows else '--threads='}{count}"

    def output(self, path):
        return [f"/out:{path}"] if self.windows else ["-o", str(path)]


def made(name, make):
    """The directory `name`, filled by `make` if it is not there yet. It appears when it is whole."""
    place = WORKLOADS / name
    if (place / "args").exists():
        return place
    new = place.with_name(f".{place.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    (new / "args").write_text("\n".join(make(new)) + "\n")
    new.rename(place)
    return place


def objects(compiler, debug, count):
    """The directory with `count` objects of a compiler, and a list of them for the linker."""
    def make(new):
        (new / "common.h").write_text(cpp_source.COMMON_H)
        (new / "module.h").write_text(cpp_source.MODULE_H)
        templates = []
        for number in range(UNITS):
            source = new / f"unit{number:02d}_OBJSELF.cpp"
            source.write_text(cpp_source.unit(number))
            run(*compiler, "-std=c++20", *debug, "-O0", "-c", source.name, "-o", "unit.o", cwd=new)
            templates.append((new / "unit.o").read_bytes())
        names = [f"{cpp_source.object_name(i)}.o" for i in range(count)]
        for i, name in enumerate(names):
            (new / name).write_bytes(cpp_source.stamp(templates[i % UNITS], i, count))
        (new / "main.cpp").write_text(cpp_source.main_source(count))
        run(*compiler, *debug, "-c", "main.cpp", "-o", "main.o", cwd=new)
        (new / "objects").write_text("\n".join(["main.o", *names]) + "\n")
        return link_line()
    return made(f"coff-{Path(compiler[0]).name}{'' if debug else '-plain'}-{count}", make)


def link_line():
    """What g++ tells its linker around the objects; all names are whole paths, for the linkers that look in other places."""
    asked = subprocess.run(["x86_64-w64-mingw32-g++", "-###", "-static", "OBJECTS", "-o", "OUT.exe"],
                           text=True, capture_output=True, check=True)
    words = next(line for line in asked.stderr.splitlines()
                 if "collect2" in line or " -o OUT.exe" in line and "OBJECTS" in line).split()
    words = words[words.index("-m"):]
    skipped = {"OUT.exe", "-o"}
    return [word.strip('"') if word != "OBJECTS" else "@objects" for word in words if word not in skipped]


def game_objects(count):
    """The directory with `count` objects of a game, and the linker's command line."""
    def make(new):
        run("cargo", "run", "-q", "--release", "-p", "weld-pdb", "--example", "synthetic-objects", new, str(count), cwd=REPOSITORY)
        names = sorted(path.name for path in new.glob("*.obj"))
        return [*names, "/entry:entry", "/nodefaultlib", "/subsystem:console"]
    return made(f"coff-game-{count}", make)


def library(count):
    """The directory with a library of `count` members, and the linker's command line."""
    def make(new):
        coff_library.write(new / "all.lib", count)
        return ["/wholearchive:all.lib", "/force", "/dll", "/noentry"]
    return made(f"coff-library-{count}", make)

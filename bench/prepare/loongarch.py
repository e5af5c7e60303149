"""What links and runs programs for LoongArch, which Debian 12 has not: compiler and linker to compare with are LLVM's, the C and C++ libraries
(glibc, libstdc++) and qemu those of Debian's testing release, in any version. 120 MB of downloads, kept in ~/.cache/weld/loongarch64; with LLVM's static
libraries 70 MB more.

    python3 -m prepare.loongarch      (in bench/; prints the directory)
"""

import lzma
import subprocess
import urllib.request

from .common import CACHE

SERVER = "http://deb.debian.org/debian"
RELEASE = "forky"
GCC = "15"
LLVM = "21"
LIBRARIES = ["libc6", "libc6-dev", f"libgcc-{GCC}-dev", f"libstdc++-{GCC}-dev", "libgcc-s1", "libstdc++6", "linux-libc-dev"]
LOADER = "ld-linux-loongarch-lp64d.so.1"


def unpack(root, address):
    """Fetches a package and unpacks it."""
    package = root / address.rsplit("/", 1)[1]
    root.mkdir(parents=True, exist_ok=True)
    urllib.request.urlretrieve(address, package)
    subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    package.unlink()


def unpack_named(root, machine, packages):
    """The same for packages of the release, by their names."""
    with urllib.request.urlopen(f"{SERVER}/dists/{RELEASE}/main/binary-{machine}/Packages.xz") as response:
        index = lzma.decompress(response.read()).decode()
    entries = [dict(line.split(": ", 1) for line in entry.splitlines() if ": " in line) for entry in index.split("\n\n")]
    places = {entry.get("Package"): entry.get("Filename") for entry in entries}
    for package in packages:
        unpack(root, f"{SERVER}/{places[package]}")


def root(has_llvm=False):
    """The directory with libraries, headers and qemu."""
    place = CACHE / "loongarch64"
    if not (place / "lib").exists():
        unpack_named(place, "amd64", ["qemu-user"])
        unpack_named(place, "loong64", LIBRARIES)
        (place / "lib64").mkdir(exist_ok=True)
        (place / "lib64" / LOADER).symlink_to(f"../usr/lib/loongarch64-linux-gnu/{LOADER}")
        (place / "lib").symlink_to("usr/lib")
    if has_llvm and not (place / f"usr/lib/llvm-{LLVM}/lib/libclangSema.a").exists():
        unpack_named(place, "loong64", [f"llvm-{LLVM}-dev", f"libclang-{LLVM}-dev"])
    return place


def driver(program, place):
    """A driver of clang's that compiles and links for LoongArch."""
    gcc = place / f"usr/lib/gcc/loongarch64-linux-gnu/{GCC}"
    return [f"{program}-22", "--target=loongarch64-linux-gnu", f"--sysroot={place}", f"--gcc-install-dir={gcc}"]


if __name__ == "__main__":
    print(root())

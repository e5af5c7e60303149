#!/bin/bash
# Installs the linkers that weld is measured against, those that are missing.
#
#   bench/peers.sh [lld|mold|wild]...      (default: all three)
#
# lld-22 is a Debian package. mold is built from its sources (ten minutes on two cores): from the git
# repository, with or without a work tree, that MOLD_SOURCE names, else from a clone of its public one.
# Where neither is to be had it is Debian's 1.10.1 of 2023, which this script then says; whatever is measured
# with that must say so too. wild is built from crates.io, which takes many minutes as well. Both go into
# ${XDG_CACHE_HOME:-~/.cache}/weld/peers, so that `./test` and users never need them.
set -euo pipefail
cd "$(dirname "$0")/.." # rust-toolchain.toml decides the compiler

wild_version=0.11.0
# What it wants to be compiled with, which is newer than what weld is.
wild_rust=1.99.1
mold_version=2.42.0
peers=${XDG_CACHE_HOME:-$HOME/.cache}/weld/peers
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

apt_install() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

install_lld() {
    command -v ld.lld-22 >/dev/null || apt_install lld-22
}

# The source tree of mold's release as $1, or failure where there is no repository to take it from.
mold_sources() {
    local source=${MOLD_SOURCE:-$peers/mold.git}
    if [ -z "${MOLD_SOURCE:-}" ] && ! [ -d "$source" ]; then
        git clone --quiet --bare --depth 1 --branch "v$mold_version" https://github.com/rui314/mold "$source" || return 1
    fi
    mkdir -p "$1"
    # Without the tests of the libraries it brings: a stored copy may lack their largest files.
    local git=(env GIT_INDEX_FILE="$1.index" git -C "$source" --work-tree="$1")
    mkdir -p "$1"
    "${git[@]}" read-tree "v$mold_version"
    "${git[@]}" ls-files -z | grep -zv '^third-party/.*/tests/' | "${git[@]}" checkout-index -z --stdin
}

install_mold() {
    [ "$("$peers/bin/mold" --version 2>/dev/null | grep -c "$mold_version")" = 1 ] && return
    local build
    build=$(mktemp -d)
    if mold_sources "$build/src"; then
        apt_install g++ cmake ninja-build libzstd-dev zlib1g-dev
        cmake -S "$build/src" -B "$build/out" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$peers" \
            "-DMOLD_TARGETS=X86_64;ARM64LE;RV64LE"
        nice -n 19 ninja -C "$build/out"
        cmake --install "$build/out"
    else
        echo "$0: mold $mold_version cannot be fetched; Debian's old release takes its place" >&2
        command -v mold >/dev/null || apt_install mold
    fi
    rm -rf "$build"
}

install_wild() {
    [ "$("$peers/bin/wild" --version 2>/dev/null | grep -c "$wild_version")" = 1 ] && return
    # --jobs 1: the build must not starve whatever else the machine is doing.
    rustup -q toolchain install "$wild_rust" --profile minimal --no-self-update
    nice -n 19 cargo "+$wild_rust" install wild-linker --version "$wild_version" --locked --jobs 1 --root "$peers"
}

for peer in "${@:-lld mold wild}"; do
    for name in $peer; do
        case $name in
        lld | mold | wild) "install_$name" ;;
        *) echo "$0: unknown peer '$name'" >&2; exit 2 ;;
        esac
    done
done

mold=$peers/bin/mold
[ -x "$mold" ] || mold=mold
for exe in ld.lld-22 "$mold" "$peers/bin/wild"; do
    command -v "$exe" >/dev/null && echo "$exe: $("$exe" --version | head -1)"
done

#!/bin/bash
# Installs the linkers that weld is measured against, those that are missing.
#
#   bench/peers.sh [lld|mold|wild]...      (default: all three)
#
# lld-22 and mold are Debian packages (mold is then Debian's 1.10.1, years behind its newest
# release, which is not packaged for this Debian: results must say so). wild is built from
# crates.io, which takes many minutes on a small machine, into
# ${XDG_CACHE_HOME:-~/.cache}/weld/peers, so that `./test` and users never need it.
set -euo pipefail
cd "$(dirname "$0")/.." # rust-toolchain.toml decides the compiler

wild_version=0.10.0
peers=${XDG_CACHE_HOME:-$HOME/.cache}/weld/peers
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

apt_install() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

install_lld() {
    command -v ld.lld-22 >/dev/null || apt_install lld-22
}

install_mold() {
    command -v mold >/dev/null || apt_install mold
}

install_wild() {
    [ "$("$peers/bin/wild" --version 2>/dev/null | grep -c "$wild_version")" = 1 ] && return
    # --jobs 1: the build must not starve whatever else the machine is doing.
    nice -n 19 cargo install wild-linker --version "$wild_version" --locked --jobs 1 --root "$peers"
}

for peer in "${@:-lld mold wild}"; do
    for name in $peer; do
        case $name in
        lld | mold | wild) "install_$name" ;;
        *) echo "$0: unknown peer '$name'" >&2; exit 2 ;;
        esac
    done
done

for exe in ld.lld-22 mold "$peers/bin/wild"; do
    command -v "$exe" >/dev/null && echo "$exe: $("$exe" --version | head -1)"
done

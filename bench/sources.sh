# Shell functions that bench/real-programs.sh and bench/packages share: Debian's source packages, and steps
# that run bounded, with a log each. A script that sources this sets `cache`, `work` and `logs`, and calls
# `run_step "$@"` where its first argument is --step.
# shellcheck shell=bash
passed=0 failed=0 skipped=0

# bounded NAME SECONDS FUNCTION [ARGUMENT]...: runs FUNCTION in a shell of its own, strictly, for so many
# seconds at most. Sets `log`, `took` and `outcome` (PASS, SKIP or FAIL).
bounded() {
    local name=$1 limit=$2 start=$SECONDS status
    log="$logs/${1//[^a-z0-9.-]/_}.log"
    shift 2
    : > "$work/links"
    timeout -k 20 "$limit" nice -n 10 bash "$(realpath "$0")" --step "$@" < /dev/null > "$log" 2>&1 {lock}>&-
    status=$? took=$((SECONDS - start))
    case $status in
    0) outcome=PASS ;;
    77) outcome=SKIP ;;
    124 | 137) outcome=FAIL why="no end after $limit s" ;;
    *) outcome=FAIL why="status $status" ;;
    esac
}

# What `bounded` started: the function and its arguments.
run_step() {
    set -ex
    shift
    "$@"
}

# only_one_run: the build trees and the count of links serve one run of a script at a time.
only_one_run() {
    exec {lock}> "$work/lock"
    flock -n "$lock" || { echo "waiting for another run to end"; flock "$lock"; }
}

# find_linker [PATH]: the linker to use, as an absolute path: $WELD, what is built here, or the one on PATH.
find_linker() {
    local linker=${1:-${WELD:-}} bench
    bench=$(dirname "${BASH_SOURCE[0]}")
    for place in "$bench/../target/shipped/weld" "$bench/../target/release/weld"; do
        [ -n "$linker" ] || [ ! -x "$place" ] || linker=$place
    done
    linker=$(command -v "${linker:-weld}" 2>/dev/null) || { echo "$0: no linker; build weld or give --linker PATH" >&2; return 1; }
    realpath -s "$linker"
}

# need PACKAGE...: installs Debian packages that are missing.
need() {
    dpkg -s "$@" > /dev/null 2>&1 || as_root apt-get install -y --no-remove --no-install-recommends "$@"
}

as_root() {
    local sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo env DEBIAN_FRONTEND=noninteractive "$@"
}

# source_package NAME: unpacks a fresh copy of a Debian source package to $work/NAME and goes there.
# A list of its own leaves the system's apt configuration alone.
source_package() {
    local sources=$cache/sources
    need dpkg-dev
    mkdir -p "$sources/lists"
    cd "$sources"
    if ! ls "$1"_*.dsc > /dev/null 2>&1; then
        (. /etc/os-release; echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main") > sources.list
        local apt=(apt-get -o "Dir::Etc::SourceList=$sources/sources.list" -o Dir::Etc::SourceParts=/dev/null
            -o "Dir::State::Lists=$sources/lists" -o "APT::Sandbox::User=$(id -un)")
        ls lists/*Sources* > /dev/null 2>&1 || "${apt[@]}" update
        "${apt[@]}" source --download-only "$1"
    fi
    rm -rf "${work:?}/$1"
    dpkg-source --no-check --no-copy -x "$1"_*.dsc "$work/$1"
    cd "$work/$1"
}

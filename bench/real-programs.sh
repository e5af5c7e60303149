#!/bin/bash
# Links real programs with a linker, and runs them and their own test suites.
#
#   bench/real-programs.sh [--linker PATH] [--full] [NAME]...
#
# NAME is one of: workloads self clang cargo lua zstd sqlite cpython (default: all). The linker is
# weld ($WELD, target/shipped/weld or target/release/weld) unless --linker names another. gcc finds
# it through `-B DIR`, where DIR/ld is a shim that counts the links, so that a PASS means that this
# linker was really used.
#
# SQLite, zstd, Lua (with LPeg, as Lua's own suite is not packaged) and CPython come as Debian source
# packages; what they need to build is installed with apt. By default their suites are bounded to a
# few minutes each; --full runs SQLite's `veryquick` and CPython's whole suite.
#
# Prints a line PASS, FAIL or SKIP a step and `N passed, N failed, N skipped` at the end; the exit
# status is 0 if nothing failed. Logs stay in ${XDG_CACHE_HOME:-~/.cache}/weld/real/logs.
set -uo pipefail

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weld
work=$cache/real
bin=$work/bin
logs=$work/logs
cc="gcc -B$bin"
jobs=$(nproc)
all=(workloads self clang cargo lua zstd sqlite cpython)
# shellcheck source=bench/sources.sh
. "$bench/sources.sh"

main() {
    local names=()
    linker= full=
    while [ $# -gt 0 ]; do
        case $1 in
        --linker) linker=$2; shift ;;
        --full) full=1 ;;
        -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit ;;
        *) [[ " ${all[*]} " == *" $1 "* ]] || { echo "$0: unknown program '$1' (there are: ${all[*]})" >&2; exit 2; }
           names+=("$1") ;;
        esac
        shift
    done
    linker=$(find_linker "$linker") || exit 2
    export linker full
    mkdir -p "$bin" "$logs"
    only_one_run
    prepare_shim
    echo "linker: $linker ($("$linker" --version 2>/dev/null | head -1))"
    for name in "${names[@]:-${all[@]}}"; do
        "program_$name"
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}

# DIR/ld, which gcc -B finds: notes the link and becomes the linker.
prepare_shim() {
    cat > "$bin/ld" <<SHIM
#!/bin/sh
echo "\$PWD: \$*" >> '$work/links'
exec '$linker' "\$@"
SHIM
    chmod +x "$bin/ld"
}

# step NAME SECONDS FUNCTION [ARGUMENT]...: one line of the result.
step() {
    bounded "$@"
    case $outcome in
    PASS)
        passed=$((passed + 1))
        echo "PASS $1 ($took s, $(wc -l < "$work/links") links)" ;;
    SKIP) skip "$1: $(tail -n 1 "$log")" ;;
    FAIL)
        failed=$((failed + 1))
        echo "FAIL $1 ($why; see $log)" ;;
    esac
    [ $outcome = PASS ]
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIP $1"
}

# Fails a step that should have linked something with the linker and has not.
linked() {
    [ -s "$work/links" ] || { echo "nothing was linked through $bin/ld"; exit 1; }
}

# Every captured and generated link: 4000 objects, 200 000 sections, 120 000 dynamic symbols, ...
program_workloads() {
    for name in hello hello-rs many-objects many-sections so-100k cpp-debug-5000 cargo-debug; do
        step "workload $name" 1800 workload "$name"
    done
}

workload() {
    "$bench/workloads" "$1"
    mkdir -p "$work/out"
    cd "$cache/bench/$1"
    "$bin/ld" @args -o "$work/out/$1"
    ./check "$work/out/$1"
    rm "$work/out/$1"
}

# weld linked by the linker links weld, and that weld links weld again, to the same bytes.
program_self() {
    for profile in debug release; do
        step "weld $profile links itself" 1800 self "weld-$profile"
    done
}

self() {
    "$bench/workloads" --force "$1"
    cd "$cache/bench/$1"
    local out=$work/out/self
    rm -rf "$out"
    mkdir -p "$out"/{1,2,3}
    "$bin/ld" @args -o "$out/1/weld"
    "$out/1/weld" @args -o "$out/2/weld"
    "$out/2/weld" @args -o "$out/3/weld"
    cmp "$out/2/weld" "$out/3/weld"
    if "$linker" --version | grep -qi weld; then
        # Differs also when the linker was built from other sources than those just captured.
        cmp "$out/1/weld" "$out/2/weld"
    fi
    (cd ../hello && "$out/3/weld" @args -o "$out/hello" && ./check "$out/hello")
    rm -r "$out"
}

# clang linked by the linker compiles C and C++, which the linker links under that clang's driver.
program_clang() {
    step "clang" 1800 clang_release
}

clang_release() {
    "$bench/workloads" clang-release
    cd "$cache/bench/clang-release"
    local out=$work/out/clang
    rm -rf "$out"
    mkdir -p "$out"
    "$bin/ld" @args -o "$out/clang"
    ./check "$out/clang"
    cd "$out"
    cat > program.cpp <<'PROGRAM'
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
int main() {
    std::map<std::string, int> sizes{{"weld", 4}};
    try { std::cout << sizes.at("none"); }
    catch (const std::out_of_range &) { std::cout << "caught " << sizes.at("weld") << '\n'; }
}
PROGRAM
    for options in "-O0 -g" "-O2 -static" "-O2 -ffunction-sections -Wl,--gc-sections"; do
        # shellcheck disable=SC2086
        ./clang --driver-mode=g++ -resource-dir /usr/lib/llvm-22/lib/clang/22 "--ld-path=$bin/ld" $options program.cpp -o program
        test "$(./program)" = "caught 4"
    done
    linked
    rm -r "$out"
}

# A cargo project of hundreds of crates: build scripts, proc macros, tests.
program_cargo() {
    step "cargo test, 260 crates" 5400 cargo_test
}

cargo_test() {
    cd "$bench/cargo-debug"
    export CARGO_TARGET_DIR=$work/cargo-target
    export RUSTFLAGS="-Clinker=gcc -Clinker-features=-lld -Clink-arg=-B$bin" CARGO_PROFILE_DEV_DEBUG=line-tables-only
    rm -rf "$CARGO_TARGET_DIR" # what is linked already would not be linked by this linker
    cargo test --locked --jobs "$jobs"
    cargo run --locked --jobs "$jobs" -- self-test | grep -x "all is well"
    linked
    rm -rf "$CARGO_TARGET_DIR"
}

# Lua as a program that exports itself, against a static and a shared liblua, with LPeg as a module.
program_lua() {
    step "lua and lpeg: build" 600 lua_build && step "lua and lpeg: lpeg's test suite, libraries" 300 lua_test
}

lua_build() {
    source_package lua-lpeg
    source_package lua5.4
    cd src
    # A header that only Debian's packaging makes: where modules are installed.
    echo "#define DEB_HOST_MULTIARCH \"$(gcc -print-multiarch)\"" > lua5.4-deb-multiarch.h
    local flags="-O2 -g -fPIC -DLUA_USE_LINUX -DLUA_COMPAT_5_3"
    for file in l*.c; do $cc $flags -c "$file"; done
    mkdir programs && mv lua.o luac.o programs/
    ar rcs liblua.a ./*.o
    $cc -shared -Wl,-soname,liblua5.4.so ./*.o -o liblua5.4.so -lm -ldl
    $cc programs/lua.o liblua.a -Wl,-E -o lua -lm -ldl
    $cc programs/lua.o -L. -llua5.4 "-Wl,-rpath,$PWD" -o lua-shared -lm -ldl
    $cc programs/luac.o liblua.a -o luac -lm -ldl
    cd "$work/lua-lpeg"
    make lpeg.so "CC=$cc" "DLLFLAGS=-shared -fPIC" "LUADIR=$work/lua5.4/src"
    linked
}

lua_test() {
    cd "$work/lua-lpeg"
    local src=$work/lua5.4/src
    for lua in lua lua-shared; do
        LUA_CPATH="./?.so" "$src/$lua" test.lua
        "$src/$lua" -e '
            local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
            assert(co() + co() + co() == 6)
            local ok, err = pcall(function() error({code = 7}) end)
            assert(not ok and err.code == 7)
            assert(not pcall(require, "no.such.module"))
            assert(("%5.2f|%q"):format(math.pi, "a\nb") == " 3.14|\"a\\\nb\"")
            assert(load("return 1 << 62 | 1")() == 4611686018427387905)
            assert(os.time{year = 2024, month = 2, day = 29} and io.popen("echo hi"):read() == "hi")'
    done
    echo 'print("compiled")' > program.lua
    "$src/luac" -o program.luac program.lua
    test "$("$src/lua" program.luac)" = compiled
}

# zstd: its library, program and the fuzzers and command-line tests of its own.
program_zstd() {
    step "zstd: build" 900 zstd_build && step "zstd: test suite" 1800 zstd_test
}

zstd_build() {
    source_package libzstd
    make -C lib libzstd "CC=$cc" -j "$jobs"
    make -C programs zstd "CC=$cc" -j "$jobs"
    make -C tests fuzzer zstreamtest datagen poolTests invalidDictionaries legacy "CC=$cc" -j "$jobs"
    linked
}

zstd_test() {
    cd "$work/libzstd/tests"
    ./poolTests
    ./invalidDictionaries
    ./legacy
    ./fuzzer -T30s
    ./zstreamtest -T30s --no-big-tests
    ZSTD_BIN=$PWD/../programs/zstd DATAGEN_BIN=$PWD/datagen bash ./playTests.sh
}

# SQLite: shell, library and the Tcl test suite.
program_sqlite() {
    step "sqlite: build" 1800 sqlite_build && step "sqlite: test suite" "${full:+3}3600" sqlite_test
}

sqlite_build() {
    need tcl8.6-dev
    source_package sqlite3
    CC=$cc ./configure --with-tcl=/usr/lib/tcl8.6 CFLAGS="-O1 -g"
    make -j "$jobs" sqlite3 libsqlite3.la testfixture
    linked
}

sqlite_test() {
    cd "$work/sqlite3"
    if [ -n "$full" ]; then
        veryquick
        return
    fi
    # Not among them: tests that expect file permissions to be obeyed, which root does not.
    for name in select{1..9} join{,2,3,4,5} where{,2,3,4} insert{,2,3} update delete2 trans{,2} index{,2,3} func{,2} \
        expr{,2} cast collate1 date e_expr e_select alter vacuum trigger{1..6} fkey2 view subquery with1 \
        window1 json101 fts3aa fts4aa fts3expr savepoint capi2 capi3 blob incrblob wal backup malloc{,3} \
        utf16align types minmax limit like null memdb pragma crash2 corrupt2; do
        run_testfixture "$name"
    done
}

# All that SQLite's authors run before each check-in. It refuses to run as root, and nobody may not look into
# root's home, so that gets a copy. io-5.5 (which page size fits the disk's sectors) fails whatever linked it.
veryquick() {
    local failures
    if [ "$(id -u)" = 0 ]; then
        local copy
        copy=$(mktemp -d)
        trap "rm -rf '$copy'" EXIT
        cp -r testfixture test ext "$copy"
        chown -R nobody "$copy"
        cd "$copy"
        setpriv --reuid=nobody --regid=nogroup --clear-groups ./testfixture test/veryquick.test > veryquick.log 2>&1 || true
    else
        ./testfixture test/veryquick.test > veryquick.log 2>&1 || true
    fi
    grep "errors out of" veryquick.log || exit 1
    failures=$(sed -n 's/^!Failures on these tests: //p' veryquick.log)
    [ -z "$failures" ] || [ "$failures" = io-5.5 ] || { echo "veryquick failed: $failures"; exit 1; }
}

run_testfixture() {
    ./testfixture "test/$1.test" > "test-$1.log" 2>&1 || { tail -n 20 "test-$1.log"; echo "$1 failed"; exit 1; }
    grep -q "^0 errors out of" "test-$1.log"
}

# CPython: the interpreter and some seventy extension modules (pyexpat of this version builds only inside
# Debian's packaging; whatever needs it is left out).
program_cpython() {
    step "cpython: build" 5400 cpython_build && step "cpython: test suite" "${full:+3}3600" cpython_test
}

cpython_build() {
    need zlib1g-dev libssl-dev libffi-dev libbz2-dev liblzma-dev libreadline-dev libsqlite3-dev libncurses-dev
    source_package python3.11
    ./configure CC="$cc" CXX="g++ -B$bin" OPT="-O1 -g"
    make -j "$jobs"
    linked
}

cpython_test() {
    cd "$work/python3.11"
    # The modules must have come out of the link and load.
    ./python -c 'import ssl, ctypes, sqlite3, zlib, bz2, lzma, curses, readline, decimal, _testcapi'
    local tests=(test_array test_ast test_asyncio test_bigmem test_binascii test_bz2 test_c_locale_coercion test_capi
        test_cmath test_codecs test_compile test_concurrent_futures test_contextlib test_coroutines test_csv test_ctypes
        test_dataclasses test_datetime test_decimal test_descr test_dict test_embed test_enum test_exceptions
        test_fractions test_functools test_gc test_generators test_grammar test_hashlib test_heapq test_importlib
        test_io test_itertools test_json test_list test_lzma test_marshal test_math test_memoryview test_mmap
        test_module test_operator test_pickle test_posix test_queue test_random test_re test_scope test_set test_signal
        test_sort test_sqlite3 test_statistics test_struct test_subprocess test_super test_sys
        test_thread test_threading test_threading_local test_time test_traceback test_tuple test_typing test_unicode
        test_weakref test_zipimport test_zlib)
    [ -z "$full" ] || tests=()
    ./python -m test -j "$jobs" --timeout 600 "${tests[@]}"
}

if [ "${1:-}" = --step ]; then
    run_step "$@"
else
    main "$@"
fi

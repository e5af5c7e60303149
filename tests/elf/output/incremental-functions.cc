//# about: functions that are new or gone are relinked, static ones and such that other objects call, with their symbols, frames and exceptions: readers of symbols see those of a full link, the table stays one that checkers accept, debuggers stop in what is new, and it unwinds
//# only: weld -- others do not relink
//# matrix: kind=pie,fixed opt=-O0,-O1
//# sh: CC=gcc KIND={kind} OPT={opt} bash relink.sh
#include <cstdio>
#include <stdexcept>
#ifndef STEP
#define STEP 0
#endif
#define ALONE __attribute__((noinline))
long counted;
ALONE static long scaled(long x) { return x * 3 + counted; }
ALONE static long thrower(long x) {
    if (x > 100) throw std::runtime_error("too large");
    return x;
}
#if STEP == 1 || STEP == 4
ALONE static long fresh(long x) {
    try {
        return thrower(x) + 1;
    } catch (std::runtime_error &e) {
        std::printf("fresh caught %s\n", e.what());
        return 0;
    }
}
#endif
#if STEP == 5
ALONE static long renamed(long x) { return thrower(x * 2) + 5; }
#endif
#if STEP == 2 || STEP == 3
ALONE long added(long x) { return thrower(x) - 7; }
__attribute__((weak)) ALONE long weakly_added(long x) { return scaled(x); }
#endif
ALONE long work(long x) {
#if STEP == 1 || STEP == 4
    x += fresh(x);
#elif STEP == 2
    x = added(x) + weakly_added(x);
#elif STEP == 5
    x += renamed(x);
#endif
    return thrower(x) + scaled(x);
}
ALONE long last(long x) {
    try {
        return work(x);
    } catch (std::runtime_error &e) {
        std::printf("caught %s\n", e.what());
        return -1;
    }
}
//--- other.cc
#ifndef STEP
#define STEP 0
#endif
long work(long);
#if STEP == 3 || STEP == 4
long other_added(long x) { return work(x) + 1; }
#endif
#if STEP == 2 || STEP == 3
long added(long), weakly_added(long);
__attribute__((noinline)) long other(long x) { return added(x) * weakly_added(x + 1); }
#else
__attribute__((noinline)) long other(long x) { return work(x) - 1; }
#endif
//--- main.cc
#include <cstdio>
#include <exception>
long work(long), last(long), other(long);
int main() {
    std::printf("%ld %ld %ld %ld\n", work(1), last(5), last(500), other(3));
    try {
        other(1000);
    } catch (std::exception &e) {
        std::printf("%s\n", e.what());
    }
}
//--- relink.sh
case $CC in clang) cxx=clang++-22 ;; *) cxx=g++ ;; esac
driver="$cxx -B$LD_DIR -Wl,--build-id,--threads=2"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
case $KIND in fixed) pic=-fno-pie mode=-no-pie ;; *) pic=-fPIE mode=-pie ;; esac
compile() { $cxx $pic -std=c++17 -g $OPT -DSTEP=$1 -c work.cc -o work.o && $cxx $pic -g $OPT -DSTEP=$1 -c other.cc -o other.o; }
names() { nm -P $1 | cut -d' ' -f1,2 | sort; }
link() { # STEP LOG
    compile $1
    sleep 0.05
    $driver $mode main.o work.o other.o -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep -q "$2" || { echo "step $1:"; tail -2 .out.weld/log; exit 1; }
    $driver $mode main.o work.o other.o -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $1: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    $driver $mode main.o work.o other.o -o plain || exit 1
    ./out >is && ./plain >wanted || { echo "step $1: it does not run"; exit 1; }
    cmp is wanted || { echo "step $1: it says something else"; cat is; exit 1; }
    [ "$(names out)" = "$(names plain)" ] || { echo "step $1: other symbols"; diff <(names out) <(names plain); exit 1; }
    [ -z "$(readelf -sW out 2>&1 >/dev/null)" ] || { echo "step $1:"; readelf -sW out 2>&1 >/dev/null; exit 1; }
    strip -g -o stripped out && ./stripped | cmp - wanted || exit 1
    [ "$(names stripped | sort)" = "$(names plain)" ] || { echo "step $1: strip leaves other symbols"; exit 1; }
    if eu-elflint --version >/dev/null 2>&1; then
        eu-elflint --gnu-ld plain >wanted.lint
        eu-elflint --gnu-ld out >lint
        [ $(wc -l <lint) -le $(wc -l <wanted.lint) ] || { echo "step $1: eu-elflint"; diff lint wanted.lint; exit 1; }
    fi
    dwarfdump=$(command -v llvm-dwarfdump-22 || command -v llvm-dwarfdump) || return
    [ "$CC$OPT" = gcc-O1 ] || $dwarfdump --verify out >verified 2>&1 || { echo "step $1: what debuggers read is wrong"; tail verified; exit 1; }
}
cp incremental-functions.cc work.cc
$cxx $pic -g $OPT -c main.cc -o main.o
link 0 'full link: no state'
for step in 1 2 3 4; do link $step 'relinked: [0-9]'; done
if gdb --version >/dev/null 2>&1; then
    gdb -q -batch -ex 'set breakpoint pending on' -ex 'break fresh' -ex run -ex backtrace ./out >gdb.out 2>&1
    grep -q '#0 .*fresh (x=' gdb.out && grep -q '#1 .*work (x=' gdb.out && grep -q 'main ()' gdb.out || { cat gdb.out; exit 1; }
fi
for step in 5 0 2 1 0; do link $step 'relinked: [0-9]'; done

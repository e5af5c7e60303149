//# about: inline functions and instances of templates that no object had, with exception tables and constants, come and go with relinks, in one object or two, with what debuggers, unwinders and readers of addresses see
//# only: weld -- others do not relink
//# matrix: how=gcc:-O0:pie,gcc:-O1:fixed,clang:-O0:fixed,clang:-O1:pie
//# sh: IFS=: read CC OPT KIND <<< {how}; CC=$CC OPT=$OPT KIND=$KIND bash relink.sh
#include "shared.h"
#ifndef WORK
#define WORK 0
#endif
// What the object has in any case.
ALONE long before(long x) {
    try {
        if (x > 90000) throw std::runtime_error("before");
        return larger<int>(x, 5) + (x > 0 ? std::printf("before\n") : 0);
    } catch (std::exception &e) {
        return std::puts(e.what());
    }
}
ALONE long work(long x) {
    x += before(x);
#if WORK == 1 || WORK == 3
    x += larger<long>(x, 7);
#endif
#if WORK == 2 || WORK == 3 || WORK == 4
    x += thrower(x) + chosen(x);
#endif
#if WORK == 5
    x += odd(x);
#endif
    return x * 2;
}
//--- shared.h
#include <cstdio>
#include <stdexcept>
#define ALONE __attribute__((noinline))
template <class T> ALONE T larger(T a, T b) { return a > b ? a : b; }
ALONE inline long thrower(long x) {
    try {
        if (x > 1000) throw std::runtime_error("too large");
    } catch (std::exception &e) {
        std::puts(e.what());
#if WORK == 4
        x += 3;
        for (int i = 0; i < 3; i++) x ^= x << i;
#endif
    }
    return x + 1;
}
ALONE inline long chosen(long x) {
    switch (x % 7) {
    case 0: return x + 5;
    case 1: return x * 3;
    case 2: return x - 9;
    case 3: return x ^ 4;
    case 4: return x / 3;
    default: return x;
    }
}
// A variable, which has no room.
ALONE inline long odd(long x) {
    static long number;
    return x + ++number;
}
long work(long), other(long);
//--- other.cc
#include "shared.h"
#ifndef OTHER
#define OTHER 0
#endif
ALONE long behind(long x) {
    try {
        if (x > 90000) throw std::runtime_error("behind");
        return larger<char>(x, 5) + (x > 0 ? std::printf("behind\n") : 0);
    } catch (std::exception &e) {
        return std::puts(e.what());
    }
}
ALONE long other(long x) {
    x += behind(x);
#if OTHER == 1
    x += larger<long>(x, 3);
#endif
#if OTHER == 2
    x += thrower(x * 1000) + larger<long>(x, 1);
#endif
    return x;
}
//--- main.cc
#include "shared.h"
static const long numbers[] = {3, 1, 4, 1, 5, 9, 2, 6};
int main(int argc, char **) {
    std::printf("%ld\n", numbers[argc]);
    long first = other(3), second = work(1), third = work(500);
    std::printf("%ld %ld %ld %ld\n", first, second, third, other(200));
    std::printf("%ld\n", work(100000));
}
//--- relink.sh
case $CC in clang) cxx=clang++-22; command -v $cxx >/dev/null || exit 0 ;; *) cxx=g++ ;; esac
driver="$cxx -B$LD_DIR -Wl,--build-id,--threads=2"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
case $KIND in fixed) pic=-fno-pie mode=-no-pie ;; *) pic=-fPIE mode=-pie ;; esac
compile() { $cxx $pic -std=c++17 -g $OPT -gdwarf-aranges $2 -c $1.cc -o $1.o; }
[ $CC = gcc ] && compile() { $cxx $pic -std=c++17 -g $OPT $2 -c $1.cc -o $1.o; }
names() { nm -P $1 | cut -d' ' -f1,2 | sort; }
link() { # WORK OTHER LOG
    compile work -DWORK=$1
    compile other -DOTHER=$2
    sleep 0.05
    $driver $mode main.o work.o other.o -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep -q "$3" || { echo "step $1 $2:"; tail -2 .out.weld/log; exit 1; }
    $driver $mode main.o work.o other.o -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $1 $2: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    $driver $mode main.o work.o other.o -o plain || exit 1
    ./out >is && ./plain >wanted || { echo "step $1 $2: it does not run"; exit 1; }
    cmp is wanted || { echo "step $1 $2: it says something else"; cat is; exit 1; }
    [ "$(names out)" = "$(names plain)" ] || { echo "step $1 $2: other symbols"; diff <(names out) <(names plain); exit 1; }
    for name in work other thrower chosen; do
        at=$(nm -C out | awk -v name=$name '$3 ~ "^" name "[(]" { print $1 }')
        [ -n "$at" ] || continue
        for reader in addr2line eu-addr2line; do
            $reader --version >/dev/null 2>&1 || continue
            $reader -e out 0x$at | grep '\(work\|other\).cc:\|shared.h:' >/dev/null || { echo "step $1 $2: $reader does not know $name"; exit 1; }
        done
    done
    dwarfdump=$(command -v llvm-dwarfdump-22 || command -v llvm-dwarfdump) || return
    # Of what gcc inlines there is no end.
    [ "$CC$OPT" = gcc-O1 ] || $dwarfdump --verify out >verified 2>&1 || ! $dwarfdump --verify plain >/dev/null 2>&1 || { echo "step $1 $2: what debuggers read is wrong"; tail verified; exit 1; }
    if [ $1 -ge 2 ] && [ $1 -lt 5 ] && gdb --version >/dev/null 2>&1; then
        gdb -q -batch -ex 'break thrower' -ex run -ex backtrace ./out >gdb.out 2>&1
        grep -q '#0 .*thrower (x=' gdb.out && grep -q '#1 .*\(other\|work\) (x=' gdb.out && ! grep -qi 'aranges\|warning: .*debug' gdb.out || { echo "step $1 $2:"; cat gdb.out; exit 1; }
    fi
}
cp incremental-instances.cc work.cc
compile main
link 0 0 'full link: no state'
# One that comes, grows, and goes; others beside it; and again.
# (What is inlined brings more of debug information than there is room for.)
[ $OPT = -O0 ] && steps='1 0 2 4 2 3 0 3 1 0' || steps='1 0 1 0'
for step in $steps; do link $step 0 'relinked: [0-9]'; done
# The object behind has one more copy, or the only one.
link 1 0 'relinked: [0-9]'
link 1 1 'relinked: [0-9]'
link 1 0 'relinked: [0-9]'
link 0 0 'relinked: [0-9]'
link 0 1 'relinked: [0-9]'
link 0 0 'relinked: [0-9]'
[ $OPT = -O0 ] || exit 0
# Both at once; then the copy that stays is another one.
link 3 2 'relinked: [0-9]'
link 0 2 'full link: .*other.o\|full link: .*work.o'
link 3 0 'full link\|relinked: [0-9]'
# The groups that came with a full link go; what of them is too large to be free does not (gcc has it so).
link 0 0 'link'
link 5 0 'full link'
exit 0

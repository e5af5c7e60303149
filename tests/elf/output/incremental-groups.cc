//# about: inline functions, instances of templates and constructors that an object has in groups of which another one has the copy that stays come and go with relinks, with what debuggers, unwinders and readers of addresses see
//# only: weld -- others do not relink
//# matrix: how=gcc:-O0:pie,gcc:-O1:fixed,clang:-O0:fixed,clang:-O1:pie
//# sh: IFS=: read CC OPT KIND <<< {how}; CC=$CC OPT=$OPT KIND=$KIND bash relink.sh
#include "shared.h"
#ifndef STEP
#define STEP 0
#endif
// What an object has in any case of what is not in groups.
ALONE long before(long x) {
    try {
        std::vector<long> all(2, x);
        return all.at(1) + numbered(x) + larger<int>(x, 5) + Small(x).value() + (x > 0 ? std::printf("before\n") : 0);
    } catch (std::exception &e) {
        return std::puts(e.what());
    }
}
ALONE long work(long x) {
    x += before(x);
#if STEP == 1 || STEP == 3
    x += counted(x) + larger<long>(x, 7);
#endif
#if STEP == 2 || STEP == 3
    x += Item(x).value() + thrower(x);
#endif
    return x * 2;
}
//--- shared.h
#include <cstdio>
#include <stdexcept>
#include <vector>
#define ALONE __attribute__((noinline))
template <class T> ALONE T larger(T a, T b) { return a > b ? a : b; }
template <class T> struct Counted {
    static inline long count = 5;
    ALONE Counted() { count++; }
};
struct Small : Counted<Small> {
    long v;
    ALONE Small(long v = 1) : v(v) {}
    ALONE virtual long value() { return v + 1; }
};
struct Item : Counted<Item> {
    long v;
    ALONE Item(long v = 1) : v(v) {}
    ALONE virtual long value() { return v + 1; }
};
ALONE inline long numbered(long x) {
    static long number;
    return x + ++number;
}
ALONE inline long counted(long x) {
    static long number = 7;
    return x + ++number;
}
ALONE inline long thrower(long x) {
    if (x > 100000) throw std::runtime_error("too large");
    return x + 1;
}
long work(long), other(long);
//--- first.cc
#include "shared.h"
ALONE long other(long x) {
    std::vector<long> all(2, x);
    x += all.at(1) + numbered(x) + counted(x) + larger<int>(x, 3) + larger<long>(x, 3);
    try {
        return thrower(x * 1000) + Item(x).value() + Small(x).value();
    } catch (std::runtime_error &e) {
        std::printf("other caught %s\n", e.what());
        return 0;
    }
}
//--- main.cc
#include "shared.h"
int main() {
    long first = other(3), second = work(1), third = work(500);
    std::printf("%ld %ld %ld %ld\n", first, second, third, other(200));
    try {
        work(100000);
    } catch (std::exception &e) {
        std::printf("caught %s\n", e.what());
    }
}
//--- relink.sh
case $CC in clang) cxx=clang++-22; command -v $cxx >/dev/null || exit 0 ;; *) cxx=g++ ;; esac
driver="$cxx -B$LD_DIR -Wl,--build-id,--threads=2"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
case $KIND in fixed) pic=-fno-pie mode=-no-pie ;; *) pic=-fPIE mode=-pie ;; esac
compile() { $cxx $pic -std=c++17 -g $OPT -gdwarf-aranges $2 -c $1.cc -o $1.o; }
[ $CC = gcc ] && compile() { $cxx $pic -std=c++17 -g $OPT $2 -c $1.cc -o $1.o; }
names() { nm -P $1 | cut -d' ' -f1,2 | sort; }
link() { # STEP LOG
    compile work -DSTEP=$1
    sleep 0.05
    $driver $mode main.o first.o work.o -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep -q "$2" || { echo "step $1:"; tail -2 .out.weld/log; exit 1; }
    $driver $mode main.o first.o work.o -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $1: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    $driver $mode main.o first.o work.o -o plain || exit 1
    ./out >is && ./plain >wanted || { echo "step $1: it does not run"; exit 1; }
    cmp is wanted || { echo "step $1: it says something else"; cat is; exit 1; }
    [ "$(names out)" = "$(names plain)" ] || { echo "step $1: other symbols"; diff <(names out) <(names plain); exit 1; }
    for name in work other thrower counted; do
        at=$(nm -C out | awk -v name=$name '$3 ~ "^" name "[(]" { print $1 }')
        for reader in addr2line eu-addr2line; do
            $reader --version >/dev/null 2>&1 || continue
            $reader -e out 0x$at | grep '\(work\|first\).cc:\|shared.h:' >/dev/null || { echo "step $1: $reader does not know $name"; exit 1; }
        done
    done
    dwarfdump=$(command -v llvm-dwarfdump-22 || command -v llvm-dwarfdump) || return
    # Of functions that lost with their groups gcc says that they are at one place; of what it inlines there is no end.
    [ "$CC$OPT" = gcc-O1 ] || $dwarfdump --verify out >verified 2>&1 || ! $dwarfdump --verify plain >/dev/null 2>&1 || { echo "step $1: what debuggers read is wrong"; tail verified; exit 1; }
    if gdb --version >/dev/null 2>&1; then
        gdb -q -batch -ex 'set breakpoint pending on' -ex 'break thrower' -ex run -ex backtrace ./out >gdb.out 2>&1
        grep -q '#0 .*thrower (x=' gdb.out && grep -q '#1 .*\(other\|work\) (x=' gdb.out && ! grep -qi 'aranges\|warning: .*debug' gdb.out || { echo "step $1:"; cat gdb.out; exit 1; }
    fi
}
cp incremental-groups.cc work.cc
for name in main first; do compile $name; done
link 0 'full link: no state'
# What is inlined brings more of debug information than there is room for.
[ $OPT = -O0 ] && steps='1 2 3 0 3 2 0' || steps='1 0 1'
for step in $steps; do link $step 'relinked: [0-9]'; done
if readelf -SW out | grep debug_aranges >/dev/null; then
    readelf --debug-dump=aranges out 2>&1 | grep -i 'warning.*arange\|error' && exit 1
fi
exit 0

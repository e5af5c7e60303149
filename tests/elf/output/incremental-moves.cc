//# about: functions that share a section move when one in front of them grows, and constants with them; who refers to them in other objects, pointers, frames, search tables and symbols follow, strings that no object had are added, and the program is that of a full link
//# only: weld -- others do not relink
//# matrix: kind=pie,shared,fixed cc=gcc,clang
//# sh: CC={cc} KIND={kind} bash relink.sh
#include <cstdio>
#include <stdexcept>
#include <string>
#ifndef STEP
#define STEP 0
#endif
long first(long);
long second(long);
long third(long);
extern long (*const table[])(long);
extern const long numbers[];
struct Base {
    virtual long get(long x) { return x + 1; }
    virtual ~Base() = default;
};
struct Derived : Base {
    long get(long x) override;
};
static long counted;
__attribute__((constructor)) static void count() { counted += 7; }
static long hidden(long x) { return x * 2 + counted; }
long first(long x) {
#if STEP == 1 || STEP == 3
    x = x * 5 - x / 7;
    x ^= x >> 3;
#endif
#if STEP >= 2
    long quotient = x / 3;
    x += quotient * 2;
#endif
    return x + 1;
}
long second(long x) {
    if (x > 100) throw std::runtime_error(STEP == 3 ? "too much" : "too many");
    return hidden(x) + numbers[2];
}
long third(long x) {
    try {
        return second(x) + first(x);
    } catch (std::exception &e) {
        std::printf("caught %s\n", e.what());
        return 3;
    }
}
long Derived::get(long x) { return first(x) + 40; }
Base *made() { static Derived one; return &one; }
#if STEP == 4
const long before[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
#else
const long before[] = {1, 2, 3, 4, 5, 6, 7};
#endif
const long numbers[] = {before[STEP % 3], 20, 30, 40};
long (*const table[])(long) = {first, second, third, hidden};
//--- main.cc
#include <cstdio>
struct Base {
    virtual long get(long);
    virtual ~Base();
};
Base *made();
long second(long);
long third(long);
extern long (*const table[])(long);
extern const long numbers[];
int main() {
    long x = 0;
    for (int i = 0; i < 4; i++) x += table[i](i + 2) * numbers[i];
    std::printf("%ld %ld %ld %ld\n", x, third(5), third(500), made()->get(2));
    std::printf("%d\n", table[1] == second && table[2] == third);
}
//--- relink.sh
case $CC in clang) cxx=clang++-22 ;; *) cxx=g++ ;; esac
driver="$cxx -B$LD_DIR -Wl,--build-id,--threads=2"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
pic=-fPIC
case $KIND in
    shared) files='work.o -shared' out=libwork.so ;;
    fixed) files='main.o work.o -no-pie' out=out pic=-fno-pie ;;
    *) files='main.o work.o -pie' out=out ;;
esac
log=.$out.weld/log
run() { case $KIND in shared) LD_PRELOAD=./$1 ./main ;; *) ./$1 ;; esac }
link() { # STEP LOG
    $cxx $pic -std=c++17 -g -O0 -DSTEP=$1 -c work.cc -o work.o
    sleep 0.05
    $driver $files -Wl,--incremental -o $out || exit 1
    tail -1 $log | grep -q "$2" || { echo "step $1:"; tail -2 $log; exit 1; }
    $driver $files -Wl,--incremental=verify -o $out 2>said || exit 1
    [ ! -s said ] || { echo "step $1: another program than a full link gives"; cat said $log; exit 1; }
    $driver $files -o plain || exit 1
    [ $KIND != shared ] || [ -e main ] || $driver main.o $out -Xlinker -rpath -Xlinker $PWD -o main || exit 1
    [ "$(run $out)" = "$(run plain)" ] || { echo "step $1: it says something else"; run $out; exit 1; }
    dwarfdump=$(command -v llvm-dwarfdump-22 || command -v llvm-dwarfdump) || return
    $dwarfdump --verify $out >verified 2>&1 || { echo "step $1: what debuggers read is wrong"; tail verified; exit 1; }
}
cp incremental-moves.cc work.cc
$cxx $pic -g -O0 -c main.cc -o main.o
link 0 'full link: no state'
for step in 1 0 2 4 1 3; do link $step 'relinked: [0-9]'; done

//# about: inline functions, constructors, instances of templates and classes with virtual functions change hands in relinks: an object in front of the one whose copy stayed gets them, or the one that had them has them no more, with what debuggers, unwinders and readers of addresses see, and what others look up
//# only: weld -- others do not relink
//# matrix: how=gcc:pie:-O0,gcc:fixed:-O1,clang:pie:-O0,clang:fixed:-O1,gcc:gc:-O0,clang:exported:-O0,gcc:shared:-O0
//# sh: IFS=: read CC KIND OPT <<< {how}; CC=$CC KIND=$KIND OPT=$OPT bash relink.sh
#include "shared.h"
#ifndef STEP
#define STEP 0
#endif
long work(long x) {
    Guard guard(x);
    x += before(x);
#if STEP & 1
    x += thrower(x) + larger<long>(x, 7);
#endif
#if STEP & 2
    Item item(x);
    Item &any = item;
    x += any.value() + (dynamic_cast<Sub *>(&any) != nullptr);
#endif
    return x * 2;
}
//--- shared.h
#include <cstdio>
#include <stdexcept>
#include <vector>
#define ALONE __attribute__((noinline))
template <class T> ALONE T larger(T a, T b) { return a > b ? a : b; }
struct Guard {
    long v;
    ALONE Guard(long v) : v(v) {}
    ALONE ~Guard() { if (v == 12345) std::puts("never"); }
};
struct Item {
    long v;
    ALONE Item(long v = 1) : v(v) {}
    ALONE virtual long value() { return v + 1; }
    virtual ~Item() {}
};
struct Sub : Item {
    ALONE Sub(long v) : Item(v + 1) {}
    ALONE long value() override { return v * 3; }
};
ALONE inline long before(long x) {
    try {
        std::vector<long> all(2, x);
        return all.at(1) + (x > 0 ? std::printf("before\n") : 0);
    } catch (std::exception &e) {
        return std::puts(e.what());
    }
}
ALONE inline long thrower(long x) {
    if (x > 100000) throw std::runtime_error("too large");
    return x + 1;
}
long work(long), other(long), third(long);
//--- other.cc
#include "shared.h"
#ifndef STEP
#define STEP 3
#endif
long other(long x) {
    Guard guard(x);
    x += before(x);
    try {
        if (before(x + 1) == 12345) throw std::runtime_error("never");
#if STEP & 1
        x += thrower(x * 1000) + larger<long>(x, 7);
#endif
    } catch (std::runtime_error &e) {
        std::printf("other caught %s\n", e.what());
        return 0;
    }
#if STEP & 2
    Sub item(x);
    Item &any = item;
    x += any.value();
#endif
    return x;
}
//--- third.cc
#include "shared.h"
long third(long x) {
    Item item(x);
    Sub sub(x);
    Item &any = x > 3 ? sub : item;
    try {
        return before(x) + thrower(x) + larger<long>(x, 99) + any.value();
    } catch (std::runtime_error &e) {
        return 7;
    }
}
//--- first.cc
// What yards may lie behind, with gc as well, and what is in front of what goes.
extern "C" long alone(long x) { return x * 3; }
extern const long numbers[];
const long numbers[] = {3, 1, 4};
extern const char *const words[];
const char *const words[] = {"one", "two"};
//--- main.cc
#include "shared.h"
extern const char *const words[];
int main(int argc, char **) {
    std::puts(words[argc & 1]);
    long first = other(3), second = work(1);
    std::printf("%ld %ld %ld %ld\n", first, second, third(5) + third(1), other(200));
    try {
        work(100000);
        third(100001);
    } catch (std::exception &e) {
        std::printf("caught %s\n", e.what());
    }
}
//--- relink.sh
case $CC in clang) cxx=clang++-22; command -v $cxx >/dev/null || exit 0 ;; *) cxx=g++ ;; esac
driver="$cxx -B$LD_DIR -Wl,--build-id,--threads=2"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
pic=-fPIE mode=-pie main='first.o main.o'
case $KIND in
    fixed) pic=-fno-pie mode=-no-pie ;;
    gc) mode='-pie -Wl,--gc-sections' ;;
    exported) mode='-pie -rdynamic' ;;
    shared) pic=-fPIC mode='-shared -Wl,-Bsymbolic' main=first.o ;;
esac
compile() { $cxx $pic -std=c++17 -g $OPT $2 -c $1.cc -o $1.o; }
# What nobody refers to stays for its yard, and what has been called.
names() { nm -P $1 | cut -d' ' -f1,2 | grep -v '^alone\|^numbers\|^words\|^__dynamic_cast' | sort; [ $KIND != exported -a $KIND != shared ] || nm -DP $1 | cut -d' ' -f1,2 | grep '[TVW]$' | sort; }
run() { case $KIND in shared) g++ -B$LD_DIR first.o main.o ./$1 -o run.$1 && ./run.$1 ;; *) ./$1 ;; esac }
line() { addr2line -e $1 0x$(nm -C $1 | awk -v name=$2 '$3 ~ "^" name "[(]" { print $1 }'); }
link() { # WORK OTHER LOG
    compile work -DSTEP=$1
    compile other -DSTEP=$2 && { cmp -s other.o other.kept || cp other.o other.kept; }
    sleep 0.05
    all="$main work.o other.kept third.o"
    $driver $mode $all -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep -q "$3" || { echo "step $1 $2:"; tail -2 .out.weld/log; exit 1; }
    $driver $mode $all -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $1 $2: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    $driver $mode $all -o plain || exit 1
    run out >is && run plain >wanted || { echo "step $1 $2: it does not run"; exit 1; }
    cmp is wanted || { echo "step $1 $2: it says something else"; cat is; exit 1; }
    [ "$(names out)" = "$(names plain)" ] || { echo "step $1 $2: other symbols"; diff <(names out) <(names plain); exit 1; }
    for name in work other thrower before; do
        [ "$(line out $name)" = "$(line plain $name)" ] || { echo "step $1 $2: addr2line does not know $name"; exit 1; }
    done
    dwarfdump=$(command -v llvm-dwarfdump-22 || command -v llvm-dwarfdump) || return 0
    [ $OPT != -O0 ] || $dwarfdump --verify out >verified 2>&1 || ! $dwarfdump --verify plain >/dev/null 2>&1 || { echo "step $1 $2: what debuggers read is wrong"; tail verified; exit 1; }
}
cp incremental-handed-over.cc work.cc
for name in main third; do compile $name; done
g++ $pic -ffunction-sections -fdata-sections -c first.cc -o first.o
link 0 3 'full link: no state'
touch work.o
steps='1 3,3 3,3 1,0 3,2 3,2 2,3 3'
# clang's debug information has less room.
[ $CC = clang ] && steps='1 3,1 2,1 3,0 3,1 3'
IFS=,
for step in $steps; do IFS=' '; link $step 'relinked: [0-9]'; done
exit 0

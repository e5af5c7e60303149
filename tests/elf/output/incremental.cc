//# about: a C++ program relinked through its compiler: changed constants, code and debug information, with exceptions, templates and thread-local storage; it runs as the one that is linked fully
//# only: weld -- others do not relink
//# matrix: kind=pie,static,nopie cc=gcc,clang
//# sh: CC={cc} KIND={kind} bash relink.sh
//# run: ./out
//# exit: 0
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
#include <cstdio>
#ifndef LIMIT
#define LIMIT 11
#define STEP 3
#endif
int helper(int);
static thread_local int counter = LIMIT;
static std::map<std::string, std::vector<int>> table;
template <class T> struct Base { virtual ~Base() {} virtual T get() { return T(); } };
struct Derived : Base<int> { int get() override { return counter += STEP; } };
int main(int argc, char **) {
    Derived d;
    for (int i = 0; i < LIMIT; i++) table[std::to_string(i % 4)].push_back(d.get() + helper(i));
    int sum = 0;
    for (auto &[name, list] : table) for (int x : list) sum += x;
    try {
        if (sum != 12345678) throw std::out_of_range("sum " + std::to_string(sum));
    } catch (const std::exception &e) {
        std::printf("%s\n", e.what());
    }
    return argc > 1;
}
//--- helper.cc
#ifndef FACTOR
#define FACTOR 5
#endif
extern const int factors[3] = {FACTOR, 2, 3};
int helper(int x) { return x * factors[x % 3]; }
//--- relink.sh
case $CC in clang) cxx=clang++-22 ;; *) cxx=g++ ;; esac
case $KIND in static) kind=-static code=-fPIE ;; nopie) kind=-no-pie code=-fno-pie ;; *) kind=-pie code=-fPIE ;; esac
driver="$cxx $kind -B$LD_DIR -Wl,--build-id,--threads=2"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
compile() { $cxx $code -std=c++17 -g -O1 -ffunction-sections -c "$@"; }
link() {
    $driver -Wl,--incremental main.o helper.o -o out || exit 1
    tail -1 .out.weld/log | grep -q "$2" || { echo "$1:"; cat .out.weld/log; exit 1; }
    # A full link beside it gives the same program, with the rooms that sections have.
    $driver -Wl,--incremental=verify main.o helper.o -o out 2>said || exit 1
    [ ! -s said ] || { echo "$1: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    $driver main.o helper.o -o full || exit 1
    [ "$(./out)" = "$(./full)" ] || { echo "$1: it says something else"; exit 1; }
}
cp incremental.cc main.cc
compile main.cc -o main.o; compile helper.cc -o helper.o
# What is younger than the link is looked at again.
sleep 0.1
link first 'full link: no state'
link again 'relinked: no input has changed$'
compile -DFACTOR=7 helper.cc -o helper.o; link constant 'relinked: .* of 1 object'
compile -DLIMIT=11 -DSTEP=5 main.cc -o main.o; link code "relinked"
compile -DLIMIT=11 -DSTEP=9 main.cc -o main.o; link step "relinked"
compile -DFACTOR=9 helper.cc -o helper.o; compile -DLIMIT=11 -DSTEP=4 main.cc -o main.o; link both 'relinked: .* of 2 objects'
rm -f out; link unlinked 'relinked'
sed -i 's/return argc > 1/if (argc > 3) helper(3); return argc > 1/' main.cc; compile main.cc -o main.o; link grown 'relinked: [0-9]'
compile -DFACTOR=4 helper.cc -o helper.o; link after 'relinked'
strip out 2>/dev/null; link stripped 'relinked\|written to'
cat > gdb.in <<'END'
break helper
run
print factors[0]
backtrace 2
END
gdb -q -batch -x gdb.in ./out 2>/dev/null | grep '^\$1 = 4' >/dev/null || ! gdb --version >/dev/null 2>&1 || { echo 'gdb sees something else'; gdb -q -batch -x gdb.in ./out; exit 1; }

//# about: what people add to a source file that is compiled as compilers do it unasked: a variable, a table, a container, a first catch; each comes and goes in relinks
//# only: weld -- others do not relink
//# matrix: how=g++:fixed,clang++:pie
//# sh: IFS=: read CC KIND <<< {how}; CC=$CC KIND=$KIND bash relink.sh
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>
#ifndef STEP
#define STEP 0
#endif
#define HAS(step) (STEP == (step) || STEP == 9)
#if HAS(1)
static int counter = 5;
int shared_counter = 7;
#endif
#if HAS(2)
static int zeroes[20];
#endif
#if HAS(3)
static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
#endif
#if HAS(4)
static const char *const names[] = {"alpha", "beta", "gamma"};
#endif
#if HAS(5)
struct Fresh { int value; std::string name; };
#endif
#if HAS(6)
struct Odd { int value; };
#endif
__attribute__((noinline)) int plain(int n) { return n * 3 + 1; }
int work(int n) {
    int sum = plain(n);
#if HAS(1)
    sum += counter++ + shared_counter++;
#endif
#if HAS(2)
    sum += ++zeroes[n & 15] + zeroes[3];
#endif
#if HAS(3)
    sum += primes[n & 7];
#endif
#if HAS(4)
    sum += strlen(names[n % 3]);
#endif
#if HAS(5)
    std::vector<Fresh> all;
    all.push_back({n, "fresh"});
    sum += all.back().value + all.back().name.size();
#endif
#if HAS(6)
    try {
        if (n % 3 == 1) throw Odd{n};
    } catch (const Odd &odd) {
        sum += odd.value * 7;
    }
#endif
    return sum;
}
//--- main.cc
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
int work(int);
static int known = 3;
struct Known { int value; };
const char *volatile word = "main";
int main() {
    int sum = known + strlen(word);
    try {
        if (sum > 100) throw std::runtime_error(std::string(word));
        if (sum > 200) throw Known{sum};
    } catch (const Known &caught) {
        sum = caught.value;
    } catch (const std::exception &e) {
        puts(e.what());
    }
    for (int i = 0; i < 9; i++) sum = sum * 31 + work(i);
    printf("%d\n", sum);
}
//--- relink.sh
case $CC in clang++) cc=clang++-22; command -v $cc >/dev/null || cc=clang++; command -v $cc >/dev/null || exit 0 ;; *) cc=g++ ;; esac
driver="$cc -B$LD_DIR -Wl,--build-id"
[ $CC = clang++ ] && driver="$driver --ld-path=$LD_DIR/ld"
case $KIND in fixed) pic=-fno-pie mode=-no-pie ;; *) pic=-fPIE mode=-pie ;; esac
compile() { $cc $pic -O0 $2 -c $1.cc -o $1.o || exit 1; }
link() { # STEP LOG
    compile work -DSTEP=$1
    sleep 0.05
    $driver $mode work.o main.o -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep "$2" >/dev/null || { echo "step $1:"; tail -2 .out.weld/log; exit 1; }
    $driver $mode work.o main.o -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $1: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    $driver $mode work.o main.o -o plain || exit 1
    ./out >is && ./plain >wanted || { echo "step $1: it does not run"; exit 1; }
    cmp is wanted || { echo "step $1: it says something else"; cat is; exit 1; }
}
cp incremental-everyday.cc work.cc
compile main
link 0 'full link: no state'
for step in 1 2 3 4 5 6 0 9 0 5 6 1; do link $step 'relinked: [0-9]'; done
rm -r .out.weld
link 9 'full link: no state'
for step in 0 9 3; do link $step 'relinked: [0-9]'; done
exit 0

//# about: functions, constants and tables of pointers with a section each come, go, grow out of their places and are referred to for the first time, with and without gc, in relinks
//# only: weld -- others do not relink
//# matrix: how=gcc:pie:gc,gcc:fixed:gc,clang:pie:gc,clang:pie:all,gcc:pie:all
//# sh: IFS=: read CC KIND GC <<< {how}; CC=$CC KIND=$KIND GC=$GC bash relink.sh
#include <stdio.h>
#ifndef STEP
#define STEP 0
#endif
#define ALONE __attribute__((noinline))
extern long calls;
ALONE static long first(long x) { return x * 3 + 1; }
#if STEP >= 1 && STEP != 3
ALONE static long fresh(long x) { return x / 5 ^ 77; }
#endif
#if STEP == 2
static const char *const names[] = {"one", "two", "three"};
ALONE static const char *named(long x) { return names[x % 3]; }
#endif
ALONE long shared_by_all(long x) { return x + 40; }
// Nothing calls it at first.
ALONE long unused(long x) {
    static const long (*const table[])(long) = {(void *)first, (void *)shared_by_all};
    return ((long (*)(long))table[x & 1])(x) + printf("unused\n");
}
ALONE long grows(long x) {
#if STEP >= 4
    for (int i = 0; i < 7; i++) {
        x = x * 13 + calls++;
        x ^= x >> 3;
        if (x % 3 == 1) printf("grows %ld\n", x & 15);
        if (x % 5 == 1) printf("and %ld\n", x & 31);
        if (x % 7 == 1) printf("grows again %ld\n", x & 63);
        x += (x * 31) % 1001 + (x * 37) % 1003 + (x * 41) % 1007 + (x * 43) % 1009;
        x += (x * 47) % 1013 + (x * 53) % 1017 + (x * 59) % 1019 + (x * 61) % 1023;
    }
#endif
    return x + 2;
}
#if STEP == 5
ALONE long chosen(long x) {
    switch (x % 7) {
    case 0: return x + 5;
    case 1: return x * 3;
    case 2: return x - 9;
    case 3: return x ^ 4;
    case 4: return x / 3;
    case 5: return first(x);
    default: return x;
    }
}
#endif
long work(long x) {
    x = first(x) + shared_by_all(x) + calls;
    if (x == 12345) puts("never");
    if (x == 23456) printf("never %ld\n", x);
#if STEP >= 1 && STEP != 3
    x += fresh(x);
#endif
#if STEP == 2
    puts(named(x));
#endif
    x += grows(x);
#if STEP == 5
    x += chosen(x);
#endif
#if STEP == 6
    x += unused(x);
#endif
    return x;
}
//--- main.c
#include <stdio.h>
long calls;
long work(long), grows(long), shared_by_all(long);
long (*const known[])(long) = {grows, work, shared_by_all};
// What yards may lie behind, with gc as well.
__attribute__((noinline)) long alone(long x) { return x * 3; }
const long numbers[] = {3, 1, 4, 1, 5, 9, 2, 6};
const char *const words[] = {"none", "some"};
int main(int argc, char **argv) {
    printf("%ld %ld %s\n", alone(argc), numbers[argc & 7], words[argc & 1]);
    for (long i = 1; i < 9; i++) printf("%ld %ld\n", i, known[i % 3](i * argc));
}
//--- relink.sh
case $CC in clang) cc=clang-22; command -v $cc >/dev/null || cc=clang; command -v $cc >/dev/null || exit 0 ;; *) cc=gcc ;; esac
driver="$cc -B$LD_DIR -Wl,--build-id"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
case $KIND in fixed) pic=-fno-pie mode=-no-pie ;; *) pic=-fPIE mode=-pie ;; esac
[ $GC = gc ] && driver="$driver -Wl,--gc-sections"
compile() { $cc $pic -g -O0 -ffunction-sections -fdata-sections $2 -c $1.c -o $1.o || exit 1; }
link() { # STEP LOG
    compile work -DSTEP=$1
    sleep 0.05
    $driver $mode main.o work.o -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep -q "$2" || { echo "step $1:"; tail -2 .out.weld/log; exit 1; }
    $driver $mode main.o work.o -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $1: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    $driver $mode main.o work.o -o plain || exit 1
    ./out >is && ./plain >wanted || { echo "step $1: it does not run"; exit 1; }
    cmp is wanted || { echo "step $1: it says something else"; cat is; exit 1; }
    for name in work grows first; do
        nm out | grep " [tT] $name$" >/dev/null || { echo "step $1: no $name"; exit 1; }
    done
}
cp incremental-sections.c work.c
compile main
link 0 'full link: no state'
for step in 1 2 0 1 3 4 0 5 4 2 6 0 6; do link $step 'relinked: [0-9]'; done
exit 0

//# about: an object calls functions that it did not, or ceases to: those of other objects, of shared objects that have an entry of the PLT or a slot of the GOT, in any order; what would bring in something else (a member of an archive, a library of --as-needed, an entry where none is spare, a copy, an IFUNC, thread-local storage, a function's address) is a full link, and with gc what is not wanted any more goes
//# only: weld -- others do not relink
//# matrix: kind=pie,shared,fixed cc=gcc,clang gc=no,yes
//# sh: CC={cc} KIND={kind} GC={gc} bash relink.sh
#include <stdio.h>
#ifndef STEP
#define STEP 0
#endif
long other(long), another(long), third(long), unused(long), chosen(long), both(long), here(long);
__attribute__((weak)) long weakly(long);
long member(long);
double cos(double);
extern long counter, copied;
extern __thread long threads;
int late(const char *);
long work(long x) {
    x = here(x);
#if STEP == 1
    x += other(x);
#elif STEP == 2
    x += third(x) - another(x) + other(x);
#elif STEP == 3
    putchar('3');
    x += another(x);
#elif STEP == 4
    x += counter;
#elif STEP == 5
    if (weakly) x += weakly(x);
#elif STEP == 10
    x += member(x);
#elif STEP == 11
    x += (long)cos(x);
#elif STEP == 12
    x += getchar();
#elif STEP == 13
    x += chosen(x);
#elif STEP == 14
    x += threads++;
#elif STEP == 15
    x += (long)&puts & 1;
#elif STEP == 16
    x += both(x);
#elif STEP == 17
    x += late(0);
#endif
    return x + 1;
}
//--- main.c
#include <stdio.h>
long work(long), other(long), another(long), third(long);
long counter = 3;
__thread long threads = 4;
long here(long x) { return x; }
long weakly(long x) { return x * 7; }
static long one(long x) { return x + 5; }
static long (*choose(void))(long) { return one; }
long chosen(long) __attribute__((ifunc("choose")));
long wanted(long);
int begin(void) {
    puts("begin");
    putchar('b');
    printf("%ld %ld\n", work(5), other(1) + another(2) + third(3) + weakly(4) + wanted(5) + counter);
    return 0;
}
#ifndef SHARED
int main(void) { return begin(); }
#endif
//--- others.c
long other(long x) { return x * 3; }
long another(long x) { return x - 8; }
long third(long x) { return x ^ 21; }
long unused(long x) { return x / 2; }
int late(const char *text) { return text ? 1 : 2; }
#ifdef WARNS
__attribute__((section(".gnu.warning.late"))) const char warns[] = "late is not what you want";
#endif
//--- first.c
long member(long x) { return x + 100; }
__attribute__((weak)) long both(long x) { return x + 200; }
//--- second.c
long wanted(long x) { return x + 300; }
__attribute__((weak)) long both(long x) { return x + 400; }
//--- start.c
int begin(void);
int main(void) { return begin(); }
//--- relink.sh
pic=-fPIC
case $KIND in
    shared) flags='-shared' out=libwork.so more=-DSHARED ;;
    fixed) flags='-no-pie' out=out pic=-fno-pie ;;
    *) flags='-pie' out=out pic=-fPIE ;;
esac
[ $CC = clang ] && cc=clang-22 || cc=gcc
driver="$cc -B$LD_DIR $flags -Wl,--build-id,--threads=2"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
[ $GC = yes ] && driver="$driver -Wl,--gc-sections"
files='main.o work.o others.o lib.a -Wl,--as-needed -lm'
log=.$out.weld/log
compile() { $cc $pic $more -g -O0 -ffunction-sections -fno-builtin "$@"; }
run() { case $KIND in shared) LD_LIBRARY_PATH=. LD_PRELOAD=./$1 ./start ;; *) ./$1 ;; esac </dev/null; }
link() { # STEP LOG
    compile -DSTEP=$1 -c work.c -o work.o
    sleep 0.05
    $driver $files -Wl,--incremental -o $out 2>said || { cat said; exit 1; }
    tail -1 $log | grep -q "$2" || { echo "step $1:"; tail -2 $log; exit 1; }
    $driver $files -Wl,--incremental=verify -o $out 2>verified || { cat verified; exit 1; }
    cmp -s said verified || { echo "step $1: another program than a full link gives"; cat verified $log; exit 1; }
    $driver $files -o plain 2>/dev/null || exit 1
    [ $KIND != shared ] || [ -e start ] || $cc start.c -B$LD_DIR -L. -lwork -o start || exit 1
    [ "$(run $out)" = "$(run plain)" ] || { echo "step $1: it says something else"; run $out; run plain; exit 1; }
}
cp incremental-calls.c work.c
for name in main others first second; do compile -c $name.c -o $name.o; done
ar rc lib.a first.o second.o
again='relinked: [0-9]'
link 0 'full link: no state'
for step in 1 2 0 2 3 1 0; do link $step "$again"; done
# A distance, or a slot of the GOT that there may be; what then counts is that both links are the same.
for step in 4 0 5 0; do link $step 'link'; done
for step in 10 11 12 13 14 15 16 17; do
    link 0 'link'
    link $step 'link'
done
link 0 'link'
# The member that comes finds no place.
link 10 'full link: lib.a(first.o) is new'
link 0 'full link: lib.a(first.o) is gone'
link 11 "full link: .*'cos' is"
# What is called through the PLT stays there, with its library.
link 0 "$again"
link 16 'full link: lib.a(first.o) is new'
# Who refers to it first is warned.
compile -DWARNS -c others.c -o others.o
link 0 'full link'
link 17 "full link: .*'late' is"
grep -q 'late is not what you want' said || { echo 'there was no warning'; cat said; exit 1; }

//# about: tables of 32 bytes and more, which compilers align to 32, come and go in relinks of libraries and programs that had none: constants and tables of pointers, with sections of their own and without
//# only: weld -- others do not relink
//# matrix: how=shared:own,pie:own,pie:one
//# sh: IFS=: read KIND SECTIONS <<< {how}; KIND=$KIND SECTIONS=$SECTIONS bash relink.sh
#ifndef STEP
#define STEP 0
#endif
long other(long), another(long);
typedef long (*function)(long);
static long (*const two[])(long) = {other, another};
static const int few[] = {3, 1};
#if STEP == 1 || STEP == 3
static const int many[] = {3, 1, 4, 1, 5, 9, 2, 6, 5};
#endif
#if STEP == 2 || STEP == 3
static const function all[] = {other, another, other, other, another};
#endif
long work(long x) {
    x += two[x & 1](x) + few[x & 1];
#if STEP == 1 || STEP == 3
    x += many[x & 7];
#endif
#if STEP == 2 || STEP == 3
    x += all[x & 3](x);
#endif
    return x;
}
//--- other.c
static const short numbers[] = {1, 2, 3};
long other(long x) { return x + numbers[x & 1]; }
long another(long x) { return x * 7; }
typedef long (*function)(long);
const function known[] = {other, another};
//--- main.c
#include <stdio.h>
long work(long);
int main(int argc, char **argv) { printf("%ld %ld\n", work(argc), work(argc + 6)); }
//--- relink.sh
case $KIND in shared) pic=-fPIC mode=-shared ;; *) pic=-fPIE mode=-pie main=main.c ;; esac
sections='-ffunction-sections -fdata-sections'
[ $SECTIONS = one ] && sections=
cp incremental-tables.c work.c
gcc $pic -O0 $sections -c other.c || exit 1
[ -z "$main" ] || gcc $pic -O0 -c main.c || exit 1
all="other.o work.o ${main:+main.o}"
run() { # OUTPUT
    case $KIND in shared) gcc main.c ./$1 -o run.$1 && ./run.$1 ;; *) ./$1 ;; esac
}
link() { # STEP LOG
    gcc $pic -O0 $sections -DSTEP=$1 -c work.c || exit 1
    sleep 0.05
    gcc -B$LD_DIR $mode $all -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep -q "$2" || { echo "step $1:"; tail -2 .out.weld/log; exit 1; }
    gcc -B$LD_DIR $mode $all -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $1: another output than a full link gives"; cat said .out.weld/log; exit 1; }
    gcc -B$LD_DIR $mode $all -o plain || exit 1
    [ "$(run out)" = "$(run plain)" ] || { echo "step $1: it says something else"; exit 1; }
}
link 0 'full link: no state'
# Where tables share a section, one of pointers is as new as data are.
steps='1 2 0 3 0 3 1'
[ $SECTIONS = one ] && steps='1 0 1'
for step in $steps; do link $step 'relinked: [0-9]'; done
exit 0

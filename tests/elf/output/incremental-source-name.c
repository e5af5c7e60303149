//# about: an object is compiled from a file of another name, as with caches of compilers and unity builds: its symbol says so after a relink
//# only: weld -- others do not relink
//# matrix: how=gcc,clang
//# sh: CC={how} bash relink.sh
#include <stdio.h>
static int local(int x) { return x + 5; }
int work(int x) { return printf("%d\n", local(x)); }
//--- main.c
int work(int);
int main(int argc, char **argv) { return work(argc) != 2; }
//--- relink.sh
case $CC in clang) cc=clang-22; command -v $cc >/dev/null || cc=clang; command -v $cc >/dev/null || exit 0 ;; *) cc=gcc ;; esac
$cc -fPIE -c main.c || exit 1
link() { # SOURCE LOG
    cp incremental-source-name.c $1
    $cc -fPIE -g0 -c $1 -o work.o || exit 1
    sleep 0.05
    gcc -B$LD_DIR -pie main.o work.o -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep -q "$2" || { echo "$1:"; tail -2 .out.weld/log; exit 1; }
    gcc -B$LD_DIR -pie main.o work.o -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "$1: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    ./out >/dev/null || { echo "$1: it does not run"; exit 1; }
    readelf -sW out | grep "FILE .* ABS $1" >/dev/null || { echo "$1: no symbol says so"; exit 1; }
    eu-elflint --version >/dev/null 2>&1 && { eu-elflint --gnu-ld out || exit 1; }
    return 0
}
link first.c 'full link: no state'
link a-much-longer-name.c 'relinked: [0-9]'
link b.c 'relinked: [0-9]'

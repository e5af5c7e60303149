//# about: functions of shared objects that nobody called are called by relinks, with what loaders (glibc's and musl's) do at once or later, and what readers of symbols, relocations and code see; who ceases to call one is relinked, too, and so are functions that ask for another alignment; a version that the output does not need and a function's address are full links
//# only: weld -- others do not relink
//# matrix: how=gcc:-pie:lazy:gnu,gcc:-no-pie:now:both,clang:-pie:now:sysv,musl-gcc:-pie:lazy:both,aarch64-linux-gnu-gcc:-pie:lazy:gnu,aarch64-linux-gnu-gcc:-no-pie:now:both
//# sh: IFS=: read CC KIND BIND HASH <<< {how}; CC=$CC KIND=$KIND BIND=$BIND HASH=$HASH bash relink.sh
#define _GNU_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef STEP
#define STEP 0
#endif
int puts(const char *);
extern char word[];
#if STEP & 4
__attribute__((aligned(16)))
#endif
long work(long x) {
    char text[20] = "abcdef";
#if STEP & 1
    x += strlen(text);
#endif
#if STEP & 2
    x += toupper('a') + (strchr(text, 'c') - text);
#endif
#if STEP & 16
    x += reallocarray(0, 1, 8) == 0;
#endif
#if STEP & 32
    size_t (*volatile where)(const char *, const char *) = strspn;
    x += where == 0;
#endif
#if !(STEP & 8)
    puts(word);
#else
    x += word[0] - 'w';
#endif
    return x + STEP;
}
//--- main.c
#include <stdio.h>
long work(long);
char word[] = "work";
int main(void) { return printf("begin\n%ld\n", work(5)) < 0; }
//--- relink.sh
case $CC in
    clang) cc=clang-22 run= ;;
    aarch64*) cc="$CC -mno-fix-cortex-a53-843419" run='qemu-aarch64 -L /usr/aarch64-linux-gnu' ;;
    *) cc=$CC run= ;;
esac
command -v ${cc%% *} ${run%% *} >/dev/null || { echo 'no compiler here'; exit 0; }
driver="$cc -B$LD_DIR $KIND -Wl,--build-id,-z,$BIND,--hash-style=$HASH"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
case $KIND in -pie) pic=-fPIE ;; *) pic=-fno-pie ;; esac
compile() { $cc $pic -g -O0 -fno-builtin "${@:2}" -c $1.c -o $1.o; }
imports() { nm -D $1 | awk '{ print $NF }' | sort; }
link() { # STEP LOG
    compile work -DSTEP=$1
    sleep 0.05
    $driver main.o work.o -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep -q "$2" || { echo "step $1:"; tail -2 .out.weld/log; exit 1; }
    $driver main.o work.o -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $1: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    $driver main.o work.o -o plain || exit 1
    for now in '' 1; do
        export LD_BIND_NOW=$now
        $run ./out >is && $run ./plain >wanted || { echo "step $1: it does not run"; exit 1; }
        cmp is wanted || { echo "step $1: it says something else"; cat is; exit 1; }
    done
    unset LD_BIND_NOW
    [ -z "$(comm -13 <(imports out) <(imports plain))" ] || { echo "step $1: imports are missing"; imports out; exit 1; }
    # The rest is as it was.
    [ $1 = 3 ] || [ $1 = 15 ] || return 0
    for reader in 'readelf -aW' 'readelf -D -sW' 'nm -D' 'nm' 'objdump -dr' 'objdump -TR'; do
        case "$run$reader" in ?*objdump*) continue ;; esac
        $reader out >read 2>errors || { echo "step $1: $reader"; cat errors; exit 1; }
        $reader plain 2>&1 >/dev/null | sed 's/plain/out/' >others
        cmp errors others || { echo "step $1: $reader"; cat errors; exit 1; }
    done
    if eu-elflint --version >/dev/null 2>&1; then
        number='s/section \[[ 0-9]*\]/section/'
        diff <(eu-elflint --gnu-ld out | sed "$number") <(eu-elflint --gnu-ld plain | sed "$number") || { echo "step $1: checkers mind it"; exit 1; }
    fi
    if [ -z "$run" ]; then
        strip out -o stripped && ./stripped >is && cmp is wanted || { echo "step $1: it does not run stripped"; exit 1; }
        LD_BIND_NOW=1 LD_DEBUG=bindings ./out >bindings 2>&1
        ! grep -q "symbol lookup error\|symbol \`'" bindings || { echo "step $1: what is spare is looked up"; exit 1; }
    fi
    if [ -z "$run" ] && gdb --version >/dev/null 2>&1; then
        gdb -q -batch -ex 'break puts' -ex run -ex 'backtrace 2' ./out >gdb.out 2>&1
        [ $(($1 & 8)) = 8 ] || grep -q 'in work (x=' gdb.out || { echo "step $1:"; cat gdb.out; exit 1; }
    fi
}
cp incremental-imports.c work.c
for name in main work; do compile $name; done
link 0 'full link: no state'
# musl's library does not say what it is called.
[ $CC != musl-gcc ] || { link 1 "full link: .*'strlen' is" && link 4 'relinked: [0-9]'; exit; }
for step in 1 3 8 2 4 15 0; do link $step 'relinked: [0-9]'; done
# It was there before, and is not any more, and is again.
rm -r .out.weld
link 3 'full link: no state'
for step in 12 1 3; do link $step 'relinked: [0-9]'; done
# Of a version that nobody needed.
link 17 'relinked: [0-9]'
link 1 'relinked: [0-9]'
link 33 'full link'
exit 0

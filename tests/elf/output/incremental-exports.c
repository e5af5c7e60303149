//# about: functions and constants that other modules see come, go and are called otherwise with relinks, of programs that export their names and of libraries, with versions that a script says; the loader finds those that are there, by either hash table, and no others
//# only: weld -- others do not relink
//# matrix: cc=gcc,clang kind=program,library,versions,symbolic style=both,gnu
//# sh: CC={cc} KIND={kind} STYLE={style} bash relink.sh
#ifndef STEP
#define STEP 0
#endif
const long constant = 5;
long before(long x) { return x + 1; }
#if STEP == 1 || STEP == 2
long added(long x) { return x * 3; }
#endif
#if STEP == 2
long added_too(long x) { return before(x) * 5; }
const long added_constant = 77;
#elif STEP == 3
long renamed(long x) { return x * 7; }
#endif
#if STEP != 3 && STEP != 4
long old(long x) { return x * 7; }
#endif
#if STEP == 5
long secret_one(long x) { return x * 9; }
__attribute__((visibility("hidden"))) long unseen(long x) { return x * 11; }
#endif
#if STEP == 6
// What is seen may be called otherwise by others.
__attribute__((visibility("protected"))) long guarded(long x) { return x * 13; }
#endif
__attribute__((weak)) long weak(long x) { return x * 2 + STEP; }
//--- other.c
long before(long);
long other(long x) { return before(x) + 100; }
//--- main.c
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *from = dlopen(argc > 1 ? argv[1] : NULL, RTLD_NOW);
    if (!from) return puts(dlerror()), 1;
    const char *names[] = {"before", "added", "added_too", "renamed", "old", "secret_one", "unseen", "weak", "other"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        long (*found)(long) = (long (*)(long))dlsym(from, names[i]);
        if (found) printf("%s %ld ", names[i], found(2));
        found = (long (*)(long))dlvsym(from, names[i], "V2");
        if (found) printf("(V2) ");
    }
    puts("");
}
//--- script
V1 { global: before; other; weak; old; };
V2 { global: added*; renamed; constant; local: secret_*; } V1;
//--- client.c
long added(long), before(long);
#include <stdio.h>
int main(void) { printf("%ld\n", added(before(4))); }
//--- relink.sh
[ $CC = clang ] && cc=clang-22 || cc=gcc
command -v $cc >/dev/null || { echo 'no compiler here'; exit 0; }
driver="$cc -B$LD_DIR -Wl,--hash-style=$STYLE,--build-id"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
case $KIND in
    program) options="-rdynamic main.o" flags="-O1 -fPIE" ;;
    library) options="-shared -Wl,-soname,lib.so" flags="-O1 -fPIC" ;;
    versions) options="-shared -Wl,-soname,lib.so,--version-script=script" flags="-O1 -fPIC" ;;
    symbolic) options="-shared -Wl,-soname,lib.so,-Bsymbolic" flags="-O1 -fPIC" ;;
esac
$cc $flags -c main.c && $cc $flags -c other.c && $cc -fPIE -c client.c && $cc -rdynamic main.o -o main || exit 1
run() { if [ $KIND = program ]; then ./$1; else ./main ./$1; fi; }
exports() { nm -D --defined-only $1 | cut -d' ' -f2- | sort; }
link() { # STEP LOG
    $cc $flags -DSTEP=$1 -c edited.c || exit 1
    sleep 0.05
    $driver $options edited.o other.o -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep -q "$2" || { echo "step $1:"; tail -2 .out.weld/log; exit 1; }
    $driver $options edited.o other.o -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $1: another output than a full link gives"; cat said .out.weld/log; exit 1; }
    $driver $options edited.o other.o -o plain || exit 1
    run out >is && run plain >wanted || { echo "step $1: it does not run"; cat is; exit 1; }
    cmp is wanted || { echo "step $1: it says something else"; cat is wanted; exit 1; }
    diff <(exports out) <(exports plain) || { echo "step $1: it exports something else"; exit 1; }
    if eu-elflint --version >/dev/null 2>&1; then
        number='s/section \[[ 0-9]*\]/section/'
        diff <(eu-elflint --gnu-ld out | sed "$number") <(eu-elflint --gnu-ld plain | sed "$number") || { echo "step $1: checkers mind it"; exit 1; }
    fi
    for reader in 'readelf -aW' 'readelf -D -sW' 'nm -D' 'objdump -TR'; do
        $reader out >read 2>errors || { echo "step $1: $reader"; cat errors; exit 1; }
        $reader plain 2>&1 >/dev/null | sed 's/plain/out/' >others
        cmp errors others || { echo "step $1: $reader"; cat errors; exit 1; }
    done
    [ $KIND = program ] && return
    # Who is linked with it.
    case $1 in
        1 | 2) for ld in $LD_DIR /usr/bin; do
            cp out lib.so && $cc -B$ld client.o ./lib.so -o client && LD_LIBRARY_PATH=. ./client >is 2>&1 || { echo "step $1: $ld"; cat is; exit 1; }
        done ;;
    esac
}
cp incremental-exports.c edited.c
link 0 'full link: no state'
for step in 1 2 1 0 3 4 0 5 1; do link $step 'relinked: [0-9]'; done
link 6 'full link'
exit 0

//# about: which name a symbol of a changed object has is not forgotten: with --wrap, where names in their table stay and symbols trade them, or a weak mention becomes a strong or a hidden one; and if an edit changes no byte, since the name that it mentions is an alias of the other, the next one knows it
//# only: weld -- others do not relink
//# matrix: cc=gcc,clang option=--wrap=nothing,--wrap=g,--build-id
//# sh: CC={cc} OPTION={option} bash relink.sh
#ifndef STEP
#define STEP 0
#endif
long g(long), __wrap_g(long);
#if STEP == 3
long f(long);
#elif STEP == 4
__attribute__((visibility("hidden"))) long f(long);
#else
__attribute__((weak)) long f(long);
#endif
#if STEP == 5 || STEP == 6
long absent(long) __attribute__((weak));
#elif STEP == 7
long absent(long);
#endif
long work(long x) {
#if STEP == 1
    return g(x) * 10 + f(x + 1);
#elif STEP >= 5
    return f(x) * 10 + g(x + 1) + (x > 100 ? absent(x) : 0);
#else
    return f(x) * 10 + g(x + 1);
#endif
}
//--- main.c
#include <stdio.h>
long work(long), calls(long), f(long), g(long);
long __wrap_g(long x) { return x * 1000; }
int main(void) { printf("%ld %ld %ld %ld\n", work(1), calls(2), f(3), g(4)); }
//--- defines.c
#if STEP == 1
long g(long x) { return x + 9; }
long f(long x) { return x + 1; }
#else
long f(long x) { return x + 9; }
long g(long x) { return x + 1; }
#endif
//--- alias.c
long base(long x) { return x * 3 + 1; }
#if STEP == 1
long alias(long x) { return x * 5 + 7; }
#else
long alias(long) __attribute__((alias("base")));
#endif
//--- calls.c
long base(long), alias(long);
#if STEP == 1
long calls(long x) { return alias(x) + 1; }
#else
long calls(long x) { return base(x) + 1; }
#endif
//--- relink.sh
[ $CC = clang ] && cc=clang-22 || cc=gcc
driver="$cc -B$LD_DIR -no-pie -Wl,$OPTION"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
files='main.o work.o defines.o alias.o calls.o'
compile() { # STEP NAME
    $cc -fno-pie -O1 -fno-asynchronous-unwind-tables -DSTEP=$1 -c $2.c -o $2.o
}
link() { # STEP NAME
    compile $1 $2
    sleep 0.05
    $driver $files -Wl,--incremental -o out 2>said; code=$?
    $driver $files -o plain 2>plainly; plain=$?
    [ $code = $plain ] || { echo "$2, step $1: $code, and a full link $plain"; tail -2 .out.weld/log; exit 1; }
    [ $code = 0 ] || return 0
    [ "$(./out)" = "$(./plain)" ] || { echo "$2, step $1: it says $(./out), not $(./plain)"; tail -2 .out.weld/log; exit 1; }
}
cp incremental-names.c work.c
for name in main defines alias calls; do compile 0 $name; done
link 0 work
for step in 1 0 3 0 4 0 5 7 6 0; do link $step work; done
for step in 1 0; do link $step defines; done
link 1 calls
link 1 alias
link 0 calls
link 1 calls
link 0 alias

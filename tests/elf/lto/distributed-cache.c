//# about: with a cache, a link whose code has not changed needs neither engine nor distributor, and one of which a module has changed compiles what depends on it; what is damaged is compiled again
//# only: weld -- messages are weld's
//# obj: main.o = distributed-cache.c @clang -O2 -flto=thin
//# obj: part.o = part.c @clang -O2 -flto=thin
//# obj: alone.o = alone.c @clang -O2 -flto=thin
//# obj: changed.o = changed.c @clang -O2 -flto=thin
//# sh: printf '#!/bin/sh\nexit 1\n' > fails; chmod +x fails; cp part.o p.o
//# link: %pie main.o p.o alone.o --thinlto-cache-dir={dir}/kept --thinlto-distributor={distribute}/sandbox --thinlto-remote-compiler=clang-22 --verbose
//# stdout-re: sandbox: 3 of 3 modules
//# once
//# run:
//# stdout: 3 1
//# sh: ls kept/llvmcache-weld-* | wc -l | grep -x 4 >/dev/null
//# link: %pie main.o p.o alone.o --thinlto-cache-dir={dir}/kept --thinlto-distributor=./fails --thinlto-remote-compiler=clang-22 --verbose
//# stdout-re: kept/llvmcache-weld-[0-9a-f]+: objects of an earlier link
//# run:
//# stdout: 3 1
//# sh: cp changed.o p.o
//# sh-fail: $LD_DIR/ld.lld -r main.o p.o alone.o --thinlto-cache-dir={dir}/kept --thinlto-distributor=./fails --thinlto-remote-compiler=clang-22
//# link: %pie main.o p.o alone.o --thinlto-cache-dir={dir}/kept --thinlto-distributor={distribute}/sandbox --thinlto-remote-compiler=clang-22 --verbose
//# stdout-re: sandbox: 2 of 3 modules
//# once
//# run:
//# stdout: 4 1
//# sh: for f in {dir}/kept/llvmcache-weld-*; do printf damaged | dd of=$f conv=notrunc bs=1 seek=60 2>&1; done
//# sh-fail: $LD_DIR/ld.lld -pie main.o p.o alone.o --thinlto-cache-dir={dir}/kept --thinlto-distributor=./fails --thinlto-remote-compiler=clang-22
//# link: %pie main.o p.o alone.o --thinlto-cache-dir={dir}/kept --thinlto-distributor={distribute}/sandbox --thinlto-remote-compiler=clang-22
//# run:
//# stdout: 4 1
#include <stdio.h>
int part(void), alone(void);
int main(void) { printf("%d %d\n", part(), alone()); }
//--- part.c
int part(void) { return 3; }
//--- changed.c
int part(void) { return 4; }
//--- alone.c
__attribute__((noinline)) int alone(void) { return 1; }

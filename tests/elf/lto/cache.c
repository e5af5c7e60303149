//# about: with a cache, a link whose code has not changed needs no compiler
//# matrix: lto=full,thin
//# only: weld -- others ask a compiler in any case
//# obj: cache.o = cache.c @clang -O2 -flto={lto}
//# obj: part.o = part.c @clang -O2 -flto={lto}
//# obj: changed.o = changed.c @clang -O2 -flto={lto}
//# link: %pie cache.o part.o --thinlto-cache-dir={dir}/kept --verbose
//# stdout-re: (?i)llvm
//# once
//# run:
//# stdout: 3
//# link: %pie cache.o part.o --thinlto-cache-dir={dir}/kept --verbose
//# stdout-re: kept/llvmcache-weld-[0-9a-f]+: objects of an earlier link
//# run:
//# stdout: 3
//# link: %pie cache.o changed.o --thinlto-cache-dir={dir}/kept
//# run:
//# stdout: 4
//# sh: for f in {dir}/kept/llvmcache-weld-*; do printf damaged | dd of=$f conv=notrunc bs=1 seek=60 2>&1; done
//# link: %pie cache.o part.o --thinlto-cache-dir={dir}/kept
//# run:
//# stdout: 3
#include <stdio.h>
int part(void);
int main(void) { printf("%d\n", part()); }
//--- part.c
int part(void) { return 3; }
//--- changed.c
int part(void) { return 4; }

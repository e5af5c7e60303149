//# about: files beside the output: objects of modules, and what --save-temps keeps, by the names that ld.lld gives them
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: saved.o = saved.c @clang -O2 -flto=thin
//# sh: mkdir -p sub out && clang-22 -O2 -flto=thin -c part.c -o sub/part.o
//# link: %pie saved.o sub/part.o --lto-obj-path=kept -o plain
//# exists: kept kept1 kept2
//# missing: plain.lto.o plain.lto.saved.o
//# link: %pie saved.o sub/part.o --lto-obj-path=kept --save-temps -o out/all
//# exists: out/all.lto.o all.lto.saved.o sub/all.lto.part.o saved.o.4.opt.bc out/all.resolution.txt
//# same: kept1 all.lto.saved.o
//# same: kept2 sub/all.lto.part.o
//# run:
//# stdout: 3
// What is kept is no other name of what the cache has.
//# link: %pie saved.o sub/part.o --lto-obj-path=own --thinlto-cache-dir=cache -o first
//# link: %pie saved.o sub/part.o --lto-obj-path=own --thinlto-cache-dir=cache -o second
//# sh: test $(stat -c %h own1) = 1 && test $(stat -c %h own2) = 1 && strip own1 own2
//# link: %pie saved.o sub/part.o --thinlto-cache-dir=cache -o third
//# sh: test "$(./third)" = 3
#include <stdio.h>
int part(void);
int main(void) { printf("%d\n", part()); }
//--- part.c
int part(void) { return 3; }

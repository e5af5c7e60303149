//# about: modules for ThinLTO are compiled by a distributor, from what their jobs name and nothing else: files, members of archives, thin archives, a pipe, names that mean something to shells; merged modules are compiled here; the program is as if all had been compiled here
//# only: weld -- the distributors are weld's
//# matrix: how=sandbox,ninja kind=pie,nopie
//# obj: distributed.o = distributed.c @clang -O2 -flto=thin
//# obj: one.o = one.c @clang -O2 -flto=thin
//# obj: two.o = two.c @clang -O2 -flto=thin
//# obj: three.o = three.c @clang -O2 -flto=thin
//# obj: never.o = never.c @clang -O2 -flto=thin
//# obj: whole.o = whole.c @clang -O2 -flto
//# obj: native.o = native.c @gcc -O1
//# sh: mkdir -p sub/below other && cp two.o "sub/t'\$w o.o" && cp three.o -- -three && llvm-ar-22 rcs other/libx.a never.o one.o native.o && (cd sub && rm -f libt.a && llvm-ar-22 rcsT libt.a "t'\$w o.o")
//# link: %{kind} distributed.o {dir}/other/../other/libx.a sub/below/../libt.a ./-three whole.o --thinlto-distributor={distribute}/{how} --thinlto-remote-compiler=/usr/bin/clang-22 -o far --verbose
//# stdout-re: (sandbox|ninja): 4 of 4 modules
//# run:
//# stdout: 1 2 3 4 5
//# no-symbol: never
//# missing: far.dtlto
//# link: %{kind} distributed.o {dir}/other/../other/libx.a sub/below/../libt.a ./-three whole.o -o near
//# run:
//# stdout: 1 2 3 4 5
//# same: far near
// From another directory, and with files that are somewhere else.
//# [how=sandbox] sh-fail: cd sub/below && $LD_DIR/ld.lld -r ../../distributed.o ../../other/libx.a {dir}/two.o -o ../r.o --thinlto-distributor={distribute}/{how} --thinlto-remote-compiler=clang-22
//# [how=sandbox] stderr-re: two\.o: an absolute path
//# sh: cd sub/below && $LD_DIR/ld.lld -r ../../distributed.o ../../other/libx.a ../../two.o -o ../r.o --thinlto-distributor={distribute}/{how} --thinlto-remote-compiler=clang-22 && llvm-nm-22 ../r.o | grep 'T two'
//# sh: $LD_DIR/ld.lld -r distributed.o other/libx.a {dir}/two.o <(cat three.o) -o {dir}/r.o --thinlto-distributor={distribute}/{how} --thinlto-remote-compiler=clang-22 && llvm-nm-22 r.o | grep 'T main' && test ! -e r.o.dtlto
#include <stdio.h>
int one(void), two(void), three(void), whole(void), native(void);
int main(void) { printf("%d %d %d %d %d\n", one(), two(), three(), whole(), native()); }
//--- one.c
int count(int x) { return x; }
int one(void) { return count(1); }
//--- two.c
int count(int x);
static int twice = 2;
int two(void) { return count(twice); }
//--- three.c
int count(int x);
int three(void) { return count(3); }
//--- whole.c
int whole(void) { return 4; }
//--- native.c
int native(void) { return 5; }
//--- never.c
int never(void) { return 6; }

//# about: --lto-partitions does not lose what is merged where modules for ThinLTO are compiled by a distributor
//# only: weld -- the distributors are weld's
//# obj: distributed-pieces.o = distributed-pieces.c @clang -O1 -flto=thin
//# obj: whole.o = whole.c @clang -O1 -flto
//# link: %pie distributed-pieces.o whole.o --lto-partitions=2 --thinlto-distributor={distribute}/sandbox --thinlto-remote-compiler=/usr/bin/clang-22
//# run:
//# stdout: 3 5
#include <stdio.h>
int one(int), two(int);
int main(int argc, char **argv) { printf("%d %d\n", one(argc), two(argc)); }
//--- whole.c
__attribute__((noinline)) int one(int x) { return x + 2; }
__attribute__((noinline)) int two(int x) { return one(x) + 2; }
__attribute__((noinline)) int three(int x) { return x * one(x); }

//# about: a reference f@V1 takes the old version of a library
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o --version-script=v.map -o libs.so
//# link: %pie symver-reference.o -L. -ls
//# need-version: libs.so V1
//# run: ./out
//# stdout: 1
#include <stdio.h>
int f(void);
__asm__(".symver f, f@V1");
int main(void) { printf("%d\n", f()); return 0; }
//--- lib.c
int f_old(void) { return 1; }
int f_new(void) { return 2; }
__asm__(".symver f_old, f@V1");
__asm__(".symver f_new, f@@V2");
//--- v.map
V1 { };
V2 { } V1;

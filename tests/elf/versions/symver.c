//# about: .symver: old and default versions of one name, chosen when linked, kept when run
//# matrix: cc=gcc,clang
//# obj: v1.o = v1.c -fPIC
//# obj: v2.o = v2.c -fPIC
//# link: %shared v1.o --version-script=v1.map -soname libs.so -o libs.so
//# link: %pie symver.o -L. -ls -o old
//# need-version: libs.so V1
//# run: ./old
//# stdout: 1
//# link: %shared v2.o --version-script=v2.map -soname libs.so -o libs.so
//# dynsym: f@V1
//# dynsym: f@@V2
//# no-dynsym: f_old f_new
//# link: %pie symver.o -L. -ls -o new
//# need-version: libs.so V2
//# no-need-version: libs.so V1
//# dynsym: f@V2 section=UND
//# run: ./new
//# stdout: 2
//# run: ./old
//# stdout: 1
#include <stdio.h>
int f(void);
int main(void) { printf("%d\n", f()); return 0; }
//--- v1.c
int f(void) { return 1; }
//--- v2.c
int f_old(void) { return 1; }
int f_new(void) { return 2; }
__asm__(".symver f_old, f@V1");
__asm__(".symver f_new, f@@V2");
//--- v1.map
V1 { global: f; local: *; };
//--- v2.map
V1 { global: f; local: *; };
V2 { global: f; } V1;

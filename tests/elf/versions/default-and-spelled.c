//# about: f and f@V2, the library's default version of it, are one symbol: one address, one copy
//# matrix: kind=pie,nopie
//# [kind=nopie] cflags: -fno-pie
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o --version-script=v.map -soname libs.so -o libs.so
//# not: lld -- 22 copies one variable twice
//# link: %{kind} default-and-spelled.o other.o -L. -ls
//# need-version: libs.so V2
//# no-need-version: libs.so V1
//# run: ./out
//# stdout: 7 1 1
#include <stdio.h>
extern int var;
int f(void);
void *other_f(void);
int *other_var(void);
int main(void) {
  *other_var() = 7;
  printf("%d %d %d\n", var, (void *)f == other_f(), &var == other_var());
  return 0;
}
//--- other.c
int f_two(void);
extern int var_two;
__asm__(".symver f_two, f@V2");
__asm__(".symver var_two, var@V2");
void *other_f(void) { return f_two; }
int *other_var(void) { return &var_two; }
//--- lib.c
int f_old(void) { return 1; }
int f_new(void) { return 2; }
int var_old = 1, var_new = 2;
__asm__(".symver f_old, f@V1");
__asm__(".symver f_new, f@@V2");
__asm__(".symver var_old, var@V1");
__asm__(".symver var_new, var@@V2");
//--- v.map
V1 { };
V2 { } V1;

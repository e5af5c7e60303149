//# about: of an executable's f@V1 and f@@V2 only the default one takes the place of a library's f, unless the executable defines the versions
//# cflags: -fno-pie
//# obj: lib.o = lib.c -fPIC
//# obj: old.o = old.c -fno-pie
//# link: %shared lib.o --version-script=v.map -o libf.so
//# link: %nopie interposed-versions.o -L. -lf
//# [weld] dynsym: f
//# run: ./out
//# stdout: 10 10
//# link: %nopie interposed-versions.o -L. -lf --export-dynamic
//# run: ./out
//# stdout: 10 10
//# [weld|bfd] link: %nopie old.o -L. -lf
//# [weld|bfd] run: ./out
//# [weld|bfd] stdout: 2
#include <stdio.h>
int callf(void), f(void);
int fx(void) { return 9; }
__asm__(".symver fx,f@V1");
int fy(void) { return 10; }
__asm__(".symver fy,f@@V2");
int main(void) {
  printf("%d %d\n", callf(), f());
  return 0;
}
//--- old.c
#include <stdio.h>
int callf(void);
int fx(void) { return 9; }
__asm__(".symver fx,f@V1");
int main(void) {
  printf("%d\n", callf());
  return 0;
}
//--- lib.c
int f1(void) { return 1; }
int f2(void) { return 2; }
__asm__(".symver f1,f@V1");
__asm__(".symver f2,f@@V2");
int f(void);
int callf(void) { return f(); }
//--- v.map
V1 { global: f; };
V2 { global: f; callf; local: *; } V1;

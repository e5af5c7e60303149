//# about: what only a library that is not needed defines is null: no PLT entry or copy stands for it
//# not: bfd -- it needs libraries for weak references, too
//# not: mold -- it gives the PLT entry's address
//# cflags: -O0 -fno-pic -fno-pie
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# link: %nopie as-needed-weak.o --as-needed -L. -llib --no-as-needed
//# no-dynamic: NEEDED liblib.so
//# no-reloc: COPY
//# run: ./out
//# stdout: 0 0
//# link: %nopie as-needed-weak.o --no-as-needed -L. -llib -o all
//# dynamic: NEEDED liblib.so
//# run: ./all
//# stdout: 5 6
//# [weld] fail: %pie as-needed-weak.o --as-needed -L. -llib --no-as-needed
//# [weld] error: recompile with -f
#include <stdio.h>
extern int f(void) __attribute__((weak));
extern int v __attribute__((weak));
int main(void) {
  printf("%d %d\n", f ? f() : 0, &v ? v : 0);
  return 0;
}
//--- lib.c
int f(void) { return 5; }
int v = 6;

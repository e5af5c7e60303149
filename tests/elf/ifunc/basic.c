//# about: STT_GNU_IFUNC called, compared and stored in data, in every kind of output
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64
//# matrix: cc=gcc,clang kind=static,static-pie,pie,nopie
//# not: mold bfd -- a pointer in data gets the target's address, one in code that of the PLT entry
//# [kind=static|nopie] cflags: -fno-pie
//# link: %{kind} basic.o other.o def.o
//# [kind=static !machine=i386] symbol: __rela_iplt_start
//# [kind=static !machine=i386] check: sym(__rela_iplt_end) - sym(__rela_iplt_start) >= 24
//# [kind=static machine=i386] check: sym(__rel_iplt_end) - sym(__rel_iplt_start) >= 8
//# run: ./out
//# stdout: 7 7 7 same
#include <stdio.h>
int f(void);
int (*pointer)(void) = f;
int (*get(void))(void);
int main(void) {
  int (*here)(void) = f;
  printf("%d %d %d %s\n", f(), pointer(), get()(), here == pointer && here == get() ? "same" : "different");
  return 0;
}
//--- other.c
int f(void);
int (*get(void))(void) { return f; }
//--- def.c
static int seven(void) { return 7; }
static void *resolve(void) { return (void *)seven; }
int f(void) __attribute__((ifunc("resolve")));

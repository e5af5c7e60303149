//# about: an ifunc exported by a library: called and compared by it and by the executable
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64
//# matrix: cc=gcc,clang kind=pie,nopie
//# [kind=nopie] obj: main.o = shared.c -fno-pie
//# [kind=pie] obj: main.o = shared.c
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# dynsym: f type=IFUNC
//# link: %{kind} main.o -L. -llib
//# run: ./out
//# stdout: 5 5 5 5
#include <stdio.h>
int f(void), call(void);
int (*get(void))(void);
int (*pointer)(void) = f;
int main(void) {
  printf("%d %d %d %d\n", f(), call(), pointer(), get()());
  return 0;
}
//--- lib.c
static int five(void) { return 5; }
static void *resolve(void) { return (void *)five; }
int f(void) __attribute__((ifunc("resolve")));
static int h(void) __attribute__((ifunc("resolve")));
int call(void) { return f() == h() ? 5 : 0; }
int (*get(void))(void) { return f; }

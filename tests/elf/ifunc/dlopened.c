//# about: an ifunc whose resolver calls another function through the PLT of its library
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -z now -o liblib.so
//# link: %pie dlopened.o -L. -llib -z now
//# run: ./out
//# stdout: 4
#include <stdio.h>
int f(void);
int main(void) { printf("%d\n", f()); return 0; }
//--- lib.c
static int four(void) { return 4; }
static int five(void) { return 5; }
__attribute__((visibility("hidden"))) int choose(void) { return 0; }
static void *resolve(void) { return choose() ? (void *)five : (void *)four; }
int f(void) __attribute__((ifunc("resolve")));

//# about: file-local and hidden ifuncs, called directly and through pointers, with and without PIC
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64
//# matrix: kind=static,static-pie,pie,nopie pic=yes,no
//# except: pic=no kind=pie|static-pie -- not a valid combination
//# [pic=yes] cflags: -fPIC
//# [pic=no] cflags: -fno-pie
//# link: %{kind} local.o
//# run: ./out
//# stdout: 1 2 1 2
#include <stdio.h>
static int one(void) { return 1; }
static int two(void) { return 2; }
static void *resolve1(void) { return (void *)one; }
static void *resolve2(void) { return (void *)two; }
static int a(void) __attribute__((ifunc("resolve1")));
__attribute__((visibility("hidden"))) int b(void) __attribute__((ifunc("resolve2")));
static int (*volatile table[2])(void) = {a, b};
int main(void) { printf("%d %d %d %d\n", a(), b(), table[0](), table[1]()); return 0; }

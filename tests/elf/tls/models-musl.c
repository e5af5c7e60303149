//# about: TLS with musl
//# matrix: cc=gcc,clang kind=static,static-pie,pie
//# cflags: -fPIC
//# [kind=static] not: lld mold -- they give a static program an interpreter if -dynamic-linker is there
//# link: %{kind} models-musl.o two.o
//# run: ./out
//# stdout: 1 2 3
#include <stdio.h>
__thread int a = 1;
static __thread int b = 2;
extern __thread int c;
__thread char big[100] __attribute__((aligned(32)));
int main(void) { printf("%d %d %d%s", a, b, c, big); puts(""); return 0; }
//--- two.c
__thread int c = 3;

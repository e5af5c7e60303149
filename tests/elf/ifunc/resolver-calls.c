//# about: resolvers of ifuncs may call functions of libraries, also those that are bound at their first call
//# machines: aarch64 riscv64 i386 s390x
//# matrix: kind=pie,nopie bind=lazy,now
//# not: lld -- it has resolvers called before the words of the PLT are relocated
//# [kind=nopie] obj: main.o = resolver-calls.c -fno-pie -fplt
//# [kind=pie] obj: main.o = resolver-calls.c -fplt
//# link: %{kind} main.o -z {bind}
//# run: ./out
//# stdout: 1 2
//# sh: LD_BIND_NOW=1 $RUN ./out
//# stdout: 1 2
#include <stdio.h>
#include <stdlib.h>
static int one(void) { return 1; }
static int two(void) { return 2; }
static void *choose(void) { return getenv("no such variable") ? (void *)two : (void *)one; }
int f(void) __attribute__((ifunc("choose")));
static void *choose_again(void) { return getenv("no such variable") ? (void *)one : (void *)two; }
static int g(void) __attribute__((ifunc("choose_again")));
int main(void) {
  printf("%d %d\n", f(), g());
  return 0;
}

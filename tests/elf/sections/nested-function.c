//# about: a function inside a function whose address is taken runs from the stack
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64
//# not: lld mold -- lld refuses the object, mold 1.10 ignores the note
//# link: %pie nested-function.o
//# [!machine=ppc64] warning: (executable stack|requires executable stack)
//# [!machine=ppc64] segment: GNU_STACK flags=RWX
//# run: ./out
//# stdout: 42
#include <stdio.h>
static __attribute__((noinline)) int call(int (*f)(void)) { return f(); }
int main(int argc, char **argv) {
  int inner(void) { return argc + 41; }
  printf("%d\n", call(inner));
  return 0;
}

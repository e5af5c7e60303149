//# about: a template of zeroes alone opens the data segment, at an alignment above that of what follows
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# matrix: kind=pie,nopie,static align=8,64,4096,65536
//# cflags: -DALIGN={align}
//# link: %{kind} zeroes-only.o
//# run: ./out
//# stdout: 0 0 7
//# [!kind=static] check: addr(.tbss) % {align} == 0
#include <stdint.h>
#include <stdio.h>
static _Thread_local volatile char x[ALIGN] __attribute__((aligned(ALIGN)));
static volatile int after = 7;
int main(void) {
  printf("%d %d %d\n", (int)((uintptr_t)x % ALIGN), x[ALIGN - 1], after);
}

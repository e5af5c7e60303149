//# about: an undefined weak TLS variable links; its address is only taken where it is defined
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# matrix: kind=static,pie
//# link: %{kind} weak-undefined.o
//# run: ./out
//# stdout: fine
#include <stdio.h>
extern __thread int missing __attribute__((weak));
int *touch(void) { return &missing; }
int main(int argc, char **argv) { (void)argv; if (argc > 5) touch(); puts("fine"); return 0; }

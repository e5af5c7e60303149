//# about: a weak reference to a library's definition uses it
//# machines: aarch64 riscv64 i386 s390x armhf ppc64le ppc64 mipsel
//# matrix: kind=pie,nopie
//# [kind=nopie] obj: main.o = weak-undefined-shared-def.c -fno-pie
//# [kind=pie] obj: main.o = weak-undefined-shared-def.c
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# link: %{kind} main.o --no-as-needed -L. -llib
//# dynamic: NEEDED liblib.so
//# run: ./out
//# stdout: 3
#include <stdio.h>
int maybe(void) __attribute__((weak));
int main(void) { printf("%d\n", maybe ? maybe() : -1); return 0; }
//--- lib.c
int maybe(void) { return 3; }

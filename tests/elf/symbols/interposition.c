//# about: the executable's definitions win over the library's, exported because the library has them
//# machines: aarch64 riscv64 i386 s390x armhf ppc64le ppc64 mipsel
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# link: %pie interposition.o -L. -llib
//# dynsym: f
//# dynsym: value
//# no-dynsym: own
//# run: ./out
//# stdout: 10 20
#include <stdio.h>
int value = 10, own;
int f(void) { return 20; }
int lib_value(void), lib_f(void);
int main(void) { printf("%d %d\n", lib_value(), lib_f()); return 0; }
//--- lib.c
int value = 1;
int f(void) { return 2; }
int lib_value(void) { return value; }
int lib_f(void) { return f(); }

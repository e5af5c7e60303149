//# about: protected definitions bind within their library; others may have their own of that name
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# dynsym: value vis=PROTECTED
//# dynsym: f vis=PROTECTED
//# no-reloc: GLOB_DAT sym=value
//# no-reloc: JUMP_SLOT sym=f
//# link: %pie protected.o -L. -llib
//# run: ./out
//# stdout: 1 2 10 20
#include <stdio.h>
int value = 10;
int f(void) { return 20; }
int lib_value(void), lib_f(void);
int main(void) { printf("%d %d %d %d\n", lib_value(), lib_f(), value, f()); return 0; }
//--- lib.c
__attribute__((visibility("protected"))) int value = 1;
__attribute__((visibility("protected"))) int f(void) { return 2; }
int lib_value(void) { return value; }
int lib_f(void) { return f(); }

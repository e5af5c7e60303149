//# about: tables of constructors of old become part of .init_array in reverse, whatever the size of a word
//# not: mold lld -- they keep .ctors as sections of their own, which nothing runs
//# machines: i386 s390x
//# except: machine=x86-64
//# link: %pie ctors.o
//# run:
//# stdout: c b a main
//# no-section: .ctors
#include <stdio.h>
void a(void) { printf("a "); }
void b(void) { printf("b "); }
void c(void) { printf("c "); }
#if __SIZEOF_POINTER__ == 4
#define WORD ".long "
#else
#define WORD ".quad "
#endif
__asm__(".section .ctors,\"aw\",@progbits; .balign 4; " WORD "a; " WORD "b; " WORD "c; .text");
int main(void) { puts("main"); return 0; }

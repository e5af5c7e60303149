//# about: a hidden ifunc in a shared object becomes R_X86_64_IRELATIVE
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# reloc: IRELATIVE
//# no-dynsym: h
//# link: %pie hidden-shared.o -L. -llib
//# run: ./out
//# stdout: 3 3
#include <stdio.h>
int direct(void), indirect(void);
int main(void) { printf("%d %d\n", direct(), indirect()); return 0; }
//--- lib.c
static int three(void) { return 3; }
static void *resolve(void) { return (void *)three; }
__attribute__((visibility("hidden"))) int h(void) __attribute__((ifunc("resolve")));
static int (*volatile pointer)(void) = h;
int direct(void) { return h(); }
int indirect(void) { return pointer(); }

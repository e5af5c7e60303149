//# about: --wrap leaves references alone that the file meets itself, and GCC's code needs no warning then
//# not: lld mold -- GCC's code takes its plugin
//# obj: wrap-gcc.o = wrap-gcc.c @gcc -O0 -flto
//# link: %pie wrap-gcc.o --wrap=own
//# run:
//# stdout: own
#include <stdio.h>
void own(void) { puts("own"); }
void __real_own(void);
void __wrap_own(void) { __real_own(); }
int main(void) { own(); }

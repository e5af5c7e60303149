//# about: --wrap: a definition in bitcode that counts is as strong after it was compiled as before, so that a weak one of machine code does not come back
//# matrix: lto=full,thin kind=pie,nopie
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: wrap-weak.o = wrap-weak.c @clang -O1 -fPIE -flto={lto}
//# obj: strong.o = strong.c @clang -O1 -fPIE -flto={lto}
//# obj: weak.o = weak.c @gcc -O1 -fPIE
//# link: %{kind} weak.o strong.o wrap-weak.o --wrap=f
//# run:
//# stdout: wrap strong, bitcode
int f(int);
int main(void) { return f(0); }
//--- strong.c
#include <stdio.h>
int f(int x) { puts("strong, bitcode"); return x; }
//--- weak.c
#include <stdio.h>
__attribute__((weak)) int f(int x) { puts("weak, machine code"); return x; }
int __real_f(int);
int __wrap_f(int x) { printf("wrap "); return __real_f(x); }

//# about: libraries that bitcode asks for are linked, and those that it asks for in vain are errors
//# matrix: lto=full,thin
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: libraries.o = libraries.c @clang -O2 -flto={lto}
//# obj: part.o = part.c @clang -O2
//# sh: rm -f libpart.a && llvm-ar-22 rcs libpart.a part.o
//# link: %pie libraries.o -L.
//# run:
//# stdout: 5
//# fail: %pie libraries.o
//# error: libraries\.o: asks for the library part, which is not found
//# fail: %pie libraries.o --no-dependent-libraries
//# error: undefined symbol: part
#include <stdio.h>
#pragma comment(lib, "part")
int part(void);
int main(void) { printf("%d\n", part()); }
//--- part.c
int part(void) { return 5; }

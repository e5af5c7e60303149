//# about: -r compiles bitcode and keeps what later links may refer to
//# matrix: lto=full,thin
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: a.o = a.c @clang -O2 -flto={lto}
//# obj: b.o = b.c @clang -O2 -flto={lto}
//# obj: native.o = native.c @gcc -O1
//# obj: partial.o = partial.c @gcc -O1
//# link: -r a.o b.o native.o -o r.o
//# symbol: a type=FUNC
//# symbol: b type=FUNC
//# link: %pie partial.o r.o
//# run:
//# stdout: 5
#include <stdio.h>
int a(int), b(int);
int main(void) { printf("%d\n", a(1) + b(1)); }
//--- a.c
int b(int);
int a(int x) { return b(x) + 1; }
//--- b.c
int native(int);
int b(int x) { return native(x); }
//--- native.c
int native(int x) { return x + 1; }

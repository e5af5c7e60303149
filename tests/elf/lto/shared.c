//# about: shared libraries of bitcode export what version scripts leave, and programs of bitcode what libraries refer to
//# matrix: lto=full,thin
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: lib.o = lib.c @clang -O2 -fPIC -fsemantic-interposition -flto={lto}
//# obj: shared.o = shared.c @clang -O2 -flto={lto}
//# link: %shared lib.o -o libx.so --version-script=x.map -soname libx.so
//# dynsym: api@@V1
//# dynsym: replaced@@V1
//# no-dynsym: inner
//# no-symbol: inner
//# link: %pie shared.o libx.so
//# dynsym: called_back
//# no-dynsym: unused_here
//# run:
//# stdout: mine 7 back
#include <stdio.h>

int api(int);
void called_back(void) { puts(" back"); }
int unused_here(void) { return 1; }
// A library's reference to it is bound to this one.
int replaced(void) {
  printf("mine ");
  return 3;
}

int main(void) {
  int x = api(4);
  printf("%d", x);
  extern void call(void);
  call();
  return 0;
}
//--- lib.c
void called_back(void);
int replaced(void) { return 100; }
int inner(int x) { return replaced() + x; }
int api(int x) { return inner(x); }
void call(void) { called_back(); }
//--- x.map
V1 { global: api; replaced; call; local: *; };

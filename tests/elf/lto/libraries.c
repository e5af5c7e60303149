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
// What only compiled code wants may ask for libraries, too: memset is called by nobody before.
//# obj: late.o = late.c @clang -O2 -flto={lto} -ffreestanding
//# obj: set.o = set.c @clang -O2 -ffreestanding -fno-builtin
//# obj: filler.o = filler.c @clang -O2
//# sh: rm -f libset.a libfiller.a && llvm-ar-22 rcs libset.a set.o && llvm-ar-22 rcs libfiller.a filler.o
//# link: -static -e start late.o -L. -lset -o late
//# symbol: memset type=FUNC
//# symbol: filler type=FUNC
#include <stdio.h>
#pragma comment(lib, "part")
int part(void);
int main(void) { printf("%d\n", part()); }
//--- part.c
int part(void) { return 5; }
//--- late.c
struct wide { char bytes[4096]; };
void take(struct wide *wide) { __asm__ volatile("" : : "r"(wide) : "memory"); }
void start(void) {
  struct wide wide = {0};
  take(&wide);
}
//--- set.c
#pragma comment(lib, "filler")
char filler(int);
void *memset(void *at, int value, unsigned long size) {
  for (char *end = (char *)at + size, *byte = at; byte != end; byte++) *byte = filler(value);
  return at;
}
//--- filler.c
char filler(int value) { return value; }

//# about: of definitions in bitcode and machine code the one counts that would without link-time optimisation
//# matrix: lto=full,thin first=bitcode,native
//# lang: c++
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: choices.o = choices.cc @clang -O2 -flto={lto}
//# obj: bitcode.o = side.cc @clang -O2 -flto={lto} -DSIDE=1
//# obj: native.o = side.cc @clang -O2 -DSIDE=2
//# [first=bitcode] link: %pie choices.o bitcode.o native.o
//# [first=native] link: %pie choices.o native.o bitcode.o
//# run:
//# [first=bitcode] stdout: inline 1 1, weak 1, statics equal
//# [first=native] stdout: inline 2 2, weak 2, statics equal
#include <stdio.h>

int by_bitcode(), by_native();
int *static_of_bitcode(), *static_of_native();
extern "C" int weak();

int main() {
  const char *same = static_of_bitcode() == static_of_native() ? "equal" : "differ";
  printf("inline %d %d, weak %d, statics %s\n", by_bitcode(), by_native(), weak(), same);
}
//--- side.cc
#if SIDE == 1
#define NAME(x) x##_bitcode
#define WHO 1
#else
#define NAME(x) x##_native
#define WHO 2
#endif
// Each file has its own; one of them is linked.
__attribute__((noinline)) inline int who() { return WHO; }
inline int *counter() {
  static int count = WHO;
  return &count;
}
int NAME(by)() { return who(); }
int *NAME(static_of)() { return counter(); }
extern "C" __attribute__((weak)) int weak() { return WHO; }

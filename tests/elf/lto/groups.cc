//# about: an inline function of compiled code stays away from objects that come later, also where the compiler has dissolved its group
//# matrix: lto=full,thin,gcc
//# only: weld -- the others have one compiler or the other
//# [lto=gcc] obj: groups.o = groups.cc @gcc -O2 -flto
//# [!lto=gcc] obj: groups.o = groups.cc @clang -O2 -flto={lto}
//# obj: other.o = other.cc @gcc -O0
//# lang: c++
//# link: %pie groups.o other.o
//# run:
//# stdout: same
//# fail: %pie other.o groups.o
//# error: undefined symbol: not_there\(\)
//# error: other\.o:\(\.text\._Z8functionv
#include <cstdio>
#include "function.h"
Function other();
int main() { puts(function == other() ? "same" : "different"); }
//--- function.h
void not_there();
// Optimised, this needs no such function; in objects that are not it does.
inline int function() {
  int zero = 0;
  if (zero > 1) not_there();
  return 1;
}
typedef int (*Function)();
//--- other.cc
#include "function.h"
Function other() { return function; }

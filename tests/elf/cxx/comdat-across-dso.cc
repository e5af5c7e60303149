//# about: inline functions and variables exist once in a process: same address everywhere
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# matrix: cc=gcc,clang kind=pie,nopie
//# lang: c++
//# [kind=nopie] cxxflags: -fno-pie
//# obj: lib.o = lib.cc -fPIC
//# obj: two.o = two.cc -fPIC
//# link: %shared lib.o two.o -o liblib.so
//# link: %{kind} comdat-across-dso.o -L. -llib -o main
//# run: ./main
//# stdout: 1 1 1
#include "i.h"
#include <cstdio>
int main() {
  counter();
  bool functions = address_in_lib() == reinterpret_cast<void *>(&counter<int>);
  bool variables = variable_in_lib() == &shared_value;
  std::printf("%d %d %d\n", functions, variables, counter() == 4);
}
//--- i.h
template <class T = int> inline int counter() { static int n; return ++n; }
inline int shared_value = 5;
void *address_in_lib();
int *variable_in_lib();
//--- lib.cc
#include "i.h"
void *address_in_lib() { counter(); return reinterpret_cast<void *>(&counter<int>); }
//--- two.cc
#include "i.h"
int *variable_in_lib() { counter(); return &shared_value; }

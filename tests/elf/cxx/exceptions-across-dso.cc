//# about: an exception thrown in one shared object, caught in another by type and by base
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel mips64el
//# matrix: cc=gcc,clang kind=pie,nopie
//# lang: c++
//# [kind=nopie] cxxflags: -fno-pie
//# obj: a.o = a.cc -fPIC
//# obj: b.o = b.cc -fPIC
//# link: %shared a.o -o liba.so
//# link: %shared b.o -L. -la -o libb.so
//# link: %{kind} exceptions-across-dso.o -L. -lb -la -o main
//# run: ./main
//# stdout: b caught Error 3
//# stdout: main caught Base 4
#include "e.h"
#include <cstdio>
int main() {
  forward(3);
  try { forward(4); } catch (const Base &e) { std::printf("main caught Base %d\n", e.value()); }
  return 0;
}
//--- e.h
struct Base { virtual ~Base(); virtual int value() const; };
struct Error : Base { int n; explicit Error(int n) : n(n) {} int value() const override; };
struct Other : Base { int n; explicit Other(int n) : n(n) {} int value() const override { return n; } };
void raise_it(int n);
void forward(int n);
//--- a.cc
#include "e.h"
Base::~Base() {}
int Base::value() const { return 0; }
int Error::value() const { return n; }
void raise_it(int n) { if (n == 3) throw Error(n); throw Other(n); }
//--- b.cc
#include "e.h"
#include <cstdio>
void forward(int n) {
  try { raise_it(n); } catch (const Error &e) { std::printf("b caught Error %d\n", e.value()); }
}

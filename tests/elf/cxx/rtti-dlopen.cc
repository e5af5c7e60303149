//# about: RTTI between a program and a plugin opened at run time
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# matrix: cc=gcc,clang
//# lang: c++
//# obj: plugin.o = plugin.cc -fPIC
//# link: %shared plugin.o -o plugin.so
//# link: %pie rtti-dlopen.o --export-dynamic -o main
//# dynsym: _ZTI5Shape
//# run: ./main
//# stdout: square 9
#include "s.h"
#include <cstdio>
#include <dlfcn.h>
Shape::~Shape() {}
int main() {
  void *h = dlopen("./plugin.so", RTLD_NOW);
  if (!h) { std::puts(dlerror()); return 1; }
  auto make = reinterpret_cast<Shape *(*)()>(dlsym(h, "make"));
  Shape *s = make();
  if (auto *q = dynamic_cast<Square *>(s)) std::printf("square %d\n", q->area());
  delete s;
}
//--- s.h
struct Shape { virtual ~Shape(); virtual int area() const = 0; };
struct Square : Shape { int side = 3; int area() const override { return side * side; } };
//--- plugin.cc
#include "s.h"
extern "C" Shape *make() { return new Square; }

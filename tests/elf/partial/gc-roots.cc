//# about: -r --gc-sections keeps what the roots need, frames and exception tables included
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# not: mold bfd -- mold 1.10 drops nothing here, GNU ld no exception tables
//# not: lld -- it drops .eh_frame
//# lang: c++
//# cxxflags: -ffunction-sections -fdata-sections -g
//# link: -r gc-roots.o -o r.o --gc-sections -u main --print-gc-sections
//# stdout-re: removing unused section gc-roots.o:\(.text._Z6unusedv\)
//# no-symbol: _Z6unusedv never
//# symbol: main
//# symbol: retained
//# link: %pie r.o
//# run: ./out
//# stdout: caught
//# link: -r plain.o --gc-sections -o none.o
//# warning: -r --gc-sections without -e or -u
#include <cstdio>
#include <stdexcept>
extern void never();
void unused() { never(); }
__attribute__((noinline)) void thrower() { throw std::runtime_error("caught"); }
__attribute__((used, retain)) int retained = 3;
extern "C" int __start_bracketed[], __stop_bracketed[];
__attribute__((section("bracketed"), used)) static int one = 1;
int main() {
  try { thrower(); } catch (const std::exception &e) { std::puts(e.what()); }
  return __stop_bracketed - __start_bracketed - 1;
}
//--- plain.cc
int nothing;

//# about: -r of C++: groups stay groups, frames and exception tables follow
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel mips mips64el
//# not: mold -- 1.10 makes files that do not verify
//# matrix: cc=gcc,clang
//# lang: c++
//# link: -r cxx.o two.o -o both.o
//# section: .group type=GROUP
//# link: %pie both.o three.o
//# run: ./out
//# stdout: 6 7 caught
#include <cstdio>
#include <stdexcept>
template <class T> T add(T a, T b) { return a + b; }
int two(int), three(int);
int main() {
  try { std::printf("%d %d ", add(two(1), three(2)), add(3, 4)); throw std::runtime_error("x"); }
  catch (const std::exception &) { std::puts("caught"); }
}
//--- two.cc
template <class T> T add(T a, T b) { return a + b; }
int two(int n) { return add(n, 1); }
//--- three.cc
template <class T> T add(T a, T b) { return a + b; }
int three(int n) { return add(n, 2); }

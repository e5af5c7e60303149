//# about: a C++ program still works when everything unused is gone
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel mips64el
//# matrix: cc=gcc,clang kind=static,static-pie,pie
//# lang: c++
//# cxxflags: -ffunction-sections -fdata-sections
//# link: %{kind} cxx.o --gc-sections
//# run: ./out
//# stdout: 3 caught
//# no-symbol: _Z6unusedv
#include <iostream>
#include <map>
#include <string>
#include <stdexcept>
int unused() { return 1; }
int main() {
  std::map<std::string, int> m{{"a", 1}, {"b", 2}};
  int sum = 0;
  for (auto &kv : m) sum += kv.second;
  std::cout << sum;
  try { m.at("c"); } catch (const std::out_of_range &) { std::cout << " caught\n"; }
}

//# about: C++ with iostreams, exceptions and RTTI in one executable
//# machines: aarch64 riscv64 i386 s390x armhf armel ppc64le ppc64 mipsel mips mips64el
//# matrix: cc=gcc,clang kind=static,static-pie,pie,nopie
//# [kind=nopie] cxxflags: -fno-pie
//# lang: c++
//# link: %{kind} cxx.o
//# run: ./out
//# stdout: caught: 7
//# stdout: derived
//# stdout: bye
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
struct Base { virtual ~Base() = default; virtual std::string name() const { return "base"; } };
struct Derived : Base { std::string name() const override { return "derived"; } };
struct AtExit { ~AtExit() { std::cout << "bye" << std::endl; } } at_exit;
__attribute__((noinline)) void thrower(int n) { throw std::runtime_error(std::to_string(n)); }
int main() {
  try { thrower(7); } catch (const std::exception &e) { std::cout << "caught: " << e.what() << "\n"; }
  std::unique_ptr<Base> p = std::make_unique<Derived>();
  if (auto *d = dynamic_cast<Derived *>(p.get())) std::cout << d->name() << "\n";
  return 0;
}

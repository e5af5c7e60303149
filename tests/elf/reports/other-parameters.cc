//# about: an undefined C++ function of which another signature is defined, or the same for the other string ABI
//# only: weld -- about its own words
//# lang: c++
//# fail: %pie other-parameters.o other.o old.o
//# error: undefined symbol: shape::area\(int\) const\n(>>> .*\n)*>>> did you mean: shape::area\(double\) const is defined and differs in its parameters
//# error: undefined symbol: read_name\(.*__cxx11::basic_string.*\n(>>> .*\n)*>>> did you mean: read_name\(std::.*\) is defined; are the objects compiled with different _GLIBCXX_USE_CXX11_ABI
//# obj: old.o = old.cc -D_GLIBCXX_USE_CXX11_ABI=0
#include <string>
struct shape { int area(int) const; };
int read_name(const std::string &);
int main() { return read_name("x") + shape().area(3); }
//--- other.cc
struct shape { double area(double) const; };
double shape::area(double d) const { return d; }
//--- old.cc
#include <string>
int read_name(const std::string &s) { return s.size(); }

//# about: an inline function in an object and in a member; the member still comes for what else it has
//# lang: c++
//# sh: ar rcs libx.a member.o
//# link: %pie comdat-in-member.o libx.a
//# run: ./out
//# stdout: 3 1
#include <cstdio>
inline int once() { static int n; return ++n; }
int member();
int main() { int a = once(); std::printf("%d %d\n", a + member(), a); }
//--- member.cc
inline int once() { static int n; return ++n; }
int member() { return once(); }

//# about: MIPS: calls between a program and libraries, by name and by pointer, exceptions, weak and undefined symbols, thread-local storage of all models, dlopen
//# not: bfd mold lld -- GNU ld that is installed is for this machine's programs, ld.lld has no frames of code that may be moved
//# machines: mipsel mips mips64el
//# except: machine=x86-64
//# matrix: kind=static,pie,nopie
//# [kind=nopie] cxxflags: -fno-pic
//# [kind=pie] cxxflags: -fPIC
//# [kind=static] cxxflags: -fPIC -DWITH_PLUG
//# obj: lib.o = lib.cc -fPIC
//# obj: plug.o = plug.cc -fPIC
//# [!kind=static] link: %shared lib.o -o lib.so
//# [!kind=static] link: %shared plug.o -o plug.so
//# lang: c++
//# [!kind=static] link: %{kind} mips-program.o lib.so -ldl
//# [kind=static] link: %{kind} mips-program.o lib.o plug.o
//# run: ./out
//# stdout: caught 7, 11 22 33, 5 6, 9, same
//# stdout: 41 83
// The same with more GOTs than one; without a limit there is one for each object.
//# [!kind=static] link: %shared --mips-got-size=40 -soname=libs.so lib.o -o libs.so
//# [!kind=static] link: %{kind} --mips-got-size=0 mips-program.o libs.so -ldl -o small
//# [kind=static] link: %{kind} --mips-got-size=256 mips-program.o lib.o plug.o -o small
//# run: ./small
//# stdout: caught 7, 11 22 33, 5 6, 9, same
//# stdout: 41 83
#include <cstdio>
#include <stdexcept>
#include <dlfcn.h>
extern thread_local int shared_variable;
thread_local int own = 5;
static thread_local int hidden = 6;
int add(int, int);
int call(int (*)(int, int), int, int);
int (*pointer_of_library())(int, int);
extern "C" int nowhere() __attribute__((weak));
extern "C" int plug(int);
void thrower(int);
int table[] = {11, 22, 33};
extern int library_data;
int main() {
  int caught = 0;
  try {
    thrower(7);
  } catch (const std::runtime_error &) {
    caught = 7;
  }
  if (nowhere) return 1;
  std::printf("caught %d, %d %d %d, %d %d, %d, %s\n", caught, table[0], call(add, 20, 2), table[2], own, hidden,
              shared_variable + library_data, pointer_of_library() == &add ? "same" : "other");
#ifdef WITH_PLUG
  int (*f)(int) = plug;
#else
  int (*f)(int) = (int (*)(int))dlsym(dlopen("./plug.so", RTLD_NOW), "plug");
#endif
  std::printf("%d", f(1));
  std::printf(" %d\n", f(1));
}
//--- lib.cc
#include <stdexcept>
thread_local int shared_variable = 4;
int library_data = 5;
int add(int a, int b) { return a + b; }
int call(int (*f)(int, int), int a, int b) { return f(a, b); }
int (*pointer_of_library())(int, int) { return add; }
void thrower(int n) {
  if (n > 5) throw std::runtime_error("x");
}
//--- plug.cc
static thread_local int t = 40;
thread_local int u = 0;
extern "C" int plug(int x) {
  t += x;
  u += t;
  return u;
}

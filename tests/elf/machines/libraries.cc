//# about: PowerPC with 32 bits, SPARC V9, m68k: calls between a program and libraries, by name and by pointer, exceptions, iostreams, weak and undefined symbols, thread-local storage of all models, dlopen
//# not: bfd mold lld -- GNU ld that is installed is for each machine's own programs, ld.lld cannot link them all
//# machines: ppc32 ppc64 sparc64 m68k
//# except: machine=x86-64
//# matrix: kind=static,pie,nopie pic=-fPIC,-fpic
//# [kind=nopie] cxxflags: -fno-pic
//# [kind=pie] cxxflags: {pic}
//# [kind=static] cxxflags: {pic} -DWITH_PLUG
//# obj: lib.o = lib.cc {pic}
//# obj: plug.o = plug.cc {pic}
//# [!kind=static] link: %shared lib.o -o lib.so
//# [!kind=static] link: %shared plug.o -o plug.so
//# lang: c++
//# [!kind=static] link: %{kind} libraries.o lib.so -ldl
//# [kind=static] link: %{kind} libraries.o lib.o plug.o
//# run: ./out
//# stdout: caught 7, 11 22 33, 5 6, 9, same
//# stdout: 41 83
//# [!kind=static machine=ppc32] readelf: -d => PPC_GOT
//# [!kind=static] readelf: -d => PLTGOT
#include <iostream>
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
  std::cout << "caught " << caught << ", " << table[0] << " " << call(add, 20, 2) << " " << table[2] << ", " << own
            << " " << hidden << ", " << shared_variable + library_data << ", "
            << (pointer_of_library() == &add ? "same" : "other") << std::endl;
#ifdef WITH_PLUG
  int (*f)(int) = plug;
#else
  int (*f)(int) = (int (*)(int))dlsym(dlopen("./plug.so", RTLD_NOW), "plug");
#endif
  std::cout << f(1);
  std::cout << " " << f(1) << std::endl;
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
static thread_local int calls = 40;
thread_local int more = 1;
extern "C" int plug(int n) { return calls += n + (more++ == 1 ? 0 : more + 38); }

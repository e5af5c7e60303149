//# about: PowerPC64: calls between a program and libraries, by name and by pointer, weak and undefined, with thread-local storage of all models, in code of all models
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: ppc64le ppc64
//# except: machine=x86-64
//# matrix: model=small,medium,large kind=static,pie,nopie calls=by-plt,by-words
//# except: calls=by-words model=small
//# except: calls=by-words model=large
//# [kind=nopie] cxxflags: -mcmodel={model} -fno-pie -O2
//# [!kind=nopie] cxxflags: -mcmodel={model} -fPIC -O2
//# [calls=by-words] cxxflags: -fno-plt
//# [!kind=static] obj: lib.o = lib.cc -fPIC -mcmodel={model} -O2
//# [kind=static] obj: lib.o = lib.cc -mcmodel={model} -O2
//# [!kind=static] link: %shared lib.o -o lib.so
//# lang: c++
//# [!kind=static] link: %{kind} ppc64-program.o lib.so
//# [kind=static] link: %{kind} ppc64-program.o lib.o
//# run: ./out
//# stdout: caught 7, 11 22 33, 5 6, 9, same
#include <cstdio>
#include <stdexcept>
extern thread_local int shared_variable;
thread_local int own = 5;
static thread_local int hidden = 6;
int add(int, int);
int call(int (*)(int, int), int, int);
int (*pointer_of_library())(int, int);
extern "C" int nowhere() __attribute__((weak));
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

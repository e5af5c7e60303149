//# about: ARM and Thumb code in one program: exceptions through both and through a library, threads, thread-local storage of the program and of the library, calls back
//# machines: armhf armel
//# except: machine=x86-64
//# matrix: mode=-marm,-mthumb other=-marm,-mthumb kind=static,pie,nopie
//# except: machine=armel mode=-mthumb
//# except: machine=armel other=-mthumb
//# [kind=nopie] cxxflags: -fno-pie
//# lang: c++
//# obj: main.o = arm-calls.cc {mode} -O1
//# obj: lib.o = lib.cc -fPIC {other} -O1
//# [kind=static] link: %static main.o lib.o
//# [!kind=static] link: %shared lib.o -o liblib.so
//# [!kind=static] link: %{kind} main.o -L. -llib
//# run: ./out
//# stdout: caught 7, destroyed 2
//# stdout: thread 14, 21
//# stdout: called back 9
#include <cstdio>
#include <stdexcept>
#include <thread>
extern thread_local int counted;
thread_local int own = 3;
int destroyed;
struct Guard { ~Guard() { destroyed++; } };
void pass(void (*f)(int), int n);
int sum(int (*f)(int), int n);
static void thrower(int n) { Guard g; throw std::runtime_error(std::to_string(n)); }
static int next(int n) { return n + own; }
int main() {
  try {
    Guard g;
    pass(thrower, 7);
  } catch (const std::exception &e) {
    printf("caught %s, destroyed %d\n", e.what(), destroyed);
  }
  int seen = 0;
  std::thread t([&] { counted += 7; own += 4; seen = counted + own * 0; counted += own; seen = seen * 100 + counted; });
  t.join();
  printf("thread %d, %d\n", seen / 100, seen % 100);
  printf("called back %d\n", sum(next, 3));
}
//--- lib.cc
#include <string>
thread_local int counted = 7;
void pass(void (*f)(int), int n) { std::string s(40, 'x'); f(n); s += s; }
int sum(int (*f)(int), int n) { return f(n) + n; }

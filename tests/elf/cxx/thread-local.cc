//# about: thread_local objects with constructors and destructors, in the executable and a library
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel mips64el
//# matrix: cc=gcc,clang kind=static,static-pie,pie,nopie
//# lang: c++
//# [kind=nopie|static] cxxflags: -fno-pie
//# obj: lib.o = lib.cc -fPIC
//# [kind=pie|nopie] link: %shared lib.o -o liblib.so
//# [kind=pie|nopie] link: %{kind} thread-local.o -L. -llib -o main
//# [kind=static|static-pie] link: %{kind} thread-local.o lib.o -o main
//# run: ./main
//# stdout: made and destroyed: 4 4
#include <cstdio>
#include <thread>
#include "t.h"
thread_local Counted mine;
int use() { return ++mine.n + in_lib(); }
int main() {
  int sum = 0;
  std::thread a([&] { sum += use(); });
  a.join();
  std::thread b([&] { sum += use(); });
  b.join();
  std::printf("made and destroyed: %d %d\n", made, destroyed);
  return sum != 4;
}
//--- t.h
extern int made, destroyed;
struct Counted { int n = 0; Counted() { made++; } ~Counted() { destroyed++; } };
int in_lib();
//--- lib.cc
#include "t.h"
int made, destroyed;
thread_local Counted theirs;
int in_lib() { return ++theirs.n; }

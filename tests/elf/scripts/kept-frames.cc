//# about: KEEP of .eh_frame, as in GNU ld's default script, keeps no function and no frame of a copy that went
//# not: mold -- it has no SECTIONS
//# sh: ld --verbose -pie | sed '1,/=====/d;/=====/,$d' > default.ld
//# cxxflags: -ffunction-sections
//# lang: c++
//# link: %pie kept-frames.o other.o -T default.ld --gc-sections
//# symbol: used
//# no-symbol: unused
//# run: ./out
//# stdout: 6 caught
#include <cstdio>
inline int both(int x) {
  if (x > 3) throw 1;
  return x;
}
int other(int);
extern "C" __attribute__((noinline)) int used(int x) { return both(x) + other(x); }
extern "C" int unused(int x) {
  if (x > 4) throw 2;
  return x;
}
int main() {
  int sum = used(3);
  try {
    used(4);
  } catch (int) {
    std::printf("%d caught\n", sum);
  }
}
//--- other.cc
inline int both(int x) {
  if (x > 3) throw 1;
  return x;
}
int other(int x) { return both(x); }

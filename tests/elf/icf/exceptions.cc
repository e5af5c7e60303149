//# about: exceptions pass through folded functions, and those that catch differently stay apart
//# matrix: cc=gcc,clang kind=pie,static how=safe,all
//# lang: c++
//# cxxflags: -O1 -ffunction-sections -fdata-sections -g
//# [cc=gcc] cxxflags: -fno-ipa-icf
//# [cc=clang] cxxflags: -faddrsig
//# link: %{kind} exceptions.o --icf={how} --eh-frame-hdr --print-icf-sections=list
//# run: ./out
//# stdout: caught 1 2 3 4
//# stdout: destroyed 4
//# stdout: int long
//# [how=all cc=clang] check: sym(through1) == sym(through2)
//# [how=all] check: sym(guard1) != sym(guard3)
//# [how=all cc=clang] check: sym(guard1) == sym(guard2)
//# [how=all] file: list => exceptions\.o
//# check: sym(catch_int) != sym(catch_long)
#include <cstdio>
#include <typeinfo>
static int destroyed;
struct Guard {
  ~Guard() { destroyed++; }
};
struct Other {
  ~Other() { std::printf("other\n"); }
};
extern "C" {
__attribute__((noinline)) void thrower(int n) { throw n; }
__attribute__((noinline)) void through1(int n) { thrower(n); asm volatile(""); }
__attribute__((noinline)) void through2(int n) { thrower(n); asm volatile(""); }
__attribute__((noinline)) void guard1(int n) { Guard guard; thrower(n); }
__attribute__((noinline)) void guard2(int n) { Guard guard; thrower(n); }
__attribute__((noinline)) int guard3(int n) { try { thrower(n); } catch (...) { } return 0; }
__attribute__((noinline)) const char *catch_int(void (*f)()) { try { f(); } catch (int) { return "int"; } return 0; }
__attribute__((noinline)) const char *catch_long(void (*f)()) { try { f(); } catch (long) { return "long"; } return 0; }
}
template <class T> __attribute__((noinline)) T add(T a, T b) { asm volatile("" : "+r"(a)); return a + b; }
template <class F> int caught(F f, int n) {
  try { f(n); } catch (int i) { return i; }
  return 0;
}
int main() {
  int a = caught(through1, 1), b = caught(through2, 2), c = caught(guard1, add<long>(1, 2));
  int d = caught(guard2, add<unsigned long>(2, 2));
  std::printf("caught %d %d %d %d\n", a, b, c, d);
  caught(guard1, 1), caught(guard2, 1), guard3(1);
  std::printf("destroyed %d\n", destroyed);
  std::printf("%s %s\n", catch_int([] { throw 1; }), catch_long([] { throw 1L; }));
}

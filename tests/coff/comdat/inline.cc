//# about: inline functions and vtables of two objects are kept once, with their unwind tables; what nothing refers to goes
//# cxxflags: -fno-rtti
//# obj: kernel32.lib = kernel32.def
//# obj: inline.obj = inline.cc
//# obj: other.obj = other.cc
//# link: inline.obj other.obj kernel32.lib /entry:start /subsystem:console
//# run:
//# exit: 25
//# sh: [ $(llvm-objdump-22 -d out.exe | grep -c 'imull') = 1 ]
//# readobj: --unwind => RuntimeFunction
//# link: inline.obj other.obj kernel32.lib /entry:start /subsystem:console /opt:noref /out:all.exe
//# sh: [ $(stat -c %s all.exe) -ge $(stat -c %s out.exe) ]; llvm-objdump-22 -d all.exe | grep 0x1234567 > /dev/null; ! llvm-objdump-22 -d out.exe | grep 0x1234567 > /dev/null
#include "shape.h"
extern "C" __declspec(dllimport) void ExitProcess(unsigned);
int other(int);
struct Square : Shape {
  int area() override { return square(3); }
};
extern "C" void start() {
  Square s;
  Shape *volatile p = &s;
  ExitProcess(p->area() + other(4));
}
// The run-time library has it.
void operator delete(void *, unsigned long long) {}
extern "C" int _purecall() { return 0; }
//--- other.cc
#include "shape.h"
int other(int x) { return square(x); }
template <class T> struct Holder { static __declspec(noinline) T get() { return 0x1234567; } };
template struct Holder<int>;
//--- shape.h
struct Shape {
  virtual int area() = 0;
};
__declspec(noinline) inline int square(int x) { return x * x; }
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
ExitProcess

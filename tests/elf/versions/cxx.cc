//# about: extern "C++" patterns match demangled names, quoted ones exactly
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# lang: c++
//# obj: lib.o = cxx.cc -fPIC
//# link: %shared lib.o --version-script=v.map
//# dynsym: _ZN3api3runEi@@V1
//# dynsym: _ZN3api3runEd@@V1
//# dynsym: _ZN3api4stopEv@@V1
//# dynsym: c_function@@V1
//# no-dynsym: _ZN4impl4workEv _ZN3api6secretEi
//# dynsym: _ZTV5Shape@@V1
namespace api {
int run(int n) { return n; }
int run(double n) { return int(n); }
int stop() { return 0; }
int secret(int n) { return n; }
}
namespace impl { int work() { return 1; } }
struct Shape { virtual int area(); };
int Shape::area() { return 3; }
extern "C" int c_function() { return 1; }
//--- v.map
V1 {
  global:
    c_function;
    extern "C++" { api::run*; "api::stop()"; "vtable for Shape"; };
  local: *;
};

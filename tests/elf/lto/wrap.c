//# about: --wrap and --defsym lead calls within bitcode elsewhere, too
//# matrix: lto=full,thin
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: wrap.o = wrap.c @clang -O2 -flto={lto}
//# obj: foo.o = foo.c @clang -O2 -flto={lto}
//# obj: native.o = native.c @gcc -O1
//# link: %pie wrap.o foo.o native.o --wrap=foo --wrap=bar --defsym=alias=foo_impl
//# run:
//# stdout: wrapped(foo 1) native bar 2 alias 3
// What is defined stays what it is, and so do references of the file that defines it.
//# obj: pic.o = foo.c @clang -O2 -fPIC -flto={lto}
//# link: %shared pic.o --wrap=foo --wrap=bar -o libx.so
//# dynsym: foo type=FUNC
//# dynsym: bar type=FUNC
//# no-dynsym: __wrap_foo
//# link: -r wrap.o foo.o --wrap=foo -o r.o
//# symbol: foo type=FUNC
//# symbol: __wrap_foo type=FUNC
#include <stdio.h>
int foo(int);
int bar(int);
int alias(int);
int __real_foo(int);
int __wrap_foo(int x) {
  printf("wrapped(");
  int r = __real_foo(x);
  printf(") ");
  return r;
}
int main(void) {
  foo(1);
  bar(2);
  alias(3);
  puts("");
}
//--- foo.c
#include <stdio.h>
int foo(int x) { return printf("foo %d", x); }
int bar(int x) { return printf("not wrapped %d", x); }
int foo_impl(int x) { return printf("alias %d", x); }
int alias_(int x) { return x; }
// As a reference, this name means foo.
int __real_foo(int x) { return printf("not the real one %d", x); }
//--- native.c
#include <stdio.h>
int __wrap_bar(int x) { return printf("native bar %d ", x); }

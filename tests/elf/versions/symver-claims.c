//# about: .symver foo, foo@V1 and .symver foo2, foo@@V2 leave two claims to foo: others get foo@@V2, the object's own calls foo@V1
//# not: lld mold -- they bind foo@@V2 to the older function
//# cflags: -fPIC
//# link: %shared symver-claims.o --version-script=v.map -o libs.so
//# dynsym: foo@V1
//# dynsym: foo@@V2
//# no-dynsym: foo@@V1
//# obj: main.o = main.c
//# link: %pie main.o libs.so
//# run: ./out
//# sh: gcc -c -fPIC symver-claims.c -o half.o && $LD -r half.o -o whole.o && $LD -shared whole.o --version-script=v.map -o libs.so
//# run: ./out
int foo(void) { return 1; }
int foo2(void) { return 2; }
__asm__(".symver foo, foo@V1");
__asm__(".symver foo2, foo@@V2");
int caller(void) { return foo(); }
//--- main.c
int foo(void), caller(void);
int main(void) { return !(foo() == 2 && caller() == 1); }
//--- v.map
V1 { foo; };
V2 { foo; } V1;

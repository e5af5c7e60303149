//# about: a hidden reference is not satisfied by a shared library
//# machines: aarch64 riscv64 i386 s390x armhf ppc64le ppc64 mipsel
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# fail: %pie hidden-in-dso.o -L. -llib
//# error: undefined.*hidden symbol: f
//# error: hidden-in-dso.o
__attribute__((visibility("hidden"))) int f(void);
int main(void) { return f(); }
//--- lib.c
int f(void) { return 3; }

//# about: a library that defines a name and does not export it is named where the name is undefined
//# only: weld -- about its own words
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o libx.so
//# fail: %pie not-exported-by-library.o -L. -lx
//# error: undefined symbol: inner\n(>>> .*\n)*>>> .*libx\.so defines it, but does not export it
int inner(void);
int main(void) { return inner(); }
//--- lib.c
__attribute__((visibility("hidden"), noinline)) int inner(void) { __asm__(""); return 3; }
int outer(void) { return inner(); }

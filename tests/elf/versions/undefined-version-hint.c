//# about: a version that the library does not have, with those it has
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o --version-script=v.map -o libs.so
//# fail: %pie undefined-version-hint.o -L. -ls
//# error: undefined.*f@V3
//# [weld] error: libs\.so defines only f@V1, f@V2
int f(void);
__asm__(".symver f, f@V3");
int main(void) { return f(); }
//--- lib.c
int f_old(void) { return 1; }
int f_new(void) { return 2; }
__asm__(".symver f_old, f@V1");
__asm__(".symver f_new, f@@V2");
//--- v.map
V1 { };
V2 { } V1;

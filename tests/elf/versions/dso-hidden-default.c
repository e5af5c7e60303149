//# about: a library with only f@V1 (no default) does not define plain f
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o --version-script=v.map -o libs.so
//# dynsym: f@V1
//# fail: %pie dso-hidden-default.o -L. -ls
//# error: undefined.*: f
int f(void);
int main(void) { return f(); }
//--- lib.c
int f_old(void) { return 1; }
__asm__(".symver f_old, f@V1");
//--- v.map
V1 { global: f; local: *; };

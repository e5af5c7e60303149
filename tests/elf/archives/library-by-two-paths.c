//# about: a library that is named by two paths is one: needed if either mention says so, with the versions that are used
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -soname=libx.so --version-script=v.map -o libx.so
//# link: %pie library-by-two-paths.o --as-needed libx.so --no-as-needed ./libx.so
//# dynamic: NEEDED libx.so
//# need-version: libx.so V1
//# dynsym: f@V1
//# run: ./out
int f(void) __attribute__((weak));
int main(void) { return f ? f() : 0; }
//--- lib.c
int f(void) { return 0; }
//--- v.map
V1 { f; };

//# about: a protected variable cannot be copied: the library would keep using its own
//# machines: aarch64 riscv64 i386 s390x armhf
//# not: mold bfd -- they copy it
//# cflags: -fno-pie
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# fail: %nopie copy-protected.o -L. -llib
//# error: value
//# error: protected
extern int value;
int main(void) { return value; }
//--- lib.c
__attribute__((visibility("protected"))) int value = 5;

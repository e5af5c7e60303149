//# about: -z nocopyreloc refuses what needs a copy
//# machines: aarch64 riscv64 i386 s390x armhf
//# only: weld lld -- others ignore the option here
//# cflags: -fno-pie
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# fail: %nopie no-copy-relocation.o -L. -llib -z nocopyreloc
//# error: value
//# error: no-copy-relocation.o
//# [weld] error: with -no-pie
extern int value;
int main(void) { return value; }
//--- lib.c
int value = 5;

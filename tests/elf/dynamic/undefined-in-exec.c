//# about: in a dynamic executable an undefined strong symbol is an error, a weak one is left to the loader
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# fail: %pie undefined-in-exec.o
//# error: undefined symbol: missing
//# error: undefined-in-exec.c|undefined-in-exec.o
//# error: main
int missing(void);
int main(void) { return missing(); }

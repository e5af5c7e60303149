//# about: a version script given to an executable
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64
//# link: %pie executable.o --export-dynamic --version-script=v.map
//# dynsym: f@@EXE_1
//# no-dynsym: g
//# run: ./out
int f(void) { return 0; }
int g(void) { return 0; }
int main(void) { return f() + g(); }
//--- v.map
EXE_1 { global: f; local: *; };

//# about: writing to relocated constants is a crash once the program runs
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64
//# link: %pie relro-is-applied.o -z relro -z now
//# run: ./out
//# exit: 139
int x = 3;
int *const table[] = {&x, &x};
int main(void) { *(int *volatile *)&table[0] = 0; return 0; }

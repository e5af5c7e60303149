//# about: PowerPC64: C programs and libraries whose functions are far from one another for branches, in all kinds of output
//# not: lld bfd mold -- they cannot be told that branches reach less far
//# machines: ppc64le ppc64
//# except: machine=x86-64
//# cflags: -fPIC -ffunction-sections
//# obj: library.o = library.c -fPIC -ffunction-sections
//# link: %pie ppc64-thunks-program.o library.o --branch-reach=0x1000 --defsym=again=answer -o pie
// By another name, of which nobody knows the entries.
//# [machine=ppc64le] symbol: __gep_setup_again type=FUNC bind=LOCAL section=.text size=16
//# run: pie
//# stdout: 5050 3
//# symbol: __long_branch_f1 type=FUNC bind=LOCAL section=.text
//# link: %nopie ppc64-thunks-program.o library.o --branch-reach=0x1000 --defsym=again=answer -o nopie
//# run: nopie
//# stdout: 5050 3
//# link: %static ppc64-thunks-program.o library.o --branch-reach=0x4000 --gc-sections --icf=all --defsym=again=answer -o static
//# run: static
//# stdout: 5050 3
//# link: %shared library.o --branch-reach=0x1000 --emit-relocs -o library.so
// Through the PLT, too.
//# link: %pie ppc64-thunks-program.o library.so --branch-reach=0x1000 --defsym=again=answer -o dynamic
//# run: dynamic
//# stdout: 5050 3
#include <stdio.h>
int answer(void) { return 3; }
int f1(int);
int ask(void);
int again(void);
int main(void) {
    printf("%d %d\n", f1(100), ask() + again() - answer());
    return 0;
}
//--- library.c
int answer(void);
int ask(void) { return answer(); }
#define PADDING __asm__ volatile(".rept 90; nop; .endr")
#define F(n, next) int next(int); int n(int i) { PADDING; return i == 0 ? 0 : i + next(i - 1); }
F(f1, f16) F(f2, f15) F(f3, f14) F(f4, f13) F(f5, f12) F(f6, f11) F(f7, f10) F(f8, f9)
F(f16, f2) F(f15, f3) F(f14, f4) F(f13, f5) F(f12, f6) F(f11, f7) F(f10, f8) F(f9, f1)

//# about: old .ctors and .dtors join .init_array and .fini_array, in reverse, by priority
//# not: mold lld -- they keep .ctors as sections of their own, which nothing runs
//# link: %pie ctors-section.o asm.o
//# run: ./out
//# stdout: init65000 b a main
//# stdout: da db
//# no-section: .ctors .dtors
#include <stdio.h>
void a(void) { printf("a "); }
void b(void) { printf("b "); }
void init65000(void) { printf("init65000 "); }
void da(void) { printf("da "); }
void db(void) { printf("db\n"); }
int main(void) { puts("main"); return 0; }
//--- asm.s
.section .ctors,"aw",@progbits
.p2align 3
.quad a
.quad b
.section .ctors.00535,"aw",@progbits
.p2align 3
.quad init65000
.section .dtors,"aw",@progbits
.p2align 3
.quad da
.quad db
.section .note.GNU-stack,"",@progbits

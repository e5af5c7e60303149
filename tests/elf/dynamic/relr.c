//# about: packed relative relocations: fewer bytes, still run; unaligned ones stay in .rela.dyn
//# matrix: kind=pie,static-pie,shared
//# [kind=static-pie] not: mold -- 1.10 crashes the start-up code
//# [kind=shared] cflags: -fPIC
//# link: %{kind} relr.o unaligned.o -z pack-relative-relocs
//# section: .relr.dyn type=RELR flags=A entsize=8
//# dynamic: RELR
//# dynamic: RELRENT 8
//# check: nrelr >= 200
//# check: size(.relr.dyn) < 400
//# reloc: RELATIVE at=sym(odd)+1
//# [kind=pie weld|lld|bfd] need-version: libc.so.6 GLIBC_ABI_DT_RELR
#include <stdio.h>
#define T10(x) &x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6], &x[7], &x[8], &x[9]
#define T100(x) T10(x), T10(x), T10(x), T10(x), T10(x), T10(x), T10(x), T10(x), T10(x), T10(x)
static int v[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
__attribute__((visibility("hidden"))) int *table[] = {T100(v), T100(v)};
int main(void) {
  int sum = 0;
  for (int i = 0; i < 200; i++) sum += *table[i];
  printf("%d\n", sum);
  return 0;
}
//--- unaligned.s
.data
.globl odd
.hidden odd
odd: .byte 0
.quad odd
.section .note.GNU-stack,"",@progbits

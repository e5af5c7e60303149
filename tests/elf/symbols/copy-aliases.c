//# about: a copied variable is as large and as aligned as the largest of its names, whichever the program uses; a bound of what lies in front is none of them
//# only: weld -- GNU ld does not move all aliases, lld takes the size of one of them
//# cflags: -O0 -fno-pic -fno-pie
//# obj: lib.o = lib.s
//# link: -shared lib.o -o liblib.so
//# link: %nopie copy-aliases.o other.o -L. -llib
//# reloc: COPY sym=big
//# no-reloc: COPY sym=tiny
//# dynsym: big size=256
//# dynsym: tiny size=4
//# check: dynsym(big) == dynsym(tiny)
//# check: dynsym(big) % 64 == 0
//# no-dynsym: __stop_set
//# run: ./out
//# stdout: 179 5 0
//# link: %nopie copy-aliases.o only.o -L. -llib -o out2
//# reloc: COPY sym=big
//# run: ./out2
//# stdout: 100 5 0
#include <stdio.h>
extern int tiny, other;
extern int sum(void);
extern void fill(void);
int zeros[40], zero;
int main(void) {
  int before = tiny + sum(), others = 0;
  fill();
  for (int i = 0; i < 40; i++) others |= zeros[i];
  printf("%d %d %d\n", before, other, others | zero);
  return 0;
}
//--- other.c
extern int big[64];
int sum(void) { return big[63] + big[2]; }
void fill(void) { for (int i = 1; i < 64; i++) big[i] = -1; }
//--- only.c
int sum(void) { return 0; }
void fill(void) {}
//--- lib.s
.data
.balign 64
.globl tiny, big, other, __stop_set
.type tiny, @object
.type big, @object
.size tiny, 4
.size big, 256
tiny:
__stop_set:
big: .long 100, 1, 2, 3
.zero 236
.long 77
.type other, @object
.size other, 4
other: .long 5
.section .note.GNU-stack,"",@progbits

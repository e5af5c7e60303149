//# about: a copied read-only variable lies in memory that is read-only again after relocation
//# cflags: -fno-pie
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# not: mold -- 1.10 copies them into writable memory
//# link: %nopie copy-read-only.o -L. -llib
//# reloc: COPY sym=table
//# check: seg(GNU_RELRO) <= dynsym(table) < segend(GNU_RELRO)
//# run: ./out
//# stdout: 3
#include <stdio.h>
extern const int table[3];
int main(void) { printf("%d\n", table[2]); return 0; }
//--- lib.c
const int table[3] = {1, 2, 3};

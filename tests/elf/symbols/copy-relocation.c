//# about: variables of a library used by non-PIC code are copied, with all their aliases
//# not: bfd -- it does not move the aliases of a copied variable
//# matrix: cc=gcc,clang kind=pie,nopie
//# [kind=nopie] obj: main.o = copy-relocation.c -fno-pie
//# [kind=pie] obj: main.o = copy-relocation.c -fPIE -mcmodel=small
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liblib.so
//# link: %{kind} main.o -L. -llib
//# [kind=nopie cc=gcc] reloc: COPY sym=value
//# [kind=nopie] no-reloc: COPY sym=unused
//# [kind=nopie] no-reloc: COPY sym=only_via_lib
//# [kind=nopie cc=gcc] dynsym: value size=4 type=OBJECT
//# [kind=nopie cc=gcc] dynsym: alias size=4
//# [kind=nopie cc=gcc] check: dynsym(value) == dynsym(alias)
//# [kind=nopie cc=gcc] check: dynsym(aligned) % 64 == 0
//# run: ./out
//# stdout: 6 6 6 1
#include <stdio.h>
extern int value;
extern long aligned;
int get_value(void), get_alias(void);
long *get_aligned(void);
int main(void) {
  value++;
  printf("%d %d %d %d\n", value, get_value(), get_alias(), get_aligned() == &aligned);
  return 0;
}
//--- lib.c
int value = 5;
extern int alias __attribute__((alias("value")));
int unused = 1, only_via_lib = 2;
long aligned __attribute__((aligned(64))) = 3;
int get_value(void) { return value + 0 * only_via_lib; }
int get_alias(void) { return alias; }
long *get_aligned(void) { return &aligned; }

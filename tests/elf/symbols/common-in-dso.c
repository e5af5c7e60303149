//# about: a common symbol and a shared object's variable: initial values count, else the larger size and alignment
//# not: lld -- it does not use initial values, nor the larger alignment
//# not: mold -- any definition of a shared object counts
//# matrix: order=first,last kind=nopie,pie
//# cflags: -fcommon
//# [kind=nopie] obj: main.o = common-in-dso.c -fcommon -fno-pic
//# [kind=pie] obj: main.o = common-in-dso.c -fcommon -fPIE
//# obj: lib.o = lib.c -fPIC -fno-common -fno-tree-vectorize
//# link: %shared lib.o -o liblib.so
//# [order=last] link: %{kind} main.o -L. --no-as-needed -llib
//# [order=first] link: %{kind} -L. --no-as-needed -llib main.o
//# symbol: zeros size=400
//# check: sym(zeros) % 64 == 0
//# dynsym: zeros size=400
//# no-reloc: COPY sym=weak
//# no-reloc: COPY sym=function
//# run: ./out
//# stdout: 7 7 0 0 9 1
#include <stdio.h>
int set;
char zeros[4];
int weak;
int function;
char behind[400];
void fill(void);
int *address(void);
int get(void);
int main(void) {
  int others = 0;
  fill();
  for (int i = 0; i < 400; i++) others |= behind[i];
  int before = set;
  int lib = get();
  set = 9;
  printf("%d %d %d %d %d %d\n", before, lib, others, weak + function, get(), &set == address());
  return 0;
}
//--- lib.c
int set = 7;
char zeros[400] __attribute__((aligned(64)));
int weak __attribute__((weak)) = 3;
int function(void) { return 0; }
void fill(void) { for (int i = 4; i < 400; i++) zeros[i] = 1; }
int *address(void) { return &set; }
int get(void) { return set; }

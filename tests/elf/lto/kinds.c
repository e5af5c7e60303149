//# about: bitcode of all kinds becomes programs of all kinds, with what is hidden in it compiled away
//# matrix: lto=full,thin,unified,fat kind=pie,nopie,static,static-pie
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# [lto=full|thin] obj: kinds.o = kinds.c @clang -O2 -flto={lto}
//# [lto=full|thin] obj: part.o = part.c @clang -O2 -flto={lto}
//# [lto=unified] obj: kinds.o = kinds.c @clang -O2 -flto -funified-lto
//# [lto=unified] obj: part.o = part.c @clang -O2 -flto -funified-lto
//# [lto=fat] obj: kinds.o = kinds.c @clang -O2 -flto -ffat-lto-objects
//# [lto=fat] obj: part.o = part.c @clang -O2 -flto -ffat-lto-objects
//# obj: native.o = native.c @gcc -O1
//# [!lto=fat] link: %{kind} kinds.o part.o native.o
//# [lto=fat] link: %{kind} --fat-lto-objects kinds.o part.o native.o
//# run:
//# stdout: 42 3 native asked part
// Only what machine code refers to is left of part.c: the rest is part of main.
//# symbol: asked_by_native type=FUNC
//# symbol: main
// What other modules import stays, and may go with --gc-sections.
//# [lto=full|fat] no-symbol: only_here
#include <stdio.h>

int only_here(int);
extern int counter;
void native(void);

int main(void) {
  printf("%d ", only_here(21));
  counter++;
  printf("%d ", counter);
  native();
  return 0;
}
//--- part.c
#include <stdio.h>
int counter = 2;
int only_here(int x) { return 2 * x; }
void asked_by_native(void) { puts("asked part"); }
//--- native.c
#include <stdio.h>
void asked_by_native(void);
void native(void) {
  printf("native ");
  asked_by_native();
}

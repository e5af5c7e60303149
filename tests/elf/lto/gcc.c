//# about: GCC's intermediate code becomes programs of all kinds
//# matrix: lto=slim,fat,parts kind=pie,nopie,static
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64
//# only: weld -- for others the compiler's driver passes a plugin
//# [lto=slim] obj: gcc.o = gcc.c -O2 -flto
//# [lto=slim] obj: part.o = part.c -O2 -flto
//# [lto=fat] obj: gcc.o = gcc.c -O2 -flto -ffat-lto-objects
//# [lto=fat] obj: part.o = part.c -O2 -flto -ffat-lto-objects
//# [lto=parts] obj: gcc.o = gcc.c -O2 -flto=2 -flto-partition=max
//# [lto=parts] obj: part.o = part.c -O2 -flto=2 -flto-partition=max
//# obj: native.o = native.c
//# link: %{kind} gcc.o part.o native.o
//# run:
//# stdout: 42 3 native asked part
//# symbol: asked_by_native type=FUNC
//# symbol: main
//# [!lto=parts] no-symbol: only_here
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

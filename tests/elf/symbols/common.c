//# about: tentative definitions become one zeroed variable; -fno-common code beside them
//# machines: aarch64 riscv64 i386 s390x armhf ppc64le ppc64 mipsel
//# matrix: cc=gcc,clang kind=static,pie,nopie
//# cflags: -fcommon
//# link: %{kind} common.o two.o
//# section: .bss type=NOBITS
//# run: ./out
//# stdout: 5 0 800
#include <stdio.h>
int shared_int;
char buffer[100];
extern char *two_buffer(void);
int set(void);
int main(void) {
  set();
  printf("%d %d %d\n", shared_int, buffer[799], two_buffer() == buffer ? 800 : 0);
  return 0;
}
//--- two.c
int shared_int;
char buffer[800];
char *two_buffer(void) { return buffer; }
int set(void) { return shared_int = 5; }

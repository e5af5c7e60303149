//# about: undefined weak symbols are zero in static output, left to the loader in dynamic output
//# machines: aarch64 riscv64 i386 s390x armhf ppc64le ppc64
//# matrix: cc=gcc,clang kind=static,static-pie,pie,nopie,shared
//# [kind=static|nopie] cflags: -fno-pie
//# [kind=shared] cflags: -fPIC
//# link: %{kind} weak-undefined.o
//# [!kind=shared] run: ./out
//# [!kind=shared] stdout: 0 0 0
//# [kind=shared] dynsym: missing bind=WEAK section=UND
//# [kind=shared !machine=riscv64|ppc64le|ppc64] reloc: GLOB_DAT sym=missing
//# [kind=shared machine=riscv64] reloc: 64 sym=missing
//# [kind=shared machine=ppc64le|ppc64] reloc: ADDR64 sym=missing
#include <stdio.h>
extern int missing(void) __attribute__((weak));
extern int missing_data __attribute__((weak));
extern int hidden(void) __attribute__((weak, visibility("hidden")));
int (*volatile pointer)(void) = missing;
int main(void) {
  if (missing) missing();
  if (hidden) hidden();
  printf("%d %d %d\n", missing != 0, &missing_data != 0, pointer != 0);
  return 0;
}

//# about: -Bsymbolic with a list of what stays replaceable does not tell the loader to bind everything inside
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# not: lld mold -- they do (mold 2.42 does not)
//# matrix: how=--export-dynamic-symbol=listed,--export-dynamic-symbol-list=list,--dynamic-list=list
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -Bsymbolic {how} -o liblib.so
//# no-dynamic: FLAGS SYMBOLIC
//# no-dynamic: SYMBOLIC
//# link: %nopie symbolic-and-lists.o -L. -llib
//# run: ./out
//# stdout: 5 5 1
//# cflags: -fno-pic
#include <stdio.h>
extern int listed;
int get(void), inside(void);
int main(void) {
  listed = 5;
  printf("%d %d %d\n", listed, get(), inside());
  return 0;
}
//--- lib.c
int listed = 1, other = 1;
int get(void) { return listed; }
int inside(void) { return other; }
//--- list
{ listed; };

//# about: members of archives take part if they are wanted: bitcode, machine code, thin archives, whole archives
//# matrix: lto=full,thin
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: archive.o = archive.c @clang -O2 -flto={lto}
//# obj: one.o = one.c @clang -O2 -flto={lto}
//# obj: two.o = two.c @clang -O2 -flto={lto}
//# obj: never.o = never.c @clang -O2 -flto={lto}
//# obj: native.o = native.c @gcc -O1
//# sh: llvm-ar-22 rcs libx.a never.o one.o two.o native.o && llvm-ar-22 rcsT libthin.a never.o one.o two.o native.o
//# link: %pie archive.o libx.a --why-extract=why.txt
//# run:
//# stdout: one native two
//# no-symbol: never
//# file: why.txt => archive\.o\s+libx\.a\(one\.o\)\s+one
//# link: %pie archive.o libthin.a -o thin
//# run:
//# stdout: one native two
//# link: %pie archive.o --whole-archive libx.a --no-whole-archive -o whole --export-dynamic
//# run:
//# stdout: one native two
//# symbol: never
//# link: %pie archive.o --start-lib never.o one.o two.o native.o --end-lib -o lib
//# run:
//# stdout: one native two
//# no-symbol: never
// What comes from a pipe is there once only.
//# sh: $LD_DIR/ld.lld -r <(cat archive.o) -o piped.o && llvm-nm-22 piped.o | grep 'T main'
#include <stdio.h>
void one(void);
int main(void) { one(); }
//--- one.c
#include <stdio.h>
void native(void);
void one(void) {
  printf("one ");
  native();
}
//--- two.c
#include <stdio.h>
void two(void) { puts("two"); }
//--- never.c
void never(void) { __builtin_trap(); }
//--- native.c
#include <stdio.h>
void two(void);
void native(void) {
  printf("native ");
  two();
}

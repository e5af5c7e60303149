//# about: -z retpolineplt for i386; s390x has nothing of the sort
//# only: weld lld -- the others have no such option
//# sh: i686-linux-gnu-gcc -static -no-pie -Wl,-z,retpolineplt -B $LD_DIR i386-retpoline.c -o out && ./out
//# stdout: 42
//# sh: llvm-objdump-22 -d --section=.plt --section=.iplt out
//# stdout-re: lfence
//# stdout-not: (jmp|call)l? +\*
//# sh: llvm-readelf-22 -n out
//# stdout-not: IBT|SHSTK
//# sh-fail: s390x-linux-gnu-gcc -static -no-pie -Wl,-z,retpolineplt -B $LD_DIR i386-retpoline.c -o out
//# stderr-re: -z retpolineplt is not supported for s390x
#include <stdio.h>
#include <string.h>
static int one(int x) { return x + 1; }
static void *choose(void) { return one; }
int through(int) __attribute__((ifunc("choose")));
int main(int argc, char **argv) {
  printf("%d\n", through(41) + (int)strlen(argv[0]) - 5);
  return 0;
}

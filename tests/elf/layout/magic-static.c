//# about: what -N puts into one segment runs, whatever its alignment: file and memory agree within pages
//# cflags: -O1
//# not: mold bfd -- mold 1.10 has no -N, GNU ld then has no __ehdr_start, which this libc asks for
//# sh: gcc -B $LD_DIR -static -no-pie -Wl,-N magic-static.o -o a && ./a
//# stdout: 5 3
#include <stdio.h>
int five = 5;
static _Thread_local int three = 3;
/* More than what comes before needs. */
const char aligned[64] __attribute__((aligned(64))) = "x";
int main(int argc, char **argv) {
  (void)argv;
  printf("%d %d\n", five, three + (aligned[argc] ? 1 : 0));
  return 0;
}

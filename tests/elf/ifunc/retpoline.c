//# about: -z retpolineplt: IFUNCs of a static program are called through retpolines, none of which is lazy
//# only: weld lld -- the others have no such option
//# matrix: kind=static,static-pie
//# link: %{kind} retpoline.o -z retpolineplt
//# run: ./out
//# stdout: 42 6
//# sh: llvm-objdump-22 -d --section=.plt out > plt.txt
//# [weld] file-not: plt.txt => (jmp|call)q? +\*
//# [weld] file-not: plt.txt => push
//# [weld] file: plt.txt => lfence
#include <stdio.h>
#include <string.h>
static int one(int x) { return x + 1; }
static void *choose(void) { return one; }
int through(int) __attribute__((ifunc("choose")));
int (*volatile pointer)(int) = through;
int main(int argc, char **argv) {
  printf("%d %d\n", through(41), pointer(5) + (int)strlen(argv[0]) - 5);
  return 0;
}

//# about: -z retpolineplt: PLT entries jump by returns; functions are bound lazily or at once, IFUNCs through the same
//# only: weld lld -- the others have no such option
//# matrix: bind=lazy,now kind=pie,nopie
//# obj: retpoline.o = retpoline.c -fcf-protection=full -O0
//# obj: lib.o = lib.c -fPIC
//# link: -shared lib.o -o lib.so -soname lib.so
//# link: %{kind} retpoline.o lib.so -z retpolineplt -z {bind}
//# run: ./out
//# stdout: 42 7 9
//# no-section: .plt.sec
//# [weld] readelf-not: -n => IBT|SHSTK
//# sh: llvm-objdump-22 -d --section=.plt --section=.iplt out > plt.txt
//# file-not: plt.txt => (jmp|call)q? +\*
//# file: plt.txt => lfence
//# [bind=now] dynamic: FLAGS BIND_NOW
//# [bind=now] file-not: plt.txt => push
//# [bind=lazy] file: plt.txt => push
#include <stdio.h>
int add(int), (*pick(void))(int);
static int one(int x) { return x; }
static void *choose(void) { return one; }
int through(int) __attribute__((ifunc("choose")));
int main(void) {
  printf("%d %d %d\n", add(41), pick()(6), through(9));
  return pick() != add;
}
//--- lib.c
int add(int x) { return x + 1; }
int (*pick(void))(int) { return add; }

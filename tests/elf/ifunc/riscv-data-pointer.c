//# about: RISC-V: loaders find out where the register for data is to point (__global_pointer$), which resolvers of IFUNCs count from before a program sets it
//# not: bfd mold -- those that are installed are for this machine's programs
//# not: lld -- it does not tell, and the program crashes
//# machines: riscv64
//# except: machine=x86-64
//# matrix: kind=nopie
//# cflags: -O1 -fno-pie
//# link: %nopie --relax-gp riscv-data-pointer.o -o out
// An access by way of `gp`: the register's number is in the instruction.
//# disasm: choose_one => \(gp\)
//# dynsym: __global_pointer$
//# run: ./out
//# stdout: 2
//# link: %nopie riscv-data-pointer.o -o plain
//# no-dynsym: __global_pointer$
//# run: ./plain
//# stdout: 2
//# link: -shared --relax-gp empty.o -o out.so
//# no-dynsym: __global_pointer$
#include <stdio.h>

static int choice = 1;
static int one(void) { return 1; }
static int two(void) { return 2; }
__attribute__((used)) void *choose_one(void) { return choice ? (void *)two : (void *)one; }
int f(void) __attribute__((ifunc("choose_one")));
int main(void) {
  choice += 1;
  printf("%d\n", f());
}
//--- empty.c
int nothing;

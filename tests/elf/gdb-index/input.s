//# about: The index of another link, in an input, is left out when one is made
//# obj: unit.o = unit.c -g
//# link: input.o unit.o --gdb-index -o out
//# sh: llvm-dwarfdump-22 --gdb-index out > index
//# file: index => Version = 7
//# file: index => String name: unit, CU vector
//# link: input.o unit.o -o without
//# contains: .gdb_index = stale
.globl _start
_start: ret
.section .gdb_index,"",@progbits
.ascii "stale"
//--- unit.c
int unit(void) { return 0; }

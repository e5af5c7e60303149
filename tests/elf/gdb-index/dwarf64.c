//# about: 64-bit DWARF
//# matrix: cc=gcc,clang dwarf=4,5 names=listed,found kind=pie
//# cflags: -g -gdwarf-{dwarf} -gdwarf64 -ffunction-sections
//# [names=listed] cflags: -ggnu-pubnames
//# link: %pie dwarf64.o other.o --gdb-index -o out
//# sh: llvm-dwarfdump-22 --gdb-index out > index
//# file: index => CU list offset = 0x18, has 2 entries
//# file: index => Address area offset = 0x38, has 3 entries
//# file: index => String name: main, CU vector
//# file: index => String name: other, CU vector
//# file: index => String name: structure, CU vector
struct structure { int member; };
int other(struct structure *);
int main(void) { struct structure s = {3}; return other(&s) - 3; }
int second(void) { return 4; }
//--- other.c
struct structure { int member; };
int other(struct structure *s) { return s->member; }

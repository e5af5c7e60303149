//# about: What --gdb-index does to other sections: lists of names are read and left out, with their relocations; code that is gone has no addresses; stripping leaves nothing; compression makes no difference
//# matrix: cc=gcc,clang dwarf=4,5 kind=pie
//# cflags: -g -gdwarf-{dwarf} -ggnu-pubnames -ffunction-sections
//# obj: sections.o = sections.c -g -gdwarf-{dwarf} -ggnu-pubnames -ffunction-sections
//# obj: packed.o = sections.c -g -gdwarf-{dwarf} -ggnu-pubnames -ffunction-sections -gz=zlib
//# obj: bare.o = bare.c -g0
//# link: %pie sections.o other.o --gdb-index --gc-sections --emit-relocs --build-id -o out
//# run: ./out
//# section: .gdb_index type=PROGBITS flags= align=4
//# no-section: .debug_gnu_pubnames .debug_gnu_pubtypes .rela.debug_gnu_pubnames .rela.debug_gnu_pubtypes
//# sh: llvm-dwarfdump-22 --gdb-index out > index; nm out > symbols
//# file: index => CU list offset = 0x18, has 2 entries
//# file: index => Address area offset = 0x38, has 3 entries
//# file: index => String name: main, CU vector
//# file: index => String name: other, CU vector
//# sh: for f in main used other; do grep -i "\[0x0*$(nm out | sed -n "s/^0*\(.*\) . $f$/\1/p"), " index || exit 1; done
//# link: %pie packed.o other.o --gdb-index --gc-sections --emit-relocs --build-id -o packed
//# sh: llvm-dwarfdump-22 --gdb-index packed | tail -n +3 > packed.index; tail -n +3 index | diff - packed.index
//# link: %pie sections.o other.o --gdb-index --gc-sections --compress-debug-sections=zlib -o compressed
//# section: .debug_info flags=C
//# section: .gdb_index flags=
//# sh: for n in out compressed; do llvm-dwarfdump-22 --gdb-index $n | tail -n +3 | grep -v Low/High > $n.rest; done; diff out.rest compressed.rest
//# link: %pie sections.o other.o --gdb-index --strip-debug -o stripped
//# no-section: .gdb_index .debug_info
//# link: %pie sections.o other.o --gdb-index -s -o bare
//# no-section: .gdb_index
//# link: %pie bare.o --gdb-index -o nothing
//# no-section: .gdb_index
//# link: %pie sections.o other.o --gdb-index --no-gdb-index -o without
//# no-section: .gdb_index
//# section: .debug_gnu_pubnames
//# fail: -r sections.o --gdb-index -o again
//# error: -r and --gdb-index cannot be used together
int other(void);
int dead(void) { return 3; }
volatile int four = 4;
__attribute__((noinline)) int used(void) { return four; }
int main(void) { return used() + other() - 9; }
//--- other.c
int other(void) { return 5; }
//--- bare.c
int main(void) { return 0; }

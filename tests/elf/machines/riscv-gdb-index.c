//# about: RISC-V: the index for GDB has the addresses of code as it is when it has become shorter
//# not: bfd mold -- those that are installed are for this machine's programs
//# not: lld -- it has the lengths of before, or none
//# machines: riscv64
//# except: machine=x86-64
//# matrix: cc=gcc,clang dwarf=4,5
//# cflags: -g -gdwarf-{dwarf} -O1 -ffunction-sections
//# link: -e first riscv-gdb-index.o other.o --gdb-index -o out
//# sh: llvm-dwarfdump-22 --gdb-index out > index
//# file: index => Address area offset = 0x38, has 5 entries
//# file: index => String name: second, CU vector
// A range for each function, whose symbols got shorter, too.
//# sh: llvm-nm-22 -S out | while read a s t n; do case $t in T|t) printf 'Low/High address = [0x%x, 0x%x)\n' 0x$a $((16#$a+16#$s));; esac; done > wanted; [ $(wc -l < wanted) = 5 ] && while read line; do grep -F "$line" index || exit 1; done < wanted
__attribute__((noinline)) int other(int);
__attribute__((noinline)) static int inner(int x) { return other(x) + other(x + 1); }
int first(int x) { return inner(x) + inner(x * 3) + other(7); }
int second(int x) { return first(x) - inner(2); }
//--- other.c
static int hidden(int x) { return x ^ 5; }
int other(int x) { return hidden(x) + 2; }
int last(int x) { return other(x) + other(x * 2); }

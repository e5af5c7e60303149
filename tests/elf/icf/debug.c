//# about: gdb stops in a folded function by its name and its line, and unwinds; code is described once
//# matrix: cc=gcc,clang version=4,5
//# cflags: -g -gdwarf-{version} -O1 -ffunction-sections
//# obj: other.o = other.c
//# link: %pie debug.o other.o --icf=all -o out
//# check: sym(answer) == sym(folded)
//# run: ./out
//# sh: ! llvm-dwarfdump-22 --debug-info --debug-line --debug-rnglists --debug-loclists out 2>&1 | grep -iE 'warning|error:'
//# sh: llvm-dwarfdump-22 --name=folded out | grep 'DW_AT_low_pc.*0x0000000000000000'
//# sh: gdb -batch -ex 'break folded' -ex run -ex bt ./out 2>&1 | grep -E '#1 .* main .*debug.c'
//# sh: gdb -batch -ex 'break other.c:2' -ex run -ex bt ./out 2>&1 | grep -E '#1 .* main .*debug.c'
//# [weld] link: %pie debug.o other.o --icf=all --gdb-index -o indexed
//# [weld] sh: llvm-dwarfdump-22 --gdb-index indexed | grep 'Low/High' > areas && test $(wc -l < areas) -ge 3 && test -z "$(sed 's/(.*//' areas | sort | uniq -d)"
//# [weld] sh: gdb -batch -ex 'break folded' -ex run -ex bt ./indexed 2>&1 | grep -E '#1 .* main .*debug.c'
__attribute__((noinline)) int answer(int n) { __asm__ volatile("" : "+r"(n)); return n - 42; }
int folded(int n);
int rest(int n);
int main(void) { int r = answer(42); return r + folded(42) + rest(1); }
//--- other.c
__attribute__((noinline))
int folded(int n) { __asm__ volatile("" : "+r"(n)); return n - 42; }
int rest(int n) { return n - 1; }

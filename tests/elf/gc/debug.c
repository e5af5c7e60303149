//# about: debug information stays when code goes; its references to dropped code are harmless
//# matrix: cc=gcc,clang
//# cflags: -g -ffunction-sections -fdata-sections
//# link: %pie debug.o --gc-sections
//# no-symbol: dead
//# section: .debug_info
//# sh: ! llvm-dwarfdump-22 --debug-info --debug-line --debug-rnglists --debug-loclists out 2>&1 | grep -iE 'warning|error'
//# sh: llvm-symbolizer-22 --obj=out $(llvm-nm-22 out | awk '/ main$/{print "0x" $1}') | grep debug.c:
int counter;
int dead(int n) { return counter += n; }
int live(int n) { return n + 1; }
int main(void) { return live(-1); }

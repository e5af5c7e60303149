//# about: -s, -S, -x, -X, --discard-none, --retain-symbols-file
//# cflags: -g
//# not: mold -- 1.10 drops all of .symtab with -S
//# link: %pie strip.o -s -o all
//# no-section: .symtab .strtab .debug_info
//# section: .dynsym
//# run: ./all
//# link: %pie strip.o --strip-debug -o debug
//# no-section: .debug_info .debug_line
//# symbol: main
//# symbol: local_function
//# link: %pie strip.o -x -o locals
//# no-symbol: local_function
//# symbol: main
//# section: .debug_info
//# link: %pie strip.o --discard-none -o none
//# symbol: local_function
//# link: %pie strip.o -X -o temporaries
//# symbol: local_function
//# [weld|bfd] link: %pie strip.o --retain-symbols-file=list -o retained
//# [weld|bfd] symbol: main
//# [weld|bfd] no-symbol: local_function global
//# [weld|bfd] run: ./retained
//# [weld] link: %pie strip.o -s --retain-symbols-file=list -q -o with-relocs
//# [weld] symbol: main
//# [weld] symbol: global
//# [weld] no-symbol: strip.c
//# [weld] no-section: .debug_info
//# [weld] run: ./with-relocs
//# [weld] fail: %pie strip.o --retain-symbols-file=nothing
//# [weld] error: cannot open nothing
static __attribute__((noinline)) int local_function(int n) { __asm__(""); return n; }
int global = 0;
int main(void) { return local_function(global); }
//--- list
main

//# about: mergeable sections with relocations are copied as they are
//# link: merge-with-relocations.o
//# check: u64(sym(table)) == sym(_start)
//# check: u64(sym(table) + 8) == 5
//# check: u64(sym(table) + 16) == sym(table)
.globl _start, table
_start: ret
.section .rodata.cst8,"aM",@progbits,8
table: .quad _start
.quad 5
.quad table
.section .note.GNU-stack,"",@progbits

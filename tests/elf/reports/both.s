//# about: duplicate and undefined symbols are reported by the same link, duplicates first
//# fail: both.o two.o
//# error: duplicate symbol: twice
//# [weld|lld] error: undefined symbol: missing
//# [weld] error: duplicate symbol: twice(.*\n)*.*undefined symbol: missing
.globl _start, twice
_start: call missing
twice: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl twice
twice: ret
.section .note.GNU-stack,"",@progbits

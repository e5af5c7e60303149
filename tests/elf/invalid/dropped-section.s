//# about: references to symbols in sections that only linkers read: a definition elsewhere is taken, none is an error
//# not: mold -- makes them absolute
//# fail: dropped-section.o
//# error: discarded section.*stack
//# [weld] error: discarded section.*excluded
//# [weld] error: discarded section.*\.note\.GNU-stack|local
//# [weld] link: good.o other.o
//# [weld] check: sym(stack) == sym(_start) + 5
.globl _start
_start:
 call stack
 call excluded
 call local
.section .excluded,"e",@progbits
.globl excluded
excluded: .quad 0
.section .note.GNU-stack,"",@progbits
.globl stack
stack:
local:
//--- good.s
.globl _start
_start: call stack
.weak stack
.section .note.GNU-stack,"",@progbits
stack:
//--- other.s
.globl stack
stack: ret
.section .note.GNU-stack,"",@progbits

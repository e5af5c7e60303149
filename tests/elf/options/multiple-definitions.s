//# about: -z muldefs and --allow-multiple-definition take the first
//# fail: multiple-definitions.o two.o
//# error: duplicate symbol: f
//# error: multiple-definitions.o
//# error: two.o
//# link: multiple-definitions.o two.o -z muldefs
//# bytes: sym(f) = 90 c3
//# link: multiple-definitions.o two.o --allow-multiple-definition
//# bytes: sym(f) = 90 c3
.globl _start, f
_start: ret
f: nop
  ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl f
f: ret
.section .note.GNU-stack,"",@progbits

//# about: archives that need each other work in any order (as lld and mold; GNU ld wants a group)
//# sh: ar rcs liba.a a.o && ar rcs libb.a b.o
//# [!bfd] link: back-reference.o libb.a liba.a
//# [!bfd] symbol: b
//# link: back-reference.o --start-group libb.a liba.a --end-group
//# symbol: b
//# link: back-reference.o -( libb.a liba.a -)
//# symbol: b
.globl _start
_start: call a
.section .note.GNU-stack,"",@progbits
//--- a.s
.globl a
a: call b
.section .note.GNU-stack,"",@progbits
//--- b.s
.globl b
b: ret
.section .note.GNU-stack,"",@progbits

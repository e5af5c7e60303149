//# about: a weak reference does not take a member out
//# sh: ar rcs libx.a w.o
//# link: weak-reference.o libx.a
//# no-symbol: body
.globl _start
.weak w
_start: mov w@GOTPCREL(%rip), %rax
.section .note.GNU-stack,"",@progbits
//--- w.s
.globl w, body
w: ret
body: ret
.section .note.GNU-stack,"",@progbits

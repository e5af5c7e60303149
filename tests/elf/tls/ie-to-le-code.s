//# about: initial-exec code that becomes local-exec: a load becomes a constant, an addition a lea where one of that length exists
//# not: mold -- it keeps them or writes other code
//# link: ie-to-le-code.o
//# bytes: sym(load) = 48 c7 c0 fc ff ff ff
//# bytes: sym(high_load) = 49 c7 c4 fc ff ff ff
//# bytes: sym(add) = 48 8d 80 fc ff ff ff
//# bytes: sym(high_add) = 4d 8d 89 fc ff ff ff
//# bytes: sym(add_sp) = 48 81 c4 fc ff ff ff
//# bytes: sym(add_12) = 49 81 c4 fc ff ff ff
.globl _start
_start:
load: mov x@gottpoff(%rip), %rax
high_load: mov x@gottpoff(%rip), %r12
add: add x@gottpoff(%rip), %rax
high_add: add x@gottpoff(%rip), %r9
add_sp: add x@gottpoff(%rip), %rsp
add_12: add x@gottpoff(%rip), %r12
.section .tbss,"awT",@nobits
x: .long 0
.section .note.GNU-stack,"",@progbits

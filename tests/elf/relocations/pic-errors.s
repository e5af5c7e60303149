//# about: relocations that position-independent output cannot have
//# matrix: kind=pie,shared
//# [kind=pie] fail: -pie pic-errors.o
//# [kind=shared] fail: -shared pic-errors.o
//# error: R_X86_64_32.*data
//# error: R_X86_64_32S.*data
//# error: recompile with -f(PIC|PIE|pic)
//# error: pic-errors.o
//# [kind=shared] error: R_X86_64_PC32.*data
.globl _start, data
_start: mov $data, %eax
  mov data(,%rax,8), %rax
  mov data(%rip), %eax
.data
data: .quad 1
.section .note.GNU-stack,"",@progbits

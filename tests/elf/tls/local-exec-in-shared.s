//# about: local-exec code cannot be part of a shared object
//# fail: -shared local-exec-in-shared.o
//# error: R_X86_64_TPOFF32.*-shared
//# error: local-exec-in-shared.o
.globl f
f: mov %fs:x@tpoff, %eax
  ret
.section .tbss,"awT",@nobits
x: .zero 4
.section .note.GNU-stack,"",@progbits

//# about: -z max-page-size governs the alignment of segments
//# link: max-page-size.o -z max-page-size=0x10000
//# segment: LOAD align=0x10000
//# check: segalign(LOAD) == 0x10000
//# check: addr(.data) / 0x10000 > addr(.text) / 0x10000
//# link: max-page-size.o -z max-page-size=2097152 -z separate-code
//# segment: LOAD align=0x200000
//# run: ./out
//# exit: 3
//# [weld|lld] fail: max-page-size.o -z max-page-size=5
//# [weld|lld] error: max-page-size
.globl _start
_start: mov data(%rip), %edi
  mov $60, %eax
  syscall
.data
data: .quad 3
.section .note.GNU-stack,"",@progbits

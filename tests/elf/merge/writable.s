//# about: what is writable is not merged, whatever its section says (Linux for s390x has such tables)
//# not: lld -- it refuses them
//# link: writable.o
//# [weld] check: size(.table) == 24
//# run: ./out
//# exit: 5
//# link: -r writable.o -o r.o
//# check: size(.table) == 24
.globl _start
_start:
  movq $5, first(%rip)
  mov second(%rip), %edi
  mov $60, %eax
  syscall
.section .table,"awM",@progbits,8
first: .quad 5
second: .quad 5
third: .quad _start
.section .note.GNU-stack,"",@progbits

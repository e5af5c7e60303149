//# about: -z separate-code, noseparate-code and separate-loadable-segments
//# matrix: how=separate-code,noseparate-code,separate-loadable-segments
//# link: separate-code.o -z {how}
//# segment: LOAD flags=RX count=1
//# [how=separate-code !mold] check: off(.text) % 4096 == 0
//# [how=separate-loadable-segments] check: off(.data) % 4096 == 0
//# [how=separate-loadable-segments] not: bfd mold -- no such option
//# [how=noseparate-code !bfd] check: off(.text) % 4096 != 0
//# run: ./out
//# exit: 7
.globl _start
_start: mov data(%rip), %edi
  add ro(%rip), %edi
  mov $60, %eax
  syscall
.data
data: .quad 3
.section .rodata,"a",@progbits
ro: .quad 4
.section .note.GNU-stack,"",@progbits

//# about: -z nosectionheader leaves the section headers out
//# only: weld -- lld 22 and others here do not know it in this form
//# link: nosectionheader.o -z nosectionheader
//# check: nsections == 0
//# run: ./out
//# exit: 3
.globl _start
_start: mov $3, %edi
  mov $60, %eax
  syscall
.section .note.GNU-stack,"",@progbits

//# about: sections aligned to more than a page, in the middle of a segment
//# matrix: kind=exec,pie
//# [kind=exec] link: huge-alignment.o
//# [kind=pie] link: huge-alignment.o -pie --no-dynamic-linker
//# check: sym(a) % 65536 == 0
//# check: sym(b) % 65536 == 0
//# run: ./out
//# exit: 12
.globl _start, a, b
_start:
  mov first(%rip), %edi
  add a(%rip), %edi
  add b(%rip), %edi
  mov $60, %eax
  syscall
.data
first: .long 3
.section .foo,"aw",@progbits
.balign 65536
a: .long 4
.section .foo2,"aw",@progbits
.balign 65536
b: .long 5
.section .note.GNU-stack,"",@progbits

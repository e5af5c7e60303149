//# about: alignment of sections larger than a page
//# link: alignment.o
//# check: sym(aligned) % 65536 == 0
//# check: align(.data) == 65536
//# check: segalign(LOAD) >= 4096
//# check: sym(code) % 512 == 0
//# check: addr(.bss) + 8 <= sym(b)
.globl _start
_start: ret
.section .text.c,"ax",@progbits
.p2align 9
code: ret
.data
.p2align 16
aligned: .quad 1
.bss
.zero 8
b: .zero 1
.section .note.GNU-stack,"",@progbits

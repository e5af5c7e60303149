//# about: SHF_LINK_ORDER sections follow the order of their targets
//# obj: link-order.o = link-order.s @clang
//# not: mold -- 1.10 keeps the order of the input
//# link: link-order.o
//# check: u64(addr(.meta)) == sym(a)
//# check: u64(addr(.meta) + 8) == sym(b)
//# check: u64(addr(.meta) + 16) == sym(c)
//# section: .meta link=.text flags=AL
.globl _start
_start: ret
.section .text.a,"ax",@progbits
a: ret
.section .text.b,"ax",@progbits
b: ret
.section .text.c,"ax",@progbits
c: ret
.section .meta,"ao",@progbits,.text.c
.quad c
.section .meta,"ao",@progbits,.text.a
.quad a
.section .meta,"ao",@progbits,.text.b
.quad b
.section .note.GNU-stack,"",@progbits

//# about: -r puts sections that lie in the order of others (SHF_LINK_ORDER) into that order where it joins them: the next link could not
//# only: weld -- the others leave them as they come, or every section apart
//# obj: link-order.o = link-order.s @clang
//# link: -r link-order.o -o r.o
//# section: .meta flags=AL
//# check: size(.meta) == 16
//# contains: .meta = \x01\0\0\0\0\0\0\0\x02
//# link: r.o -o out
//# contains: .meta = \x01\0\0\0\0\0\0\0\x02
.globl _start
.text
_start: ret
.section .lead,"a",@progbits,unique,1
one: .quad 1
.section .lead,"a",@progbits,unique,2
two: .quad 2
.section .meta,"ao",@progbits,two,unique,1
.quad 2
.section .meta,"ao",@progbits,one,unique,2
.quad 1
.section .note.GNU-stack,"",@progbits

//# about: --no-check-sections lets sections overlap, as boot code with overlays wants
//# not: mold -- ignores both options
//# fail: no-check-sections.o --section-start=one=0x10000000 --section-start=two=0x10000008
//# error: overlap
//# link: no-check-sections.o --section-start=one=0x10000000 --section-start=two=0x10000008 --no-check-sections
//# no-verify: sections overlap
//# check: addr(one) == 0x10000000
//# check: addr(two) == 0x10000008
//# [weld|bfd] contains: one = ABCDABCDABCDABCD
//# [weld|bfd] contains: two = EFGH
.globl _start
_start: ret
.section one,"aw",@progbits
.ascii "ABCDABCDABCDABCD"
.section two,"aw",@progbits
.ascii "EFGH"
.section .note.GNU-stack,"",@progbits

//# about: among sections that are in the order of others may be some that are not: these lie behind, in their own order
//# not: mold bfd -- they keep the order of the input, or refuse it
//# obj: a.o = a.s @clang
//# link: a.o
//# bytes: addr(.order) = 01 02 00 04 03
//# section: .order link=.text flags=AL
//--- a.s
.section .text,"ax",@progbits,unique,0
.globl _start
_start: ret
.L0:
.section .text,"ax",@progbits,unique,1
ret
.L1:
.section .order,"ao",@progbits,0,unique,0
.byte 0
.section .order,"ao",@progbits,.L1
.byte 2
.section .order,"ao",@progbits,.L0
.byte 1
.section .order,"a",@progbits
.byte 4
.section .order,"ao",@progbits,0,unique,3
.byte 3
.section .note.GNU-stack,"",@progbits

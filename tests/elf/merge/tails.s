//# about: -O2 also shares tails: "xyz" is inside "wxyz"
//# only: weld lld -- others do not share tails
//# link: tails.o -O2
//# check: u64(sym(words)) == u64(sym(words) + 8) + 1
//# check: u64(sym(words) + 16) == u64(sym(words) + 8) + 3
//# check: u64(sym(words) + 24) == u64(sym(words) + 32) + 1
//# contains: .rodata x1 = xyz\0
//# check: size(.rodata) <= 16
//# link: tails.o -O1
//# check: u64(sym(words)) != u64(sym(words) + 8) + 1
.globl _start
_start: ret
.section .rodata.str1.1,"aMS",@progbits,1
a: .asciz "xyz"
b: .asciz "wxyz"
c: .asciz "z"
d: .asciz "cc"
e: .asciz "bcc"
.data
words: .quad a, b, c, d, e
.section .note.GNU-stack,"",@progbits

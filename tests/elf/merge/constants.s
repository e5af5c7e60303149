//# about: SHF_MERGE constants of 4, 8, 16 and 32 bytes
//# link: constants.o more.o
//# check: u64(sym(words)) == u64(sym(words2))
//# check: u64(sym(words) + 8) == u64(sym(words2) + 8)
//# check: u64(sym(words) + 16) == u64(sym(words2) + 16)
//# check: u64(sym(words) + 24) == u64(sym(words2) + 24)
//# check: u64(sym(words) + 32) == u64(sym(words)) + 2
//# check: u32(u64(sym(words))) == 0x11111111
//# check: u64(u64(sym(words) + 8)) == 0x2222222222222222
//# check: u64(sym(words) + 16) % 16 == 0
//# check: u64(sym(words) + 24) % 32 == 0
.globl _start
_start: ret
.section .rodata.cst4,"aM",@progbits,4
.p2align 2
.long 7
a: .long 0x11111111
.section .rodata.cst8,"aM",@progbits,8
.p2align 3
b: .quad 0x2222222222222222
.section .rodata.cst16,"aM",@progbits,16
.p2align 4
c: .quad 3, 3
.section .rodata.cst32,"aM",@progbits,32
.p2align 5
d: .quad 4, 4, 4, 4
.data
.globl words
words: .quad a, b, c, d, a + 2
.section .note.GNU-stack,"",@progbits
//--- more.s
.section .rodata.cst4,"aM",@progbits,4
.p2align 2
a: .long 0x11111111
.section .rodata.cst8,"aM",@progbits,8
.p2align 3
.quad 9
b: .quad 0x2222222222222222
.section .rodata.cst16,"aM",@progbits,16
.p2align 4
.quad 9, 9
c: .quad 3, 3
.section .rodata.cst32,"aM",@progbits,32
.p2align 5
d: .quad 4, 4, 4, 4
.data
.globl words2
words2: .quad a, b, c, d
.section .note.GNU-stack,"",@progbits

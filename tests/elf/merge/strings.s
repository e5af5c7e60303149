//# about: equal strings of mergeable sections become one, by entry size and alignment; -O0 keeps them
//# not: mold -- 1.10 names the section .rodata.str
//# obj: strings.o = strings.s
//# link: strings.o more.o
//# contains: .rodata x1 = hello\0
//# contains: .rodata x1 = w\0i\0d\0e\0\0\0
//# check: u64(sym(words)) == u64(sym(words2))
//# check: u64(sym(words) + 8) == u64(sym(words2) + 8)
//# check: u64(sym(words) + 16) == u64(sym(words) + 8) + 2
//# check: u64(sym(words2) + 16) % 16 == 0
//# check: sym(label) == u64(sym(words))
//# [!mold] link: strings.o more.o -O0
//# [lld|weld] contains: .rodata x2 = hello\0
//# [lld|weld] check: u64(sym(words)) != u64(sym(words2))
.globl _start
_start: ret
.section .rodata.str1.1,"aMS",@progbits,1
label:
a: .asciz "hello"
b: .asciz "world"
.section .rodata.str2.2,"aMS",@progbits,2
.p2align 1
w: .short 'w', 'i', 'd', 'e', 0
.data
.globl words
words: .quad a, b, b + 2, w
.section .note.GNU-stack,"",@progbits
//--- more.s
.section .rodata.str1.1,"aMS",@progbits,1
c: .asciz "world"
d: .asciz "hello"
.section .rodata.str1.16,"aMS",@progbits,1
.p2align 4
e: .asciz "aligned"
.section .rodata.str2.2,"aMS",@progbits,2
.p2align 1
w: .short 'w', 'i', 'd', 'e', 0
.data
.globl words2
words2: .quad d, c, e, w
.section .note.GNU-stack,"",@progbits

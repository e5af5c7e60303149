//# about: relocations through the section symbol with addends into the middle of merged sections
//# link: section-symbol.o more.o
//# check: u8(u64(sym(words))) == 0x62
//# check: u8(u64(sym(words) + 8)) == 0x63
//# check: u8(u64(sym(words2))) == 0x63
//# check: u64(sym(words) + 8) == u64(sym(words2))
.globl _start, words, words2
_start: ret
.section .rodata.str1.1,"aMS",@progbits,1
.asciz "aaa"
.asciz "bbb"
.asciz "ccc"
.data
words: .quad .rodata.str1.1 + 4, .rodata.str1.1 + 8
.section .note.GNU-stack,"",@progbits
//--- more.s
.globl words2
.section .rodata.str1.1,"aMS",@progbits,1
.asciz "ccc"
.data
words2: .quad .rodata.str1.1
.section .note.GNU-stack,"",@progbits

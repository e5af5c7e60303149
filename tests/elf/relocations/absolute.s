//# about: R_X86_64_64, 32, 32S, 16, 8, SIZE32, SIZE64 in a fixed-address executable
//# not: mold -- 1.10 takes R_X86_64_8 as unsigned
//# link: absolute.o abs.o
//# check: u64(sym(words)) == sym(data) + 4
//# check: u32(sym(words) + 8) == sym(data)
//# check: s32(sym(words) + 12) == sym(data) + 1
//# check: u16(sym(words) + 16) == 0x1234
//# check: u8(sym(words) + 18) == 0x56
//# check: s8(sym(words) + 19) == -1
//# check: u32(sym(words) + 20) == 24 + 2
//# check: u64(sym(words) + 24) == 24
//# no-section: .rela.dyn
.globl _start, words, data
_start: ret
.data
.type data, @object
.size data, 24
data: .quad 1, 2, 3
words: .quad data + 4
.long data
.reloc ., R_X86_64_32S, data + 1
.long 0
.short a16
.byte a8
.byte minus
.long data@SIZE + 2
.quad data@SIZE
.section .note.GNU-stack,"",@progbits
//--- abs.s
.globl a16, a8, minus
a16 = 0x1234
a8 = 0x56
minus = -1
.section .note.GNU-stack,"",@progbits

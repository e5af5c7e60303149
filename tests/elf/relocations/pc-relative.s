//# about: PC8, PC16, PC32, PC64, PLT32 to local and global symbols, sections and absolute addresses
//# link: pc-relative.o
//# check: sym(w) + s64(sym(w)) == sym(data)
//# check: sym(w) + 8 + s32(sym(w) + 8) == sym(_start)
//# check: sym(w) + 12 + s16(sym(w) + 12) == sym(data) + 3
//# check: sym(w) + 14 + s8(sym(w) + 14) == sym(data)
//# check: sym(_start) + 5 + s32(sym(_start) + 1) == sym(callee)
.globl _start, data, callee
_start: call callee@PLT
.section .text.b,"ax",@progbits
callee: ret
.data
data: .quad 1
.section .data.b,"aw",@progbits
w: .quad data - .
.long _start - .
.short data + 3 - .
.byte data - .
.section .note.GNU-stack,"",@progbits

//# about: absolute symbols do not move with the image
//# matrix: kind=exec,pie,shared
//# [kind=exec] link: absolute.o abs.o
//# [kind=pie] link: -pie absolute.o abs.o
//# [kind=shared] link: -shared absolute.o abs.o
//# symbol: abs section=ABS value=0x1234
//# check: u64(sym(word)) == 0x1234
//# no-reloc: RELATIVE
//# [kind=shared] dynsym: exported section=ABS value=0x55
.globl _start, word
_start: ret
.data
word: .quad abs
.hidden abs
.section .note.GNU-stack,"",@progbits
//--- abs.s
.globl abs, exported
abs = 0x1234
.hidden abs
exported = 0x55
.section .note.GNU-stack,"",@progbits

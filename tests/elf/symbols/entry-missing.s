//# about: no entry symbol: a warning, and the image starts at 0
//# link: entry-missing.o -e nowhere
//# warning: nowhere
.globl other
other: ret
.section .note.GNU-stack,"",@progbits

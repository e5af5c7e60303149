//# about: a string section whose last string has no end
//# not: mold bfd -- they accept it
//# fail: not-terminated.o
//# error: not-terminated.o.*\.rodata\.str
.globl _start
_start: ret
.section .rodata.str1.1,"aMS",@progbits,1
.ascii "no end"
.section .note.GNU-stack,"",@progbits

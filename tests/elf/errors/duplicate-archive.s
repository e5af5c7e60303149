//# about: two members with one symbol, both needed for other reasons
//# sh: ar rcs libx.a a.o b.o
//# fail: duplicate-archive.o libx.a
//# error: duplicate symbol: same
//# error: libx\.a.*a\.o
//# error: libx\.a.*b\.o
.globl _start
_start: call a
  call b
.section .note.GNU-stack,"",@progbits
//--- a.s
.globl a, same
a: same: ret
.section .note.GNU-stack,"",@progbits
//--- b.s
.globl b, same
b: same: ret
.section .note.GNU-stack,"",@progbits

//# about: -r takes archive members, allows undefined symbols, and can be repeated
//# sh: ar rcs libx.a x.o
//# link: -r undefined-and-archives.o libx.a -o a.o
//# symbol: x
//# symbol: nowhere section=UND
//# link: -r a.o -o b.o
//# symbol: x
//# fail: b.o
//# error: undefined symbol: nowhere
.globl _start
_start: call x
  call nowhere
.section .note.GNU-stack,"",@progbits
//--- x.s
.globl x
x: ret
.section .note.GNU-stack,"",@progbits

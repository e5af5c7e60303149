//# about: two members of one name, and an empty archive
//# sh: mkdir x y && cp one.o x/m.o && cp two.o y/m.o && llvm-ar-22 qcs libx.a x/m.o y/m.o && ar rcs libempty.a
//# link: duplicate-names.o libempty.a libx.a
//# symbol: one
//# symbol: two
.globl _start
_start: call one
  call two
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits

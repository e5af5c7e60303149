//# about: a hidden reference takes a member out though a shared library before it has the name
//# not: mold -- 1.10 calls it undefined
//# sh: ar rcs liba.a member.o; ar rcs libb.a later.o
//# link: -shared member.o -o lib.so
//# link: hidden-reference.o lib.so liba.a
//# symbol: f bind=LOCAL
//# no-reloc: *
//# [weld] link: lib.so --start-lib member.o --end-lib hidden-reference.o -o lazy
//# [weld] symbol: f bind=LOCAL
//# link: default.o lib.so libb.a liba.a -o round
//# [!bfd] symbol: f bind=LOCAL
//# symbol: later
//# fail: hidden-reference.o lib.so
//# error: undefined.*f
.globl _start
.hidden f
_start: call f
.section .note.GNU-stack,"",@progbits
//--- member.s
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
//--- default.s
.globl _start
_start: call f
  call later
.section .note.GNU-stack,"",@progbits
//--- later.s
.globl later
.hidden f
later: call f
.section .note.GNU-stack,"",@progbits

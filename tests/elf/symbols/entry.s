//# about: -e with a symbol, with a number; a missing entry is a warning (0) or an error with -e
//# link: entry.o -e other
//# check: entry == sym(other)
//# [!mold] link: entry.o -e 0x1234
//# [!mold] check: entry == 0x1234
//# [!mold] link: -shared entry.o
//# [!mold] check: entry == 0
// Numbers are read as in C.
//# [!mold] link: entry.o -e 0777
//# [!mold] check: entry == 0x1ff
// A shared object that has the usual one starts there.
//# [weld|lld] obj: start.o = start.s
//# [weld|lld] link: -shared start.o
//# [weld|lld] check: entry == sym(_start)
.globl other
  nop
other: ret
//--- start.s
.globl _start
nop
_start: ret
.section .note.GNU-stack,"",@progbits

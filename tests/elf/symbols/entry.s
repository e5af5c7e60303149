//# about: -e with a symbol, with a number; a missing entry is a warning (0) or an error with -e
//# link: entry.o -e other
//# check: entry == sym(other)
//# [!mold] link: entry.o -e 0x1234
//# [!mold] check: entry == 0x1234
//# [!mold] link: -shared entry.o
//# [!mold] check: entry == 0
.globl other
  nop
other: ret
.section .note.GNU-stack,"",@progbits

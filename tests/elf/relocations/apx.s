//# about: relocations of APX instructions: what has the short form is rewritten, the others use the GOT
//# not: bfd mold -- too old
//# obj: t.o = apx.s @clang
//# link: t.o
//# bytes: sym(load) = d5 48 8d 05
//# check: sym(load) + 8 + s32(sym(load) + 4) == sym(word)
//# [weld] check: s64(sym(add6) + 10 + s32(sym(add6) + 6)) == -8
//# [weld] check: s64(sym(mov4) + 8 + s32(sym(mov4) + 4)) == -8
.globl _start, load, add6, mov4, word
_start:
  ret
load: mov word@GOTPCREL(%rip), %r16
add6: add local@GOTTPOFF(%rip), %r8, %r16
mov4: mov local@GOTTPOFF(%rip), %r16
.data
word: .quad 1
.section .tdata,"awT",@progbits
local: .quad 5
.section .note.GNU-stack,"",@progbits

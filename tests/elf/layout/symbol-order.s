//# about: --symbol-ordering-file puts the sections of listed symbols first, in that order, local symbols included; what cannot be moved is named
//# not: bfd mold -- they have no such option
//# obj: a.o = a.s
//# sh: printf 'four\n# no symbol\n\n  two\t\n' > list
//# link: a.o --symbol-ordering-file=list
//# bytes: addr(.text) = 04 02 01 03
//# check: sym(four) == addr(.text)
//# sh: printf 'data2\nthree\n' > other
//# link: a.o --symbol-ordering-file other
//# bytes: addr(.text) = 03 01 02 04
//# bytes: addr(.data) = 22 11
//# sh: printf 'three\nnothere\nfixed\nthree\n' > wrong
//# link: a.o --symbol-ordering-file=wrong
//# warning: wrong: three is listed twice|wrong: duplicate ordered symbol: three
//# warning: (wrong: cannot order nothere: there is no such symbol|no such symbol: nothere)
//# warning: (wrong: cannot order fixed: it has a fixed value|unable to order absolute symbol: fixed)
//# bytes: addr(.text) = 03 01 02 04
//# link: a.o --symbol-ordering-file=wrong --no-warn-symbol-ordering
//# [lld] warning: .
//# fail: a.o --symbol-ordering-file=gone
//# error: cannot open gone
//# [weld] sh: printf 'one four 5\n' > calls
//# [weld] fail: a.o --symbol-ordering-file=list --call-graph-ordering-file=calls
//# [weld] error: --symbol-ordering-file and --call-graph-ordering-file cannot be used together
//--- a.s
.globl _start, one, three
.section .text.one,"ax",@progbits
_start:
one: .byte 1
.section .text.two,"ax",@progbits
two: .byte 2
.section .text.three,"ax",@progbits
three: .byte 3
.section .text.four,"ax",@progbits
four: .byte 4
.section .data.1,"aw",@progbits
.byte 0x11
.section .data.2,"aw",@progbits
data2: .byte 0x22
fixed = 0x1234
.section .note.GNU-stack,"",@progbits

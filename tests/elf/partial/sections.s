//# about: -r keeps section names, symbols, merge flags, commons and link order
//# obj: sections.o = sections.s @clang
//# obj: two.o = two.s @clang
//# link: -r sections.o two.o -o r.o
//# symbol: common section=COMMON size=16
//# symbol: weak bind=WEAK
//# symbol: hidden vis=HIDDEN
//# [weld|lld] section: .text.a flags=AX
//# [weld|lld] section: .text.b flags=AX
//# section: .meta flags=AL
//# section: .rodata.str1.1 flags=AMS entsize=1
//# check: size(.data) == 24
//# section: .rela.data
//# reloc: R_X86_64_64 in=.rela.data sym=external addend=4
//# link: r.o three.o -o out
//# check: u64(sym(words)) == sym(external) + 4
//# check: u64(sym(more)) == sym(hidden)
//# not: mold -- 1.10 keeps every section apart
.text
.globl _start
_start: ret
.section .text.a,"ax",@progbits
a: ret
.section .meta,"ao",@progbits,.text.a
.quad 1
.section .rodata.str1.1,"aMS",@progbits,1
.asciz "hello"
.data
.globl words
words: .quad external + 4
.weak weak
weak: .quad 1
.comm common, 8, 8
.section .note.GNU-stack,"",@progbits
//--- two.s
.section .text.b,"ax",@progbits
.globl hidden
.hidden hidden
hidden: ret
.section .rodata.str1.1,"aMS",@progbits,1
.asciz "hello"
.data
.globl more
more: .quad hidden
.comm common, 16, 8
.section .note.GNU-stack,"",@progbits
//--- three.s
.data
.globl external
external: .quad 1
.section .note.GNU-stack,"",@progbits

//# about: --defsym with numbers, symbols and expressions of both
//# not: mold -- 1.10 crashes on expressions
//# link: defsym.o --defsym=number=0x1234 --defsym=alias=target --defsym target2=target+8 --defsym=weakling=target
//# symbol: number section=ABS value=0x1234
//# check: sym(alias) == sym(target)
//# check: sym(target2) == sym(target) + 8
//# symbol: alias section=.data
//# check: u64(sym(words)) == 0x1234
//# check: u64(sym(words) + 8) == sym(target)
//# check: u64(sym(words) + 16) == sym(target) + 8
//# check: u64(sym(words) + 24) == sym(target)
.globl _start, target, words
.weak weakling
_start: ret
.data
target: .quad 1, 2, 3
weakling: .quad 9
words: .quad number, alias, target2, weakling
.section .note.GNU-stack,"",@progbits

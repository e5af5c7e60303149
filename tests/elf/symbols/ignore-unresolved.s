//# about: --ignore-unresolved-symbol: of the undefined symbols these are not reported
//# only: weld bfd -- others have no such option
//# obj: lib.o = lib.s
//# link: -shared lib.o -o lib.so
//# link: ignore-unresolved.o --ignore-unresolved-symbol=one --ignore-unresolved-symbol two
//# check: u64(sym(words)) == 0
//# fail: ignore-unresolved.o --ignore-unresolved-symbol=one
//# error: two
//# error-not: one
//# obj: main.o = main.s
//# fail: main.o lib.so
//# error: elsewhere
//# link: main.o lib.so --ignore-unresolved-symbol=elsewhere
//# link: -shared ignore-unresolved.o -z defs --ignore-unresolved-symbol=one --ignore-unresolved-symbol two
.globl _start, words
_start: ret
.data
words: .quad one, two
.section .note.GNU-stack,"",@progbits
//--- main.s
.globl _start
_start: call f
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl f
f: call elsewhere@PLT
.section .note.GNU-stack,"",@progbits

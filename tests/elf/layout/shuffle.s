//# about: --shuffle-sections changes the order of matching sections, by a seed; the seed -1 turns it round, and what makes a function in pieces stays
//# only: weld lld -- others have no such option
//# obj: shuffle.o = shuffle.s @clang
//# link: shuffle.o --shuffle-sections=*=-1
//# bytes: addr(.text) = 05 04 03 02 01
//# bytes: addr(.init) = 0a 0b
//# link: shuffle.o --shuffle-sections .text.[bcd]=-1
//# bytes: addr(.text) = 01 04 03 02 05
//# link: shuffle.o --shuffle-sections=.text.*=-1 --shuffle-sections=.text.*=-1 -o twice
//# bytes: addr(.text) = 01 02 03 04 05
//# link: shuffle.o --shuffle-sections=.text.*=7 -o one
//# link: shuffle.o --shuffle-sections=.text.*=7 -o two
//# same: one two
//# differ: one twice
//# fail: shuffle.o --shuffle-sections==7
//# error: --shuffle-sections
//# fail: shuffle.o --shuffle-sections=*=x
//# error: --shuffle-sections
//# fail: shuffle.o --shuffle-sections=[=1
//# error: --shuffle-sections
.globl _start
.section .text.a,"ax",@progbits
_start: .byte 1
.section .text.b,"ax",@progbits
.byte 2
.section .text.c,"ax",@progbits
.byte 3
.section .text.d,"ax",@progbits
.byte 4
.section .text.e,"ax",@progbits
.byte 5
.section .init,"ax",@progbits,unique,1
.byte 10
.section .init,"ax",@progbits,unique,2
.byte 11
.section .note.GNU-stack,"",@progbits

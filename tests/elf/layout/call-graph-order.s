//# about: functions go behind those that call them most, by a profile in the object or in a file; --print-symbol-order tells the order
//# not: bfd mold -- they take no notice of profiles
//# obj: a.o = a.s @clang
//# link: a.o
//# bytes: addr(.text) = 0a 0b 0c 0d
//# link: a.o --call-graph-profile-sort=none
//# bytes: addr(.text) = 0d 0c 0b 0a
//# link: a.o --no-call-graph-profile-sort -o none
//# bytes: addr(.text) = 0d 0c 0b 0a
//# sh: printf 'A B 5\nB C 50\nC D 40\n\nD B 10\n' > calls
//# link: a.o --call-graph-ordering-file=calls --call-graph-profile-sort=hfsort --print-symbol-order=printed
//# bytes: addr(.text) = 0b 0c 0d 0a
//# file: printed => ^B\nC\nD\nA\n
//# sh: printf 'A B C 100\n' > four && printf 'A B many\n' > words && printf 'A nothere 1\n' > gone
//# fail: a.o --call-graph-ordering-file=four
//# error: four:1: expected FROM TO COUNT|four: parse error
//# fail: a.o --call-graph-ordering-file=words
//# error: words:1: expected FROM TO COUNT|words: parse error
//# link: a.o --call-graph-ordering-file=gone
//# warning: gone: (cannot order nothere: there is no such symbol|no such symbol: nothere)
//# fail: a.o --call-graph-profile-sort=sideways
//# error: call-graph-profile-sort
//--- a.s
.section .text.D,"ax",@progbits
D: .byte 13
.section .text.C,"ax",@progbits
.globl C
C: .byte 12
.section .text.B,"ax",@progbits
.globl B
B: .byte 11
.section .text.A,"ax",@progbits
.globl _start
_start:
A: .byte 10
.cg_profile A, B, 100
.cg_profile A, C, 40
.cg_profile B, C, 30
.cg_profile C, D, 90
.section .note.GNU-stack,"",@progbits

//# about: --unique: output sections of their own for sections that have no place, or whose names match
//# not: lld mold -- one takes no pattern, the other ignores the option
//# obj: a.o = unique.s
//# obj: b.o = b.s
//# link: a.o b.o -o joined
//# check: count(mine) == 1
//# link: a.o b.o --unique -o homeless
//# check: count(mine) == 2
//# check: count(.text) == 1
//# check: count(.data) == 1
// GNU ld puts the second `other` between the two.
//# [weld] run: ./homeless
//# [weld] exit: 7
//# link: a.o b.o --unique=.te?t --unique=other -o named
//# check: count(mine) == 1
//# check: count(.text) == 2
//# check: count(other) == 2
//# run: ./named
//# exit: 7
// Arrays that are run through stay whole, and nothing comes between __start_ and __stop_.
//# [weld] link: a.o b.o --unique=* -o all
//# [weld] check: count(.init_array) == 1
//# [weld] check: count(mine) == 2
//# [weld] check: count(.data) == 2
//# [weld] check: sym(__stop_mine) == sym(__start_mine) + 8
//# [weld] run: ./all
//# [weld] exit: 7
//# link: -r a.o b.o --unique=mine -o joined.o
//# check: count(mine) == 2
//# check: count(other) == 1
.globl _start
_start: mov __start_mine(%rip), %edi
  add __start_mine+4(%rip), %edi
  mov $60, %eax
  syscall
  .quad __stop_mine
.section mine,"aw",@progbits
.long 3
.section other,"aw",@progbits
.long 100
.data
.long 1
.section .init_array,"aw",@init_array
.quad _start
.section .note.GNU-stack,"",@progbits
//--- b.s
nop
.section other,"aw",@progbits
.long 200
.section mine,"aw",@progbits
.long 4
.data
.long 2
.section .init_array,"aw",@init_array
.quad _start
.section .note.GNU-stack,"",@progbits

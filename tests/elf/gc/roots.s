//# about: what is a root: entry, -u, exports, init and fini arrays, notes, SHF_GNU_RETAIN, C identifiers by __start_
//# obj: roots.o = roots.s @clang
//# [!mold] link: roots.o --gc-sections -z nostart-stop-gc -u by_option --export-dynamic-symbol=none -init start_function -fini stop_function -o out
//# [mold] link: roots.o --gc-sections -u by_option -o out
//# symbol: by_option
//# symbol: in_init_array_target
//# section: .note.mine
//# symbol: retained
//# symbol: in_set
//# [!mold] no-symbol: not_in_set
//# no-symbol: dropped
//# [mold] link: -shared roots.o --gc-sections -o so
//# [!mold] link: -shared roots.o --gc-sections -z nostart-stop-gc -o so
//# symbol: dropped
//# symbol: in_set
.section .text._start,"ax",@progbits
.globl _start
_start: lea __start_set(%rip), %rax
  ret
.section .text.by_option,"ax",@progbits
.globl by_option, start_function, stop_function
by_option: ret
start_function: ret
stop_function: ret
.section .text.t,"ax",@progbits
in_init_array_target: ret
.section .init_array,"aw",@init_array
.quad in_init_array_target
.section .note.mine,"a",@note
.long 4, 4, 1
.asciz "abc"
.long 5
.section .data.retained,"awR",@progbits
retained: .quad 1
.section set,"aw",@progbits
in_set: .quad 1
.section other_set,"aw",@progbits
not_in_set: .quad 1
.section .text.dropped,"ax",@progbits
.globl dropped
dropped: ret
.section .note.GNU-stack,"",@progbits

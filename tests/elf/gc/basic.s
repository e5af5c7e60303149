//# about: --gc-sections keeps what the entry reaches, and says what it dropped
//# link: basic.o --gc-sections --print-gc-sections
//# [!bfd] stdout-re: \.text\.dead
//# [!bfd] stdout-re: \.data\.dead
//# stdout-not: \.text\.live
//# symbol: live section=.text
//# no-symbol: dead dead_data
//# symbol: live_data
//# link: basic.o
//# symbol: dead
//# link: basic.o --gc-sections --no-gc-sections
//# symbol: dead
.section .text._start,"ax",@progbits
.globl _start
_start: call live
.section .text.live,"ax",@progbits
.globl live
live: lea live_data(%rip), %rax
  ret
.section .text.dead,"ax",@progbits
.globl dead
dead: lea dead_data(%rip), %rax
  call dead2
.section .text.dead2,"ax",@progbits
dead2: call dead
.section .data.live,"aw",@progbits
.globl live_data
live_data: .quad 1
.section .data.dead,"aw",@progbits
.globl dead_data
dead_data: .quad dead
.section .note.GNU-stack,"",@progbits

//# about: --rosegment (default), --no-rosegment and -N/--omagic
//# not: bfd mold -- they have other defaults
//# link: segments-rx.o
//# segment: LOAD flags=R count=1
//# segment: LOAD flags=RX count=1
//# segment: LOAD flags=RW count=1
//# run: ./out
//# exit: 7
//# link: segments-rx.o --no-rosegment
//# segment: LOAD flags=R count=0
//# segment: LOAD flags=RX count=1
//# segment: LOAD flags=RW count=1
//# check: segoff(LOAD) == 0
//# order: .rodata .text .data
//# run: ./out
//# exit: 7
//# link: -pie segments-rx.o --no-rosegment -z separate-code
//# segment: LOAD flags=R count=0
//# segment: LOAD flags=RX count=1
//# run: ./out
//# exit: 7
//# link: segments-rx.o --no-rosegment -Ttext=0x600000
//# check: addr(.text) == 0x600000
//# order: .text .rodata .data
//# [weld] segment: LOAD flags=R count=0
//# run: ./out
//# exit: 7
//# link: segments-rx.o --no-rosegment --rosegment
//# segment: LOAD flags=R count=1
//# segment: LOAD flags=RX count=1
.globl _start
_start: mov data(%rip), %edi
  add ro(%rip), %edi
  mov $60, %eax
  syscall
.data
data: .quad 3
.section .rodata,"a",@progbits
ro: .quad 4
.section .note.GNU-stack,"",@progbits

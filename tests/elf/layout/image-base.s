//# about: --image-base, -Ttext, -Tdata, -Tbss, --section-start
//# only: weld lld -- GNU ld and mold know fewer of them
//# link: image-base.o --image-base=0x10000000
//# check: 0x10000000 <= sym(_start) < 0x10010000
//# run: ./out
//# exit: 3
//# link: image-base.o -Ttext=0x400000 -Tdata=0x600000 -Tbss=0x700000
//# check: addr(.text) == 0x400000
//# check: addr(.data) == 0x600000
//# check: addr(.bss) == 0x700000
//# run: ./out
//# exit: 3
//# link: image-base.o --section-start=.data=0x900000
//# check: addr(.data) == 0x900000
.globl _start
_start: mov data(%rip), %edi
  add b(%rip), %edi
  mov $60, %eax
  syscall
.data
data: .quad 3
.bss
b: .zero 8
.section .note.GNU-stack,"",@progbits

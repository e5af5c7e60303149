//# about: -n and -N put segments behind one another without pages, -N in one that may be written to
//# not: mold bfd -- mold 1.10 has neither, GNU ld keeps pages with -n
//# link: magic.o -N -o a
//# no-verify: sections share pages
//# check: segcount(LOAD) == 1
//# segment: LOAD flags=RWX align=0x8
//# check: seg(LOAD) == addr(.rodata)
//# check: addr(.text) - addr(.rodata) < 16
//# run: ./a
//# exit: 7
//# link: magic.o -n -o b
//# no-verify: sections share pages
//# check: segcount(LOAD) == 3
//# check: end(.bss) - addr(.rodata) < 64
//# no-segment: GNU_RELRO
//# [weld|lld] check: addr(.data) - end(.text) < align(.data)
//# link: magic.o --nmagic --no-nmagic -o c
//# check: end(.bss) - addr(.rodata) > 0x1000
//# run: ./c
//# exit: 7
//# link: -r magic.o -N -n -o r.o
//# link: magic.o -n -Ttext=0x100 -o d
//# no-verify: sections share pages
//# check: addr(.text) == 0x100
//# check: end(.bss) < 0x160
.section .rodata,"a",@progbits
.balign 8
three: .long 3
.text
.globl _start
_start:
  mov three(%rip), %edi
  add four(%rip), %edi
  mov $60, %eax
  syscall
.data
four: .long 4
.bss
.zero 4
.section .note.GNU-stack,"",@progbits

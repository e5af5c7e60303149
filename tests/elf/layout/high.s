//# about: images may lie in the upper half of the address space
//# not: mold lld bfd -- mold 1.10 refuses it; lld and GNU ld spell options in another way
//# link: high.o --image-base=0xffffffff80000000 -o a
//# check: 0xffffffff80000000 <= addr(.text) < addr(.data) < addr(.bss) < 0xffffffff80010000
//# bytes: sym(_start) = 48 c7 c0
//# link: high.o -Ttext-segment=ffffffff80000000 -o b
//# same: a b
//# link: high.o --section-start=.data=0xffffffff90000000 -Ttext=0xffffffff80000000 -Tbss=0xffffffffa0000000 -o c
//# check: addr(.data) == 0xffffffff90000000
//# check: addr(.bss) == 0xffffffffa0000000
//# fail: high.o -Ttext=0xffffffffffffff00
//# error: does not fit the address space
.globl _start
_start:
  mov $value, %rax
  mov value@GOTPCREL(%rip), %rax
  mov zero(%rip), %eax
  ret
.data
value: .long 4
.bss
zero: .zero 8
.section .note.GNU-stack,"",@progbits

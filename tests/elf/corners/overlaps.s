//# about: --section-start and kin that put one thing on another
//# only: weld -- others say other things, or nothing
//# fail: overlaps.o -Ttext=0 -pie -dynamic-linker /lib64/ld-linux-x86-64.so.2
//# error: no room for the program headers, which the loader needs, below 0x0
//# fail: overlaps.o -Ttext=0x1000 --image-base=0x200000
//# error: \.text.*0x1000.*before the image base 0x200000
//# fail: overlaps.o -Ttext=0x200040 --image-base=0x200000
//# error: section \.text at 0x200040 shares a page with the program headers
//# fail: overlaps.o --section-start=.data=0x300000 --section-start=.more=0x300004
//# error: \.data.*overlaps \.more
//# fail: overlaps.o --section-start=.data=0x201000 --image-base=0x200000
//# error: shares a page
//# fail: overlaps.o --image-base=0x200123
//# error: image base 0x200123 is not a multiple
//# fail: overlaps.o --image-base=0xfffffffffffff000
//# error: does not fit the address space
//# link: overlaps.o --section-start=.data=0x100000 --image-base=0x100000 --section-start=.data=0x110000
//# run: ./out
//# exit: 9
.globl _start
_start:
  mov data(%rip), %rdi
  mov $60, %eax
  syscall
.data
data: .quad 9
.section .more,"aw",@progbits
.quad 10
.section .note.GNU-stack,"",@progbits

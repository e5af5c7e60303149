//# about: a PIE whose code is given a low address has its headers at 0, below it, as with the other linkers, and is loaded anywhere
//# not: gold -- it has headers and code in one segment
//# link: pie-given-text.o -pie --dynamic-linker /lib64/ld-linux-x86-64.so.2 -Ttext=0x1000
//# check: etype == 3
//# check: seg(PHDR) == 0x40
//# check: addr(.text) == 0x1000
//# run:
//# exit: 9
//# link: pie-given-text.o -pie --dynamic-linker /lib64/ld-linux-x86-64.so.2 --section-start=.text=0x200000
//# check: etype == 3
//# check: addr(.text) == 0x200000
//# run:
//# exit: 9
//# link: pie-given-text.o -pie --no-dynamic-linker -Ttext=0x100000
//# check: etype == 3
//# run:
//# exit: 9
// Where there is no room for them below, that is said.
//# [weld] fail: pie-given-text.o -pie --dynamic-linker /lib64/ld-linux-x86-64.so.2 -Ttext=0x200
//# [weld] error: there is no room for the program headers, which the loader needs, below 0x200
.globl _start
_start:
  mov $60, %eax
  mov $9, %edi
  syscall
.section .note.GNU-stack,"",@progbits

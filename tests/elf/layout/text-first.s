//# about: with -Ttext the code comes first, all else follows within reach, and the headers go below if there is room
//# matrix: at=0x0,0x40,0x7c00,0x200000,0x900000000,0xffffffff80000000
//# only: weld -- GNU ld leaves other sections behind; lld maps headers elsewhere; mold 1.10 has no -Ttext
//# link: text-first.o -Ttext={at}
//# check: addr(.text) == {at}
//# check: addr(.text) < addr(.init) < addr(.rodata) < addr(.data) < addr(.bss) < {at} + 0x10000
//# [at=0x0|at=0x40] check: segcount(LOAD) == 3
//# [!at=0x0 !at=0x40] check: segcount(LOAD) == 4
//# [!at=0x0 !at=0x40] check: seg(LOAD) < {at}
//# [!at=0x0 !at=0x40] check: seg(LOAD) >= {at} - 0x2000
//# sh: objcopy -O binary out flat && test $(stat -c %s flat) -lt 20000 && test "$(head -c 2 flat | od -An -tx1)" = " 8b 3d"
//# [at=0x7c00|at=0x200000|at=0x900000000] run: ./out
//# [at=0x7c00|at=0x200000|at=0x900000000] exit: 7
.section .init,"ax",@progbits
ret
.section .rodata,"a",@progbits
three: .long 3
.bss
.zero 8
.data
four: .long 4
.text
.globl _start
_start:
  mov three(%rip), %edi
  add four(%rip), %edi
  mov $60, %eax
  syscall
.section .note.GNU-stack,"",@progbits

//# about: with --gc-sections, strings only dropped code refers to may stay or go, but used ones stay whole
//# not: mold -- 1.10 names the section .rodata.str
//# link: gc-strings.o --gc-sections
//# contains: .rodata = used\0
//# check: u8(sym(_start) + 7 + s32(sym(_start) + 3)) == 0x75
.section .text._start,"ax",@progbits
.globl _start
_start: lea s1(%rip), %rax
.section .text.dead,"ax",@progbits
lea s2(%rip), %rax
.section .rodata.str1.1,"aMS",@progbits,1
s0: .asciz "zero"
s1: .asciz "used"
s2: .asciz "unused"
.section .note.GNU-stack,"",@progbits

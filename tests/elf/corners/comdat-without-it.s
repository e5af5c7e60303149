//# about: a group that lost defined a name that the group that stays does not: another file's definition serves
//# not: bfd lld -- they look no further
//# link: comdat-without-it.o first.o other.o
//# run: ./out
//# exit: 4
//# link: comdat-without-it.o other.o first.o -o out2
//# run: ./out2
//# exit: 4
.globl _start
_start:
  call f
  mov %eax, %edi
  mov $60, %eax
  syscall
.section .text.g,"axG",@progbits,g,comdat
.weak g
g: ret
.section .note.GNU-stack,"",@progbits
//--- first.s
.section .text.g,"axG",@progbits,g,comdat
.weak g, f
g: nop
f: mov $3, %eax
  ret
.section .note.GNU-stack,"",@progbits
//--- other.s
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: mov $4, %eax
  ret
.section .note.GNU-stack,"",@progbits

//# about: --force-group-allocation makes ordinary sections of groups' members with -r, and means nothing else
//# not: mold -- it has no such option
//# link: -r dissolved-groups.o two.o -o r.o --force-group-allocation
//# check: count(.group) == 0
//# [weld] no-symbol: plain
//# check: count(.text.f) == 1
//# check: size(.text.f) == 1
//# check: count(.text.g) == 1
//# check: size(.text.g) == 3
//# section: .text.g flags=AX
//# section: .data.f flags=WA
//# section: .rela.data.f flags=I
//# readelf: -g => There are no section groups
//# [weld|bfd] link: -r dissolved-groups.o two.o -o s.o -T x.ld
//# [weld|bfd] same: r.o s.o
//# link: r.o -o out
//# run: ./out
//# exit: 3
//# link: dissolved-groups.o two.o -o out --force-group-allocation
//# run: ./out
//# exit: 3
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: ret
.section .data.f,"awG",@progbits,f,comdat
.quad f
.section .text.g,"axG",@progbits,plain
.cfi_startproc
ret
.cfi_endproc
.text
.globl _start
_start: call f
  mov $3, %edi
  mov $60, %eax
  syscall
.section .note.GNU-stack,"",@progbits
//--- two.s
.section .text.f,"axG",@progbits,f,comdat
nop
.weak f
f: ret
.section .text.g,"ax",@progbits
ret
.cfi_startproc
nop
.cfi_endproc
.section .note.GNU-stack,"",@progbits
//--- x.ld
FORCE_GROUP_ALLOCATION

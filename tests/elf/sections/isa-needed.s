//# about: -z x86-64-v3 and kin say what processor the output needs
//# not: lld -- it has no such keywords
//# not: mold -- 1.10 has none either
//# link: isa-needed.o -z x86-64-v3
//# readelf: -n => x86 ISA needed: x86-64-v3
//# link: isa-needed.o -z x86-64-baseline
//# readelf: -n => x86 ISA needed: x86-64-baseline
//# link: isa-needed.o -z x86-64-v3 -z x86-64-v2
//# readelf: -n => x86 ISA needed: x86-64-v2
//# obj: v4.o = v4.s
//# link: isa-needed.o v4.o -z x86-64-v2
//# readelf: -n => x86 ISA needed: x86-64-v2, x86-64-v4
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- v4.s
.section .note.gnu.property,"a",@note
.p2align 3
.long 4, 16, 5
.asciz "GNU"
.long 0xc0008002, 4, 8, 0
.section .note.GNU-stack,"",@progbits

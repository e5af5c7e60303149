//# about: -r: a section in memory must not refer into a group that lost
//# only: weld -- others leave a relocation without a symbol
//# fail: -r discarded-reference.o two.o -o r.o
//# error: R_X86_64_64 refers to a section that is discarded
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: ret
.data
.quad .text.f
.section .note.GNU-stack,"",@progbits

//# about: of COMDAT groups with one signature the first stays; plain groups all stay
//# obj: groups.o = groups.s @clang
//# obj: two.o = two.s @clang
//# link: groups.o two.o
//# check: u64(sym(group_data)) == 1
//# check: size(.kept) == 16
//# no-section: .group
.globl _start
_start: call f
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: ret
.section .data.f,"awG",@progbits,f,comdat
.weak group_data
group_data: .quad 1
.section .kept,"awG",@progbits,plain
.quad 1
.section .note.GNU-stack,"",@progbits
//--- two.s
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: ret
.section .data.f,"awG",@progbits,f,comdat
.weak group_data
group_data: .quad 2
.section .kept,"awG",@progbits,plain
.quad 2
.section .note.GNU-stack,"",@progbits

//# about: -r joins sections of one name, and keeps apart what the next linker treats differently
//# not: mold -- 1.10 keeps every section apart
//# obj: joining.o = joining.s @clang
//# obj: two.o = two.s @clang
//# link: -r joining.o two.o -o r.o
//# check: count(.foo) == 1
//# section: .foo flags=WA size=16
//# check: count(.text.x) == 1
//# [weld] check: count(.init_array) == 1
//# [weld] section: .init_array type=INIT_ARRAY size=16
//# reloc: R_X86_64_64 in=.rela.init_array sym=first addend=0 at=0
//# [weld|lld] reloc: R_X86_64_64 in=.rela.init_array sym=second addend=0 at=8
//# [weld] check: count(.cst) == 2
//# [weld] check: count(.kept) == 2
//# [weld] readelf: -SW => \.kept .* A +0 +0 +1
//# [weld] readelf: -SW => \.kept .* AR +0 +0 +1
//# section: .tbss flags=WAT size=24
//# symbol: t2 type=TLS value=16
//# symbol: big section=.data value=16 size=4
//# check: align(.data) == 16
//# readelf: -r => R_X86_64_PC32 .* \.text\.x \+ 8
//# link: -r joining.o two.o --unique -o u.o
//# [weld|lld|bfd] check: count(.foo) == 2
//# check: count(.rela.init_array) == 2
.section .foo,"a",@progbits
.quad 1
.section .text.x,"ax",@progbits
.p2align 3
nop
.section .init_array,"aw",@init_array
.quad first
.text
.globl first
first: ret
.section .cst,"aM",@progbits,4
.long 7
.section .kept,"a",@progbits
.quad 1
.section .tbss,"awT",@nobits
.quad 0
.data
.byte 1
.section .note.GNU-stack,"",@progbits
//--- two.s
.section .foo,"aw",@progbits
.quad 2
.section .text.x,"ax",@progbits
.p2align 3
.Lhere: nop
.section .init_array,"aw",@progbits
.quad second
.text
.globl second
second: ret
.long .text.x - .
.section .cst,"aM",@progbits,8
.quad 7
.section .kept,"aR",@progbits
.quad 1
.section .tbss,"awT",@nobits
.quad 0
.globl t2
.type t2, @object
t2: .quad 0
.data
.p2align 4
.globl big
.size big, 4
big: .long 5
.section .note.GNU-stack,"",@progbits

//# about: which definition wins: strong over weak over common's place, the first among equals
//# link: strength.o b.o c.o
//# check: u32(sym(strong_weak)) == 2
//# check: u32(sym(weak_weak)) == 1
//# check: u32(sym(weak_strong)) == 2
//# check: u32(sym(common_strong)) == 2
//# [!mold] check: symsize(common_common) == 16
//# check: sym(common_common) % 32 == 0
//# [!mold] symbol: common_weak section=.bss size=8
//# symbol: strong_weak bind=GLOBAL
//# symbol: weak_weak bind=WEAK
.globl _start
_start: ret
.data
.weak strong_weak, weak_weak, weak_strong
strong_weak: .long 1
weak_weak: .long 1
weak_strong: .long 1
.comm common_strong, 4, 4
.comm common_common, 8, 32
.comm common_weak, 8, 8
.section .note.GNU-stack,"",@progbits
//--- b.s
.data
.p2align 2
.globl strong_weak, weak_strong, common_strong
.weak weak_weak, common_weak
strong_weak: .long 2
weak_weak: .long 2
weak_strong: .long 2
common_strong: .long 2
common_weak: .long 2
.comm common_common, 16, 4
.section .note.GNU-stack,"",@progbits
//--- c.s
.comm common_common, 4, 8
.section .note.GNU-stack,"",@progbits

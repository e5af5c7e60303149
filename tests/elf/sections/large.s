//# about: .ldata, .lbss, .lrodata lie beyond the ordinary sections and have SHF_X86_64_LARGE
//# not: mold -- 1.10 puts them among the others
//# obj: large.o = large.s @clang
//# link: large.o
//# section: .ldata flags=WAl
//# section: .lbss flags=WAl type=NOBITS
//# section: .lrodata flags=Al
//# check: addr(.bss) < addr(.lbss)
//# check: u64(sym(_start) + 2) == sym(big)
//# [lld] check: addr(.lrodata) < addr(.rodata)
//# [weld] check: end(.bss) <= addr(.lrodata)
.globl _start
_start: movabs $big, %rax
  ret
.rodata.x: .section .rodata,"a",@progbits
.quad 1
.bss
.zero 8
.section .ldata,"awl",@progbits
big: .quad 1
.section .lbss,"awl",@nobits
.zero 100
.section .lrodata,"al",@progbits
.quad 1
.section .note.GNU-stack,"",@progbits

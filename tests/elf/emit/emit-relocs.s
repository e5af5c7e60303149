//# about: --emit-relocs keeps the relocations of an executable, for tools that rewrite it
//# matrix: kind=exec,shared
//# [kind=exec] link: emit-relocs.o --emit-relocs
//# [kind=shared] link: -shared emit-relocs.o -q
//# section: .rela.text type=RELA
//# reloc: PLT32 in=.rela.text sym=callee addend=-4
//# reloc: R_X86_64_64 in=.rela.data count=1
//# check: relocaddr(callee) == sym(_start) + 1
.globl _start, callee
.hidden callee
_start: call callee@PLT
callee: ret
.data
word: .quad callee
.section .note.GNU-stack,"",@progbits

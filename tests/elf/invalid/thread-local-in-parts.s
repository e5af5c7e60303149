//# about: sections of one name of which some are thread-local and some are not
//# obj: thread-local-in-parts.o = thread-local-in-parts.s @clang
//# not: bfd mold -- they accept it
//# fail: thread-local-in-parts.o
//# error: section \.foo would be thread-local \(SHF_TLS\) in parts only|incompatible section flags for \.foo
//# link: thread-local-in-parts.o other.o --gc-sections -u kept
//# symbol: kept section=.foo
// What gc removes still makes the section thread-local.
//# obj: plain.o = plain.s @clang
//# [weld] fail: plain.o --gc-sections
//# [weld] error: section \.foo would be thread-local
.globl _start
_start: ret
.section .foo,"awT",@progbits,unique,1
.globl kept
kept: .quad 0
.section .foo,"aw",@progbits,unique,2
.quad 0
.section .note.GNU-stack,"",@progbits
//--- other.s
.section .note.GNU-stack,"",@progbits
//--- plain.s
.globl _start
_start: lea kept(%rip), %rax
.section .foo,"awT",@progbits,unique,1
.quad 0
.section .foo,"aw",@progbits,unique,2
kept: .quad 0
.section .note.GNU-stack,"",@progbits

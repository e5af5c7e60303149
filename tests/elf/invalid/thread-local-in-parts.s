//# about: sections of one name of which some are thread-local and some are not
//# obj: thread-local-in-parts.o = thread-local-in-parts.s @clang
//# not: bfd mold -- they accept it
//# fail: thread-local-in-parts.o
//# error: section \.foo would be thread-local \(SHF_TLS\) in parts only|incompatible section flags for \.foo
//# link: thread-local-in-parts.o other.o --gc-sections -u kept
//# symbol: kept section=.foo
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

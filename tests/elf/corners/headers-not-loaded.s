//# about: where no segment has the ELF header, __ehdr_start is not defined: 0 for who asks weakly, an error for others
//# not: gold -- it takes the headers for loaded
//# link: headers-not-loaded.o -T m.ld
//# check: u64(sym(word)) == 0
//# [weld|lld] link: headers-not-loaded.o -pie --no-dynamic-linker -T m.ld
//# [weld] check: u64(sym(word)) == 0
//# [weld] check: relocs(R_X86_64_RELATIVE) == 0
//# link: headers-not-loaded.o
//# check: u64(sym(word)) == sym(__ehdr_start)
// It says nothing of the image's other bounds.
//# [weld] link: headers-not-loaded.o bounds.o -T m.ld
//# [weld] check: u64(sym(bounds)) == 0x10000000 == u64(sym(bounds)+8)
//# [weld|bfd] fail: strong.o -T m.ld
//# [weld|bfd] error: (undefined hidden symbol: |undefined reference to .)__ehdr_start
//# [weld] error: strong.o:\(.data\+0x0\)
// The page in which the first section lies has them.
//# [weld] link: strong.o -N
//# [weld] no-verify: its segment is not aligned to pages
//# [weld] check: u64(addr(.data)) % 0x1000 == 0
.globl _start, word
.weak __ehdr_start
.hidden __ehdr_start
_start: ret
.data
word: .quad __ehdr_start
.section .note.GNU-stack,"",@progbits
//--- m.ld
SECTIONS { . = 0x10000000; .text : { *(.text*) } .rela.dyn : { *(.rela*) } .dynamic : { *(.dynamic) } .data : { *(.data*) } }
//--- bounds.s
.globl bounds
.data
bounds: .quad __executable_start, __dso_handle
.section .note.GNU-stack,"",@progbits
//--- strong.s
.globl _start
.hidden __ehdr_start
_start: ret
.data
.quad __ehdr_start
.section .note.GNU-stack,"",@progbits

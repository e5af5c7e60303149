//# about: .L symbols of mergeable sections go by default, all of them with -X
//# obj: t.o = discard-temporaries.s -L
//# link: t.o
//# [weld|lld] no-symbol: .Lmerged
//# [weld|lld|bfd] symbol: .Lplain
//# not: mold -- 1.10 drops .L symbols always
//# link: t.o -X
//# no-symbol: .Lmerged .Lplain
//# symbol: local
//# link: t.o --discard-none
//# symbol: .Lplain
.globl _start
_start: ret
local: ret
.Lplain: ret
.section .rodata.str1.1,"aMS",@progbits,1
.Lmerged: .asciz "x"
.section .note.GNU-stack,"",@progbits

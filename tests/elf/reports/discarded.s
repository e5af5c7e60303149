//# about: a reference to a local symbol of a COMDAT group that lost: which group, who refers, who has the copy that stays
//# obj: a.o = discarded.s
//# fail: a.o b.o
//# [!mold] error: discarded section
//# [weld] error: group
//# [weld] error: referenced by b\.o:\(\.data\+0x0\)
//# [weld] error: in variable pointer
//# [weld] error: the copy of the group that stays is in a\.o
//# not: mold -- it does not mind
.globl _start
_start: ret
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: ret
.section .note.GNU-stack,"",@progbits
//--- b.s
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: nop
local: ret
.data
.type pointer, @object
.size pointer, 8
pointer: .quad local
.section .note.GNU-stack,"",@progbits

//# about: the dynamic section has its name in .symtab, also if nothing refers to it; a program without one does not, and cannot refer to it
//# matrix: kind=shared,pie,static,own,stripped
//# obj: a.o = a.s
//# obj: own.o = own.s
//# obj: wants.o = wants.s
//# [kind=shared] link: -shared a.o
//# [kind=pie] link: -pie a.o
//# [kind=shared|pie] symbol: _DYNAMIC bind=LOCAL section=.dynamic
//# [kind=shared|pie] check: sym(_DYNAMIC) == addr(.dynamic)
//# [kind=shared|pie] no-dynsym: _DYNAMIC
//# [kind=static] link: a.o
//# [kind=static] no-symbol: _DYNAMIC
//# [kind=static] fail: -static wants.o
//# [kind=static] error: undefined symbol: _DYNAMIC
//# [kind=own] not: lld bfd mold -- they refuse it, or take their own
//# [kind=own] link: -shared own.o
//# [kind=own] symbol: _DYNAMIC section=.data
//# [kind=stripped] link: -shared -s a.o
//# [kind=stripped] no-section: .symtab
//--- a.s
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- wants.s
.globl _start
_start: lea _DYNAMIC(%rip), %rax
.section .note.GNU-stack,"",@progbits
//--- own.s
.data
.globl _DYNAMIC
_DYNAMIC: .quad 1
.section .note.GNU-stack,"",@progbits

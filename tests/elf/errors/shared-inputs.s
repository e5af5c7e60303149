//# about: a library that a static program names, and a variable of no size that would have to be copied out of a library
//# matrix: case=static,copy
//# not: bfd mold -- they find something to copy, or link the library all the same
//# obj: lib.o = lib.s
//# link: -shared lib.o -o libx.so
//# [case=static] fail: -static shared-inputs.o libx.so
//# [case=static] error: libx\.so: a shared object cannot be part of a static link|attempted static link of dynamic object .*libx\.so
//# [case=copy] fail: shared-inputs.o libx.so
//# [case=copy] error: (cannot copy|copy relocation for symbol) '?nothing
.globl _start
_start: mov nothing, %eax
.section .note.GNU-stack,"",@progbits
//--- lib.s
.data
.globl nothing
.type nothing, @object
nothing: .long 1
.section .note.GNU-stack,"",@progbits

//# about: a reference to a local symbol of a discarded group: an error from code, a tombstone in debug data
//# not: mold bfd -- they differ in what they allow
//# obj: group-local-reference.o = group-local-reference.s @clang
//# obj: two.o = two.s @clang
//# obj: bad.o = bad.s @clang
//# link: group-local-reference.o two.o
//# check: off(.debug_info) > 0
//# contains: .debug_info = \0\0\0\0\0\0\0\0\xee
//# fail: group-local-reference.o bad.o
//# error: discarded
//# error: bad.o
.globl _start
_start: call f
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: nop
local: ret
.section .debug_info,"",@progbits
.quad local
.byte 0xee
.section .note.GNU-stack,"",@progbits
//--- bad.s
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: nop
local: ret
.text
call local
.section .note.GNU-stack,"",@progbits

//# about: values that do not fit: symbol, section, object and place are named
//# matrix: which=pc32,abs32,abs32s,pc8,abs16
//# obj: overflow.o = overflow.s --defsym {which}=1
//# fail: overflow.o abs.o
//# error: overflow.o.*\.(text|data)
//# [which=pc32] error: R_X86_64_PC32.*out of range
//# [which=pc32|abs32|abs32s] error: far
//# [which=abs32] error: R_X86_64_32 
//# [which=abs32s] error: R_X86_64_32S
//# [which=pc8] error: R_X86_64_PC8
//# [which=abs16] error: R_X86_64_16.*a16
.globl _start
_start: ret
.data
.ifdef pc32
.long far - .
.endif
.ifdef abs32
.long far
.endif
.ifdef abs32s
.reloc ., R_X86_64_32S, far
.long 0
.endif
.ifdef pc8
.byte far - .
.endif
.ifdef abs16
.short a16
.endif
.bss
.skip 0x110000000
.globl far
far: .zero 8
.section .note.GNU-stack,"",@progbits
//--- abs.s
.globl a16
a16 = 0x12345
.section .note.GNU-stack,"",@progbits

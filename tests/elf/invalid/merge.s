//# about: references outside of sections that are merged
//# not: bfd mold -- they accept it
//# fail: merge.o
//# [weld] error: merge\.o:\(\.data\+0x0\): R_X86_64_64 refers to an offset outside a section that is merged: '\.rodata\.cst4'
//# [weld] error: merge\.o:\(\.data\+0x8\): R_X86_64_64 refers to an offset outside
//# [weld] error: merge\.o:\(\.data\+0x10\): R_X86_64_64 refers to an offset outside
//# [weld] error: merge\.o:\(\.debug_x\+0x0\): R_X86_64_64 refers to an offset outside
//# [weld] error-not: data\+0x18
//# [lld] error: offset is outside the section
.globl _start
_start: ret
.section .rodata.cst4,"aM",@progbits,4
.quad 0
.globl end
end:
.data
.quad .rodata.cst4 - 1
.quad .rodata.cst4 + 10
.quad end
.quad .rodata.cst4 + 4
.section .debug_x,"",@progbits
.quad .rodata.cst4 + 100
.section .note.GNU-stack,"",@progbits

//# about: DWARF locations of thread-local variables (R_X86_64_DTPOFF64, DTPOFF32 in .debug_*)
//# matrix: kind=exec,shared
//# [kind=exec] link: debug-dtpoff.o
//# [kind=shared] link: -shared debug-dtpoff.o
//# contains: .debug_info = \x08\0\0\0\0\0\0\0\x08\0\0\0\xff
.globl _start
_start: ret
.section .tbss,"awT",@nobits
.zero 8
.globl v
v: .zero 8
.section .debug_info,"",@progbits
.quad v@dtpoff
.long v@dtpoff
.byte 0xff
.section .note.GNU-stack,"",@progbits

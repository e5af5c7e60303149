//# about: position-independent output cannot be told how far fixed addresses are, be they absolute or null
//# matrix: kind=pie,shared,static-pie
//# sh: $LD -r fixed-in-pic.o fixed.o -o both.o; objcopy -L fixed both.o local.o
//# [kind=pie] fail: -pie local.o
//# [kind=shared] fail: -shared local.o
//# [kind=static-pie] fail: -static -pie --no-dynamic-linker local.o
//# [weld] error: R_X86_64_PC32 cannot refer to absolute symbol 'fixed'
//# [weld] error: R_X86_64_PLT32 cannot refer to absolute symbol 'fixed'
//# [weld] error: R_X86_64_PC32 cannot give 'nothing'
//# [weld] error-not: PLT32.*nothing
//# link: local.o -o exec
.weak nothing
.hidden nothing
.globl _start
_start: lea fixed(%rip), %rax
  call fixed
  lea nothing(%rip), %rax
  call nothing
.section .note.GNU-stack,"",@progbits
//--- fixed.s
.globl fixed
fixed = 0x1000

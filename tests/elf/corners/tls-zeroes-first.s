//# about: aligned thread-local zeroes before any other data: segments stay loadable, the template aligned
//# not: mold -- its template is misaligned
//# matrix: kind=exec,pie,data
//# [kind=exec] link: tls-zeroes-first.o
//# [kind=pie] link: tls-zeroes-first.o -pie --no-dynamic-linker
//# [kind=data] link: tls-zeroes-first.o more.o
//# segment: TLS align=64
//# check: seg(TLS) % 64 == 0
//# check: tp % 64 == 0
//# run: ./out
//# exit: 7
.globl _start
_start:
  mov data(%rip), %edi
  mov $60, %eax
  syscall
  mov %fs:x@tpoff, %eax
.data
data: .long 7
.section .tbss,"awT",@nobits
.balign 64
x: .zero 4
.section .note.GNU-stack,"",@progbits
//--- more.s
.section .tdata,"awT",@progbits
.byte 1
.section .note.GNU-stack,"",@progbits

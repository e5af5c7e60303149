//# about: .tbss takes no room; what follows starts where it does
//# link: data-in-nobits-order.o
//# check: size(.tbss) == 0x1000
//# check: segmemsz(TLS) >= 0x1008
//# check: segfilesz(TLS) == 8
//# order: .tdata .data .bss
//# run: ./out
//# exit: 9
.globl _start
_start: mov data(%rip), %edi
  mov $60, %eax
  syscall
.section .tdata,"awT",@progbits
.quad 1
.section .tbss,"awT",@nobits
.zero 0x1000
.section .fini_array,"aw",@fini_array
.quad 0
.data
data: .quad 9
.bss
.zero 8
.section .note.GNU-stack,"",@progbits

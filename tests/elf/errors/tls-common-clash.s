//# about: one name as TLS and as ordinary variable
//# not: mold lld -- they do not notice
//# obj: a.o = tls-common-clash.s
//# fail: a.o b.o
//# error: clash
//# error: a\.o
//# error: b\.o
.globl _start
_start: mov clash(%rip), %eax
.section .note.GNU-stack,"",@progbits
//--- b.s
.section .tdata,"awT",@progbits
.globl clash
.type clash, @object
clash: .quad 1
.section .note.GNU-stack,"",@progbits

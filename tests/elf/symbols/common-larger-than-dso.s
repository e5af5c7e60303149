//# about: a variable of a shared object that is smaller than the common symbol cannot take its place
//# only: weld -- GNU ld takes it all the same, lld says nothing
//# link: -shared lib.o -o lib.so
//# link: common-larger-than-dso.o lib.so
//# warning: common symbol data has 64 bytes, more than the 8 that lib.so gives initial values to
//# symbol: data size=64 section=.bss
//# no-reloc: COPY
//# link: protected.o lib.so -o p
//# symbol: data size=8 section=.bss vis=PROTECTED
.comm data,64,8
.globl _start
_start: mov data(%rip), %eax
.section .note.GNU-stack,"",@progbits
//--- protected.s
.comm data,8,8
.protected data
.globl _start
_start: mov data(%rip), %eax
.section .note.GNU-stack,"",@progbits
//--- lib.s
.data
.globl data
.type data, @object
.size data, 8
data: .quad 1
.section .note.GNU-stack,"",@progbits

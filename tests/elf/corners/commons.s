//# about: common symbols: the largest size, the strictest alignment, thread-local and large ones
//# not: lld mold bfd -- no thread-local commons, or sizes of the first definition
//# link: commons.o other.o
//# symbol: big size=400
//# symbol: small size=40
//# check: sym(small) % 64 == 0
//# check: sym(big) == addr(.bss)
//# symbol: tls type=TLS size=8
//# segment: TLS memsz=8 align=32
//# section: .lbss size=1000
//# run: ./out
//# link: other.o commons.o --gc-sections
//# no-symbol: unused
//# symbol: big size=400
.comm big,400,4
.comm small,4,64
.tls_common tls,8,32
.largecomm large,1000,64
.globl _start
_start:
  mov big+396(%rip), %edi
  add small(%rip), %edi
  movabs $large, %rdx
  add 996(%rdx), %edi
  mov $60, %eax
  syscall
  mov %fs:tls@tpoff, %ecx
.section .note.GNU-stack,"",@progbits
//--- other.s
.comm big,4,4
.comm small,40,4
.comm unused,40,4
.section .note.GNU-stack,"",@progbits

//# about: an address below the default image base, or in the headers' page: the headers go below it
//# only: weld -- GNU ld does much the same; lld maps the code over the headers, or refuses; mold puts the headers behind it
//# matrix: at=0x200040,0x200000,0x10c00,0x20000
//# link: text-below.o -Ttext={at}
//# check: addr(.text) == {at}
//# check: seg(LOAD) < addr(.text)
//# run: ./out
//# exit: 7
.globl _start
_start:
  lea seven(%rip), %rax
  mov (%rax), %edi
  mov $60, %eax
  syscall
.section .rodata
.fill 5000
seven: .long 7
.data
.long 1
.section .note.GNU-stack,"",@progbits

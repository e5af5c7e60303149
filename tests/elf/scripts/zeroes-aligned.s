//# about: zeroes with a large alignment directly behind data: their segment does not begin in the data's page, which would be zeroes then
//# matrix: kind=,-pie
//# not: mold bfd -- mold reads no SECTIONS; segments of GNU ld share a page here
//# link: -T t.ld zeroes-aligned.o --no-dynamic-linker {kind}
//# run: ./out
//# check: addr(.bss) % 0x40000 == 0
.globl _start
_start:
  mov $60, %eax
  movl data(%rip), %edi
  movl $3, big(%rip)
  xor $77, %edi
  syscall
.data
data: .long 77
.bss
.balign 0x40000
big: .skip 64
.section .note.GNU-stack,"",@progbits
//--- t.ld
SECTIONS {
  . = 0x400000 + SIZEOF_HEADERS;
  .dynamic : { *(.dynamic) }
  .text : { *(.text) }
  .data ALIGN(0x1000) : { *(.data) }
  .bss : { *(.bss) }
}

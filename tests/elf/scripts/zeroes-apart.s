//# about: zeroes with a segment of their own and a large alignment: it does not begin further down, over what lies there
//# not: mold lld -- mold reads no SECTIONS; in ld.lld the segment begins behind .low, and the file is as large
//# link: -T t.ld zeroes-apart.o
//# [bfd] warning: RWX
//# run: ./out
//# check: addr(.low) == 0x41c00
//# segment: LOAD vaddr=0x50000 memsz=0x10000 filesz=0 flags=RW align=0x10000
.section .low,"awx"
.globl _start
_start:
  mov $60, %eax
  xor %edi, %edi
  cmpb $1, last(%rip)
  setne %dil
  add zeroes(%rip), %edi
  syscall
.skip 0x1b60
last: .byte 1
.section .high,"aw",@nobits
.balign 0x10000
zeroes: .skip 0x10000
.section .note.GNU-stack,"",@progbits
//--- t.ld
ENTRY(_start)
SECTIONS {
  . = 0x41c00; .low : { *(.low) }
  . = ALIGN(0x10000); .high (NOLOAD) : { *(.high) }
}

//# about: what an assignment to '.' outside of output sections refers to is referred to: a member of an archive defines it, and it is not taken for 0
//# not: mold bfd -- mold reads no SECTIONS; GNU ld reads no member for it, and says that the symbol is undefined
//# sh: ar rcs libsize.a size.o
//# link: dot-names.o libsize.a -T t.ld
//# check: addr(.data) == 0x10200
//# symbol: member section=.text
//# [weld] fail: dot-names.o -T t.ld
//# [weld] error: symbol size is not defined|undefined symbol: size
.globl _start
_start: ret
.data
.long 1
.section .note.GNU-stack,"",@progbits
//--- size.s
.globl size, member
size = 0x200
member: ret
.section .note.GNU-stack,"",@progbits
//--- t.ld
ENTRY(_start)
SECTIONS {
  . = 0x10000; .text : { *(.text) }
  . = 0x10000 + size; .data : { *(.data) }
}

//# about: what COPY and kin take out of memory, and what never was in it, has the address at which it stands, and takes no room there
//# not: mold lld bfd -- mold reads no SECTIONS; ld.lld has 0; GNU ld moves '.' on, but not the region
//# link: outside-memory.o -T x.ld
//# section: .heap flags=W
//# section: .dummy flags=W
//# check: sym(heap) == 0x20000004
//# check: sym(limit) == 0x20000104
//# check: sym(dummy) == 0x20000004
//# check: addr(.last) == 0x20000004
//# check: addr(.plain) == 0x20000005
.globl _start
_start = 0
.data
.long 1
.section .h,"aw",@nobits
.zero 0x100
.section .d,"aw"
.zero 0x80
.section .l,"aw"
.byte 1
.section .plain,""
.byte 1
.section .note.GNU-stack,"",@progbits
//--- x.ld
MEMORY { RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 1M }
SECTIONS {
  .data : { *(.data) } > RAM
  .heap (COPY) : { heap = .; *(.h) limit = .; } > RAM
  .dummy (DSECT) : { dummy = .; *(.d) } > RAM
  .last : { *(.l) } > RAM
  .plain : { *(.plain) }
}

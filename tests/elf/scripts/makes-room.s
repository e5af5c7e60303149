//# about: a section that the script leaves room in, or puts data in, is in memory although its inputs are not; a raw image counts like the ELF file
//# not: mold -- it reads no SECTIONS
//# not: lld -- it keeps such a section out of memory
//# link: makes-room.o -T x.ld
//# no-verify: the script asks for no PT_GNU_STACK
//# section: .reloc type=PROGBITS flags=A addr=0x1010 size=16
//# section: .byte type=PROGBITS flags=A addr=0x1020
//# section: .room flags=A addr=0x1028
//# section: .noload type=NOBITS flags=A
//# section: .read flags=A
//# check: flags(.same) == 0
//# check: flags(.marked) == 0
//# check: flags(.info) == 0
//# check: flags(.copy) == 0
//# [weld] check: flags(.zero) == 0
//# order: .text .reloc .byte .room .noload .read .last
//# check: u32(sym(_start) + 4) == addr(.reloc)
//# check: u32(sym(_start) + 8) == 6
// A section outside memory between others has its symbols in a raw image, too, but no bytes.
//# link: makes-room.o -T raw.ld --oformat=binary -o raw
//# no-verify: no ELF file
//# sh: printf 'TEXT\x10\x10\0\0\x06\0\0\0\0\0\0\0LAST' | cmp - raw
//# link: makes-room.o -T x.ld --oformat=binary -o made
//# no-verify: no ELF file
//# [weld] sh: dd if=made bs=1 skip=16 count=6 status=none | grep -x 'RELOC!' >/dev/null
.globl _start
_start: .ascii "TEXT"
.long reloc_start, reloc_size, 0
.section .reloc; .ascii "RELOC!"
.section .byte; .ascii "BYTE"
.section .room; .ascii "ROOM"
.section .noload; .ascii "NOLOAD"
.section .read; .ascii "READ"
.section .same; .ascii "SAME"
.section .marked; .ascii "MARKED"
.section .info; .ascii "INFO"
.section .copy; .ascii "COPY"
.section .zero; .ascii "ZERO"
.section .last,"a"; .ascii "LAST"
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = 0x1000;
  .text : { *(.text) . = ALIGN(16); }
  .reloc : { reloc_start = .; *(.reloc) reloc_end = .; . = ALIGN(16); }
  .byte : { *(.byte) LONG(1) }
  .room : { . += 4; *(.room) }
  .noload (NOLOAD) : { *(.noload) . += 2; }
  .read (READONLY) : { *(.read) . += 2; }
  .same : { *(.same) . = .; }
  .marked : { *(.marked) marked = .; }
  .info (INFO) : { *(.info) . += 2; }
  .copy (COPY) : { *(.copy) . += 2; }
  .last : { *(.last) }
  reloc_size = reloc_end - reloc_start;
  .zero 0 : { *(.zero) LONG(1) }
  /DISCARD/ : { *(*) }
}
//--- raw.ld
SECTIONS {
  . = 0x1000;
  .text : { *(.text) . = ALIGN(16); }
  .reloc : { reloc_start = .; *(.reloc) reloc_end = .; }
  .last : { *(.last) }
  reloc_size = reloc_end - reloc_start;
  /DISCARD/ : { *(*) }
}

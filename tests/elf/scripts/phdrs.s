//# about: PHDRS: types, flags, headers in a segment, a section in two segments, load addresses of segments
//# not: mold -- it reads no PHDRS
//# link: phdrs.o -T x.ld
//# segment: LOAD count=2
//# segment: NOTE count=1
//# check: seg(NOTE) == addr(.note.x)
//# readelf: -lW => LOAD +0x000000 0x0*10000 .* R E 0x1000
//# readelf: -lW => LOAD +0x\w+ 0x0*20000 0x0*90000 .* RW
//# readelf: -lW => GNU_STACK .* RWE
//# [!bfd] link: phdrs.o -T none.ld -o none
//# [!bfd] segment: LOAD count=2
// Load addresses of segments may come from symbols, those of the script and of objects.
//# link: phdrs.o -T at.ld -o at
//# readelf: -lW => LOAD +0x\w+ 0x0*20000 0x0*91000 .* RW
//# readelf: -lW => LOAD +0x\w+ 0x0*10000 0x0*10004 .* R E
// A section is put where the one before it was, unless it says otherwise.
//# [weld] link: phdrs.o -T among-notes.ld -o among-notes
//# [weld] no-verify: code among notes, which a script asks for
//# [weld] warning: section \.text is no note, but PHDRS has it in a segment of notes \(PT_NOTE\)
//# [weld] fail: phdrs.o -T nowhere.ld
//# [weld] error: nowhere
//# fail: phdrs.o -T bad.ld
//# error: nothere
.globl _start
.text
_start: ret
.data
.quad 1
.section .note.x,"a",@note
.long 4, 4, 1
.ascii "abc\0"
.long 7
.section .note.GNU-stack,"",@progbits
//--- x.ld
PHDRS { text PT_LOAD FILEHDR PHDRS; data PT_LOAD FLAGS(6); note PT_NOTE; stack PT_GNU_STACK FLAGS(7); }
SECTIONS {
  . = 0x10000 + SIZEOF_HEADERS;
  .note.x : { *(.note.x) } :text :note
  .text : { *(.text) } :text
  .data 0x20000 : AT(0x90000) { *(.data) } :data
}
//--- among-notes.ld
PHDRS { text PT_LOAD FILEHDR PHDRS; note PT_NOTE; data PT_LOAD FLAGS(6); }
SECTIONS {
  . = 0x10000 + SIZEOF_HEADERS;
  .note.x : { *(.note.x) } :text :note
  .text : { *(.text) }
  .data 0x20000 : { *(.data) } :data
}
//--- none.ld
PHDRS { }
SECTIONS { .text 0x10000 : { *(.text) } .data 0x20000 : { *(.data) } /DISCARD/ : { *(.note.x) } }
//--- bad.ld
PHDRS { text PT_LOAD; }
SECTIONS { .text : { *(.text) } :nothere }
//--- at.ld
PHDRS { text PT_LOAD AT(_start + 4) FLAGS(flags); data PT_LOAD AT(later + 0x1000); stack PT_GNU_STACK FLAGS(6); }
SECTIONS {
  .text 0x10000 : { *(.text) } :text
  .data 0x20000 : { *(.data) } :data
  later = 0x90000; flags = 5;
  /DISCARD/ : { *(.note.x) }
}
//--- nowhere.ld
PHDRS { text PT_LOAD AT(nowhere); stack PT_GNU_STACK; }
SECTIONS { .text 0x10000 : { *(.text) } :text }

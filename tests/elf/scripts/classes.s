//# about: CLASS: sections go to where output sections name their class, to the next of these where their memory is full
//# only: weld lld -- GNU ld does not have it, mold reads no SECTIONS
//# link: classes.o -T x.ld
//# contains: .first = 11112222q
//# contains: .second = 3333
//# section: .second size=5
//# link: classes.o -T early.ld -o early
//# contains: .class = 2222
//# contains: .patterns = 333
//# link: classes.o -T flags.ld -o flags
//# contains: .writable = w
//# contains: .rest = 1111
//# link: classes.o -T kept.ld --gc-sections -o kept
//# contains: .kept = 3333
//# link: classes.o -T discarded.ld -o discarded
//# no-section: .r.1 .r.2
//# fail: classes.o -T full.ld
//# error: overflow
//# [weld] fail: classes.o -T unnamed.ld
//# [weld] error: unnamed\.ld:1:\d+: the class k has no place in an output section
//# [weld] fail: classes.o -T unknown.ld
//# [weld] error: unknown\.ld:1:\d+: the class k is described nowhere
//# [weld] fail: classes.o -T twice.ld
//# [weld] error: twice\.ld:1:\d+: the class k is there already
//# [weld] fail: classes.o -T nested.ld
//# [weld] error: nested\.ld:1:\d+: a class cannot refer to another
.globl _start
_start: nop
.section .r.1,"a"; .ascii "1111"
.section .r.2,"a"; .ascii "2222"
.section .r.3,"a"; .ascii "3333"
.section .r.4,"aw"; .ascii "w"
.section .q,"a"; .ascii "q"
.section .note.GNU-stack,"",@progbits
//--- x.ld
MEMORY { a : ORIGIN = 0x1000, LENGTH = 9  b : ORIGIN = 0x2000, LENGTH = 100 }
SECTIONS {
  CLASS(k) { *(.r.1 .r.2 .r.3) }
  .first : { CLASS(k) *(.q) } >a
  .second : { CLASS(k) *(.text) *(.r.1) } >b
  .data : { *(.r.4) } >b
}
//--- early.ld
SECTIONS {
  . = 0x10000;
  .text : { *(.text) }
  CLASS(k) { *(.r.1 .r.2) }
  .patterns : { *(.r.*) }
  .class : { CLASS(k) }
}
//--- flags.ld
SECTIONS {
  . = 0x10000;
  .text : { *(.text) }
  CLASS(k) { *(.r.*) }
  .writable : { INPUT_SECTION_FLAGS(SHF_WRITE) CLASS(k) }
  .rest : { CLASS(k) }
}
//--- kept.ld
SECTIONS { . = 0x10000; CLASS(k) { KEEP(*(.r.3)) } .text : { KEEP(*(.text)) } .kept : { CLASS(k) } }
//--- discarded.ld
SECTIONS { . = 0x10000; CLASS(k) { *(.r.1 .r.2) } .text : { *(.text) } /DISCARD/ : { CLASS(k) } }
//--- full.ld
MEMORY { a : ORIGIN = 0x1000, LENGTH = 5  b : ORIGIN = 0x2000, LENGTH = 6 }
SECTIONS { CLASS(k) { *(.r.1 .r.2 .r.3) } .first : { CLASS(k) } >a .second : { CLASS(k) } >b .rest : { *(.*) } >b }
//--- unnamed.ld
SECTIONS { CLASS(k) { *(.r.1) } .text : { *(.text) } }
//--- unknown.ld
SECTIONS { .text : { *(.text) CLASS(k) } }
//--- twice.ld
SECTIONS { CLASS(k) { *(.r.1) } CLASS(k) { *(.r.2) } .text : { *(.text) CLASS(k) } }
//--- nested.ld
SECTIONS { CLASS(k) { CLASS(j) } .text : { *(.text) CLASS(k) } }

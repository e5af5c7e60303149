//# about: what is wrong with a script is said with file, line and column, and in which words
//# only: weld -- the others say it in theirs
//# fail: messages.o -T address.ld
//# error: address\.ld:2:\d+: there is no output section \.aaa
//# fail: messages.o -T symbol.ld
//# error: symbol\.ld:1:\d+: symbol nothere is not defined
//# fail: messages.o -T region.ld
//# error: region\.ld:1:\d+: there is no region ram
//# fail: messages.o -T unknown-region.ld
//# error: there is no memory region ram
//# fail: messages.o -T small.ld
//# error: region ram overflows by 1 bytes \(small\.ld:1:\d+\)
//# fail: messages.o -T two-loads.ld
//# error: two-loads\.ld:2:\d+: AT and AT> give the section two load addresses
//# fail: messages.o -T origin.ld
//# error: expected ORIGIN, but found 'XYZ'
//# fail: messages.o -T length.ld
//# error: expected LENGTH, but found the end of the file
//# fail: messages.o -T twice.ld
//# error: region ram is there already
//# fail: messages.o -T alias.ld
//# error: REGION_ALIAS\(b, nothere\)
//# fail: messages.o -T default-region.ld
//# error: default-region\.ld:1:\d+: \*default\*, the memory of sections that name none, cannot be an alias
//# fail: messages.o -T two-alignments.ld
//# error: two-alignments\.ld:1:\d+: ALIGN and ALIGN_WITH_INPUT exclude each other
//# fail: messages.o -T cycle.ld
//# error: include one another too deeply
//# fail: messages.o -T fill.ld
//# error: fill\.ld:1:\d+: expected '\(', but found '0x11'
//# fail: messages.o -T byte.ld
//# error: byte\.ld:1:\d+: expected '\(', but found '1'
//# fail: messages.o -T flag.ld
//# error: expected a section flag \(SHF_…\), but found 'UNKNOWN'
//# fail: messages.o -T flags.ld
//# error: expected '\)', but found 'SHF_EXECINSTR'
//# fail: messages.o -T exclude.ld
//# error: no section is named
//# fail: messages.o -T pattern.ld
//# error: expected a pattern of input sections, an assignment or '\}', but found '\('
//# fail: messages.o -T sorted.ld
//# error: sorted\.ld:1:\d+: files can be sorted by name only
//# fail: messages.o -T number.ld
//# error: expected a number of at most 64 bits, but found '0x11h'
//# fail: messages.o -T header.ld
//# error: there is no program header bar
//# fail: messages.o -T attribute.ld
//# error: expected FILEHDR, PHDRS, AT, FLAGS or ';', but found 'FOOHDR'
//# fail: messages.o -T type.ld
//# error: expected a type of program header \(PT_…\), but found 'PT_FOO'
//# fail: messages.o -T room.ld
//# error: there is no room for the headers, which PHDRS loads, below 0x0
//# fail: messages.o -T provide.ld
//# error: expected '=', but found '\+'
//# fail: messages.o -T subalign.ld
//# error: SUBALIGN wants a power of two that is known before layout
//# fail: messages.o -T settle.ld
//# error: the linker script does not settle: addresses still change after 32 passes
//# fail: messages.o -T loads.ld
//# error: the load address of section \.data at \[0x8000, 0x8001\) overlaps \.b at \[0x8000, 0x8001\)
//# fail: messages.o -T directive.ld
//# error: expected ':', but found '\('
//# fail: messages.o -T insert.ld
//# error: expected AFTER or BEFORE, but found '\.data'
//# fail: messages.o -T beside.ld
//# error: beside\.ld:1:\d+: INSERT beside \.nothere: there is no such output section
//# fail: messages.o -T no-such.ld
//# error: cannot open no-such\.ld
//# fail: messages.o -T include.ld
//# error: include\.ld:1:\d+: cannot open no-such\.ld
//# fail: messages.o -T discard.ld
//# error: discard\.ld:1:\d+: z2 is assigned in /DISCARD/
//# fail: far.o -T far.ld
//# error: far\.o:\(\.far\+0x0\): R_X86_64_PC32 is out of range: -0x\w+ is not in \[-0x80000000, 0x7fffffff\]; it refers to '_start'
.globl _start
_start: ret
.data; .byte 1
.section .b,"aw"; .byte 2
.section .note.GNU-stack,"",@progbits
//--- insert.ld
SECTIONS { .text : { *(.text) } } INSERT .data;
//--- beside.ld
SECTIONS { .text : { *(.text) } } INSERT AFTER .nothere;
//--- discard.ld
SECTIONS { .text : { *(.text) } /DISCARD/ : { z2 = 3; *(.b) } .data : { *(.data) QUAD(z2) } }
//--- include.ld
INCLUDE no-such.ld
//--- far.s
.globl _start
_start: ret
.section .far,"a"; .long _start - .
.section .note.GNU-stack,"",@progbits
//--- far.ld
SECTIONS { .text 0x1000 : { *(.text) } .far 0x200000000 : { *(.far) } }
//--- address.ld
SECTIONS { .text : { *(.text) }
  x = ADDR(.aaa); }
//--- symbol.ld
SECTIONS { .text : { *(.text) } x = nothere; }
//--- region.ld
SECTIONS { .text : { *(.text) } x = ORIGIN(ram); }
//--- unknown-region.ld
SECTIONS { .text : { *(.text) } > ram }
//--- small.ld
MEMORY { ram : ORIGIN = 0, LENGTH = 3 } SECTIONS { .text : { *(.text) *(.data) *(.b) BYTE(1) } > ram }
//--- two-loads.ld
MEMORY { ram : ORIGIN = 0, LENGTH = 3K }
SECTIONS { .text : AT(0x100) { *(.text) } > ram AT> ram }
//--- origin.ld
MEMORY { ram (rwx) : XYZ = 0x8000, LENGTH = 1 }
//--- length.ld
MEMORY { ram (rwx) : ORIGIN = 0x8000,
//--- twice.ld
MEMORY { ram : ORIGIN = 0, LENGTH = 3 ram : ORIGIN = 0, LENGTH = 3 }
//--- alias.ld
MEMORY { a : ORIGIN = 0, LENGTH = 3 } REGION_ALIAS("b", nothere)
//--- default-region.ld
MEMORY { m : ORIGIN = 0, LENGTH = 32K } REGION_ALIAS("*default*", m)
//--- two-alignments.ld
SECTIONS { .text : ALIGN(8) ALIGN_WITH_INPUT { *(.text) } }
//--- cycle.ld
INCLUDE cycle.ld
//--- flag.ld
SECTIONS { .text : { INPUT_SECTION_FLAGS(UNKNOWN) *(.text) } }
//--- flags.ld
SECTIONS { .text : { INPUT_SECTION_FLAGS(SHF_ALLOC SHF_EXECINSTR) *(.text) } }
//--- exclude.ld
SECTIONS { .text : { *(EXCLUDE_FILE(*a.o)) } }
//--- pattern.ld
SECTIONS { .text : { (*x) } }
//--- sorted.ld
SECTIONS { .text : { SORT_BY_ALIGNMENT(*)(.text) } }
//--- number.ld
SECTIONS { . = 0x11h; }
//--- header.ld
PHDRS { all PT_LOAD; } SECTIONS { .text : { *(.text) } :bar }
//--- attribute.ld
PHDRS { text PT_LOAD FOOHDR; }
//--- type.ld
PHDRS { text PT_FOO; }
//--- room.ld
PHDRS { all PT_LOAD FILEHDR PHDRS; } SECTIONS { . = 0; .text : { *(.text) *(.data) *(.b) } :all }
//--- provide.ld
PROVIDE(x + 1);
//--- subalign.ld
SECTIONS { .text : SUBALIGN(3) { *(.text) } }
//--- settle.ld
SECTIONS { .text x : { *(.text) } x = . + 0x10; }
//--- loads.ld
SECTIONS { .text 0x1000 : { *(.text) } .data 0x2000 : AT(0x8000) { *(.data) } .b 0x3000 : AT(0x8000) { *(.b) } }
//--- directive.ld
SECTIONS { .text 0x20000 (BAR) : { *(.text) } }
//--- fill.ld
SECTIONS { .text : { *(.text) FILL 0x11 } }
//--- byte.ld
SECTIONS { .text : { *(.text) BYTE 1 } }

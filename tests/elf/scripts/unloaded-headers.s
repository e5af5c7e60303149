//# about: PHDRS that leave something unloaded: a warning, and an error where a loader would look for it
//# only: weld -- the others warn of less, or of nothing
//# link: unloaded-headers.o -T null.ld
//# warning: section \.text is in memory, but in no loadable program header of PHDRS
//# warning: section \.data is in memory
//# no-verify: nothing is loaded
//# link: unloaded-headers.o -T none.ld -o none
//# warning: section \.data is in memory
//# no-verify: something is not loaded
//# link: unloaded-headers.o -r -T none.ld -o joined.o
//# fail: unloaded-headers.o -shared -T dynamic.ld
//# error: section \.dynamic is in memory, but in no loadable program header
//# fail: unloaded-headers.o -shared -T first.ld
//# error: section \.data is where PHDRS has the dynamic section
//# fail: unloaded-headers.o -T below.ld
//# error: section \.data at 0x10000 lies below \.text at 0x20000
.globl _start, d
_start: ret
.data
d: .quad 1
.section .note.GNU-stack,"",@progbits
//--- null.ld
PHDRS { text PT_NULL; }
SECTIONS { .text 0x10000 : { *(.text) } :text .data : { *(.data) } }
//--- none.ld
PHDRS { text PT_LOAD; stack PT_GNU_STACK; }
SECTIONS { .text 0x10000 : { *(.text) } :text .data : { *(.data) } :NONE .rom (NOLOAD) : { . += 1; } :NONE }
//--- dynamic.ld
PHDRS { text PT_LOAD; dynamic PT_DYNAMIC; }
SECTIONS { .text : { *(.text) } :text .data : { *(.data) } .dynamic : { *(.dynamic) } :dynamic }
//--- first.ld
PHDRS { text PT_LOAD; dynamic PT_DYNAMIC; }
SECTIONS { .text : { *(.text) } :text .data : { *(.data) } :text :dynamic .dynamic : { *(.dynamic) } }
//--- below.ld
MEMORY { a (rx) : ORIGIN = 0x20000, LENGTH = 0x1000 b (rw) : ORIGIN = 0x10000, LENGTH = 0x1000 }
PHDRS { all PT_LOAD; stack PT_GNU_STACK; }
SECTIONS { .text : { *(.text) } >a :all .data : { *(.data) } >b }

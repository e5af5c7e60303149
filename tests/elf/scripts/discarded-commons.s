//# about: /DISCARD/ takes common symbols that nothing refers to, and what the linker makes and has nothing in it
//# only: weld bfd -- lld discards .shstrtab, too
//# link: discarded-commons.o -T x.ld
//# no-symbol: v
//# link: discarded-commons.o -T empty.ld -pie --hash-style=gnu -o pie
//# fail: discarded-commons.o user.o -T x.ld
//# [weld] error: COMMON.* v
.globl _start
_start: ret
.comm v, 8, 8
.section .note.GNU-stack,"",@progbits
//--- user.s
.data
.quad v
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { .text 0x10000 : { *(.text) } .data : { *(.data) } /DISCARD/ : { *(*) } }
//--- empty.ld
SECTIONS { .text : { *(.text) } .dynamic : { *(.dynamic) } .dynsym : { *(.dynsym) } .dynstr : { *(.dynstr) } .gnu.hash : { *(.gnu.hash) } .bss : { *(COMMON) } /DISCARD/ : { *(.rela.dyn .interp) } }

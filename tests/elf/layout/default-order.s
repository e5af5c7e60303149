//# about: the default order of output sections, which is that of ld.lld, and PT_PHDR in static programs too
//# only: weld lld -- GNU ld and mold have orders of their own
//# obj: lib.o = lib.s
//# link: --eh-frame-hdr default-order.o
//# segment: PHDR flags=R align=8 count=1
//# check: segoff(PHDR) == 64
//# order: .note.x .rodata .gcc_except_table .rodata2 .eh_frame_hdr .eh_frame .text .init .text2 .fini .data .data2 .bss
//# link: -shared lib.o -soname lib.so -o lib.so
//# link: default-order.o lib.so -f filtered -F auxiliary -rpath /run -soname me -shared -z now --hash-style=both -o it.so
//# sh: readelf -dW it.so | sed -n 's/.*(\([A-Z_0-9]*\)).*/\1/p' | tr '\n' ' ' > tags
//# file: tags => ^FILTER AUXILIARY RUNPATH NEEDED SONAME FLAGS FLAGS_1 RELA RELASZ RELAENT SYMTAB SYMENT STRTAB STRSZ GNU_HASH HASH INIT_ARRAY INIT_ARRAYSZ INIT FINI
.section .init,"ax",@progbits
.globl _init
_init: ret
.text
.globl _start
_start:
  .cfi_startproc
  ret
  .cfi_endproc
.section .data2,"aw",@progbits
.quad 1
.section .rodata,"a",@progbits
.quad 1
.section .gcc_except_table,"a",@progbits
.quad 1
.section .rodata2,"a",@progbits
.quad 1
.section .text2,"ax",@progbits
ret
.section .fini,"ax",@progbits
.globl _fini
_fini: ret
.section .note.x,"a",@note
.balign 4
.long 4, 0, 1
.ascii "me\0\0"
.section .init_array,"aw",@init_array
.quad in_library
.weak in_library
.bss
.zero 8
.data
.quad 1
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl in_library
in_library: ret
.section .note.GNU-stack,"",@progbits

//# about: sections that a script adds data, symbols and room to can be compressed
//# only: weld lld -- the others do not compress them
//# link: compressed.o -T x.ld --compress-sections=extra=zlib
//# section: extra flags=C
//# symbol: extra_end value=0x10c
//# sh: llvm-objcopy-22 --decompress-debug-sections out plain; llvm-readelf-22 -z -x extra plain | tail -4
//# stdout-re: 0x00000100 2a000000 00000000 00000000
.globl _start
_start: ret
.section extra0,""
.fill 256, 1, 0x61
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = 0x10000; .text : { *(.text) } extra 0 : { *(extra*) QUAD(42) . += 4; extra_end = .; } }

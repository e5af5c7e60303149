//# about: regions of memory: load addresses, overflow, attributes; what --print-memory-usage says
//# not: mold -- it reads no MEMORY
//# link: memory.o -T x.ld --print-memory-usage
//# [weld] stdout-re: rom: +\d+ B +1 KB
//# check: addr(.text) == 0x1000
//# check: addr(.data) == 0x8000
//# check: addr(.bss) == end(.data)
//# check: sym(load) == end(.text)
//# check: sym(rom_end) == 0x1400
//# readelf: -lW => LOAD +0x\w+ 0x0*8000 0x0*1010
//# fail: memory.o -T small.ld
//# error: overflow
//# [weld] error: region rom overflows by 16 bytes
//# fail: memory.o -T outside.ld
//# error: (section \.text is in none of the script's memory regions|no memory region specified for loadable section .\.text)
//# [!lld] link: memory.o -T outside.ld -o outside --no-check-sections
//# [!lld] warning: (section .text is in none of the script's memory regions|no memory region specified for loadable section .\.text)
//# fail: memory.o -T none.ld
//# error: nowhere
.globl _start
_start: .fill 16, 1, 0x90
.data
.quad 1
.bss
.space 8
.section .note.GNU-stack,"",@progbits
//--- x.ld
MEMORY { rom (rx) : ORIGIN = 0x1000, LENGTH = 1K  ram (w) : ORIGIN = 0x8000, LENGTH = 0x100 }
REGION_ALIAS("code", rom)
SECTIONS {
  .text : { *(.text) } > code
  .data : { *(.data) } > ram AT> rom
  .bss : { *(.bss) } > ram
  load = LOADADDR(.data);
  rom_end = ORIGIN(rom) + LENGTH(rom);
}
//--- small.ld
MEMORY { rom : ORIGIN = 0x1000, LENGTH = 16 }
SECTIONS { .text : { *(.text) *(.data) } > rom .bss : { *(.bss) } > rom = 0 }
//--- outside.ld
MEMORY { ram (w!x) : ORIGIN = 0x8000, LENGTH = 1K }
SECTIONS { .text : { *(.text) } .data : { *(.data) } > ram .bss : { *(.bss) } > ram }
//--- none.ld
SECTIONS { .text : { *(.text) } > nowhere }

//# about: --oformat=srec, ihex and verilog are what objcopy makes of the ELF file, but for the name in the first line; scripts may ask for them
//# only: weld -- GNU ld cuts lines where input sections end
//# link: text-formats.o -T x.ld -o elf
//# link: text-formats.o -T x.ld --oformat=srec -o a.srec
//# no-verify: no ELF file
//# link: text-formats.o -T x.ld --oformat=ihex -o a.ihex
//# no-verify: no ELF file
//# link: text-formats.o -T x.ld --oformat verilog -o a.verilog
//# no-verify: no ELF file
//# sh: for f in srec ihex verilog; do objcopy -O $f elf want && cmp <(sed 's/^S0.*/S0/' want) <(sed 's/^S0.*/S0/' a.$f) || exit 1; done
//# file: a.srec => ^S00900006
//# link: text-formats.o -T high.ld -o high
//# link: text-formats.o -T high.ld --oformat=ihex -o high.ihex
//# no-verify: no ELF file
//# sh: objcopy -O ihex high want && cmp want high.ihex
//# link: text-formats.o -T over.ld --no-check-sections --oformat=ihex -o over.ihex
//# no-verify: no ELF file
//# sh: objcopy -I ihex -O binary over.ihex over.bin && test $(stat -c %s over.bin) = $((0x10113)) && test "$(od -An -tx1 -j0x8000 -N2 over.bin)" = " 05 11"
//# link: text-formats.o -T both.ld --oformat=ihex -o both.ihex
//# no-verify: no ELF file
//# sh: objcopy -I ihex -O srec --srec-forceS3 both.ihex both.srec && grep -q ^S30690000000 both.srec && grep -q ^S30680000000 both.srec
//# link: text-formats.o -T x.ld format.ld -o scripted
//# no-verify: no ELF file
//# same: a.verilog scripted
//# link: text-formats.o -T x.ld format.ld --oformat=elf64-x86-64 -o elf2
//# same: elf elf2
//# fail: text-formats.o -r --oformat=srec
//# error: -r and --oformat=srec cannot be used together
//# fail: text-formats.o -r format.ld
//# error: format\.ld: OUTPUT_FORMAT\(verilog\) and -r cannot be used together
//# fail: text-formats.o -T far.ld --oformat=srec
//# error: section \.a is loaded at 0x1000000000, which srec cannot say
.globl _start
.section .a,"a"
.fill 0x10013, 1, 0x11
.section .b,"aw"
.byte 5
.section .c,"aw"
.byte 6
.section .far,"a"
.fill 40, 1, 0x22
.text
_start: ret
.bss
.zero 100
.section .note.GNU-stack,"",@progbits
//--- x.ld
ENTRY(_start)
SECTIONS { . = 0xfff8; .a : { *(.a) } .b : { *(.b) } .c : { *(.c) } .bss : { *(.bss) } . = 0x1fffe8; .far : AT(0x2ffff0) { *(.far) } .text : { *(.text) } }
//--- high.ld
ENTRY(_start)
SECTIONS { . = 0xffffffff80000000; .a : { *(.a) } .b : { *(.b) } .c : { *(.c) } .far : { *(.far) } .text : { *(.text) } .bss : { *(.bss) } }
//--- over.ld
SECTIONS { .text 0x1000 : AT(0) { *(.text) } .a 0x20000 : AT(0x100) { *(.a) } .b 0x40000 : AT(0x8000) { *(.b) } /DISCARD/ : { *(.c) *(.far) } }
//--- both.ld
SECTIONS { .b 0x90000000 : { *(.b) } .c 0xffffffff80000000 : { *(.c) } /DISCARD/ : { *(.a) *(.far) *(.text) } }
//--- far.ld
SECTIONS { . = 0x1000000000; .a : { *(.a) } }
//--- format.ld
OUTPUT_FORMAT(verilog)

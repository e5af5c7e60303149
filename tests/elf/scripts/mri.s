//# about: MRI scripts (-c): inputs, the output's name, symbols, order and addresses of sections, formats
//# only: weld -- GNU ld adds its default script to it, and differs in addresses
//# link: -c load.mri -o out
//# check: addr(.text) == 0x2000
//# check: addr(.data) == 0x2100
//# contains: .data = \x07\x09
//# check: sym(marker) == 0x1f + 16
//# check: entry == sym(begin)
//# sh: $LD -c list.mri mri.o && test -e named
//# stdout-re: \.text
//# link: -c only.mri
//# no-section: .other .rodata
//# link: -c srec.mri -o image
//# no-verify: no ELF file
//# file: image => ^S0
//# fail: -c bad.mri mri.o
//# error: bad\.mri:2: NONSENSE is no command of MRI scripts
//# fail: -c value.mri mri.o
//# error: value\.mri:2
.globl begin, _start
_start: begin: ret
.data
.byte 7
.section .other,"aw"
.byte 9
.section .rodata,"a"
.byte 1
.section .note.GNU-stack,"",@progbits
//--- load.mri
* a comment
CHIP 68000 ; another
LOAD mri.o
START begin
SECT .text,$2000
ORDER .text,.data
ALIGN .data=256
ALIAS .data,.other
PUBLIC marker=1Fh+16
END
all that follows is ignored
//--- list.mri
name named
list x
//--- only.mri
LOAD mri.o
ABSOLUTE .text,.data
//--- srec.mri
LOAD mri.o
FORMAT S
//--- bad.mri

NONSENSE x
//--- value.mri

PUBLIC x=1+)

//# about: patterns take the common symbols of some files apart from those of others; the file of the largest definition counts
//# not: mold -- it reads no SECTIONS
//# link: commons.o one.o two.o -T x.ld
//# check: addr(.one) == sym(only_one)
//# check: addr(.two) <= sym(both) < end(.two)
//# check: addr(.rest) <= sym(mine) < end(.rest)
//# section: .one type=NOBITS size=8 align=8
//# section: .two size=48 align=16
//# section: .rest size=4
//# symbol: both section=.two size=32
//# link: commons.o one.o two.o -T excluded.ld -o excluded
//# symbol: both section=.apart
//# symbol: only_one section=.bss
//# link: commons.o one.o two.o -T all.ld -o all
//# symbol: only_one section=.first
//# symbol: mine section=.bss
//# [weld] fail: commons.o one.o two.o -T discarded.ld
//# [weld] error: the script discards COMMON of .*one\.o, which the output cannot do without
.globl _start
_start: ret
.comm mine, 4, 4
.comm both, 8, 8
.section .note.GNU-stack,"",@progbits
//--- one.s
.comm both, 16, 8
.comm only_one, 8, 8
.section .note.GNU-stack,"",@progbits
//--- two.s
.comm both, 32, 16
.comm only_two, 16, 16
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = 0x10000; .text : { *(.text) } .one : { *one.o(COMMON) } .two : { *two.o(COMMON) } .rest : { *(COMMON) } }
//--- excluded.ld
SECTIONS { . = 0x10000; .text : { *(.text) } .bss : { *(EXCLUDE_FILE(*two.o) COMMON) } .apart : { *(COMMON) } }
//--- all.ld
SECTIONS { . = 0x10000; .text : { *(.text) } .first : { *one.o(*) } .bss : { *(.bss COMMON) } }
//--- discarded.ld
SECTIONS { . = 0x10000; .text : { *(.text) } /DISCARD/ : { *one.o(COMMON) } .bss : { *(.bss COMMON) } }

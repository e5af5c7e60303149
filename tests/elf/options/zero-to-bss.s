//# about: --zero-to-bss: data of zeroes takes no room in the file, unless a relocation says that it will not stay so.
//# only: weld -- mold only, which keeps .data of zeroes under its name
//#
//# link: --zero-to-bss zero-to-bss.o b.o
//# section: .tbss type=NOBITS size=8
//# section: .data type=PROGBITS size=16
//# section: .bss type=NOBITS size=100
//# section: zeroes type=NOBITS size=8
//# section: mixed type=PROGBITS size=16
//# section: .lbss type=NOBITS size=8
//# check: shndx(inside) == index(.bss)
//# check: shndx(other) == index(.data)
//# check: u64(sym(other)) == sym(_start)
//# link: zero-to-bss.o b.o
//# section: .data type=PROGBITS size=116
//# link: -T s.lds --zero-to-bss zero-to-bss.o
//# section: all type=PROGBITS size=116
//# section: zeroes type=NOBITS size=8
//# link: -r --zero-to-bss zero-to-bss.o -o r.o
//# warning: --zero-to-bss has no effect with -r
//# section: zeroes type=PROGBITS size=8
.globl _start, inside, other
.text
_start:
    ret
.section .data.inside, "aw"
inside:
    .zero 100
.section .data.other, "aw"
other:
    .quad _start, 0
.section zeroes, "aw"
    .zero 8
.section mixed, "aw"
    .zero 8
.section .tdata.x, "awT", @progbits
    .zero 8
.section .ldata.x, "awl", @progbits
    .zero 8
//--- b.s
.section mixed, "aw"
    .quad 1
//--- s.lds
SECTIONS {
  . = 0x10000 + SIZEOF_HEADERS;
  .text : { *(.text) }
  all : { *(.data.*) }
}

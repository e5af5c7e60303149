//# about: mold's forms of --shuffle-sections, --reverse-sections, --section-ordering-file in both formats, padding by chance.
//# only: weld -- gold's, GNU ld's, mold's and ld.lld's
//#
//# link: --reverse-sections section-order.o b.o
//# check: sym(f4) < sym(f3) < sym(f2) < sym(f1) < sym(_start)
//# check: u64(addr(.init_array)) == sym(f2)
//# check: u64(addr(.init_array) + 8) == sym(f1)
//# check: u64(addr(.init_array) + 16) == sym(f3)
//# link: --shuffle-sections=7 section-order.o b.o -o one
//# check: u64(addr(.init_array)) == sym(f1)
//# link: --shuffle-sections=7 section-order.o b.o -o two
//# same: one two
//# link: --shuffle-sections=8 section-order.o b.o -o three
//# differ: one three
//# sh: $LD --shuffle-sections section-order.o b.o -o four
//# fail: --shuffle-sections=x section-order.o
//# error: --shuffle-sections
//#
//# link: --section-ordering-file=lines section-order.o b.o
//# check: sym(_start) < sym(f2) < sym(f3) < sym(f4) < sym(f1)
//# link: --section-ordering-file=script section-order.o b.o
//# check: sym(f3) < sym(f4) < sym(f2) < sym(_start) < sym(f1)
//# fail: --section-ordering-file=moves section-order.o b.o
//# error: moves:1:[0-9]+: cannot move it from \.text to \.data
//# fail: --section-ordering-file=more section-order.o b.o
//# error: patterns for input sections only
//# fail: --section-ordering-file=missing section-order.o b.o
//# error: missing
//#
//# link: --randomize-section-padding=1 section-order.o b.o -o one
//# check: size(.text) > 5
//# check: u64(addr(.init_array)) == sym(f1)
//# link: --randomize-section-padding=2 section-order.o b.o -o two
//# differ: one two
//# fail: --randomize-section-padding=1 -T s.lds section-order.o b.o
//# error: cannot be used with a linker script
.globl _start, f1, f2
.section .text.start, "ax"
_start:
    ret
.section .text.f1, "ax"
f1: ret
.section .text.f2, "ax"
f2: ret
.section .init_array.1, "aw", @init_array
    .quad f1
.section .init_array.1, "aw", @init_array, unique, 2
    .quad f2
//--- b.s
.globl f3, f4
.section .text.f3, "ax"
f3: ret
.section .text.f4, "ax"
f4: ret
.section .init_array.2, "aw", @init_array
    .quad f3
//--- lines
# a comment
*.f[34]
.text.f1
//--- script
.text : {
  *(SORT(.text.f3 .text.f4))
  *section-order.o(.text.f2)
}
//--- moves
.data : { *(.text.f2) }
//--- more
.text : { *(.text.f2) x = .; }
//--- s.lds
SECTIONS { .text : { *(.text*) } }

//# about: -r with SECTIONS: patterns, data, symbols in sections, /DISCARD/, groups that stay apart, merged strings; then a program of it
//# not: mold -- it reads no SECTIONS
//# link: -r -T x.ld relocatable.o more.o -o r.o
//# in: r.o
//# check: count(.text) == 1
//# section: .text flags=AX size=0x1c addr=0
//# no-section: .text.f .gone .data.a .data.b
//# check: addr(.data) == 0
//# check: align(.data) == 64
//# check: size(.data) == 32
//# contains: .data = \x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0
//# symbol: data_start section=.data value=0
//# symbol: data_end section=.data value=24
//# symbol: behind_text section=.text value=0x1c
//# symbol: number section=ABS value=0x77
//# symbol: size_of_data section=ABS value=32
//# symbol: hidden section=.data value=32 vis=HIDDEN
//# no-symbol: nobody_asks
//# check: count(.group) == 1
//# section: .text.grp flags=AXG
//# section: .orphan size=8
//# section: .str flags=AMS entsize=1
//# section: .mixed flags=A
//# reloc: R_X86_64_64 sym=data_end in=.rela.table
//# link: r.o -o out
//# run:
//# exit: 0
//# fail: -r -T assert.ld relocatable.o more.o
//# error: too small
//# only: weld -- ld.lld joins groups, GNU ld gives sections addresses and makes hidden symbols local
.globl _start
_start:
  call f
  mov $data_end, %edi
  sub $data_start, %edi
  sub $24, %edi
  mov $60, %eax
  syscall
.section .text.f,"ax"
.globl f
f: ret
.section .data.b,"aw"
.quad 2
.section .data.a,"aw"
.quad 1
.section .gone,"a"
.quad 9
.section .orphan,"a"
.quad 7
.section .table,"aw"
.quad data_end, asked
.section .str.1,"aMS",@progbits,1
.asciz "one"
.section .m.1,"aM",@progbits,4
.long 1
.section .text.grp,"axG",@progbits,grp,comdat
.globl grp
grp: ret
.section .note.GNU-stack,"",@progbits
//--- more.s
.section .text.g,"ax"
g: ret
.section .data.c,"aw"
.quad 3
.section .str.2,"aMS",@progbits,1
.asciz "two"
.section .m.2,"aM",@progbits,8
.quad 1
.section .text.grp,"axG",@progbits,grp,comdat
.globl grp
grp: ret
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  /DISCARD/ : { *(.gone) }
  .text 0x1000 : { *(.text .text.*) }
  behind_text = .;
  .data : ALIGN(64) { data_start = .; *(SORT(.data.*)) data_end = .; QUAD(5) }
  HIDDEN(hidden = .);
  number = 0x77;
  size_of_data = SIZEOF(.data);
  PROVIDE(asked = .);
  PROVIDE(nobody_asks = 1);
  .str : { *(.str.*) }
  .mixed : { *(.m.*) }
}
//--- assert.ld
SECTIONS { .data : { *(.data.*) } ASSERT(SIZEOF(.data) > 100, "too small") }

//# about: 'v = DEFINED(v) ? v : …' is for what no object defines, and then a number
//# only: weld bfd -- lld does not ask the objects
//# link: defaults.o objects.o -T x.ld
//# check: sym(address) == addr(.text)
//# check: sym(number) == 0x1000
//# check: sym(later) == 0x2001
//# check: sym(shared) == addr(.bss)
//# link: defaults.o -T x.ld -o none
//# check: sym(address) == 1
//# check: sym(number) == 2
//# check: sym(shared) == 3
//# check: sym(later) == 4
//# [weld] link: defaults.o -pie -T x.ld -o pie
//# [weld] symbol: number section=ABS value=2
//# [weld] check: relocs(R_X86_64_RELATIVE) == 0
// A member of an archive is not wanted for that.
//# sh: rm -f lib.a; ar rc lib.a objects.o
//# link: alone.o lib.a -T archive.ld -o archive
//# check: sym(number) == 2
//# [weld] fail: defaults.o objects.o -T common.ld
//# [weld] error: symbol shared is common
.globl _start
_start: ret
.data
.quad address, number, shared, later
.section .note.GNU-stack,"",@progbits
//--- alone.s
.globl _start
_start: ret
//--- objects.s
.globl address, number, later
.text
address: nop
number = 0x1000
later = 0x2000
.comm shared, 8, 8
.section .note.GNU-stack,"",@progbits
//--- x.ld
address = DEFINED(address) ? address : 1;
number = DEFINED(number) ? number : 2;
shared = DEFINED(shared) ? shared : 3;
later = DEFINED(later) ? later + 1 : 4;
SECTIONS {
  .text 0x10000 : { *objects.o(.text) *(.text) }
  .data : { *(.data) }
  .bss : { *(.bss) *(COMMON) }
}
//--- archive.ld
number = DEFINED(number) ? number : 2;
SECTIONS { .text 0x10000 : { *(.text) } }
//--- common.ld
SECTIONS { .text 0x10000 : { *(.text) } .data : { *(.data) } .bss : { *(COMMON) } }
address = 0; number = 0; later = 0;
shared = shared + 1;
